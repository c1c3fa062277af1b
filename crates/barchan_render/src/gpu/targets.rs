//! Render targets, and the textures of the sky grids.

use barchan_gpu::Gpu;
use barchan_gpu::wgpu::*;
use rayon::prelude::*;

use super::SAMPLES;
use crate::Image;
use crate::lens::Lens;
use crate::sky::SkyGrid;

pub(super) const DEPTH: TextureFormat = TextureFormat::Depth32Float;
/// Depth, normal and albedo of the visible surface.
pub(super) const SURFACE: [TextureFormat; 3] = [
    TextureFormat::R32Float,
    TextureFormat::Rgba16Float,
    TextureFormat::Rgba16Float,
];
pub(super) const LIGHT: TextureFormat = TextureFormat::Rgba16Float;
pub(super) const IMAGE: TextureFormat = TextureFormat::Rgba8Unorm;

/// Everything of the image's size.
pub(super) struct Targets {
    /// Width and height of the image [px].
    pub size: [u32; 2],
    pub surface: [TextureView; 3],
    pub light: TextureView,
    depth: TextureView,
    image: Texture,
    image_view: TextureView,
    /// The image, row by row, readable by the CPU.
    pub readable: Buffer,
}

fn texture(device: &Device, [width, height]: [u32; 2], format: TextureFormat, usage: TextureUsages) -> Texture {
    device.create_texture(&TextureDescriptor {
        label: None,
        size: Extent3d {
            width,
            height,
            depth_or_array_layers: 1,
        },
        mip_level_count: 1,
        sample_count: 1,
        dimension: TextureDimension::D2,
        format,
        usage: usage | TextureUsages::RENDER_ATTACHMENT,
        view_formats: &[],
    })
}

fn view(texture: &Texture) -> TextureView {
    texture.create_view(&TextureViewDescriptor::default())
}

/// Returns the bytes per row of the image as it is copied.
fn row_bytes(width: u32) -> u32 {
    (4 * width).next_multiple_of(COPY_BYTES_PER_ROW_ALIGNMENT)
}

fn color(view: &TextureView, load: LoadOp<Color>) -> Option<RenderPassColorAttachment<'_>> {
    Some(RenderPassColorAttachment {
        view,
        depth_slice: None,
        resolve_target: None,
        ops: Operations {
            load,
            store: StoreOp::Store,
        },
    })
}

fn depth(view: &TextureView, load: LoadOp<f32>) -> Option<RenderPassDepthStencilAttachment<'_>> {
    Some(RenderPassDepthStencilAttachment {
        view,
        depth_ops: Some(Operations {
            load,
            store: StoreOp::Store,
        }),
        stencil_ops: None,
    })
}

/// Creates the depth map of the sun; one texel without a lens.
pub(super) fn shadow_map(device: &Device, lens: Option<&Lens>) -> TextureView {
    let size = lens.map_or([1, 1], |lens| lens.size.map(|pixels| 2 * pixels as u32));
    view(&texture(device, size, DEPTH, TextureUsages::TEXTURE_BINDING))
}

pub(super) fn shadow_pass(map: &TextureView) -> RenderPassDescriptor<'_> {
    RenderPassDescriptor {
        label: Some("shadow"),
        color_attachments: &[],
        depth_stencil_attachment: depth(map, LoadOp::Clear(1.0)),
        ..Default::default()
    }
}

impl Targets {
    pub fn new(device: &Device, size: [u32; 2]) -> Self {
        let fine = size.map(|pixels| SAMPLES * pixels);
        let seen = |format| view(&texture(device, fine, format, TextureUsages::TEXTURE_BINDING));
        let image = texture(device, size, IMAGE, TextureUsages::COPY_SRC);
        Self {
            size,
            surface: SURFACE.map(seen),
            light: seen(LIGHT),
            depth: seen(DEPTH),
            image_view: view(&image),
            image,
            readable: device.create_buffer(&BufferDescriptor {
                label: Some("image"),
                size: u64::from(row_bytes(size[0])) * u64::from(size[1]),
                usage: BufferUsages::COPY_DST | BufferUsages::MAP_READ,
                mapped_at_creation: false,
            }),
        }
    }

    /// Draws spheres, meshes and ground.
    pub fn surface_pass(&self, encoder: &mut CommandEncoder, draw: impl FnOnce(&mut RenderPass)) {
        let nothing = LoadOp::Clear(Color::TRANSPARENT);
        let [depths, normal, albedo] = &self.surface;
        let attachments = [depths, normal, albedo].map(|view| color(view, nothing));
        draw(&mut encoder.begin_render_pass(&RenderPassDescriptor {
            label: Some("surface"),
            color_attachments: &attachments,
            depth_stencil_attachment: depth(&self.depth, LoadOp::Clear(0.0)),
            ..Default::default()
        }));
    }

