//! Both engines, CPU and GPU, draw the same pictures.

use barchan_render::{
    Camera, ColorMap, Colors, GpuRenderer, GrainKind, GrainMaterial, Grains, Image, Mesh, Picture, Radii, Spheres,
    render,
};
use glam::{Affine3A, Quat, Vec3};

const WIDTH: u32 = 320;
const HEIGHT: u32 = 200;

/// Side of the squares whose mean colors are compared [px]: differences within them are invisible noise.
const SQUARE: u32 = 4;

/// Returns means of squares, sRGB.
fn blurred(image: &Image) -> Vec<Vec3> {
    let mean = |(column, row): (u32, u32)| {
        let pixels = (0..SQUARE * SQUARE).map(|k| image.pixel(column * SQUARE + k % SQUARE, row * SQUARE + k / SQUARE));
        pixels.map(|p| Vec3::from_array(p.map(f32::from))).sum::<Vec3>() / (SQUARE * SQUARE) as f32
    };
    let squares = (0..image.height / SQUARE).flat_map(|row| (0..image.width / SQUARE).map(move |column| (column, row)));
    squares.map(mean).collect()
}

/// Returns the visible difference of two images: the mean, and the 99th percentile of the squares [of 255].
fn difference(a: &Image, b: &Image) -> (f32, f32) {
    let mut all: Vec<f32> = blurred(a)
        .iter()
        .zip(blurred(b))
        .map(|(a, b)| (*a - b).abs().max_element())
        .collect();
    all.sort_unstable_by(f32::total_cmp);
    (all.iter().sum::<f32>() / all.len() as f32, all[all.len() * 99 / 100])
}

/// Returns points in a cone, in no order [m].
fn heap(count: u32) -> Vec<Vec3> {
    let part = |k: u32, step: f64| (f64::from(k) * step).fract() as f32;
    let points = (0..).map(|k| {
        Vec3::new(
            part(k, 0.754_877_666) - 0.5,
            part(k, 0.569_840_290) - 0.5,
            0.35 * part(k, 0.618_033_988),
        )
    });
    points
        .filter(|p| p.z < 0.7 * (0.5 - p.truncate().length()))
        .take(count as usize)
        .collect()
}

fn tube() -> (Vec<Vec3>, Vec<[u32; 3]>) {
    let sides = 48;
    let vertices = (0..2 * sides).map(|k: u32| {
        let angle = (k / 2) as f32 / sides as f32 * std::f32::consts::TAU;
        Vec3::new(0.12 * angle.cos(), 0.12 * angle.sin(), 0.3 * (k % 2) as f32)
    });
    let quads = (0..sides).flat_map(|k| {
        let [a, b, c, d] = [2 * k, 2 * k + 1, (2 * k + 2) % (2 * sides), (2 * k + 3) % (2 * sides)];
        [[a, c, d], [a, d, b]]
    });
    (vertices.collect(), quads.collect())
}

const CORNERS: [Vec3; 4] = [
    Vec3::new(-0.15, 0.0, 0.0),
    Vec3::new(0.15, 0.0, 0.0),
    Vec3::new(0.15, 0.0, 0.3),
    Vec3::new(-0.15, 0.0, 0.3),
];

/// Allowed differences: the mean, and the 99th percentile [of 255].
const USUAL: [f32; 2] = [1.5, 12.0];
/// Surfaces smaller than a pixel are seen by one of its four samples, and these lie elsewhere on the GPU.
const TINY: [f32; 2] = [2.0, 20.0];

/// Draws a picture with both engines and compares them.
fn compare(renderer: &mut GpuRenderer, name: &str, picture: &Picture, [mean_limit, most_limit]: [f32; 2]) {
    let cpu = render(picture, WIDTH, HEIGHT).unwrap();
    let gpu = renderer.render(picture, WIDTH, HEIGHT).unwrap();
    if let Some(folder) = std::env::var_os("BARCHAN_PICTURES") {
        let path = std::path::Path::new(&folder).join(format!("{name}.png"));
        cpu.beside(&gpu).save_png(path).unwrap();
    }
    let (mean, most) = difference(&cpu, &gpu);
    assert!(
        mean < mean_limit && most < most_limit,
        "{name}: differs by {mean} on the mean, {most} at most"
    );
    // Checks the measure: an image shifted by a few pixels differs.
    let mut moved = gpu.clone();
    moved.pixels.rotate_right(6);
    let (mean_moved, _) = difference(&cpu, &moved);
    assert!(mean_moved > 1.5 * mean, "{name}: {mean_moved}, and {mean} as it is");
}

