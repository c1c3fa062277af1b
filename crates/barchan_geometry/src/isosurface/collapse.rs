//! Removal of slivers: short edges collapse to their midpoint wherever the surface stays the same manifold.

use glam::DVec3;

use crate::TriMesh;

/// Passes over the mesh; each one collapses edges that do not touch each other.
const PASSES: usize = 12;
/// Smallest cosine between the normals of a triangle before and after.
const MIN_NORMAL_COSINE: f64 = 0.5;

/// Collapses edges shorter than `length` [m] of a closed manifold mesh until none is left that can be.
pub(super) fn short_edges(mesh: &mut TriMesh, length: f64) {
    for _ in 0..PASSES {
        if pass(mesh, length) == 0 {
            break;
        }
    }
    drop_unused(mesh);
}

/// The triangles around each vertex.
struct Fans {
    start: Vec<u32>,
    triangles: Vec<u32>,
}

impl Fans {
    fn new(mesh: &TriMesh) -> Self {
        let mut start = vec![0; mesh.vertices.len() + 1];
        for &v in mesh.triangles.iter().flatten() {
            start[v as usize + 1] += 1;
        }
        for v in 0..mesh.vertices.len() {
            start[v + 1] += start[v];
        }
        let mut next = start.clone();
        let mut triangles = vec![0; 3 * mesh.triangles.len()];
        for (t, triangle) in (0..).zip(&mesh.triangles) {
            for &v in triangle {
                triangles[next[v as usize] as usize] = t;
                next[v as usize] += 1;
            }
        }
        Self { start, triangles }
    }

    fn around(&self, v: u32) -> &[u32] {
        &self.triangles[self.start[v as usize] as usize..self.start[v as usize + 1] as usize]
    }
}

/// Runs one pass and returns the number of collapsed edges.
fn pass(mesh: &mut TriMesh, length: f64) -> usize {
    let fans = Fans::new(mesh);
    let mut edges: Vec<(f64, u32, u32)> = Vec::new();
    for &[a, b, c] in &mesh.triangles {
        for (from, to) in [(a, b), (b, c), (c, a)] {
            // The edge occurs in the other direction in its other triangle.
            let long = mesh.vertices[from as usize].distance(mesh.vertices[to as usize]);
            if from < to && long < length {
                edges.push((long, from, to));
            }
        }
    }
    edges.sort_unstable_by(|s, t| s.0.total_cmp(&t.0).then((s.1, s.2).cmp(&(t.1, t.2))));

    let mut touched = vec![false; mesh.vertices.len()];
    let mut collapsed = 0;
    for (_, keep, drop) in edges {
        if touched[keep as usize] || touched[drop as usize] {
            continue;
        }
        let middle = 0.5 * (mesh.vertices[keep as usize] + mesh.vertices[drop as usize]);
        if !may_collapse(mesh, &fans, keep, drop, middle) {
            continue;
        }
        for v in [keep, drop] {
            for &t in fans.around(v) {
                mesh.triangles[t as usize]
                    .iter()
                    .for_each(|&w| touched[w as usize] = true);
            }
        }
        mesh.vertices[keep as usize] = middle;
        for &t in fans.around(drop) {
            mesh.triangles[t as usize]
                .iter_mut()
                .filter(|v| **v == drop)
                .for_each(|v| *v = keep);
        }
        collapsed += 1;
    }
    mesh.triangles.retain(|&[a, b, c]| a != b && b != c && c != a);
    collapsed
}

/// Returns true if the mesh stays the same manifold by the link condition ([Dey99]), that is, the ends have no common
/// neighbors besides the two across the edge, and if no triangle flips over.
fn may_collapse(mesh: &TriMesh, fans: &Fans, a: u32, b: u32, middle: DVec3) -> bool {
    let neighbors = |v: u32| {
        let mut found: Vec<u32> = fans
            .around(v)
            .iter()
            .flat_map(|&t| mesh.triangles[t as usize])
            .filter(|&w| w != v)
            .collect();
        found.sort_unstable();
        found.dedup();
        found
    };
    let around_b = neighbors(b);
    let common: Vec<u32> = neighbors(a)
        .into_iter()
        .filter(|v| around_b.binary_search(v).is_ok())
        .collect();
    if common.len() != 2 || common.iter().any(|&v| fans.around(v).len() < 4) {
        return false;
    }
    let stays = |v: u32, other: u32| {
        fans.around(v)
            .iter()
            .map(|&t| mesh.triangles[t as usize])
            .filter(|t| !t.contains(&other))
            .all(|t| {
                let before = t.map(|w| mesh.vertices[w as usize]);
                let after = t.map(|w| if w == v { middle } else { mesh.vertices[w as usize] });
                turn(before, after) > MIN_NORMAL_COSINE
            })
    };
    stays(a, b) && stays(b, a)
}

/// Returns the cosine [-] between the normals of two triangles; one if the first has no area.
fn turn(before: [DVec3; 3], after: [DVec3; 3]) -> f64 {
    let normal = |[a, b, c]: [DVec3; 3]| (b - a).cross(c - a).try_normalize();
    match (normal(before), normal(after)) {
        (None, _) => 1.0,
        (Some(_), None) => -1.0,
        (Some(s), Some(t)) => s.dot(t),
    }
}

fn drop_unused(mesh: &mut TriMesh) {
    let mut number = vec![u32::MAX; mesh.vertices.len()];
    for &v in mesh.triangles.iter().flatten() {
        number[v as usize] = 0;
    }
    let mut used = Vec::new();
    for (number, &position) in number
        .iter_mut()
        .zip(&mesh.vertices)
        .filter(|(number, _)| **number == 0)
    {
        *number = used.len() as u32;
        used.push(position);
    }
    mesh.vertices = used;
    mesh.triangles
        .iter_mut()
        .flatten()
        .for_each(|v| *v = number[*v as usize]);
}
