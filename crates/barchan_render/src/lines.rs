//! Draws lines over a finished picture, as seen by a camera, without occlusion.

use crate::lens::Lens;
use crate::{Camera, Error, Image};
use glam::{Vec2, Vec3};

/// Draws smoothed lines between points [m] in an sRGB color.
pub fn draw_lines(
    image: &mut Image,
    camera: &Camera,
    lines: impl Iterator<Item = [Vec3; 2]>,
    color: [u8; 3],
) -> Result<(), Error> {
    let lens = Lens::of_camera(camera, image.width, image.height)?;
    for ends in lines {
        let [a, b] = ends.map(|point| lens.local(point));
        if let Some([a, b]) = in_front(a, b, lens.near.max(1e-6)) {
            draw(image, lens.project(a), lens.project(b), color);
        }
    }
    Ok(())
}

/// Returns the part of a line of the lens frame [m] that is farther than `near` [m].
fn in_front(a: Vec3, b: Vec3, near: f32) -> Option<[Vec3; 2]> {
    if !(a.is_finite() && b.is_finite()) || a.z.max(b.z) <= near {
        return None;
    }
    let cut = |from: Vec3, to: Vec3| {
        if from.z >= near {
            from
        } else {
            from.lerp(to, (near - from.z) / (to.z - from.z))
        }
    };
    Some([cut(a, b), cut(b, a)])
}

/// Draws a line between two points [px]: one step per pixel along its longer side, shared across it by the two nearest
/// pixels [Wu91].
fn draw(image: &mut Image, a: Vec2, b: Vec2, color: [u8; 3]) {
    let steep = (b.y - a.y).abs() > (b.x - a.x).abs();
    let turn = |p: Vec2| if steep { Vec2::new(p.y, p.x) } else { p };
    let (mut a, mut b) = (turn(a), turn(b));
    if a.x > b.x {
        std::mem::swap(&mut a, &mut b);
    }
    let end = if steep { image.height } else { image.width } as f32;
    let slope = (b.y - a.y) / (b.x - a.x).max(1e-6);
    let (first, last) = (a.x.max(0.0).floor(), b.x.min(end - 1.0).ceil());
    if !(first.is_finite() && last.is_finite()) {
        return;
    }
    for x in first as i64..=last as i64 {
        // Lines shorter than a pixel are fainter.
        let covered = ((x as f32 + 1.0).min(b.x) - (x as f32).max(a.x)).clamp(0.0, 1.0);
        let y = a.y + slope * (x as f32 + 0.5 - a.x).clamp(0.0, b.x - a.x) - 0.5;
        let share = y - y.floor();
        for (row, part) in [(y.floor() as i64, 1.0 - share), (y.floor() as i64 + 1, share)] {
            let (x, y) = if steep { (row, x) } else { (x, row) };
            blend(image, x, y, color, covered * part);
        }
    }
}

fn blend(image: &mut Image, x: i64, y: i64, color: [u8; 3], part: f32) {
    if !(0..i64::from(image.width)).contains(&x) || !(0..i64::from(image.height)).contains(&y) {
        return;
    }
    let pixel = &mut image.pixels[y as usize * image.width as usize + x as usize];
    for (below, over) in pixel.iter_mut().zip(color) {
        *below = (f32::from(*below) + part * (f32::from(over) - f32::from(*below))).round() as u8;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn black(width: u32, height: u32) -> Image {
        Image {
            width,
            height,
            pixels: vec![[0; 3]; (width * height) as usize],
        }
    }

    #[test]
    fn a_line_has_the_light_of_its_length_however_it_lies() {
        for (a, b, pixels) in [
            (Vec2::new(10.0, 20.5), Vec2::new(50.0, 20.5), 40.0),
            (Vec2::new(20.5, 50.0), Vec2::new(20.5, 10.0), 40.0),
            (Vec2::new(10.0, 10.3), Vec2::new(50.0, 25.9), 40.0),
            (Vec2::new(30.2, 30.0), Vec2::new(30.6, 30.1), 0.4),
        ] {
            let mut image = black(64, 64);
            draw(&mut image, a, b, [255, 255, 255]);
            let light: f32 = image.pixels.iter().map(|p| f32::from(p[0]) / 255.0).sum();
            assert!((light - pixels).abs() < 0.3, "{a} to {b}: {light} of {pixels}");
        }
    }

    #[test]
    fn lines_end_at_the_image_and_at_the_camera() {
        let camera = Camera {
            position: Vec3::ZERO,
            target: Vec3::X,
            up: Vec3::Z,
            vertical_fov: 1.0,
        };
        let mut image = black(40, 30);
        let lines = [
            [Vec3::new(-5.0, 0.1, 0.0), Vec3::new(5.0, 0.1, 0.0)],
            [Vec3::new(1.0, -100.0, 50.0), Vec3::new(1.0, 100.0, -50.0)],
            [Vec3::new(-2.0, 0.0, 0.0), Vec3::new(-1.0, 0.0, 0.0)],
            [Vec3::NAN, Vec3::X],
        ];
        draw_lines(&mut image, &camera, lines[2..].iter().copied(), [255; 3]).unwrap();
        assert!(image.pixels.iter().all(|&p| p == [0; 3]), "what is behind is not seen");
        draw_lines(&mut image, &camera, lines[..2].iter().copied(), [255; 3]).unwrap();
        assert!(image.pixels.iter().any(|&p| p != [0; 3]));
    }
}
