//! Spheres, triangles and uniforms in GPU layout.

use barchan_gpu::Gpu;
use barchan_gpu::wgpu::*;
use bytemuck::{Pod, Zeroable};
use glam::{Vec3, Vec4};
use rayon::prelude::*;

use super::SAMPLES;
use crate::grain::{Palette, Shape};
use crate::lens::Lens;
use crate::normals::corner_normals;
use crate::picture::{Colors, Picture};
use crate::scene::Scene;
use crate::shade::extent;
use crate::sky::SkyGrid;
use crate::sun;

/// Largest number of spheres per buffer: 96 MiB, which every GPU can allocate in one piece.
const MAX_BATCH: usize = 1 << 22;

#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct SphereData {
    center: [f32; 3],
    radius: f32,
    id: u32,
    /// Four bytes of sRGB; or the index of a material, and its wetness in the second byte.
    color: u32,
}

pub(super) const SPHERE: VertexBufferLayout = VertexBufferLayout {
    array_stride: size_of::<SphereData>() as u64,
    step_mode: VertexStepMode::Instance,
    attributes: &vertex_attr_array![0 => Float32x4, 1 => Uint32, 2 => Uint32],
};

#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct VertexData {
    position: [f32; 3],
    normal: [f32; 3],
    /// Linear RGB, opacity.
    color: [f32; 4],
}

pub(super) const VERTEX: VertexBufferLayout = VertexBufferLayout {
    array_stride: size_of::<VertexData>() as u64,
    step_mode: VertexStepMode::Vertex,
    attributes: &vertex_attr_array![0 => Float32x3, 1 => Float32x3, 2 => Float32x4],
};

/// All geometry to draw.
pub(super) struct Shapes {
    /// Buffers with their numbers of spheres.
    spheres: Vec<(Buffer, u32)>,
    solids: Option<(Buffer, u32)>,
    glass: Option<(Buffer, u32)>,
    /// Color of the spheres, or properties and tints of their materials.
    pub palettes: Buffer,
}

impl Shapes {
    pub fn new(gpu: &Gpu, scene: &Scene, lens: &Lens) -> Self {
        let count = scene.spheres.positions.len();
        let batches = (0..count).step_by(MAX_BATCH).map(|from| {
            let range = from..count.min(from + MAX_BATCH);
            let data: Vec<SphereData> = range.into_par_iter().filter_map(|i| sphere(scene, i)).collect();
            (gpu.buffer("spheres", BufferUsages::VERTEX, &data), data.len() as u32)
        });
        let buffer = |data: Vec<VertexData>| {
            let count = data.len() as u32;
            (count > 0).then(|| (gpu.buffer("triangles", BufferUsages::VERTEX, &data), count))
        };
        let palettes: Vec<[f32; 4]> = match scene.spheres.colors {
            Colors::One(color) => vec![padded(color.into())],
            Colors::Each(_) => vec![[0.0; 4]],
            Colors::Grains(grains) => scene.palettes.iter().flat_map(|p| palette(p, grains.shaped)).collect(),
        };
        Self {
            spheres: batches.filter(|batch| batch.1 > 0).collect(),
            solids: buffer(triangles(scene, true).concat()),
            glass: buffer(sorted(triangles(scene, false), lens)),
            palettes: gpu.buffer("palettes", BufferUsages::STORAGE, &palettes),
        }
    }

    pub fn draw_spheres(&self, pass: &mut RenderPass, pipeline: &RenderPipeline) {
        pass.set_pipeline(pipeline);
        for (buffer, count) in &self.spheres {
            pass.set_vertex_buffer(0, buffer.slice(..));
            pass.draw(0..4, 0..*count);
        }
    }

    pub fn draw_solids(&self, pass: &mut RenderPass, pipeline: &RenderPipeline) {
        draw(&self.solids, pass, pipeline);
    }

    pub fn draw_glass(&self, pass: &mut RenderPass, pipeline: &RenderPipeline) {
        draw(&self.glass, pass, pipeline);
    }
}

fn draw(vertices: &Option<(Buffer, u32)>, pass: &mut RenderPass, pipeline: &RenderPipeline) {
    if let Some((buffer, count)) = vertices {
        pass.set_pipeline(pipeline);
        pass.set_vertex_buffer(0, buffer.slice(..));
        pass.draw(0..*count, 0..1);
    }
}

fn sphere(scene: &Scene, index: usize) -> Option<SphereData> {
    let ball = scene.ball(index)?;
    let color = match scene.spheres.colors {
        Colors::One(_) => 0,
        Colors::Each(colors) => {
            let [r, g, b] = colors[index];
            u32::from_le_bytes([r, g, b, 255])
        }
        Colors::Grains(grains) => {
            let wetness = (255.0 * grains.wetness(index)).round() as u32;
            grains.kind(index) as u32 | wetness << 8
        }
    };
    Some(SphereData {
        center: ball.center.to_array(),
        radius: ball.radius,
        id: ball.id,
        color,
    })
}

/// Returns a palette as the shaders read it: shape and spread, then the tints.
fn palette(palette: &Palette, shaped: bool) -> impl Iterator<Item = [f32; 4]> {
    let Shape { stretch, facets, edge } = palette.shape;
    let stretch = if shaped { stretch } else { 1.0 };
    let properties = [stretch, facets, edge, palette.spread];
    [properties].into_iter().chain(palette.tints.map(padded))
}

