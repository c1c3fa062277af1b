use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use glam::DVec2;

use super::heightmap::check_size;
use super::{Heightmap, ShapeError};

impl Heightmap {
    /// Creates terrain of `size` [m] in x and y from a PNG image, black at 0 and white at `height` [m], solid to
    /// `thickness` [m] below zero. The image is oriented as on a map: x to the right, y up. Any bit depth; colors count
    /// by their brightness ([BT.709] weights on the stored values), transparency is ignored.
    pub fn from_png(path: &Path, size: DVec2, height: f64, thickness: f64) -> Result<Self, ShapeError> {
        let (samples, columns) = read_samples(path)?;
        Self::new(samples, columns, size, height, thickness)
    }
}

/// Reads the brightness 0 to 1 of all pixels, from the lowest row up, and the number of pixels per row.
fn read_samples(path: &Path) -> Result<(Vec<f32>, usize), ShapeError> {
    let owned_path = || path.to_path_buf();
    let file = File::open(path).map_err(|source| ShapeError::ImageFile {
        path: owned_path(),
        source,
    })?;
    let bad = |source| ShapeError::ImageFormat {
        path: owned_path(),
        source,
    };
    let mut decoder = png::Decoder::new(BufReader::new(file));
    decoder.set_transformations(png::Transformations::EXPAND);
    let mut reader = decoder.read_info().map_err(bad)?;
    let info = reader.info();
    let (columns, rows) = (info.width as usize, info.height as usize);
    // Before memory is allocated for the image: the header may claim any size.
    check_size(columns, rows)?;
    let bytes = reader.output_buffer_size().unwrap_or(0);
    let mut image = vec![0; bytes];
    let frame = reader.next_frame(&mut image).map_err(bad)?;

    let wide = frame.bit_depth == png::BitDepth::Sixteen;
    let channels = frame.color_type.samples();
    let mut samples = Vec::with_capacity(columns * rows);
    for row in image.chunks_exact(frame.line_size).take(rows).rev() {
        let value = |k: usize| {
            if wide {
                f64::from(u16::from_be_bytes([row[2 * k], row[2 * k + 1]])) / f64::from(u16::MAX)
            } else {
                f64::from(row[k]) / f64::from(u8::MAX)
            }
        };
        samples.extend((0..columns).map(|column| {
            let k = channels * column;
            let grey = if channels < 3 {
                value(k)
            } else {
                brightness([value(k), value(k + 1), value(k + 2)])
            };
            grey as f32
        }));
    }
    Ok((samples, columns))
}

/// Returns the relative luminance [-] of red, green and blue, 0 to 1: [BT.709] section 3.2.
fn brightness([red, green, blue]: [f64; 3]) -> f64 {
    (0.2126 * red + 0.7152 * green + 0.0722 * blue).min(1.0)
}

#[cfg(test)]
mod tests {
    use glam::DVec3;

    use super::*;
    use crate::Shape;

    fn write(name: &str, color: png::ColorType, depth: png::BitDepth, width: u32, bytes: &[u8]) -> tempfile::TempPath {
        let file = tempfile::Builder::new().prefix(name).suffix(".png").tempfile().unwrap();
        let per_row = width as usize * color.samples() * depth as usize / 8;
        let mut encoder = png::Encoder::new(file.as_file(), width, (bytes.len() / per_row) as u32);
        encoder.set_color(color);
        encoder.set_depth(depth);
        encoder.write_header().unwrap().write_image_data(bytes).unwrap();
        file.into_temp_path()
    }

    /// Returns the height of the surface at the four corners, measured from far above.
    fn corner_heights(path: &Path) -> [f64; 4] {
        let map = Heightmap::from_png(path, DVec2::new(2.0, 2.0), 10.0, 1.0).unwrap();
        [(-1.0, -1.0), (1.0, -1.0), (-1.0, 1.0), (1.0, 1.0)].map(|(x, y)| {
            let (mut low, mut high) = (-1.0, 11.0);
            for _ in 0..60 {
                let middle = 0.5 * (low + high);
                let inside = map.distance(DVec3::new(x * (1.0 - 1e-12), y * (1.0 - 1e-12), middle)) < 0.0;
                if inside { low = middle } else { high = middle }
            }
            low
        })
    }

    #[test]
    fn pixels_of_any_depth_become_heights_with_the_last_row_at_least_y() {
        use png::{BitDepth, ColorType};
        let grey8 = write("grey8", ColorType::Grayscale, BitDepth::Eight, 2, &[51, 102, 0, 255]);
        let grey16 = write(
            "grey16",
            ColorType::Grayscale,
            BitDepth::Sixteen,
            2,
            &[51, 51, 102, 102, 0, 0, 255, 255],
        );
        let pairs = [51, 102, 0, 255].map(|v| [v, v, v, 7]).concat();
        let rgba8 = write("rgba8", ColorType::Rgba, BitDepth::Eight, 2, &pairs);
        for path in [&grey8, &grey16, &rgba8] {
            let heights = corner_heights(path);
            for (height, expected) in heights.iter().zip([0.0, 10.0, 2.0, 4.0]) {
                assert!((height - expected).abs() < 1e-5, "{heights:?}");
            }
        }
    }

    #[test]
    fn one_bit_images_reach_from_black_to_white() {
        let file = tempfile::Builder::new().suffix(".png").tempfile().unwrap();
        let mut encoder = png::Encoder::new(file.as_file(), 2, 2);
        encoder.set_color(png::ColorType::Grayscale);
        encoder.set_depth(png::BitDepth::One);
        encoder
            .write_header()
            .unwrap()
            .write_image_data(&[0b1000_0000, 0b0100_0000])
            .unwrap();
        let heights = corner_heights(file.path());
        for (height, expected) in heights.iter().zip([0.0, 10.0, 10.0, 0.0]) {
            assert!((height - expected).abs() < 1e-5, "{heights:?}");
        }
    }

    #[test]
    fn what_is_no_image_is_refused_by_name() {
        let missing = Heightmap::from_png(Path::new("no such.png"), DVec2::ONE, 1.0, 1.0).unwrap_err();
        assert!(matches!(missing, ShapeError::ImageFile { .. }), "{missing}");
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "not a picture").unwrap();
        let text = Heightmap::from_png(file.path(), DVec2::ONE, 1.0, 1.0).unwrap_err();
        assert!(matches!(text, ShapeError::ImageFormat { .. }), "{text}");
        let line = write("line", png::ColorType::Grayscale, png::BitDepth::Eight, 3, &[1, 2, 3]);
        let line = Heightmap::from_png(&line, DVec2::ONE, 1.0, 1.0).unwrap_err();
        assert!(
            matches!(
                line,
                ShapeError::ImageSize {
                    columns: 3,
                    rows: 1,
                    ..
                }
            ),
            "{line}"
        );
    }
}
