//! What is written over a finished picture: a labelled colour bar.

use font8x8::legacy::{BASIC_LEGACY, LATIN_LEGACY};

use crate::{ColorMap, Image};

/// Side of a letter before it is enlarged [px].
const LETTER: u32 = 8;
/// Light that shows through the panel behind the bar, of 256 [-].
const THROUGH: u32 = 90;
/// A screen of so many rows shows letters as they are; a taller one enlarges them [px].
const ROWS: u32 = 360;

/// What colours mean.
#[derive(Clone, Debug, PartialEq)]
pub struct Legend {
    /// What is shown, with its unit.
    pub title: String,
    /// The numbers at both ends.
    pub range: [f32; 2],
    /// The colours between them.
    pub map: ColorMap,
}

impl Legend {
    /// Draws the bar into the lower left corner. An image that has no room for it stays as it is.
    pub fn draw(&self, image: &mut Image) {
        let size = (image.height / ROWS).max(1);
        let letter = LETTER * size;
        let margin = 2 * letter;
        let labels = [0.0, 0.5, 1.0].map(|part| number(self.range[0] + part * (self.range[1] - self.range[0])));
        let longest = labels.iter().map(|label| label.chars().count()).max().unwrap_or(0) as u32;
        let bar = (20 * letter).max((3 * longest + 2) * letter);
        let width = bar.max(self.title.chars().count() as u32 * letter) + 2 * letter;
        let height = 6 * letter;
        if image.width < width + 2 * margin || image.height < height + 2 * margin {
            return;
        }
        let (left, top) = (margin, image.height - margin - height);
        for (x, y) in cells(width, height) {
            let pixel = pixel(image, left + x, top + y);
            *pixel = pixel.map(|c| (u32::from(c) * THROUGH / 256) as u8);
        }
        let left = left + letter;
        write(image, [left, top + letter], size, &self.title);
        for (x, y) in cells(bar, letter) {
            *pixel(image, left + x, top + 5 * letter / 2 + y) = self.map.color(x as f32 / (bar - 1) as f32);
        }
        for (k, label) in labels.iter().enumerate() {
            let length = label.chars().count() as u32 * letter;
            let at = left + k as u32 * (bar - length) / 2;
            write(image, [at, top + 4 * letter], size, label);
        }
    }
}

fn cells(width: u32, height: u32) -> impl Iterator<Item = (u32, u32)> {
    (0..height).flat_map(move |y| (0..width).map(move |x| (x, y)))
}

fn pixel(image: &mut Image, x: u32, y: u32) -> &mut [u8; 3] {
    &mut image.pixels[y as usize * image.width as usize + x as usize]
}

/// Writes a line of text in white; what lies beyond the image is cut off.
fn write(image: &mut Image, [left, top]: [u32; 2], size: u32, text: &str) {
    for (k, letter) in text.chars().enumerate() {
        let rows = glyph(letter);
        for (x, y) in cells(LETTER * size, LETTER * size) {
            let lit = rows[(y / size) as usize] >> (x / size) & 1 == 1;
            let (x, y) = (left + k as u32 * LETTER * size + x, top + y);
            if lit && x < image.width && y < image.height {
                *pixel(image, x, y) = [255; 3];
            }
        }
    }
}

/// The rows of a letter, least bit left; a question mark for one that the font does not have.
fn glyph(letter: char) -> [u8; 8] {
    let code = letter as usize;
    let found = match code {
        0..0x80 => BASIC_LEGACY.get(code),
        0xA0.. => LATIN_LEGACY.get(code - 0xA0),
        _ => None,
    };
    *found.unwrap_or(&BASIC_LEGACY['?' as usize])
}

/// Three digits, as short as can be.
fn number(value: f32) -> String {
    if value == 0.0 || !value.is_finite() {
        return value.to_string();
    }
    let power = value.abs().log10().floor() as i32;
    if (-3..6).contains(&power) {
        let text = format!("{value:.*}", (2 - power).max(0) as usize);
        if !text.contains('.') {
            return text;
        }
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        format!("{value:.2e}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        let shown = [0.0, 1.0, -0.25, 12.345, 1234.6, 0.001_234, 2.5e-7, 3e12].map(number);
        assert_eq!(
            shown,
            ["0", "1", "-0.25", "12.3", "1235", "0.00123", "2.50e-7", "3.00e12"]
        );
    }

    #[test]
    fn the_bar_shows_the_colours_of_its_map_from_left_to_right() {
        let mut image = Image {
            width: 640,
            height: 360,
            pixels: vec![[200; 3]; 640 * 360],
        };
        let legend = Legend {
            title: "speed [m/s]".to_owned(),
            range: [0.0, 2.0],
            map: ColorMap::Viridis,
        };
        legend.draw(&mut image);
        let row = 360 - 16 - 48 + 20 + 4;
        assert_eq!(image.pixel(24, row), ColorMap::Viridis.color(0.0));
        assert_eq!(image.pixel(24 + 159, row), ColorMap::Viridis.color(1.0));
        assert_eq!(image.pixel(400, 100), [200; 3]);
        // Something is written above the bar and below it.
        let white = |from: u32, to: u32| (from..to).any(|y| (16..240).any(|x| image.pixel(x, y) == [255; 3]));
        assert!(white(row - 20, row - 8) && white(row + 8, row + 20));
    }

    #[test]
    fn a_small_image_has_no_room_for_it() {
        let image = Image {
            width: 60,
            height: 40,
            pixels: vec![[7; 3]; 2400],
        };
        let mut drawn = image.clone();
        let legend = Legend {
            title: String::new(),
            range: [0.0, 1.0],
            map: ColorMap::Grey,
        };
        legend.draw(&mut drawn);
        assert_eq!(drawn, image);
    }
}
