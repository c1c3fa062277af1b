//! Draws a picture as an image.

use crate::glass::Glass;
use crate::lens::Lens;
use crate::raster::{Samples, TILE, TILE_PIXELS};
use crate::scene::Scene;
use crate::shade::{Backdrop, Shader};
use crate::tone::Tone;
use crate::{Error, Image, Picture, hash};
use glam::{Vec3, Vec4};
use rayon::prelude::*;

/// Largest number of pixels per side.
const MAX_SIDE: u32 = 16_384;

/// Draws a picture as an image of `width` x `height` [px].
pub fn render(picture: &Picture, width: u32, height: u32) -> Result<Image, Error> {
    let tone = Tone::new();
    let pixels = draw(picture, width, height, Backdrop::Sky, |_, x, y, light| {
        tone.quantize(light.truncate(), hash::gradient_noise(x as u32, y as u32))
    })?;
    Ok(Image { width, height, pixels })
}

/// Draws a picture, and returns `finish(shader, x, y, light)` of every pixel, row by row. `light`: linear RGB, multiplied
/// by alpha, and alpha.
pub(crate) fn draw<T: Copy + Default + Send + Sync>(
    picture: &Picture,
    width: u32,
    height: u32,
    backdrop: Backdrop,
    finish: impl Fn(&Shader, usize, usize, Vec4) -> T + Sync,
) -> Result<Vec<T>, Error> {
    let (lens, towards_sun, scene) = check(picture, width, height)?;
    let samples = Samples::draw(&lens, &scene);
    let shader = Shader::new(&scene, &lens, &samples, &picture.sun, towards_sun, backdrop);
    let glass = Glass::new(&shader);

    let tiles = (0..samples.columns * samples.rows).into_par_iter();
    let tiles: Vec<Vec<T>> = tiles.map(|tile| draw_tile(&shader, &glass, &finish, tile)).collect();
    let mut pixels = vec![T::default(); width as usize * height as usize];
    pixels.par_chunks_mut(width as usize).enumerate().for_each(|(y, row)| {
        for (column, part) in row.chunks_mut(TILE).enumerate() {
            let tile = &tiles[y / TILE * samples.columns + column];
            part.copy_from_slice(&tile[y % TILE * TILE..][..part.len()]);
        }
    });
    Ok(pixels)
}

/// Returns the lens, the unit vector to the sun and the scene of a picture, if it can be drawn.
pub(crate) fn check<'a>(picture: &'a Picture<'a>, width: u32, height: u32) -> Result<(Lens, Vec3, Scene<'a>), Error> {
    if width == 0 || height == 0 || width > MAX_SIDE || height > MAX_SIDE {
        return Err(Error::Size {
            width,
            height,
            limit: MAX_SIDE,
        });
    }
    let lens = Lens::of_camera(&picture.camera, width, height)?;
    let direction = picture.sun.direction;
    let towards_sun = direction.try_normalize().ok_or(Error::Sun { direction })?;
    Ok((lens, towards_sun, Scene::new(picture)?))
}

/// Draws the pixels of a tile, row by row.
fn draw_tile<T: Default>(
    shader: &Shader,
    glass: &Glass,
    finish: &impl Fn(&Shader, usize, usize, Vec4) -> T,
    tile: usize,
) -> Vec<T> {
    let [width, height] = shader.lens.size;
    let columns = shader.samples.columns;
    let place = |pixel: usize| {
        let place = (
            tile % columns * TILE + pixel % TILE,
            tile / columns * TILE + pixel / TILE,
        );
        (place.0 < width && place.1 < height).then_some(place)
    };
    let light = |pixel: usize| place(pixel).map_or([Vec4::ZERO; 4], |(x, y)| shader.pixel(x, y));
    let mut lights: Vec<[Vec4; 4]> = (0..TILE_PIXELS).map(light).collect();
    glass.cover(shader, tile, &mut lights);
    let finish = |(pixel, lanes): (usize, &[Vec4; 4])| {
        let mean = 0.25 * (lanes[0] + lanes[1] + lanes[2] + lanes[3]);
        place(pixel).map_or(T::default(), |(x, y)| finish(shader, x, y, mean))
    };
    lights.iter().enumerate().map(finish).collect()
}