#[test]
fn both_engines_draw_the_same_pictures() {
    let Some(gpu) = barchan_gpu::for_test() else { return };
    let mut renderer = GpuRenderer::new(gpu).unwrap();
    let (walls, quads) = tube();
    let sand = heap(6000);
    let fine = heap(60_000);
    let mut picture = Picture::new(Spheres::sand(&sand, Radii::One(0.012)));
    picture.ground = Some(0.0);
    picture.camera = Camera::framing(&picture.bounds(), WIDTH as f32 / HEIGHT as f32);
    compare(&mut renderer, "heap", &picture, USUAL);

    // Grains smaller than a pixel.
    picture.spheres = Spheres::sand(&fine, Radii::One(0.002));
    compare(&mut renderer, "fine", &picture, TINY);

    // Materials side by side, dry and wet, large enough for their facets.
    let materials =
        ["gravel", "soil", "snow", "plain"].map(|name| GrainMaterial::new(GrainKind::of_name(name).unwrap()));
    let kinds: Vec<u8> = sand.iter().map(|p| (4.0 * (p.x + 0.5)) as u8).collect();
    let wetness: Vec<f32> = sand.iter().map(|p| 0.5 + p.y).collect();
    let ids: Vec<u32> = (0..6000).map(|k| 7 * k + 1).collect();
    picture.spheres = Spheres {
        positions: &sand,
        radii: Radii::One(0.018),
        colors: Colors::Grains(Grains {
            materials: &materials,
            kinds: Some(&kinds),
            wetness: Some(&wetness),
            shaped: true,
        }),
        ids: Some(&ids),
    };
    compare(&mut renderer, "materials", &picture, USUAL);

    // Solids and glass among the grains.
    let turned = Affine3A::from_rotation_translation(Quat::from_rotation_z(0.6), Vec3::new(-0.3, -0.3, 0.0));
    picture.spheres = Spheres::sand(&sand, Radii::One(0.012));
    picture.meshes = vec![
        Mesh {
            vertices: &CORNERS,
            triangles: &[[0, 1, 2], [0, 2, 3]],
            pose: turned,
            color: [0.1, 0.2, 0.4],
            opacity: 1.0,
        },
        Mesh {
            vertices: &walls,
            triangles: &quads,
            pose: Affine3A::from_translation(Vec3::new(0.3, -0.25, 0.0)),
            color: [0.8, 0.9, 0.9],
            opacity: 0.2,
        },
    ];
    compare(&mut renderer, "bodies", &picture, USUAL);

    // Colors by number, no ground, one color for all, an empty picture.
    let colors: Vec<[u8; 3]> = sand.iter().map(|p| [(700.0 * p.z) as u8, 60, 200]).collect();
    picture.meshes.clear();
    picture.ground = None;
    picture.spheres.colors = Colors::Each(&colors);
    compare(&mut renderer, "colors", &picture, USUAL);
    // In shadow and over ground, with the colors of a legend.
    let colors: Vec<[u8; 3]> = sand.iter().map(|p| ColorMap::Viridis.color(4.0 * p.z)).collect();
    picture.spheres.colors = Colors::Each(&colors);
    picture.ground = Some(0.0);
    compare(&mut renderer, "bar", &picture, USUAL);
    picture.ground = None;
    let one = [Vec3::new(0.0, 0.0, 0.2)];
    let mut picture = Picture::new(Spheres {
        positions: &one,
        radii: Radii::One(0.2),
        colors: Colors::One([0.4; 3]),
        ids: None,
    });
    picture.ground = Some(0.0);
    compare(&mut renderer, "one", &picture, USUAL);
    let empty = Picture::new(Spheres::NONE);
    let (cpu, gpu) = (
        render(&empty, 64, 48).unwrap(),
        renderer.render(&empty, 64, 48).unwrap(),
    );
    assert!(difference(&cpu, &gpu).0 < 1.0);
}