fn triangles(scene: &Scene, solid: bool) -> Vec<[VertexData; 3]> {
    let mut all = Vec::new();
    for (index, mesh) in scene
        .meshes
        .iter()
        .enumerate()
        .filter(|(_, mesh)| mesh.is_solid() == solid)
    {
        let color = Vec3::from_array(mesh.color).extend(mesh.opacity).to_array();
        for (triangle, normals) in corner_normals(mesh).into_iter().enumerate() {
            let corners = scene.corners(index, triangle);
            all.extend(corners.map(|corners| {
                [0, 1, 2].map(|k| VertexData {
                    position: corners[k].to_array(),
                    normal: normals[k].to_array(),
                    color,
                })
            }));
        }
    }
    all
}

/// Sorts from far to near, the order of blending.
fn sorted(mut triangles: Vec<[VertexData; 3]>, lens: &Lens) -> Vec<VertexData> {
    let depth = |triangle: &[VertexData; 3]| {
        let sum: Vec3 = triangle.iter().map(|vertex| Vec3::from_array(vertex.position)).sum();
        lens.local(sum / 3.0).z
    };
    triangles.sort_by(|a, b| depth(b).total_cmp(&depth(a)));
    triangles.concat()
}

fn padded(v: Vec3) -> [f32; 4] {
    v.extend(0.0).to_array()
}

/// `View` of the shaders.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub(super) struct ViewUniform {
    origin: [f32; 4],
    right: [f32; 4],
    down: [f32; 4],
    forward: [f32; 4],
    middle: [f32; 2],
    size: [f32; 2],
    scale: f32,
    near: f32,
    least_radius: f32,
    perspective: f32,
    depth_low: f32,
    depth_high: f32,
    padding: [f32; 2],
}

impl ViewUniform {
    pub fn of_camera(lens: &Lens) -> Self {
        Self::of_lens(lens, [0.0, 1.0])
    }

    /// Returns the view of the sun; arbitrary without its lens, because nothing is drawn then.
    pub fn of_sun(lens: Option<&Lens>, scene: &Scene) -> Self {
        let (Some(lens), Some((low, high))) = (lens, scene.focus) else {
            let any = Lens::of_light(Vec3::NEG_Z, Vec3::ZERO, 1.0, [0, 0]);
            return Self::of_lens(&any, [0.0, 1.0]);
        };
        let half = 0.5 * (high - low);
        let reach = half.dot(lens.forward.abs()).max(f32::MIN_POSITIVE);
        Self::of_lens(lens, [-1.01 * reach, 1.01 * reach])
    }

    fn of_lens(lens: &Lens, [depth_low, depth_high]: [f32; 2]) -> Self {
        let side = SAMPLES as f32;
        Self {
            origin: padded(lens.origin),
            right: padded(lens.right),
            down: padded(lens.down),
            forward: padded(lens.forward),
            middle: (side * lens.middle).to_array(),
            size: lens.size.map(|pixels| side * pixels as f32),
            scale: lens.scale / side,
            near: lens.near,
            least_radius: side * lens.least_radius,
            perspective: f32::from(u8::from(lens.perspective)),
            depth_low,
            depth_high,
            padding: [0.0; 2],
        }
    }
}

/// `Scene` of the shaders.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub(super) struct SceneUniform {
    towards_sun: [f32; 4],
    sun_color: [f32; 4],
    grid_low: [f32; 4],
    grid_size: [f32; 4],
    middle: [f32; 4],
    ground: f32,
    has_ground: f32,
    has_grid: f32,
    typical_radius: f32,
    color_mode: f32,
    texel: f32,
    softness: f32,
    samples: f32,
}

impl SceneUniform {
    pub fn new(
        picture: &Picture,
        scene: &Scene,
        towards_sun: Vec3,
        grid: Option<&SkyGrid>,
        map: Option<&(Lens, f32)>,
    ) -> Self {
        let (middle, radius) = extent(scene);
        let flag = |on: bool| f32::from(u8::from(on));
        // Replaces an infinite depth by a number that shaders can compute with.
        let floor = |grid: &SkyGrid| grid.floor.max(-1e30);
        Self {
            towards_sun: padded(towards_sun),
            sun_color: padded(picture.sun.color.into()),
            grid_low: grid.map_or(Vec4::ONE, |grid| grid.low.extend(grid.cell)).to_array(),
            grid_size: grid
                .map_or(Vec4::ONE, |grid| grid.size.as_vec3().extend(floor(grid)))
                .to_array(),
            middle: middle.extend(radius).to_array(),
            ground: scene.ground.unwrap_or(0.0),
            has_ground: flag(scene.ground.is_some()),
            has_grid: flag(grid.is_some()),
            typical_radius: scene.typical_radius,
            color_mode: match scene.spheres.colors {
                Colors::One(_) => 0.0,
                Colors::Each(_) => 1.0,
                Colors::Grains(_) => 2.0,
            },
            texel: map.map_or(1.0, |map| map.1),
            softness: sun::softness(picture.sun.angular_radius),
            samples: SAMPLES as f32,
        }
    }
}
