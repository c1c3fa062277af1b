//! Finds the outer surface of a mesh: where closed parts overlap, the walls inside their union are hidden.

use glam::DVec3;
use rayon::prelude::*;

use super::MeshSolid;
use crate::{Shape, TriMesh};

/// Largest size of the pieces in which triangles that may be cut are tested, relative to the bounds' diagonal [-]: a
/// tower that pierces the middle of a wall must not be missed.
const TEST_SIZE: f64 = 1.0 / 32.0;
/// Size down to which cut triangles are divided, relative to the bounds' diagonal [-].
const MIN_SIZE: f64 = 1.0 / 128.0;

/// Largest total number of pieces, so that a soup of mutually intersecting triangles terminates, too.
const MAX_PIECES: usize = 1 << 17;

/// A piece of the surface: its corners [m] and the index of its triangle.
type Piece = ([DVec3; 3], u32);

enum Verdict {
    Exposed,
    Buried,
    Cut(Vec<[DVec3; 3]>),
}

/// Returns the triangles of `solid` without the parts inside it, or `None` if all of them are surface.
///
/// A mesh of one connected part is unchanged. Otherwise a triangle may be cut if its box overlaps the box of a triangle
/// of another part. Connected triangles that are not cut are all inside or all outside, so one of them decides for all;
/// but none is dropped without its own test.
pub(super) fn exposed_surface(solid: &MeshSolid) -> Option<Vec<Piece>> {
    let mesh = solid.mesh();
    let triangles = 0..mesh.triangles.len();
    let (parts, count) = connected(mesh, |_| true);
    if count < 2 {
        return None;
    }
    let cut: Vec<bool> = triangles
        .clone()
        .into_par_iter()
        .map(|t| {
            let finite = mesh.corners(t).iter().all(|p| p.is_finite());
            finite && solid.meets_box_of(t, |other| parts[other] != parts[t])
        })
        .collect();
    let (regions, region_count) = connected(mesh, |t| !cut[t]);
    let mut first = vec![usize::MAX; region_count];
    for t in triangles.clone().rev().filter(|&t| !cut[t]) {
        first[regions[t] as usize] = t;
    }

    let diagonal = solid.bounds().size().length();
    let buried = |t: usize| Sides::of(mesh.corners(t), diagonal).is_some_and(|sides| sides.buried(solid, sides.middle));
    let suspect: Vec<bool> = first.par_iter().map(|&t| t < cut.len() && buried(t)).collect();
    let cut_count = cut.iter().filter(|&&cut| cut).count();
    let levels = (MAX_PIECES / cut_count.max(1)).max(1).ilog(4);
    let verdicts: Vec<Verdict> = triangles
        .clone()
        .into_par_iter()
        .map(|t| match cut[t] {
            true => judge(solid, mesh.corners(t), diagonal, levels),
            false if suspect[regions[t] as usize] && buried(t) => Verdict::Buried,
            false => Verdict::Exposed,
        })
        .collect();
    if verdicts.iter().all(|verdict| matches!(verdict, Verdict::Exposed)) {
        return None;
    }

    let mut pieces = Vec::with_capacity(mesh.triangles.len());
    for (t, verdict) in triangles.zip(verdicts) {
        match verdict {
            Verdict::Exposed => pieces.push((mesh.corners(t), t as u32)),
            Verdict::Buried => {}
            Verdict::Cut(parts) => pieces.extend(parts.into_iter().map(|part| (part, t as u32))),
        }
    }
    Some(pieces)
}

