//! A heap of sand beside a box and a glass of sand: `cargo run --release --example heap -p barchan_render [FILE.png
//! [GRAINS]]`. More grains are smaller; the heap keeps its size.

use barchan_geometry::random::Stream;
use barchan_render::{Camera, Mesh, Picture, Radii, Spheres, render};
use glam::{Affine3A, Quat, Vec3};
use std::time::Instant;

/// Default number of grains in the heap.
const GRAINS: usize = 50_000;
/// Radius of the heap's base [m].
const BASE: f32 = 0.25;
/// Slope of the heap [-].
const SLOPE: f32 = 0.65;
/// Position of the glass [m].
const GLASS: Vec3 = Vec3::new(0.34, -0.12, 0.0);

/// Returns sand in a cone on the ground and in a glass beside it, on jittered layers [m].
fn sand(radius: f32) -> Vec<Vec3> {
    let mut stream = Stream::new(1, 0);
    let mut jitter = |scale: f32| scale * (stream.unit() as f32 - 0.5);
    let mut grains = Vec::new();
    let spacing = 1.9 * radius;
    let steps = (BASE / spacing) as i32 + 1;
    for k in 0..steps {
        for (i, j) in (-steps..=steps).flat_map(|i| (-steps..=steps).map(move |j| (i, j))) {
            let odd = 0.5 * (k % 2) as f32;
            let at = Vec3::new(i as f32 + odd, j as f32 + odd, k as f32) * spacing;
            let from_axis = at.truncate().length();
            let in_heap = at.z <= SLOPE * (BASE - from_axis);
            let in_glass = at.z < 0.11 + 0.03 * (30.0 * at.x).sin() && from_axis < 0.068 - 1.5 * radius;
            let moved = at + Vec3::new(jitter(spacing), jitter(spacing), jitter(0.6 * spacing)) + radius * Vec3::Z;
            grains.extend(in_heap.then_some(moved));
            grains.extend(in_glass.then_some(moved + GLASS));
        }
    }
    grains
}

fn cuboid(size: Vec3) -> (Vec<Vec3>, Vec<[u32; 3]>) {
    let sign = |k: u32, bit: u32| if k >> bit & 1 == 1 { 0.5 } else { -0.5 };
    let vertices = (0..8)
        .map(|k| size * Vec3::new(sign(k, 0), sign(k, 1), sign(k, 2)))
        .collect();
    let quads = [
        [0, 2, 3, 1],
        [4, 5, 7, 6],
        [0, 1, 5, 4],
        [2, 6, 7, 3],
        [0, 4, 6, 2],
        [1, 3, 7, 5],
    ];
    (
        vertices,
        quads
            .iter()
            .flat_map(|q| [[q[0], q[1], q[2]], [q[0], q[2], q[3]]])
            .collect(),
    )
}

/// Returns an open tube around z, from the ground up.
fn tube(radius: f32, height: f32, sides: u32) -> (Vec<Vec3>, Vec<[u32; 3]>) {
    let vertex = |k: u32| {
        let (sin, cos) = ((k / 2) as f32 / sides as f32 * std::f32::consts::TAU).sin_cos();
        Vec3::new(
            radius * cos,
            radius * sin,
            if k.is_multiple_of(2) { 0.0 } else { height },
        )
    };
    let quad = |k: u32| {
        let [a, b, c, d] = [2 * k, 2 * k + 1, (2 * k + 2) % (2 * sides), (2 * k + 3) % (2 * sides)];
        [[a, c, d], [a, d, b]]
    };
    (
        (0..2 * sides).map(vertex).collect(),
        (0..sides).flat_map(quad).collect(),
    )
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args().nth(1).unwrap_or_else(|| "heap.png".to_owned());
    let count: usize = std::env::args().nth(2).map_or(Ok(GRAINS), |count| count.parse())?;
    let volume = std::f32::consts::PI / 3.0 * SLOPE * BASE.powi(3);
    let radius = (volume / count as f32).cbrt() / 1.9;
    let grains = sand(radius);
    let (corners, faces) = cuboid(Vec3::new(0.14, 0.14, 0.14));
    let (rim, walls) = tube(0.07, 0.2, 96);
    let mut picture = Picture::new(Spheres::sand(&grains, Radii::One(radius)));
    picture.meshes = vec![
        Mesh {
            vertices: &corners,
            triangles: &faces,
            pose: Affine3A::from_rotation_translation(Quat::from_rotation_z(0.5), Vec3::new(-0.32, -0.08, 0.07)),
            color: [0.16, 0.28, 0.42],
            opacity: 1.0,
        },
        Mesh {
            vertices: &rim,
            triangles: &walls,
            pose: Affine3A::from_translation(GLASS),
            color: [0.75, 0.88, 0.85],
            opacity: 0.08,
        },
    ];
    picture.ground = Some(0.0);
    picture.camera = Camera::framing(&picture.bounds(), 16.0 / 9.0);
    let start = Instant::now();
    let image = render(&picture, 1280, 720)?;
    println!(
        "{} grains in {:.3} s: {path}",
        grains.len(),
        start.elapsed().as_secs_f64()
    );
    image.save_png(&path)?;
    Ok(())
}
