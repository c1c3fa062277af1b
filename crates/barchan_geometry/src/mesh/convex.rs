//! Solids with flat faces and no dents.

use std::collections::{BTreeMap, HashMap, HashSet};

use glam::DVec3;

use super::TriMesh;
use super::primitives::{CUBOID_QUADS, cuboid};
use crate::Aabb;

/// Points this near a face, of the solid's size, are taken to lie on it [-].
const ON_FACE: f64 = 1e-9;

/// A plane n·x = d; the solid lies where n·x is less.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Face {
    /// Outward unit normal n [-].
    pub normal: DVec3,
    /// Distance d of the plane from the origin along its normal [m].
    pub offset: f64,
}

/// The closed surface of what lies behind all `faces`, which must lie within `bounds`; empty if nothing does.
pub fn convex_solid(faces: &[Face], bounds: &Aabb) -> TriMesh {
    let size = bounds.size().max_element();
    // Any box around the solid that no face coincides with.
    let mut solid = Polyhedron::cuboid(&bounds.grown(0.5 * size));
    for face in faces {
        solid.cut(face, ON_FACE * size);
    }
    solid.triangles()
}

/// Corners [m] and the polygons over them, counter-clockwise seen from outside.
struct Polyhedron {
    corners: Vec<DVec3>,
    polygons: Vec<Vec<u32>>,
}

impl Polyhedron {
    fn cuboid(bounds: &Aabb) -> Self {
        let mut corners = cuboid(bounds.size()).vertices;
        corners.iter_mut().for_each(|p| *p += bounds.center());
        Self {
            corners,
            polygons: CUBOID_QUADS.map(|quad| quad.to_vec()).to_vec(),
        }
    }

    /// Takes away what lies before `face`; corners within `tolerance` [m] of it stay.
    fn cut(&mut self, face: &Face, tolerance: f64) {
        let above = |p: DVec3| {
            let height = face.normal.dot(p) - face.offset;
            if height.abs() <= tolerance { 0.0 } else { height }
        };
        let heights: Vec<f64> = self.corners.iter().map(|&p| above(p)).collect();
        let mut cuts: HashMap<[u32; 2], u32> = HashMap::new();
        let mut cut_between = |corners: &mut Vec<DVec3>, a: u32, b: u32| {
            // Both polygons of an edge find the same corner.
            let (a, b) = (a.min(b), a.max(b));
            *cuts.entry([a, b]).or_insert_with(|| {
                let [below, above] = [a, b].map(|k| heights[k as usize]);
                corners.push(corners[a as usize].lerp(corners[b as usize], below / (below - above)));
                corners.len() as u32 - 1
            })
        };
        let mut kept = Vec::with_capacity(self.polygons.len() + 1);
        for polygon in &self.polygons {
            if polygon.iter().all(|&k| heights[k as usize] >= 0.0) {
                continue;
            }
            let mut rest = Vec::with_capacity(polygon.len() + 1);
            for (i, &a) in polygon.iter().enumerate() {
                let b = polygon[(i + 1) % polygon.len()];
                let [from, to] = [a, b].map(|k| heights[k as usize]);
                if from <= 0.0 {
                    rest.push(a);
                }
                if from * to < 0.0 {
                    rest.push(cut_between(&mut self.corners, a, b));
                }
            }
            kept.push(rest);
        }
        kept.extend(lid(&kept));
        self.polygons = kept;
    }

    fn triangles(self) -> TriMesh {
        let fan = |polygon: &Vec<u32>| {
            let fan = polygon.windows(2).skip(1).map(|pair| [polygon[0], pair[0], pair[1]]);
            fan.collect::<Vec<_>>()
        };
        let mut mesh = TriMesh {
            vertices: Vec::new(),
            triangles: self.polygons.iter().flat_map(fan).collect(),
        };
        // Only corners that are left.
        let mut numbers: BTreeMap<u32, u32> = BTreeMap::new();
        for v in mesh.triangles.iter_mut().flatten() {
            *v = *numbers.entry(*v).or_insert_with(|| {
                mesh.vertices.push(self.corners[*v as usize]);
                mesh.vertices.len() as u32 - 1
            });
        }
        mesh
    }
}

/// The polygon that closes the hole which `polygons` leave, if they leave one.
fn lid(polygons: &[Vec<u32>]) -> Option<Vec<u32>> {
    let edges = || {
        polygons
            .iter()
            .flat_map(|p| p.iter().copied().zip(p.iter().copied().cycle().skip(1)))
    };
    let all: HashSet<(u32, u32)> = edges().collect();
    let lonely = edges().filter(|&(a, b)| !all.contains(&(b, a)));
    let mut open: BTreeMap<u32, u32> = lonely.map(|(a, b)| (b, a)).collect();
    let (&first, _) = open.first_key_value()?;
    let mut polygon = vec![first];
    while let Some(next) = open.remove(polygon.last()?).filter(|&next| next != first) {
        polygon.push(next);
    }
    Some(polygon)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::{clean, mass_properties};

    fn face(normal: DVec3, offset: f64) -> Face {
        Face {
            normal: normal.normalize(),
            offset,
        }
    }

    fn cube() -> Vec<Face> {
        let sides = DVec3::AXES.into_iter().flat_map(|axis| [axis, -axis]);
        sides.map(|normal| face(normal, 1.0)).collect()
    }

    fn solid(faces: &[Face]) -> (TriMesh, f64) {
        let mesh = convex_solid(faces, &Aabb::new(DVec3::splat(-1.0), DVec3::ONE));
        let report = clean(&mesh).unwrap().report;
        assert!(report.is_watertight() && report.warnings().is_empty(), "{report:?}");
        let volume = mass_properties(&mesh).volume;
        (mesh, volume)
    }

    #[test]
    fn a_cube_without_a_corner_without_an_edge_and_cut_through_corners() {
        let corner = DVec3::ONE;
        // What is cut off: a pyramid of legs 1 and height 1/√3, then a wedge of legs 1 and length 2.
        let cases = [
            (face(corner, 2.0 / 3f64.sqrt()), 8.0 - 1.0 / 6.0),
            (face(DVec3::new(1.0, 1.0, 0.0), 1.0 / 2f64.sqrt()), 8.0 - 1.0),
            // Through three corners of the cube, and through four.
            (face(corner, 1.0 / 3f64.sqrt()), 8.0 - 8.0 / 6.0),
            (face(DVec3::new(1.0, 1.0, 0.0), 0.0), 4.0),
            // Through the middle: a hexagon.
            (face(corner, 0.0), 4.0),
            // Along a side, and past the solid.
            (face(DVec3::X, 1.0), 8.0),
            (face(corner, 2.0), 8.0),
        ];
        for (cut, volume) in cases {
            let faces = [cube(), vec![cut]].concat();
            let (mesh, found) = solid(&faces);
            assert!((found - volume).abs() < 1e-12, "{cut:?}: {found}");
            let before = |p: &DVec3| {
                faces
                    .iter()
                    .map(|f| f.normal.dot(*p) - f.offset)
                    .fold(f64::MIN, f64::max)
            };
            assert!(mesh.vertices.iter().all(|p| before(p).abs() < 1e-12), "{cut:?}");
        }
    }

    #[test]
    fn nothing_is_left_of_a_cube_behind_a_plane_beyond_it() {
        let faces = [cube(), vec![face(DVec3::X, -2.0)]].concat();
        let mesh = convex_solid(&faces, &Aabb::new(DVec3::splat(-1.0), DVec3::ONE));
        assert_eq!(mesh, TriMesh::default());
    }
}
