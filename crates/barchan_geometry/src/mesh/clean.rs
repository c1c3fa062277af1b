//! Cleans the triangles of a file: welds vertices, drops degenerate triangles, and orients them outward.

use std::collections::{HashMap, HashSet};

use glam::DVec3;

use super::edges::{Edges, count_components};
use super::mass::volume_about;
use super::{MeshError, MeshReport, MeshSolid, TriMesh};
use crate::MassProperties;

/// Ratio of height to longest edge [-] below which a triangle is degenerate: a few thousand times the rounding of
/// `f64`.
const DEGENERATE_RATIO: f64 = 1e-12;

/// A cleaned mesh and a report on it.
#[derive(Clone, Debug, PartialEq)]
pub struct LoadedMesh {
    /// The surface: welded, without degenerate and duplicate triangles, facing outward where it is closed.
    pub mesh: TriMesh,
    /// Defects found and repaired.
    pub report: MeshReport,
}

/// A cleaned mesh, the solid it encloses, and a report on it.
#[derive(Clone, Debug)]
pub struct LoadedSolid {
    /// The solid.
    pub solid: MeshSolid,
    /// Defects found and repaired. The volume of a closed mesh is that of the space it fills.
    pub report: MeshReport,
    /// Mass properties of the space that a closed mesh fills; `None` for an open mesh, and for one whose triangles
    /// intersect too often.
    pub properties: Option<MassProperties>,
}

impl LoadedMesh {
    /// Converts to the enclosed solid.
    pub fn into_solid(self) -> LoadedSolid {
        let solid = MeshSolid::new(self.mesh);
        let mut report = self.report;
        let filled = solid.filled();
        report.tangled = report.closed && filled.is_none();
        if let Some(filled) = filled {
            report.overlap = filled.overlap;
            report.inverted = filled.inverted;
            if filled.overlap + filled.inverted > 0.0 {
                report.volume = filled.properties.volume;
            }
        }
        LoadedSolid {
            solid,
            report,
            properties: filled.map(|filled| filled.properties),
        }
    }

    /// Rejects a surface that encloses no volume, as [`MeshReport::require_volume`].
    pub fn require_volume(&self) -> Result<(), MeshError> {
        self.report.require_volume()
    }
}

/// Welds vertices with identical coordinates, drops degenerate and duplicate triangles, flips those that face against
/// their neighbors, and flips everything if a closed mesh is inside out. A cavity, facing inward, stays one.
pub fn clean(raw: &TriMesh) -> Result<LoadedMesh, MeshError> {
    raw.check()?;
    let welded = weld(raw);
    let (mut mesh, degenerate, duplicate) = drop_faulty(&welded);
    if mesh.triangles.is_empty() {
        return Err(MeshError::NoTriangles {
            dropped: raw.triangles.len(),
        });
    }

    let mut edges = Edges::of(&mesh.triangles);
    let turned = edges.orient(&mut mesh.triangles);
    let counts = edges.count();
    let (area, middle) = area_and_centroid(&mesh);
    let mut volume = volume_about(&mesh, middle);
    let flipped = counts.closed && volume < 0.0;
    if flipped {
        mesh.triangles.iter_mut().for_each(|t| t.swap(1, 2));
        volume = -volume;
    }
    let report = MeshReport {
        vertices: mesh.vertices.len(),
        triangles: mesh.triangles.len(),
        bounds: mesh.bounds(),
        volume,
        area,
        components: count_components(&edges, mesh.triangles.len()),
        open_edges: counts.open,
        non_manifold_edges: counts.non_manifold,
        inconsistent_edges: counts.inconsistent,
        degenerate,
        duplicate,
        turned,
        flipped,
        closed: counts.closed,
        overlap: 0.0,
        tangled: false,
        inverted: 0.0,
    };
    Ok(LoadedMesh { mesh, report })
}

/// Merges vertices with equal coordinates (−0 equals 0), in the order of the file; drops those without a triangle.
fn weld(raw: &TriMesh) -> TriMesh {
    let mut used = vec![false; raw.vertices.len()];
    for &v in raw.triangles.iter().flatten() {
        used[v as usize] = true;
    }
    let mut first_at: HashMap<[u64; 3], u32> = HashMap::new();
    let mut vertices = Vec::new();
    let number: Vec<u32> = raw
        .vertices
        .iter()
        .zip(used)
        .map(|(&vertex, used)| {
            if !used {
                return u32::MAX;
            }
            // Adding zero turns −0 into 0.
            let vertex = vertex + DVec3::ZERO;
            *first_at.entry(vertex.to_array().map(f64::to_bits)).or_insert_with(|| {
                vertices.push(vertex);
                vertices.len() as u32 - 1
            })
        })
        .collect();
    TriMesh {
        vertices,
        triangles: raw.triangles.iter().map(|t| t.map(|v| number[v as usize])).collect(),
    }
}

/// Returns `mesh` without degenerate and duplicate triangles, and the indices of both.
fn drop_faulty(mesh: &TriMesh) -> (TriMesh, Vec<usize>, Vec<usize>) {
    let (mut degenerate, mut duplicate) = (Vec::new(), Vec::new());
    let mut seen = HashSet::with_capacity(mesh.triangles.len());
    let mut kept = TriMesh::default();
    for (t, &triangle) in mesh.triangles.iter().enumerate() {
        let mut corners = triangle;
        corners.sort_unstable();
        if is_degenerate(mesh.corners(t)) {
            degenerate.push(t);
        } else if !seen.insert(corners) {
            duplicate.push(t);
        } else {
            kept.triangles.push(triangle);
        }
    }
    kept.vertices.clone_from(&mesh.vertices);
    if !degenerate.is_empty() {
        // Drops vertices that only the dropped triangles used.
        kept = weld(&kept);
    }
    (kept, degenerate, duplicate)
}

/// Returns true if a triangle has no significant area: two corners coincide, or all three are collinear.
fn is_degenerate([a, b, c]: [DVec3; 3]) -> bool {
    let longest = (b - a)
        .length_squared()
        .max((c - b).length_squared())
        .max((a - c).length_squared());
    // False for lengths so small that their squares are zero; those are degenerate too.
    let has_area = (b - a).cross(c - a).length() > DEGENERATE_RATIO * longest;
    !has_area
}

/// Returns area [m²] and centroid of the surface [m]. About the centroid, a flat sheet has a volume of zero, wherever
/// it lies.
fn area_and_centroid(mesh: &TriMesh) -> (f64, DVec3) {
    let origin = mesh.bounds().center();
    let (mut area, mut moment) = (0.0, DVec3::ZERO);
    for t in 0..mesh.triangles.len() {
        let [a, b, c] = mesh.corners(t).map(|p| p - origin);
        let piece = 0.5 * (b - a).cross(c - a).length();
        area += piece;
        moment += piece / 3.0 * (a + b + c);
    }
    (area, origin + moment / area)
}
