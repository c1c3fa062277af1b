use std::fmt;

use super::MeshError;
use crate::Aabb;
use crate::text::counted;

/// Volume over area and diagonal [-] below which no volume is enclosed: a flat sheet whose corners were rounded to
/// `f32`.
const SHEET_RATIO: f64 = 1e-7;

/// Properties and repaired defects of a mesh. Indices of triangles are those of the file, from 0.
#[derive(Clone, Debug, PartialEq)]
pub struct MeshReport {
    /// Vertices, after welding.
    pub vertices: usize,
    /// Triangles that were kept.
    pub triangles: usize,
    /// Bounding box [m].
    pub bounds: Aabb,
    /// Signed volume [m³]; for an open mesh, as if every boundary were closed by a cone to the centroid of the surface.
    /// For a [`LoadedSolid`](super::LoadedSolid), the filled space if shells overlap or face inward.
    pub volume: f64,
    /// Area [m²].
    pub area: f64,
    /// Number of parts that are not connected by edges.
    pub components: usize,
    /// Edges with a triangle on one side only.
    pub open_edges: usize,
    /// Edges of more than two triangles.
    pub non_manifold_edges: usize,
    /// Edges whose two triangles run along it in the same direction, so that one of them faces inward: those left after
    /// flipping.
    pub inconsistent_edges: usize,
    /// Triangles dropped for having no area.
    pub degenerate: Vec<usize>,
    /// Triangles dropped for having the corners of an earlier one, in any order.
    pub duplicate: Vec<usize>,
    /// Number of triangles flipped to face as their neighbors do.
    pub turned: usize,
    /// The whole mesh was inside out and was flipped.
    pub flipped: bool,
    /// Every edge is used equally often in both directions: the surface encloses a volume.
    pub closed: bool,
    /// Volume [m³] that a sum over shells counts repeatedly, because shells overlap or are nested. Known for a
    /// [`LoadedSolid`](super::LoadedSolid) only.
    pub overlap: f64,
    /// Triangles intersect too often for an exact volume. Known for a [`LoadedSolid`](super::LoadedSolid) only.
    pub tangled: bool,
    /// Volume [m³] in shells that face inward without being cavities. Known for a [`LoadedSolid`](super::LoadedSolid)
    /// only.
    pub inverted: f64,
}

impl MeshReport {
    /// Rejects a surface that encloses no volume, such as a flat sheet. One with holes passes, if it still encloses a
    /// volume.
    pub fn require_volume(&self) -> Result<(), MeshError> {
        let &Self {
            volume, area, bounds, ..
        } = self;
        if volume.abs() <= SHEET_RATIO * area * bounds.size().length() {
            return Err(MeshError::NoVolume { volume, area });
        }
        Ok(())
    }

    /// Returns true if every edge joins exactly two triangles that face the same side.
    pub fn is_watertight(&self) -> bool {
        self.open_edges == 0 && self.non_manifold_edges == 0 && self.inconsistent_edges == 0
    }

    /// Returns warnings for the user, one sentence each, with a remedy; empty for a valid mesh.
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
                "turned {} that faced against their neighbors",
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
                "a closed part faces inward and is no cavity: its {:.4e} m³ are not filled; turn its faces where you model",
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
        writeln!(f, "center      {:.6}, {:.6}, {:.6} m", center.x, center.y, center.z)?;
        writeln!(f, "volume      {:.6e} m³", self.volume)?;
        writeln!(f, "area        {:.6e} m²", self.area)?;
        write!(f, "watertight  {}", if self.is_watertight() { "yes" } else { "no" })?;
        for warning in self.warnings() {
            write!(f, "\nwarning     {warning}")?;
        }
        Ok(())
    }
}

/// Lists the first few indices, for a message.
fn numbers(all: &[usize]) -> String {
    const SHOWN: usize = 5;
    let first: Vec<String> = all.iter().take(SHOWN).map(ToString::to_string).collect();
    let more = if all.len() > SHOWN { ", …" } else { "" };
    format!("counted from 0: {}{more}", first.join(", "))
}
