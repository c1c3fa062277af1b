//! Closed meshes of simple solids, centered on the origin, facing outward.

use std::collections::HashMap;
use std::f64::consts::{PI, TAU};

use glam::DVec3;

use super::TriMesh;

/// The faces of a [`cuboid`], by its corners.
pub(super) const CUBOID_QUADS: [[u32; 4]; 6] = [
    [0, 2, 3, 1],
    [4, 5, 7, 6],
    [0, 1, 5, 4],
    [2, 6, 7, 3],
    [0, 4, 6, 2],
    [1, 3, 7, 5],
];

/// Creates a box of the given side lengths [m]; twelve triangles.
pub fn cuboid(size: DVec3) -> TriMesh {
    let corner = |k: usize| {
        let sign = |bit: usize| if k & bit == 0 { -0.5 } else { 0.5 };
        size * DVec3::new(sign(1), sign(2), sign(4))
    };
    TriMesh {
        vertices: (0..8).map(corner).collect(),
        triangles: CUBOID_QUADS
            .iter()
            .flat_map(|&[a, b, c, d]| [[a, b, c], [a, c, d]])
            .collect(),
    }
}

/// Creates a regular tetrahedron whose corners lie `radius` [m] from the origin.
pub fn tetrahedron(radius: f64) -> TriMesh {
    let corners = [
        DVec3::ONE,
        DVec3::new(1.0, -1.0, -1.0),
        DVec3::new(-1.0, 1.0, -1.0),
        DVec3::new(-1.0, -1.0, 1.0),
    ];
    TriMesh {
        vertices: corners.map(|p| p * (radius / 3f64.sqrt())).to_vec(),
        triangles: vec![[0, 1, 2], [0, 3, 1], [0, 2, 3], [1, 3, 2]],
    }
}

/// Creates a sphere of `radius` [m]: an icosahedron with every edge halved `subdivisions` times; 20 · 4ⁿ triangles of
/// nearly equal size, corners on the sphere.
pub fn icosphere(radius: f64, subdivisions: u32) -> TriMesh {
    assert!(
        subdivisions <= 12,
        "an icosphere of {subdivisions} subdivisions does not fit u32 vertex numbers"
    );
    let golden = 0.5 * (1.0 + 5f64.sqrt());
    let mut vertices: Vec<DVec3> = [
        (-1.0, golden, 0.0),
        (1.0, golden, 0.0),
        (-1.0, -golden, 0.0),
        (1.0, -golden, 0.0),
        (0.0, -1.0, golden),
        (0.0, 1.0, golden),
        (0.0, -1.0, -golden),
        (0.0, 1.0, -golden),
        (golden, 0.0, -1.0),
        (golden, 0.0, 1.0),
        (-golden, 0.0, -1.0),
        (-golden, 0.0, 1.0),
    ]
    .map(|(x, y, z)| unit(DVec3::new(x, y, z)))
    .to_vec();
    let mut triangles: Vec<[u32; 3]> = vec![
        [0, 11, 5],
        [0, 5, 1],
        [0, 1, 7],
        [0, 7, 10],
        [0, 10, 11],
        [1, 5, 9],
        [5, 11, 4],
        [11, 10, 2],
        [10, 7, 6],
        [7, 1, 8],
        [3, 9, 4],
        [3, 4, 2],
        [3, 2, 6],
        [3, 6, 8],
        [3, 8, 9],
        [4, 9, 5],
        [2, 4, 11],
        [6, 2, 10],
        [8, 6, 7],
        [9, 8, 1],
    ];
    for _ in 0..subdivisions {
        let mut middles = HashMap::new();
        let mut middle = |a: u32, b: u32| {
            *middles.entry((a.min(b), a.max(b))).or_insert_with(|| {
                vertices.push(unit(vertices[a as usize] + vertices[b as usize]));
                vertices.len() as u32 - 1
            })
        };
        triangles = triangles
            .iter()
            .flat_map(|&[a, b, c]| {
                let (ab, bc, ca) = (middle(a, b), middle(b, c), middle(c, a));
                [[a, ab, ca], [ab, b, bc], [ca, bc, c], [ab, bc, ca]]
            })
            .collect();
    }
    for vertex in &mut vertices {
        *vertex *= radius;
    }
    TriMesh { vertices, triangles }
}

/// Creates a sphere of `radius` [m] by longitude (`segments`, at least 3) and latitude (`rings`, at least 2), poles on
/// z.
pub fn uv_sphere(radius: f64, segments: u32, rings: u32) -> TriMesh {
    assert!(
        segments >= 3 && rings >= 2,
        "a sphere needs 3 segments and 2 rings, got {segments} and {rings}"
    );
    let mut vertices = vec![DVec3::Z * radius];
    for ring in 1..rings {
        let (sin, cos) = (PI * f64::from(ring) / f64::from(rings)).sin_cos();
        vertices.extend((0..segments).map(|s| radius * (sin * spoke(s, segments) + cos * DVec3::Z)));
    }
    vertices.push(-DVec3::Z * radius);

    let south = vertices.len() as u32 - 1;
    let at = |ring: u32, segment: u32| 1 + (ring - 1) * segments + segment % segments;
    let mut triangles = Vec::new();
    for s in 0..segments {
        triangles.push([0, at(1, s), at(1, s + 1)]);
        for ring in 1..rings - 1 {
            let [a, b, c, d] = [at(ring, s), at(ring + 1, s), at(ring + 1, s + 1), at(ring, s + 1)];
            triangles.extend([[a, b, c], [a, c, d]]);
        }
        triangles.push([at(rings - 1, s), south, at(rings - 1, s + 1)]);
    }
    TriMesh { vertices, triangles }
}

/// Creates a torus around z: tube of radius `minor` [m], its center `major` [m] from the axis; `segments` around the
/// axis and `rings` around the tube, at least 3 each.
pub fn torus(major: f64, minor: f64, segments: u32, rings: u32) -> TriMesh {
    assert!(
        segments >= 3 && rings >= 3,
        "a torus needs 3 segments and 3 rings, got {segments} and {rings}"
    );
    let mut vertices = Vec::new();
    for s in 0..segments {
        let outward = spoke(s, segments);
        vertices.extend((0..rings).map(|r| {
            let (sin, cos) = (TAU * f64::from(r) / f64::from(rings)).sin_cos();
            (major + minor * cos) * outward + minor * sin * DVec3::Z
        }));
    }
    let at = |s: u32, r: u32| (s % segments) * rings + r % rings;
    let triangles = (0..segments)
        .flat_map(|s| (0..rings).map(move |r| (s, r)))
        .flat_map(|(s, r)| {
            let [a, b, c, d] = [at(s, r), at(s + 1, r), at(s + 1, r + 1), at(s, r + 1)];
            [[a, b, c], [a, c, d]]
        })
        .collect();
    TriMesh { vertices, triangles }
}

/// Returns the horizontal unit vector of longitude `segment` of `segments`.
fn spoke(segment: u32, segments: u32) -> DVec3 {
    let (sin, cos) = (TAU * f64::from(segment) / f64::from(segments)).sin_cos();
    DVec3::new(cos, sin, 0.0)
}

fn unit(p: DVec3) -> DVec3 {
    p / p.length()
}
