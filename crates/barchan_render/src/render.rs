//! Draws a picture as an image.

use crate::glass::Glass;
use crate::lens::Lens;
use crate::raster::{Samples, TILE, TILE_PIXELS};
use crate::scene::Scene;
use crate::shade::Shader;
use crate::tone::Tone;
use crate::{Error, Image, Picture, hash};
use glam::Vec3;
use rayon::prelude::*;

/// Largest number of pixels per side.
const MAX_SIDE: u32 = 16_384;

/// Draws a picture as an image of `width` x `height` [px].
pub fn render(picture: &Picture, width: u32, height: u32) -> Result<Image, Error> {
    let (lens, towards_sun, scene) = check(picture, width, height)?;
    let samples = Samples::draw(&lens, &scene);
    let shader = Shader::new(&scene, &lens, &samples, &picture.sun, towards_sun);
    let glass = Glass::new(&shader);
    let tone = Tone::new();

    let tiles = (0..samples.columns * samples.rows).into_par_iter();
    let tiles: Vec<Vec<[u8; 3]>> = tiles.map(|tile| draw_tile(&shader, &glass, &tone, tile)).collect();
    let mut pixels = vec![[0; 3]; width as usize * height as usize];
    pixels.par_chunks_mut(width as usize).enumerate().for_each(|(y, row)| {
        for (column, part) in row.chunks_mut(TILE).enumerate() {
            let tile = &tiles[y / TILE * samples.columns + column];
            part.copy_from_slice(&tile[y % TILE * TILE..][..part.len()]);
        }
    });
    Ok(Image { width, height, pixels })
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
fn draw_tile(shader: &Shader, glass: &Glass, tone: &Tone, tile: usize) -> Vec<[u8; 3]> {
    let [width, height] = shader.lens.size;
    let columns = shader.samples.columns;
    let place = |pixel: usize| {
        (
            tile % columns * TILE + pixel % TILE,
            tile / columns * TILE + pixel / TILE,
        )
    };
    let light = |pixel: usize| match place(pixel) {
        (x, y) if x < width && y < height => shader.pixel(x, y),
        _ => [Vec3::ZERO; 4],
    };
    let mut lights: Vec<[Vec3; 4]> = (0..TILE_PIXELS).map(light).collect();
    glass.cover(shader, tile, &mut lights);
    let finish = |(pixel, lanes): (usize, &[Vec3; 4])| {
        let (x, y) = place(pixel);
        let mean = 0.25 * (lanes[0] + lanes[1] + lanes[2] + lanes[3]);
        tone.quantize(mean, hash::gradient_noise(x as u32, y as u32))
    };
    lights.iter().enumerate().map(finish).collect()
}
