//! Several images as one, each with its name.

use crate::Image;
use crate::legend::{LETTER, PANEL_TRANSPARENCY, cells, pixel, scale, write};

/// Width of the lines between panels [px].
const LINE: u32 = 2;

/// Joins images of equal size, row by row with at most `columns` in each, and writes its name into each; a panel without an image is
/// white.
///
/// # Panics
/// If there are no images, or their sizes differ.
pub fn panels(named: &[(&str, &Image)], columns: usize) -> Image {
    let (_, first) = named.first().expect("at least one panel");
    let (width, height) = (first.width, first.height);
    let columns = columns.clamp(1, named.len());
    let rows = named.len().div_ceil(columns);
    let along = |count: usize, side: u32| count as u32 * (side + LINE) - LINE;
    let size = [along(columns, width), along(rows, height)];
    let mut all = Image {
        width: size[0],
        height: size[1],
        pixels: vec![[255; 3]; size[0] as usize * size[1] as usize],
    };
    for (k, (name, image)) in named.iter().enumerate() {
        assert!(image.width == width && image.height == height, "panels of one size");
        let left = (k % columns) as u32 * (width + LINE);
        let top = (k / columns) as u32 * (height + LINE);
        let from = image.pixels.chunks(width as usize);
        for (y, row) in (top..).zip(from) {
            let start = y as usize * size[0] as usize + left as usize;
            all.pixels[start..start + row.len()].copy_from_slice(row);
        }
        label(&mut all, [left, top], scale(image), name, width);
    }
    all
}

/// Writes `name` into the corner of the panel of `width` [px] at `left`, `top` [px], as far as it fits.
fn label(image: &mut Image, [left, top]: [u32; 2], size: u32, name: &str, width: u32) {
    let letter = LETTER * size;
    let fitting = (width / letter).saturating_sub(2) as usize;
    let shown: String = name.chars().take(fitting).collect();
    let panel = [(shown.chars().count() as u32 + 2) * letter, 2 * letter];
    if shown.is_empty() || panel[1] > image.height - top {
        return;
    }
    for (x, y) in cells(panel[0], panel[1]) {
        let pixel = pixel(image, left + x, top + y);
        *pixel = pixel.map(|c| (u32::from(c) * PANEL_TRANSPARENCY / 256) as u8);
    }
    write(image, [left + letter, top + letter / 2], size, &shown);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(color: u8) -> Image {
        Image {
            width: 100,
            height: 40,
            pixels: vec![[color; 3]; 4000],
        }
    }

    #[test]
    fn panels_stand_row_by_row_with_their_names_and_lines_between() {
        let images = [plain(10), plain(20), plain(30)];
        let named: Vec<(&str, &Image)> = ["a", "b", "c"].into_iter().zip(&images).collect();
        let all = panels(&named, 2);
        assert_eq!((all.width, all.height), (202, 82));
        assert_eq!(
            [all.pixel(99, 39), all.pixel(102, 39), all.pixel(0, 81)],
            [[10; 3], [20; 3], [30; 3]]
        );
        assert_eq!(
            [all.pixel(100, 20), all.pixel(150, 81)],
            [[255; 3]; 2],
            "line, and no fourth panel"
        );
        let lit = |left: u32| {
            let letters = cells(40, 16).filter(|&(x, y)| all.pixel(left + x, y) == [255; 3]);
            letters.count()
        };
        assert!(
            lit(0) > 5 && lit(102) > 5 && lit(0) != lit(102),
            "names are written and differ"
        );
        assert_eq!(panels(&named[..1], 5).width, 100);
    }
}
