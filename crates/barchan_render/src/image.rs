//! Images.

use crate::Error;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

/// An sRGB image with 8 bits per channel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    /// Width [px].
    pub width: u32,
    /// Height [px].
    pub height: u32,
    /// Red, green and blue, row by row from the top left.
    pub pixels: Vec<[u8; 3]>,
}

impl Image {
    /// Returns the pixel in column `x` and row `y`, counted from the top left.
    ///
    /// # Panics
    /// If there is no such pixel.
    pub fn pixel(&self, x: u32, y: u32) -> [u8; 3] {
        assert!(x < self.width && y < self.height, "no pixel {x}, {y}");
        self.pixels[y as usize * self.width as usize + x as usize]
    }

    /// Joins two images of equal height side by side, with a white line between them.
    ///
    /// # Panics
    /// If their heights differ.
    pub fn beside(&self, right: &Self) -> Self {
        assert_eq!(self.height, right.height, "images side by side");
        let rows = self
            .pixels
            .chunks(self.width as usize)
            .zip(right.pixels.chunks(right.width as usize));
        let mut pixels: Vec<[u8; 3]> = rows.flat_map(|(left, right)| [left, right].concat()).collect();
        let width = self.width + right.width;
        for row in pixels.chunks_mut(width as usize) {
            row[self.width as usize] = [255; 3];
        }
        Self {
            width,
            height: self.height,
            pixels,
        }
    }

    /// Writes a PNG.
    pub fn write_png(&self, to: impl Write) -> Result<(), Error> {
        let mut encoder = png::Encoder::new(to, self.width, self.height);
        encoder.set_color(png::ColorType::Rgb);
        encoder.set_depth(png::BitDepth::Eight);
        encoder.set_source_srgb(png::SrgbRenderingIntent::Perceptual);
        let mut writer = encoder.write_header()?;
        writer.write_image_data(self.pixels.as_flattened())?;
        Ok(writer.finish()?)
    }

    /// Writes a PNG file.
    pub fn save_png(&self, path: impl AsRef<Path>) -> Result<(), Error> {
        let path = path.as_ref();
        let file = File::create(path).map_err(|source| Error::File {
            path: path.to_owned(),
            source,
        })?;
        self.write_png(BufWriter::new(file))
    }
}
