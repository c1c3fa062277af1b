//! A labeled color bar drawn over a finished picture.

use font8x8::legacy::{BASIC_LEGACY, LATIN_LEGACY, MISC_LEGACY};

use crate::{ColorMap, Image};

/// Side of a letter before scaling [px].
pub(crate) const LETTER: u32 = 8;
/// Share of the picture that shows through the panel, of 256 [-].
pub(crate) const PANEL_TRANSPARENCY: u32 = 90;
/// Size of an image with unscaled letters; a larger image scales them up [px].
const UNSCALED_SIZE: [u32; 2] = [640, 360];

/// Legend of the colors.
#[derive(Clone, Debug, PartialEq)]
pub struct Legend {
    /// Quantity and unit.
    pub title: String,
    /// Numbers at both ends of the bar.
    pub range: [f32; 2],
    /// Smallest and largest number drawn; numbers beyond the ends have the colors of the ends.
    pub extremes: [f32; 2],
    /// Share of the numbers beyond each end, if the ends are percentiles [-].
    pub beyond: Option<f32>,
    /// Color map.
    pub map: ColorMap,
}

impl Legend {
    /// Returns the numbers below the bar: at its ends and in its middle. An end has a sign if numbers lie beyond it.
    pub fn labels(&self) -> [String; 3] {
        let [low, high] = self.range;
        let [below, above] = self.is_beyond();
        let sign = |beyond: bool, sign: &'static str| if beyond { sign } else { "" };
        [
            sign(below, "≤ ").to_owned() + &number(low),
            number(low + 0.5 * (high - low)),
            sign(above, "≥ ").to_owned() + &number(high),
        ]
    }

    /// Returns the line with the extremes beyond the ends, if there are any, and the share of the numbers there.
    pub fn note(&self) -> Option<String> {
        let [least, greatest] = self.extremes.map(number);
        let share = self.beyond.map(|share| format!("{} %", number(100.0 * share)));
        Some(match (self.is_beyond(), share) {
            ([false, false], _) => return None,
            ([true, false], None) => format!("down to {least}"),
            ([false, true], None) => format!("up to {greatest}"),
            ([true, true], None) => format!("from {least} to {greatest}"),
            ([true, false], Some(share)) => format!("{share} below, to {least}"),
            ([false, true], Some(share)) => format!("{share} above, to {greatest}"),
            ([true, true], Some(share)) => format!("{share} each, {least} to {greatest}"),
        })
    }

    /// Returns true for each end beyond which numbers are drawn, by more than the labels resolve.
    fn is_beyond(&self) -> [bool; 2] {
        let [low, high] = self.range;
        let [least, greatest] = self.extremes;
        [
            least < low && number(least) != number(low),
            greatest > high && number(greatest) != number(high),
        ]
    }

    /// Draws the bar into the lower left corner. An image that is too small stays unchanged.
    pub fn draw(&self, image: &mut Image) {
        let size = scale(image);
        let letter = LETTER * size;
        let margin = 2 * letter;
        let length = |text: &str| text.chars().count() as u32 * letter;
        let (labels, note) = (self.labels(), self.note());
        let longest = labels.iter().map(|label| length(label)).max().unwrap_or(0);
        let bar = (20 * letter).max(3 * longest + 2 * letter);
        let lines = [self.title.as_str(), note.as_deref().unwrap_or_default()];
        let width = lines.iter().map(|line| length(line)).fold(bar, u32::max) + 2 * letter;
        let height = if note.is_some() { 15 * letter / 2 } else { 6 * letter };
        if image.width < width + 2 * margin || image.height < height + 2 * margin {
            return;
        }
        let (left, top) = (margin, image.height - margin - height);
        for (x, y) in cells(width, height) {
            let pixel = pixel(image, left + x, top + y);
            *pixel = pixel.map(|c| (u32::from(c) * PANEL_TRANSPARENCY / 256) as u8);
        }
        let left = left + letter;
        write(image, [left, top + letter], size, &self.title);
        for (x, y) in cells(bar, letter) {
            *pixel(image, left + x, top + 5 * letter / 2 + y) = self.map.color(x as f32 / (bar - 1) as f32);
        }
        for (k, label) in labels.iter().enumerate() {
            let at = left + k as u32 * (bar - length(label)) / 2;
            write(image, [at, top + 4 * letter], size, label);
        }
        write(image, [left, top + 11 * letter / 2], size, lines[1]);
    }
}

/// Returns the factor on the size of letters in `image` [-].
pub(crate) fn scale(image: &Image) -> u32 {
    let [width, height] = UNSCALED_SIZE;
    (image.width / width).min(image.height / height).max(1)
}

pub(crate) fn cells(width: u32, height: u32) -> impl Iterator<Item = (u32, u32)> {
    (0..height).flat_map(move |y| (0..width).map(move |x| (x, y)))
}