/// Returns the rest of a triangle after up to `levels` of division. In doubt it is kept.
fn judge(solid: &MeshSolid, corners: [DVec3; 3], diagonal: f64, levels: u32) -> Verdict {
    let [a, b, c] = corners;
    let longest = a.distance(b).max(b.distance(c)).max(c.distance(a));
    if longest <= TEST_SIZE * diagonal {
        match uniformly_buried(solid, corners, diagonal) {
            Some(true) => return Verdict::Buried,
            Some(false) => return Verdict::Exposed,
            None => {}
        }
    }
    if levels == 0 || longest <= MIN_SIZE * diagonal {
        return Verdict::Cut(vec![corners]);
    }
    let (ab, bc, ca) = (0.5 * (a + b), 0.5 * (b + c), 0.5 * (c + a));
    let quarters = [[a, ab, ca], [ab, b, bc], [ca, bc, c], [ab, bc, ca]];
    let verdicts = quarters.map(|quarter| judge(solid, quarter, diagonal, levels - 1));
    if verdicts.iter().all(|v| matches!(v, Verdict::Exposed)) {
        return Verdict::Exposed;
    }
    if verdicts.iter().all(|v| matches!(v, Verdict::Buried)) {
        return Verdict::Buried;
    }
    let mut parts = Vec::new();
    for (quarter, verdict) in quarters.into_iter().zip(verdicts) {
        match verdict {
            Verdict::Exposed => parts.push(quarter),
            Verdict::Buried => {}
            Verdict::Cut(more) => parts.extend(more),
        }
    }
    Verdict::Cut(parts)
}

/// Test points just off the two sides of a triangle.
struct Sides {
    middle: DVec3,
    offset: DVec3,
}

impl Sides {
    /// Returns `None` for a triangle without area, which has no sides.
    fn of([a, b, c]: [DVec3; 3], diagonal: f64) -> Option<Self> {
        let (ab, ac) = (b - a, c - a);
        // Small relative to the triangle, large relative to rounding.
        let step = (1e-6 * ab.length().max(ac.length())).max(1e-12 * diagonal);
        let normal = ab.cross(ac).try_normalize()?;
        Some(Self {
            middle: (a + b + c) / 3.0,
            offset: step * normal,
        })
    }

    fn buried(&self, solid: &MeshSolid, p: DVec3) -> bool {
        solid.is_inside(p + self.offset) && solid.is_inside(p - self.offset)
    }
}

/// Returns true if both sides of a triangle lie inside the solid, by its center and by points near its corners; `None`
/// if they disagree.
fn uniformly_buried(solid: &MeshSolid, corners: [DVec3; 3], diagonal: f64) -> Option<bool> {
    let Some(sides) = Sides::of(corners, diagonal) else {
        return Some(false);
    };
    let first = sides.buried(solid, sides.middle);
    corners
        .into_iter()
        .all(|corner| sides.buried(solid, corner.lerp(sides.middle, 0.05)) == first)
        .then_some(first)
}

/// Returns for each triangle the index of its part, and the number of parts: triangles that are `included` and share a
/// vertex belong to one part. The index of a triangle that is not included is meaningless.
fn connected(mesh: &TriMesh, included: impl Fn(usize) -> bool) -> (Vec<u32>, usize) {
    let mut leader: Vec<u32> = (0..mesh.vertices.len() as u32).collect();
    for (t, &[a, b, c]) in mesh.triangles.iter().enumerate() {
        if included(t) {
            let root = find(&mut leader, a);
            for v in [b, c] {
                let other = find(&mut leader, v);
                leader[other as usize] = root;
            }
        }
    }
    let mut number = vec![u32::MAX; mesh.vertices.len()];
    let mut count = 0;
    let parts = mesh.triangles.iter().map(|&[a, ..]| {
        let root = find(&mut leader, a) as usize;
        if number[root] == u32::MAX {
            number[root] = count;
            count += 1;
        }
        number[root]
    });
    (parts.collect(), count as usize)
}

/// Returns the leader of `v`'s set, halving the path to it.
fn find(leader: &mut [u32], mut v: u32) -> u32 {
    while leader[v as usize] != v {
        let above = leader[leader[v as usize] as usize];
        leader[v as usize] = above;
        v = above;
    }
    v
}
