//! Pictures in layers, for compositing: light with alpha, depths and ids.

use std::io::Write;

use glam::Vec4;

use crate::exr::{self, Channel, Values};
use crate::render::draw;
use crate::scene::{GROUND, SKY, Surface};
use crate::shade::{Backdrop, Shader};
use crate::tone::Tone;
use crate::{Error, Picture, hash};

/// Number of what a pixel shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Seen {
    /// The sky.
    #[default]
    Nothing,
    /// The ground.
    Ground,
    /// The sphere of this id.
    Sphere(u32),
    /// The mesh of this index.
    Mesh(u32),
}

/// Number of the first mesh in the channel `object`; 0 is nothing, 1 the ground, 2 a sphere.
const FIRST_MESH: u32 = 3;

impl Seen {
    /// Returns the number in the channel `object`.
    pub fn object(self) -> u32 {
        match self {
            Self::Nothing => 0,
            Self::Ground => 1,
            Self::Sphere(_) => 2,
            Self::Mesh(mesh) => FIRST_MESH + mesh,
        }
    }

    /// Returns the number in the channel `id`: that of the sphere, otherwise 0.
    pub fn id(self) -> u32 {
        match self {
            Self::Sphere(id) => id,
            _ => 0,
        }
    }
}

/// A pixel of [`Layers`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LayerPixel {
    /// Linear RGB light before the film curve, multiplied by alpha, and alpha [-].
    pub light: [f32; 4],
    /// Distance of the nearest opaque surface along the view [m]; infinite without one.
    pub depth: f32,
    /// That surface.
    pub seen: Seen,
}

impl Default for LayerPixel {
    fn default() -> Self {
        Self {
            light: [0.0; 4],
            depth: f32::INFINITY,
            seen: Seen::Nothing,
        }
    }
}

/// A picture in layers.
#[derive(Clone, Debug, PartialEq)]
pub struct Layers {
    /// Width [px].
    pub width: u32,
    /// Height [px].
    pub height: u32,
    /// Pixels, row by row from the top left.
    pub pixels: Vec<LayerPixel>,
}

/// Draws a picture in layers of `width` x `height` [px], on the CPU.
pub fn render_layers(picture: &Picture, width: u32, height: u32, backdrop: Backdrop) -> Result<Layers, Error> {
    let pixels = draw(picture, width, height, backdrop, |shader, x, y, light| {
        let (depth, seen) = nearest(shader, x, y);
        LayerPixel {
            light: light.to_array(),
            depth,
            seen,
        }
    })?;
    Ok(Layers { width, height, pixels })
}

/// Returns the nearest surface of a pixel's samples.
fn nearest(shader: &Shader, x: usize, y: usize) -> (f32, Seen) {
    let pixel = shader.samples.index(x, y);
    let depth = shader.samples.depth[pixel];
    let lane = depth.min_position();
    let seen = match shader.samples.ids[pixel][lane] {
        SKY => Seen::Nothing,
        GROUND => Seen::Ground,
        id => match shader.scene.surface(id) {
            Surface::Sphere(index) => Seen::Sphere(shader.scene.spheres.id(index)),
            Surface::Triangle(mesh, _) => Seen::Mesh(mesh as u32),
        },
    };
    (depth[lane], seen)
}

impl Layers {
    /// Writes a PNG with alpha, as developed as an [`Image`](crate::Image).
    pub fn write_png(&self, to: impl Write) -> Result<(), Error> {
        let tone = Tone::new();
        let rows = self.pixels.chunks(self.width as usize).enumerate();
        let pixels = rows.flat_map(|(y, row)| row.iter().enumerate().map(move |(x, pixel)| (x, y, pixel)));
        let bytes = pixels.flat_map(|(x, y, pixel)| {
            let light = Vec4::from_array(pixel.light);
            let alpha = light.w.clamp(0.0, 1.0);
            let color = light.truncate() / alpha.max(f32::MIN_POSITIVE);
            let [r, g, b] = tone.quantize(color, hash::gradient_noise(x as u32, y as u32));
            [r, g, b, (255.0 * alpha + 0.5) as u8]
        });
        let mut encoder = png::Encoder::new(to, self.width, self.height);
        encoder.set_color(png::ColorType::Rgba);
        encoder.set_depth(png::BitDepth::Eight);
        encoder.set_source_srgb(png::SrgbRenderingIntent::Perceptual);
        let mut writer = encoder.write_header()?;
        writer.write_image_data(&bytes.collect::<Vec<u8>>())?;
        Ok(writer.finish()?)
    }

    /// Writes an OpenEXR file with the channels `R`, `G`, `B`, `A` and `Z` of 32-bit numbers, `object` and `id` of
    /// integers.
    pub fn write_exr(&self, to: impl Write) -> Result<(), Error> {
        let floats = |name, of: &dyn Fn(&LayerPixel) -> f32| Channel {
            name,
            values: Values::Floats(self.pixels.iter().map(of).collect()),
        };
        let integers = |name, of: fn(Seen) -> u32| Channel {
            name,
            values: Values::Integers(self.pixels.iter().map(|pixel| of(pixel.seen)).collect()),
        };
        let channels = vec![
            floats("R", &|pixel| pixel.light[0]),
            floats("G", &|pixel| pixel.light[1]),
            floats("B", &|pixel| pixel.light[2]),
            floats("A", &|pixel| pixel.light[3]),
            floats("Z", &|pixel| pixel.depth),
            integers("object", Seen::object),
            integers("id", Seen::id),
        ];
        exr::write(to, [self.width, self.height], channels).map_err(Error::Exr)
    }
}
