//! Heaps of sand, wet sand, gravel and soil: `cargo run --release --example looks -p barchan_render [FILE.png]`.

use barchan_geometry::random::Stream;
use barchan_render::{Camera, Colors, GrainKind, GrainMaterial, Grains, Picture, Radii, Spheres, render};
use glam::Vec3;

/// Radius of a grain [m].
const RADIUS: f32 = 0.005;
/// Radius of a heap's base [m].
const BASE: f32 = 0.26;
/// Slope of the heaps [-].
const SLOPE: f32 = 0.65;
/// Centers of the heaps [m].
const CENTERS: [f32; 4] = [-0.84, -0.28, 0.28, 0.84];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args().nth(1).unwrap_or_else(|| "looks.png".to_owned());
    let [sand, gravel, soil] = [GrainKind::Sand, GrainKind::Gravel, GrainKind::Soil].map(GrainMaterial::new);
    let materials = [sand, GrainMaterial { wetness: 1.0, ..sand }, gravel, soil];
    let mut stream = Stream::new(1, 0);
    let (mut positions, mut kinds) = (Vec::new(), Vec::new());
    for (kind, center) in (0..).zip(CENTERS) {
        let first = positions.len();
        while positions.len() < first + 24_000 {
            let [x, y, z] = [0; 3].map(|_| stream.unit() as f32);
            let at = Vec3::new(BASE * (2.0 * x - 1.0), BASE * (2.0 * y - 1.0), BASE * SLOPE * z);
            if at.z < SLOPE * (BASE - at.truncate().length()) {
                positions.push(at + Vec3::new(center, 0.0, RADIUS));
                kinds.push(kind);
            }
        }
    }
    let mut picture = Picture::new(Spheres {
        positions: &positions,
        radii: Radii::One(RADIUS),
        colors: Colors::Grains(Grains {
            materials: &materials,
            kinds: Some(&kinds),
            wetness: None,
            shaped: true,
        }),
        ids: None,
    });
    picture.ground = Some(0.0);
    picture.camera = Camera {
        position: Vec3::new(0.3, -2.3, 0.9),
        target: Vec3::new(0.0, 0.0, 0.05),
        vertical_fov: 0.37,
        ..Camera::default()
    };
    render(&picture, 960, 320)?.save_png(&path)?;
    Ok(())
}
