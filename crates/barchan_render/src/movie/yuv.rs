//! Images in the encoders' color format.

use crate::Image;
use rayon::prelude::*;

/// Luma for each pixel, and two chroma values for each 2 x 2 of them; ITU-R BT.709, limited range.
pub(crate) struct Yuv {
    /// Width and height, even [px].
    pub size: [u32; 2],
    /// Y, then U, then V.
    pub bytes: Vec<u8>,
}

impl Yuv {
    /// Creates a black image, with sides rounded up to even numbers.
    pub fn new(width: u32, height: u32) -> Self {
        let size = [width, height].map(|side| side.next_multiple_of(2));
        let pixels = size[0] as usize * size[1] as usize;
        Self {
            size,
            bytes: vec![0; pixels * 3 / 2],
        }
    }

    /// Converts an image, which is at most one row and one column smaller.
    pub fn read(&mut self, image: &Image) {
        let [width, height] = self.size.map(|side| side as usize);
        let (luma, chroma) = self.bytes.split_at_mut(width * height);
        let (blue, red) = chroma.split_at_mut(width * height / 4);
        let pixel = |x: usize, y: usize| {
            let (x, y) = (x.min(image.width as usize - 1), y.min(image.height as usize - 1));
            image.pixels[y * image.width as usize + x].map(f32::from)
        };
        let rows = luma
            .par_chunks_mut(2 * width)
            .zip(blue.par_chunks_mut(width / 2).zip(red.par_chunks_mut(width / 2)));
        rows.enumerate().for_each(|(pair, (luma, (blue, red)))| {
            for x in (0..width).step_by(2) {
                let mut mean = [0.0; 3];
                for (dx, dy) in [(0, 0), (1, 0), (0, 1), (1, 1)] {
                    let rgb = pixel(x + dx, 2 * pair + dy);
                    luma[dy * width + x + dx] = brightness(rgb);
                    for (sum, channel) in mean.iter_mut().zip(rgb) {
                        *sum += 0.25 * channel;
                    }
                }
                [blue[x / 2], red[x / 2]] = differences(mean);
            }
        });
    }

    /// Returns the three planes.
    pub fn planes(&self) -> (&[u8], &[u8], &[u8]) {
        let pixels = self.size[0] as usize * self.size[1] as usize;
        let (luma, chroma) = self.bytes.split_at(pixels);
        let (blue, red) = chroma.split_at(pixels / 4);
        (luma, blue, red)
    }
}

/// Returns Y of ITU-R BT.709: 16 to 235.
fn brightness([r, g, b]: [f32; 3]) -> u8 {
    (16.5 + (0.2126 * r + 0.7152 * g + 0.0722 * b) * (219.0 / 255.0)) as u8
}

/// Returns Cb and Cr of ITU-R BT.709: 16 to 240, 128 for gray.
fn differences([r, g, b]: [f32; 3]) -> [u8; 2] {
    let y = 0.2126 * r + 0.7152 * g + 0.0722 * b;
    [(b - y) / 1.8556, (r - y) / 1.5748].map(|difference| (128.5 + difference * (224.0 / 255.0)) as u8)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Inverts the conversion, as players do.
    fn shown(y: u8, u: u8, v: u8) -> [f32; 3] {
        let y = (f32::from(y) - 16.0) * 255.0 / 219.0;
        let (u, v) = (f32::from(u) - 128.0, f32::from(v) - 128.0);
        let (u, v) = (u * 255.0 / 224.0, v * 255.0 / 224.0);
        let (r, b) = (y + 1.5748 * v, y + 1.8556 * u);
        [r, (y - 0.2126 * r - 0.0722 * b) / 0.7152, b]
    }

    #[test]
    fn players_show_the_colors_that_went_in() {
        for color in [
            [0, 0, 0],
            [255, 255, 255],
            [255, 0, 0],
            [0, 255, 0],
            [0, 0, 255],
            [200, 150, 90],
        ] {
            let image = Image {
                width: 2,
                height: 2,
                pixels: vec![color; 4],
            };
            let mut yuv = Yuv::new(2, 2);
            yuv.read(&image);
            let (y, u, v) = yuv.planes();
            for (found, expected) in shown(y[0], u[0], v[0]).into_iter().zip(color) {
                assert!((found - f32::from(expected)).abs() < 3.0, "{found}, not {expected}");
            }
        }
    }

    #[test]
    fn an_odd_side_repeats_its_last_pixels() {
        let image = Image {
            width: 3,
            height: 1,
            pixels: vec![[10; 3], [20; 3], [200; 3]],
        };
        let mut yuv = Yuv::new(3, 1);
        yuv.read(&image);
        let (y, _, _) = yuv.planes();
        assert_eq!(yuv.size, [4, 2]);
        assert!(y[2] == y[3] && y[3] == y[7] && y[0] == y[4] && y[0] != y[1]);
    }
}