pub(crate) fn pixel(image: &mut Image, x: u32, y: u32) -> &mut [u8; 3] {
    &mut image.pixels[y as usize * image.width as usize + x as usize]
}

/// Draws a line of text in white; clipped at the image.
pub(crate) fn write(image: &mut Image, [left, top]: [u32; 2], size: u32, text: &str) {
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

/// Returns the rows of a letter, least significant bit left; a question mark if the font lacks it.
fn glyph(letter: char) -> [u8; 8] {
    let code = letter as usize;
    let found = match code {
        0..0x80 => BASIC_LEGACY.get(code),
        0x2264 => MISC_LEGACY.get(5),
        0x2265 => MISC_LEGACY.get(6),
        0xA0.. => LATIN_LEGACY.get(code - 0xA0),
        _ => None,
    };
    *found.unwrap_or(&BASIC_LEGACY['?' as usize])
}

/// Formats a number with three digits, as short as possible.
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
    fn the_bar_shows_the_colors_of_its_map_from_left_to_right() {
        let mut image = Image {
            width: 640,
            height: 360,
            pixels: vec![[200; 3]; 640 * 360],
        };
        let legend = Legend {
            title: "speed [m/s]".to_owned(),
            range: [0.0, 2.0],
            extremes: [0.0, 2.0],
            beyond: None,
            map: ColorMap::Viridis,
        };
        legend.draw(&mut image);
        let row = 360 - 16 - 48 + 20 + 4;
        assert_eq!(image.pixel(24, row), ColorMap::Viridis.color(0.0));
        assert_eq!(image.pixel(24 + 159, row), ColorMap::Viridis.color(1.0));
        assert_eq!(image.pixel(400, 100), [200; 3]);
        // There is text above the bar and below it.
        let white = |from: u32, to: u32| (from..to).any(|y| (16..240).any(|x| image.pixel(x, y) == [255; 3]));
        assert!(white(row - 20, row - 8) && white(row + 8, row + 20));
    }

    #[test]
    fn the_ends_are_marked_where_numbers_lie_beyond_them() {
        let legend = |range, extremes| Legend {
            title: String::new(),
            range,
            extremes,
            beyond: None,
            map: ColorMap::Grey,
        };
        let clipped = legend([0.0, 1.74], [0.0, 4.9]);
        assert_eq!(clipped.labels(), ["0", "0.87", "≥ 1.74"]);
        assert_eq!(clipped.note().as_deref(), Some("up to 4.9"));
        let both = legend([-1.0, 1.0], [-2.0, 1.5]);
        assert_eq!(both.labels(), ["≤ -1", "0", "≥ 1"]);
        assert_eq!(both.note().as_deref(), Some("from -2 to 1.5"));
        // Percentiles are said to be such.
        let share = |legend: Legend| Legend {
            beyond: Some(0.001),
            ..legend
        };
        assert_eq!(share(clipped).note().as_deref(), Some("0.1 % above, to 4.9"));
        assert_eq!(share(both).note().as_deref(), Some("0.1 % each, -2 to 1.5"));
        assert_eq!(
            share(legend([0.0, 1.0], [-3.0, 1.0])).note().as_deref(),
            Some("0.1 % below, to -3")
        );
        // Nothing lies beyond the ends, or by less than three digits resolve.
        for whole in [legend([0.0, 2.0], [0.5, 1.5]), legend([0.0, 2.0], [0.0, 2.0001])] {
            assert_eq!(whole.labels(), ["0", "1", "2"]);
            assert_eq!(whole.note(), None);
        }
        // The font has the signs.
        assert!(["≤", "≥"].iter().all(|s| s.chars().all(|c| glyph(c) != glyph('?'))));
    }

    #[test]
    fn the_bar_covers_a_small_part_of_an_image_of_any_shape() {
        for [width, height] in [
            [640, 360],
            [1280, 720],
            [720, 1280],
            [448, 1168],
            [600, 600],
            [3000, 500],
        ] {
            let blank = Image {
                width,
                height,
                pixels: vec![[200; 3]; (width * height) as usize],
            };
            let mut image = blank.clone();
            let legend = Legend {
                title: "speed [m/s]".to_owned(),
                range: [0.0, 1.74],
                extremes: [0.0, 4.9],
                beyond: Some(0.001),
                map: ColorMap::Viridis,
            };
            legend.draw(&mut image);
            let changed = image.pixels.iter().zip(&blank.pixels).filter(|(a, b)| a != b).count();
            assert!(
                changed > 0 && 20 * changed < blank.pixels.len(),
                "{width} x {height}: {changed} pixels"
            );
        }
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
            extremes: [0.0, 1.0],
            beyond: None,
            map: ColorMap::Grey,
        };
        legend.draw(&mut drawn);
        assert_eq!(drawn, image);
    }
}
