use std::fmt;

use super::MeshError;
use crate::Aabb;
use crate::text::counted;

/// Volume over area and diagonal [-] below which nothing is enclosed: a flat sheet whose corners were rounded to `f32`.
const SHEET: f64 = 1e-7;

/// What was found in a mesh, and what was mended. Numbers of triangles count from 0 in the file's order.
#[derive(Clone, Debug, PartialEq)]
pub struct MeshReport {
    /// Vertices, after welding.
    pub vertices: usize,
    /// Triangles that were kept.
    pub triangles: usize,
    /// The box around it [m].
    pub bounds: Aabb,
    /// Signed volume [m³]; of an open mesh, as if every rim were closed by a cone to the middle of the surface. Of a
    /// [`LoadedSolid`](super::LoadedSolid), the space that is filled if shells overlap or face inwards.
    pub volume: f64,
    /// Area [m²].
    pub area: f64,
    /// Parts that are not joined by any edge.
    pub components: usize,
    /// Edges with a triangle on one side only.
    pub open_edges: usize,
    /// Edges of more than two triangles.
    pub non_manifold_edges: usize,
    /// Edges whose two triangles run along it the same way, so that one of them faces inwards. What is left of them
    /// after turning.
    pub inconsistent_edges: usize,
    /// Triangles dropped for having no area.
    pub degenerate: Vec<usize>,
    /// Triangles dropped for having the corners of an earlier one, in whatever order.
    pub duplicate: Vec<usize>,
    /// How many triangles were turned to face as their neighbours do.
    pub turned: usize,
    /// Whether everything was inside out and was turned.
    pub flipped: bool,
    /// Whether as many triangles run along each edge one way as the other: the surface encloses a volume.
    pub closed: bool,
    /// Volume [m³] that a sum over shells counts too often, because shells overlap or one lies in another. Known of a
    /// [`LoadedSolid`](super::LoadedSolid) only.
    pub overlap: f64,
    /// Whether triangles cut each other too often for an exact volume. Known of a [`LoadedSolid`](super::LoadedSolid) only.
    pub tangled: bool,
    /// Volume [m³] in shells that face inwards without being cavities. Known of a [`LoadedSolid`](super::LoadedSolid) only.
    pub inverted: f64,
}

impl MeshReport {
    /// Refuses a surface that encloses nothing, such as a flat sheet. One with holes passes, if it still encloses
    /// something.
    pub fn require_volume(&self) -> Result<(), MeshError> {
        let &Self {
            volume, area, bounds, ..
        } = self;
        if volume.abs() <= SHEET * area * bounds.size().length() {
            return Err(MeshError::NoVolume { volume, area });
        }
        Ok(())
    }

    /// Whether every edge joins exactly two triangles that face the same side.
    pub fn is_watertight(&self) -> bool {
        self.open_edges == 0 && self.non_manifold_edges == 0 && self.inconsistent_edges == 0
    }

    /// What the user should know, one sentence each, with what to do about it; empty for a sound mesh.
    pub fn warnings(&self) -> Vec<String> {
        let edges = |n| counted(n, "edge");
        let triangles = |n| counted(n, "triangle");
        let of_kind = |n, kind: &str| counted(n, &format!("{kind} triangle"));
        let mut warnings = Vec::new();
        if !self.degenerate.is_empty() {
            let dropped = of_kind(self.degenerate.len(), "degenerate");
            warnings.push(format!(
                "dropped {dropped}, without area ({})",
                numbers(&self.degenerate)
            ));
        }
        if !self.duplicate.is_empty() {
            let dropped = of_kind(self.duplicate.len(), "duplicate");
            warnings.push(format!("dropped {dropped} ({})", numbers(&self.duplicate)));
        }
        if self.turned > 0 {
            warnings.push(format!(
                "turned {} that faced against their neighbours",
                triangles(self.turned)
            ));
        }
        if self.flipped {
            warnings.push("the mesh was inside out; all triangles were turned".to_owned());
        }
        if self.overlap > 0.0 {
            warnings.push(format!(
                "shells overlap: the space they share, {:.4e} m³ in all, is filled once and counts once in volume and mass",
                self.overlap
            ));
        }
        if self.tangled {
            warnings.push(
                "triangles cut each other too often for an exact volume: it is measured, to about a thousandth"
                    .to_owned(),
            );
        }
        if self.inverted > 0.0 {
            warnings.push(format!(
                "a closed part faces inwards and is no cavity: its {:.4e} m³ are not filled; turn its faces where you model",
                self.inverted
            ));
        }
        if self.open_edges > 0 {
            warnings.push(format!(
                "{} with a triangle on one side only: the surface has holes, and the inside near them is a guess; \
                 close them where you model",
                edges(self.open_edges)
            ));
            if self.volume < 0.0 {
                warnings.push("the open surface seems to be inside out; turn its faces where you model".to_owned());
            }
        }
        if self.non_manifold_edges > 0 {
            warnings.push(format!(
                "{} with more than two triangles: walls without thickness or parts that touch; separate them where you \
                 model",
                edges(self.non_manifold_edges)
            ));
        }
        if self.inconsistent_edges > 0 {
            warnings.push(format!(
                "{} between triangles that face opposite sides, which no turning can mend (as on a Möbius strip): inside \
                 and outside are not defined",
                edges(self.inconsistent_edges)
            ));
        }
        warnings
    }
}

impl fmt::Display for MeshReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let size = self.bounds.size();
        let center = self.bounds.center();
        writeln!(f, "vertices    {}", self.vertices)?;
        writeln!(f, "triangles   {}", self.triangles)?;
        writeln!(f, "parts       {}", self.components)?;
        writeln!(f, "size        {:.6} x {:.6} x {:.6} m", size.x, size.y, size.z)?;
        writeln!(f, "centre      {:.6}, {:.6}, {:.6} m", center.x, center.y, center.z)?;
        writeln!(f, "volume      {:.6e} m³", self.volume)?;
        writeln!(f, "area        {:.6e} m²", self.area)?;
        write!(f, "watertight  {}", if self.is_watertight() { "yes" } else { "no" })?;
        for warning in self.warnings() {
            write!(f, "\nwarning     {warning}")?;
        }
        Ok(())
    }
}

/// The first few numbers, for a message.
fn numbers(all: &[usize]) -> String {
    const SHOWN: usize = 5;
    let first: Vec<String> = all.iter().take(SHOWN).map(ToString::to_string).collect();
    let more = if all.len() > SHOWN { ", …" } else { "" };
    format!("counted from 0: {}{more}", first.join(", "))
}
