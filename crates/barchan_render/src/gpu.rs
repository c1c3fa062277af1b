//! Draws the same pictures on a GPU.
//!
//! Spheres are quads whose fragments compute their own depth. Spheres, meshes and the ground write depth, normal and
//! albedo to buffers of 2 x 2 samples per pixel (`geometry.wgsl`). The sun's shadows use a depth map as on the CPU, the
//! sky's light the same grid. Then each sample is lit, glass is blended over it from far to near, and the samples of a
//! pixel are averaged (`light.wgsl`).

mod pipelines;
mod targets;
mod upload;

use barchan_gpu::wgpu;
use barchan_gpu::{Gpu, GpuError};
use glam::Vec3;

use crate::lens::Lens;
use crate::render::check;
use crate::scene::Scene;
use crate::sky::SkyGrid;
use crate::{Error, Image, Picture, sun};
use pipelines::Pipelines;
use targets::{Grids, Targets};
use upload::{SceneUniform, Shapes, ViewUniform};

/// Samples along the side of a pixel.
const SAMPLES: u32 = 2;

/// Draws on a GPU.
pub struct GpuRenderer {
    gpu: Gpu,
    pipelines: Pipelines,
    /// Reused between pictures of one size.
    targets: Option<Targets>,
}

impl GpuRenderer {
    /// Creates the pipelines on a GPU.
    pub fn new(gpu: Gpu) -> Result<Self, Error> {
        let pipelines = gpu.attempt(|| Ok(Pipelines::new(&gpu.device)))?;
        Ok(Self {
            gpu,
            pipelines,
            targets: None,
        })
    }

    /// Returns the GPU.
    pub fn gpu(&self) -> &Gpu {
        &self.gpu
    }

    /// Draws a picture as an image of `width` x `height` [px].
    pub fn render(&mut self, picture: &Picture, width: u32, height: u32) -> Result<Image, Error> {
        let (lens, towards_sun, scene) = check(picture, width, height)?;
        let limit = self.gpu.device.limits().max_texture_dimension_2d;
        if SAMPLES * width.max(height) > limit {
            return Err(Error::Size {
                width,
                height,
                limit: limit / SAMPLES,
            });
        }
        let gpu = self.gpu.clone();
        let size = [width, height];
        if self.targets.as_ref().is_none_or(|targets| targets.size != size) {
            self.targets = Some(gpu.attempt(|| Ok(Targets::new(&gpu.device, size)))?);
        }
        let Some(targets) = &self.targets else {
            unreachable!("made above");
        };
        let bytes = gpu.attempt(|| self.draw(targets, picture, &lens, towards_sun, &scene))?;
        Ok(targets.image(&bytes))
    }

    fn draw(
        &self,
        targets: &Targets,
        picture: &Picture,
        lens: &Lens,
        towards_sun: Vec3,
        scene: &Scene,
    ) -> Result<Vec<u8>, GpuError> {
        let gpu = &self.gpu;
        let shapes = Shapes::new(gpu, scene, lens);
        let grid = SkyGrid::new(scene);
        let grids = Grids::new(gpu, grid.as_ref());
        let map = sun::lens(scene, towards_sun);
        let uniform = SceneUniform::new(picture, scene, towards_sun, grid.as_ref(), map.as_ref());
        let uniform = gpu.buffer("scene", wgpu::BufferUsages::UNIFORM, &[uniform]);
        let views = [
            ViewUniform::of_camera(lens),
            ViewUniform::of_sun(map.as_ref().map(|map| &map.0), scene),
        ];
        let [view, sun_view] = views.map(|view| gpu.buffer("view", wgpu::BufferUsages::UNIFORM, &[view]));
        let shadows = targets::shadow_map(&gpu.device, map.as_ref().map(|map| &map.0));

        let pipelines = &self.pipelines;
        let from_camera = pipelines.bind_scene(&gpu.device, &view, &uniform, &grids, &shapes.palettes);
        let from_sun = pipelines.bind_scene(&gpu.device, &sun_view, &uniform, &grids, &shapes.palettes);
        let seen = pipelines.bind_seen(&gpu.device, targets, &shadows, &grids, &sun_view);
        let light = pipelines.bind_light(&gpu.device, targets);

        let mut encoder = gpu.device.create_command_encoder(&Default::default());
        {
            let mut pass = encoder.begin_render_pass(&targets::shadow_pass(&shadows));
            pass.set_bind_group(0, &from_sun, &[]);
            shapes.draw_spheres(&mut pass, &pipelines.sphere_shadow);
            shapes.draw_solids(&mut pass, &pipelines.triangle_shadow);
        }
        targets.surface_pass(&mut encoder, |pass| {
            pass.set_bind_group(0, &from_camera, &[]);
            pass.set_pipeline(&pipelines.ground);
            pass.draw(0..3, 0..1);
            shapes.draw_spheres(pass, &pipelines.sphere_surface);
            shapes.draw_solids(pass, &pipelines.triangle_surface);
        });
        targets.light_pass(&mut encoder, |pass| {
            pass.set_bind_group(0, &from_camera, &[]);
            pass.set_bind_group(1, &seen, &[]);
            pass.set_pipeline(&pipelines.shade);
            pass.draw(0..3, 0..1);
        });
        targets.glass_pass(&mut encoder, |pass| {
            pass.set_bind_group(0, &from_camera, &[]);
            shapes.draw_glass(pass, &pipelines.glass);
        });
        targets.develop_pass(&mut encoder, |pass| {
            pass.set_bind_group(0, &from_camera, &[]);
            pass.set_bind_group(1, &light, &[]);
            pass.set_pipeline(&pipelines.develop);
            pass.draw(0..3, 0..1);
        });
        targets.fetch(&mut encoder);
        gpu.queue.submit([encoder.finish()]);
        gpu.read(&targets.readable)
    }
}