    /// Computes the light of each sample.
    pub fn light_pass(&self, encoder: &mut CommandEncoder, draw: impl FnOnce(&mut RenderPass)) {
        draw(&mut encoder.begin_render_pass(&RenderPassDescriptor {
            label: Some("light"),
            color_attachments: &[color(&self.light, LoadOp::Clear(Color::BLACK))],
            ..Default::default()
        }));
    }

    /// Blends glass over it.
    pub fn glass_pass(&self, encoder: &mut CommandEncoder, draw: impl FnOnce(&mut RenderPass)) {
        draw(&mut encoder.begin_render_pass(&RenderPassDescriptor {
            label: Some("glass"),
            color_attachments: &[color(&self.light, LoadOp::Load)],
            depth_stencil_attachment: depth(&self.depth, LoadOp::Load),
            ..Default::default()
        }));
    }

    /// Converts light to 8 bits.
    pub fn develop_pass(&self, encoder: &mut CommandEncoder, draw: impl FnOnce(&mut RenderPass)) {
        draw(&mut encoder.begin_render_pass(&RenderPassDescriptor {
            label: Some("develop"),
            color_attachments: &[color(&self.image_view, LoadOp::Clear(Color::BLACK))],
            ..Default::default()
        }));
    }

    /// Copies the image to the readable buffer.
    pub fn fetch(&self, encoder: &mut CommandEncoder) {
        let layout = TexelCopyBufferLayout {
            offset: 0,
            bytes_per_row: Some(row_bytes(self.size[0])),
            rows_per_image: None,
        };
        let to = TexelCopyBufferInfo {
            buffer: &self.readable,
            layout,
        };
        encoder.copy_texture_to_buffer(self.image.as_image_copy(), to, self.image.size());
    }

    /// Decodes the image from the bytes of `readable`.
    pub fn image(&self, bytes: &[u8]) -> Image {
        let [width, height] = self.size;
        let rows = bytes.chunks(row_bytes(width) as usize).take(height as usize);
        let pixels = rows.flat_map(|row| row[..4 * width as usize].chunks(4).map(|p| [p[0], p[1], p[2]]));
        Image {
            width,
            height,
            pixels: pixels.collect(),
        }
    }
}

/// The grids of the sky as textures; of one cell without a grid.
pub(super) struct Grids {
    pub light: TextureView,
    pub clear: TextureView,
}

impl Grids {
    pub fn new(gpu: &Gpu, grid: Option<&SkyGrid>) -> Self {
        let size = grid.map_or([1; 3], |grid| grid.size.to_array());
        let make = |format, halves: &[u16]| {
            let texture = gpu.device.create_texture(&TextureDescriptor {
                label: None,
                size: Extent3d {
                    width: size[0],
                    height: size[1],
                    depth_or_array_layers: size[2],
                },
                mip_level_count: 1,
                sample_count: 1,
                dimension: TextureDimension::D3,
                format,
                usage: TextureUsages::TEXTURE_BINDING | TextureUsages::COPY_DST,
                view_formats: &[],
            });
            let bytes: &[u8] = bytemuck::cast_slice(halves);
            let row = bytes.len() as u32 / (size[1] * size[2]);
            let layout = TexelCopyBufferLayout {
                offset: 0,
                bytes_per_row: Some(row),
                rows_per_image: Some(size[1]),
            };
            gpu.queue
                .write_texture(texture.as_image_copy(), bytes, layout, texture.size());
            view(&texture)
        };
        let (light, clear) = match grid {
            None => (vec![0; 4], vec![0]),
            Some(grid) => (
                grid.light
                    .par_iter()
                    .flat_map_iter(|light| light.to_array().map(half))
                    .collect(),
                grid.clear.par_iter().map(|&clear| half(clear)).collect::<Vec<u16>>(),
            ),
        };
        Self {
            light: make(TextureFormat::Rgba16Float, &light),
            clear: make(TextureFormat::R16Float, &clear),
        }
    }
}

/// Returns the half-precision bits of a number in [-1, 1], rounded toward zero; subnormal numbers become zero.
fn half(value: f32) -> u16 {
    let bits = value.to_bits();
    let sign = (bits >> 16 & 0x8000) as u16;
    let magnitude = bits & 0x7FFF_FFFF;
    // 2^-14 is the smallest normal half; exponents differ by 127 - 15.
    if magnitude < 0x3880_0000 {
        return sign;
    }
    sign | ((magnitude - 0x3800_0000) >> 13) as u16
}

#[cfg(test)]
mod tests {
    use super::half;

    #[test]
    fn halves_are_within_a_thousandth() {
        for k in -1000..=1000 {
            let value = k as f32 / 1000.0;
            let bits = half(value);
            let (exponent, fraction) = (i32::from(bits >> 10 & 31), f32::from(bits & 1023));
            let magnitude = if exponent == 0 {
                0.0
            } else {
                (1.0 + fraction / 1024.0) * 2f32.powi(exponent - 15)
            };
            let back = if bits & 0x8000 == 0 { magnitude } else { -magnitude };
            assert!(
                (back - value).abs() <= 1e-3 * value.abs() + 1e-4,
                "{value} became {back}"
            );
        }
    }
}
