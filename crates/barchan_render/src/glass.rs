//! Transparent meshes, blended over the opaque picture from far to near.

use crate::bins::Bins;
use crate::raster::{TILE, seen_bounds, tiles};
use crate::scene::Surface;
use crate::shade::{Shader, background};
use crate::triangle::Triangle;
use glam::{Vec2, Vec3, Vec4};

/// Reflectance of glass at normal incidence [-].
pub(crate) const REFLECTANCE: f32 = 0.04;
/// Reflected light of the sky in glass relative to the background [-].
pub(crate) const SHEEN: f32 = 0.9;

/// A surface in a pixel.
struct Layer {
    pixel: u16,
    /// Samples that see it, one bit each.
    lanes: u8,
    depth: f32,
    id: u32,
}

/// Glass triangles by tile.
pub(crate) struct Glass {
    bins: Option<Bins>,
}

impl Glass {
    pub fn new(shader: &Shader) -> Self {
        let (scene, lens) = (shader.scene, shader.lens);
        let any = scene.meshes.iter().any(|mesh| !mesh.is_solid());
        let first = scene.spheres.positions.len();
        let [columns, rows] = [shader.samples.columns, shader.samples.rows];
        Self {
            bins: any.then(|| {
                Bins::build(scene.surfaces() - first, columns, rows, |k| {
                    tiles(lens, seen_bounds(lens, scene, (first + k) as u32, false))
                })
            }),
        }
    }

    /// Blends the glass of a tile over the light of its pixels.
    pub fn cover(&self, shader: &Shader, tile: usize, light: &mut [[Vec4; 4]]) {
        let Some(bins) = &self.bins else { return };
        let columns = shader.samples.columns;
        let corner = [tile % columns * TILE, tile / columns * TILE];
        let first = shader.scene.spheres.positions.len() as u32;
        let mut layers = Vec::new();
        for k in bins.of(tile) {
            find_layers(shader, corner, tile, first + k, &mut layers);
        }
        layers.sort_unstable_by(|a: &Layer, b| {
            a.pixel
                .cmp(&b.pixel)
                .then(b.depth.total_cmp(&a.depth))
                .then(a.id.cmp(&b.id))
        });
        for layer in &layers {
            lay(shader, corner, layer, &mut light[usize::from(layer.pixel)]);
        }
    }
}

/// Adds the pixels in which a triangle is visible in front of all opaque surfaces.
fn find_layers(shader: &Shader, corner: [usize; 2], tile: usize, id: u32, layers: &mut Vec<Layer>) {
    let Some((triangle, _, _)) = triangle(shader, id) else {
        return;
    };
    let bounds = triangle.bounds;
    let origin = Vec2::new(corner[0] as f32, corner[1] as f32);
    let local = triangle.at(origin);
    let lanes = shader.lens.lanes;
    let solid = &shader.samples.depth[tile * TILE * TILE..][..TILE * TILE];
    let near = Vec4::splat(shader.lens.near);
    let (low, high) = ((bounds.min - origin).max(Vec2::ZERO), bounds.max - origin);
    for y in low.y as usize..((high.y.max(-1.0) + 1.0) as usize).min(TILE) {
        for x in low.x as usize..((high.x.max(-1.0) + 1.0) as usize).min(TILE) {
            let depth = local.depth(lanes[0] + x as f32, lanes[1] + y as f32);
            let seen = (depth.cmplt(solid[y * TILE + x]) & depth.cmpgt(near)).bitmask();
            if seen != 0 {
                layers.push(Layer {
                    pixel: (y * TILE + x) as u16,
                    lanes: seen as u8,
                    depth: depth.min_element(),
                    id,
                });
            }
        }
    }
}

/// Returns a glass triangle on the image, with its mesh and index.
fn triangle(shader: &Shader, id: u32) -> Option<(Triangle, usize, usize)> {
    let Surface::Triangle(mesh, index) = shader.scene.surface(id) else {
        return None;
    };
    let corners = shader.scene.corners(mesh, index)?;
    Triangle::new(shader.lens, corners).map(|triangle| (triangle, mesh, index))
}

fn lay(shader: &Shader, corner: [usize; 2], layer: &Layer, light: &mut [Vec4; 4]) {
    let Some((triangle, mesh, index)) = triangle(shader, layer.id) else {
        return;
    };
    let pixel = usize::from(layer.pixel);
    let place = Vec2::new((corner[0] + pixel % TILE) as f32, (corner[1] + pixel / TILE) as f32) + 0.5;
    let ray = shader.lens.ray(place).normalize();
    let normal = shader.triangle_normal(mesh, index, triangle.weights(place), ray);
    let glass = &shader.scene.meshes[mesh];
    let (color, opacity) = (Vec3::from_array(glass.color), glass.opacity.clamp(0.0, 1.0));

    let cosine = -normal.dot(ray);
    // Schlick's approximation of the Fresnel reflectance.
    let reflected = REFLECTANCE + (1.0 - REFLECTANCE) * (1.0 - cosine).max(0.0).powi(5);
    let mirror = ray - 2.0 * normal.dot(ray) * normal;
    let glint = mirror.dot(shader.towards_sun).max(0.0).powi(400);
    let sheen = SHEEN * background(mirror) + 6.0 * glint * shader.sun_color;
    // A wall seen edge-on is thicker along the ray and absorbs more.
    let held = 1.0 - (1.0 - opacity).powf(1.0 / cosine.max(0.15));
    let (behind, sheen) = ((1.0 - held) * (1.0 - reflected), (reflected * sheen).extend(reflected));
    let body = color * background(Vec3::Z) * (0.5 + 0.5 * normal.dot(shader.towards_sun).max(0.0));
    let body = ((1.0 - reflected) * held * body).extend((1.0 - reflected) * held);
    for (lane, light) in light.iter_mut().enumerate() {
        if layer.lanes >> lane & 1 == 1 {
            *light = behind * *light + body + sheen;
        }
    }
}
