//! Pictures whose light and shadow follow from geometry.

use barchan_geometry::Aabb;
use barchan_render::{
    Backdrop, Camera, ColorMap, Colors, Error, GrainKind, GrainMaterial, Grains, Image, Mesh, Picture, Radii, Seen,
    Spheres, linear, render, render_layers,
};
use glam::{Affine3A, DVec3, Vec2, Vec3};

const WIDTH: u32 = 160;
const HEIGHT: u32 = 120;
const FOV: f32 = 0.7;

fn grey<'a>(positions: &'a [Vec3], radius: f32) -> Spheres<'a> {
    Spheres {
        positions,
        radii: Radii::One(radius),
        colors: Colors::One([0.4; 3]),
        ids: None,
    }
}

fn brightness(image: &Image, x: u32, y: u32) -> u32 {
    image.pixel(x, y).iter().map(|&c| u32::from(c)).sum()
}

/// A camera above the origin that looks down; x is right, y is up in the image.
fn from_above(height: f32) -> Camera {
    Camera {
        position: Vec3::new(0.0, 0.0, height),
        target: Vec3::ZERO,
        up: Vec3::Y,
        vertical_fov: FOV,
    }
}

/// Projects a point as that camera does [px].
fn place(height: f32, point: Vec3) -> Vec2 {
    let pixels = 0.5 * HEIGHT as f32 / (0.5 * FOV).tan() / (height - point.z);
    0.5 * Vec2::new(WIDTH as f32, HEIGHT as f32) + pixels * Vec2::new(point.x, -point.y)
}

#[test]
fn the_brightest_point_of_a_sphere_faces_the_sun() {
    let positions = [Vec3::ZERO];
    let mut picture = Picture::new(grey(&positions, 1.0));
    picture.camera = from_above(6.0);
    for direction in [
        Vec3::new(0.6, 0.0, 1.0),
        Vec3::new(-0.4, 0.5, 1.0),
        Vec3::new(0.0, -0.8, 1.0),
    ] {
        picture.sun.direction = direction;
        let image = render(&picture, WIDTH, HEIGHT).unwrap();
        let center = place(6.0, Vec3::ZERO);
        let on_sphere = |x: u32, y: u32| Vec2::new(x as f32, y as f32).distance(center) < 20.0;
        let pixels = (0..HEIGHT)
            .flat_map(|y| (0..WIDTH).map(move |x| (x, y)))
            .filter(|&(x, y)| on_sphere(x, y));
        let most = pixels.clone().map(|(x, y)| brightness(&image, x, y)).max().unwrap();
        let bright: Vec<_> = pixels.filter(|&(x, y)| brightness(&image, x, y) + 4 >= most).collect();
        let mean = bright
            .iter()
            .map(|&(x, y)| Vec2::new(x as f32 + 0.5, y as f32 + 0.5))
            .sum::<Vec2>();
        let mean = mean / bright.len() as f32;
        // The sky is brighter toward the zenith, which moves the point toward the center by a fraction of its distance.
        let expected = place(6.0, direction.normalize());
        let (found, expected) = (mean - center, expected - center);
        assert!(found.angle_to(expected).abs() < 0.15, "{found}, not {expected}");
        assert!(
            found.length() > 0.6 * expected.length() && found.length() < 1.1 * expected.length(),
            "{found}, not {expected}"
        );
    }
}

#[test]
fn the_shadow_of_a_sphere_falls_where_its_light_is_cut_off() {
    let positions = [Vec3::new(0.0, 0.0, 1.0)];
    let mut picture = Picture::new(grey(&positions, 0.3));
    picture.ground = Some(0.0);
    picture.camera = from_above(8.0);
    picture.sun.direction = Vec3::new(-1.0, 0.5, 1.0);
    let image = render(&picture, WIDTH, HEIGHT).unwrap();
    // One meter up along the light is one meter right and half a meter down in the image.
    let at = |point: Vec3| {
        let place = place(8.0, point);
        brightness(&image, place.x as u32, place.y as u32)
    };
    let (shadow, mirrored) = (at(Vec3::new(1.0, -0.5, 0.0)), at(Vec3::new(-1.0, 0.5, 0.0)));
    assert!(
        10 * shadow < 7 * mirrored,
        "{shadow} in the shadow, {mirrored} in the light"
    );
    // The shadow is an ellipse with half axes 0.3 across the light and 0.3 / sin(elevation) along it.
    let along = Vec3::new(1.0, -0.5, 0.0).normalize();
    let across = Vec3::new(0.5, 1.0, 0.0).normalize();
    let elevation = (1.0f32 / 1.25f32.sqrt()).atan();
    for (axis, half) in [(along, 0.3 / elevation.sin()), (across, 0.3)] {
        for sign in [-1.0, 1.0] {
            let inside = at(Vec3::new(1.0, -0.5, 0.0) + sign * 0.75 * half * axis);
            let outside = at(Vec3::new(1.0, -0.5, 0.0) + sign * 1.35 * half * axis);
            assert!(10 * inside < 8 * mirrored, "{inside} inside, {mirrored} in the light");
            assert!(
                100 * outside > 95 * mirrored,
                "{outside} outside, {mirrored} in the light"
            );
        }
    }
}

#[test]
fn ground_beside_a_wall_is_darker_than_open_ground() {
    // Under a sun straight above only the sky can differ.
    let wall = [[-1.0, 0.0], [1.0, 0.0], [1.0, 1.0], [-1.0, 1.0]].map(|[y, z]| Vec3::new(0.0, y, z));
    let mut picture = Picture::new(Spheres::NONE);
    picture.meshes = vec![Mesh {
        vertices: &wall,
        triangles: &[[0, 1, 2], [0, 2, 3]],
        pose: Affine3A::IDENTITY,
        color: [0.4; 3],
        opacity: 1.0,
    }];
    picture.ground = Some(0.0);
    picture.camera = from_above(8.0);
    picture.sun.direction = Vec3::Z;
    let image = render(&picture, WIDTH, HEIGHT).unwrap();
    let at = |x: f32| {
        let place = place(8.0, Vec3::new(x, 0.0, 0.0));
        brightness(&image, place.x as u32, place.y as u32)
    };
    assert!(
        at(0.25) < at(0.7) && at(0.7) < at(1.5),
        "{} {} {}",
        at(0.25),
        at(0.7),
        at(1.5)
    );
}

#[test]
fn framed_bounds_are_inside_the_image_with_a_margin() {
    let boxes = [
        Aabb::new(DVec3::splat(-1.0), DVec3::splat(1.0)),
        Aabb::new(DVec3::new(100.0, -3.0, 0.0), DVec3::new(101.0, 9.0, 0.1)),
        Aabb::new(DVec3::new(0.0, 0.0, -0.002), DVec3::new(0.001, 0.001, 0.03)),
    ];
    for (bounds, aspect) in boxes
        .iter()
        .flat_map(|b| [0.5, 1.0, 16.0 / 9.0].map(|aspect| (b, aspect)))
    {
        let camera = Camera::framing(bounds, aspect);
        let forward = (camera.target - camera.position).normalize();
        let right = forward.cross(camera.up).normalize();
        let up = right.cross(forward);
        let slope = (0.5 * camera.vertical_fov).tan();
        let seen = bounds.corners().map(|corner| {
            let offset = corner.as_vec3() - camera.position;
            let depth = offset.dot(forward);
            assert!(depth > 0.0);
            Vec2::new(offset.dot(right) / (aspect * slope), offset.dot(up) / slope) / depth
        });
        let most = seen.iter().map(|p| p.abs().max_element()).fold(0.0, f32::max);
        // Inside with a margin, and no farther away than necessary.
        assert!((0.85..0.92).contains(&most), "{bounds:?} fills {most} of the image");
    }
}

#[test]
fn colors_that_mean_numbers_can_be_told_in_sun_and_shadow() {
    const STEPS: usize = 6;
    let colors: Vec<[u8; 3]> = (0..STEPS)
        .map(|k| ColorMap::Viridis.color(k as f32 / (STEPS - 1) as f32))
        .collect();
    let positions: Vec<Vec3> = (0..STEPS).map(|k| Vec3::new(k as f32 - 2.5, 0.0, 0.4)).collect();
    let plate = [[-9.0, -9.0], [9.0, -9.0], [9.0, 9.0], [-9.0, 9.0]].map(|[x, y]| Vec3::new(x, y, 30.0));
    let mut picture = Picture::new(Spheres {
        positions: &positions,
        radii: Radii::One(0.4),
        colors: Colors::Each(&colors),
        ids: None,
    });
    picture.ground = Some(0.0);
    picture.camera = from_above(10.0);
    picture.sun.direction = Vec3::new(-0.1, 0.1, 1.0);
    let shade = Mesh {
        vertices: &plate,
        triangles: &[[0, 1, 2], [0, 2, 3]],
        pose: Affine3A::IDENTITY,
        color: [0.4; 3],
        opacity: 1.0,
    };
    let vector = |color: [u8; 3]| Vec3::from_array(color.map(f32::from));
    // Share of red, green and blue in the light.
    let hue = |color: [u8; 3]| Vec3::from_array(linear(color)) / linear(color).iter().sum::<f32>();
    let mut hues: Vec<Vec<Vec3>> = Vec::new();
    let brightness = |color: Vec3| color.dot(Vec3::new(0.2126, 0.7152, 0.0722));
    for meshes in [vec![], vec![shade]] {
        let in_sun = meshes.is_empty();
        picture.meshes = meshes;
        let image = render(&picture, WIDTH, HEIGHT).unwrap();
        let seen = positions.iter().map(|&position| place(10.0, position));
        hues.push(seen.map(|at| hue(image.pixel(at.x as u32, at.y as u32))).collect());
        for (k, position) in positions.iter().enumerate() {
            let at = place(10.0, *position);
            let shown = vector(image.pixel(at.x as u32, at.y as u32));
            let distance = |&other: &usize| shown.distance(vector(colors[other]));
            let nearest = (0..STEPS).min_by(|a, b| distance(a).total_cmp(&distance(b)));
            assert_eq!(nearest, Some(k), "sun: {in_sun}, {shown} for {:?}", colors[k]);
            let part = brightness(shown) / brightness(vector(colors[k]));
            assert!(part > 0.7, "sun: {in_sun}, {shown} for {:?}: too dark", colors[k]);
        }
    }
    // The hue is the same in light and shadow, and far from that of the next color.
    for (k, (sun, shade)) in hues[0].iter().zip(&hues[1]).enumerate() {
        let next = hue(colors[k]).distance(hue(colors[if k == 0 { 1 } else { k - 1 }]));
        let moved = sun.distance(*shade);
        assert!(
            moved < 0.1 && 3.0 * moved < next,
            "{:?}: {moved}, {next} to the next",
            colors[k]
        );
    }
}

fn grains<'a>(positions: &'a [Vec3], radius: f32, materials: &'a [GrainMaterial]) -> Spheres<'a> {
    Spheres {
        positions,
        radii: Radii::One(radius),
        colors: Colors::Grains(Grains {
            materials,
            kinds: None,
            wetness: None,
            shaped: true,
        }),
        ids: None,
    }
}

#[test]
fn wet_grains_are_darker() {
    let positions = [Vec3::ZERO];
    let middle = |wetness: f32| {
        let materials = [GrainMaterial {
            wetness,
            ..GrainMaterial::new(GrainKind::Plain)
        }];
        let mut picture = Picture::new(grains(&positions, 1.0, &materials));
        picture.camera = from_above(6.0);
        picture.sun.direction = Vec3::new(-1.0, 0.0, 0.5);
        brightness(&render(&picture, WIDTH, HEIGHT).unwrap(), WIDTH / 2, HEIGHT / 2)
    };
    let [dry, moist, wet] = [0.0, 0.5, 1.0].map(middle);
    assert!(100 * moist < 97 * dry && 100 * wet < 97 * moist, "{dry} {moist} {wet}");
}

#[test]
fn kinds_of_material_look_different() {
    let positions = scattered(4000);
    let mut seen: Vec<Image> = Vec::new();
    for name in GrainKind::names() {
        let materials = [GrainMaterial::new(GrainKind::of_name(name).unwrap())];
        let mut picture = busy(&positions);
        picture.spheres = grains(&positions, 0.02, &materials);
        let image = render(&picture, WIDTH, HEIGHT).unwrap();
        assert!(!seen.contains(&image), "{name} looks as another kind");
        seen.push(image);
    }
    // Fewer colors where all grains are alike.
    let colors = |image: &Image| image.pixels.iter().collect::<std::collections::HashSet<_>>().len();
    assert!(colors(&seen[0]) > colors(&seen[4]));
}

#[test]
fn layers_have_the_light_of_the_image_its_depths_and_its_surfaces() {
    let positions = scattered(300);
    let mut picture = busy(&positions);
    let ids: Vec<u32> = (0..300).map(|k| 1000 + k).collect();
    picture.spheres.ids = Some(&ids);
    let layers = render_layers(&picture, WIDTH, HEIGHT, Backdrop::Sky).unwrap();
    let camera = picture.camera;
    let forward = (camera.target - camera.position).normalize();
    let mut counts = [0; 4];
    for pixel in &layers.pixels {
        assert!((pixel.light[3] - 1.0).abs() < 1e-6);
        counts[(pixel.seen.object() as usize).min(3)] += 1;
        match pixel.seen {
            Seen::Nothing => assert_eq!(pixel.depth, f32::INFINITY),
            Seen::Sphere(id) => {
                let depth = (positions[id as usize - 1000] - camera.position).dot(forward);
                assert!(
                    (pixel.depth - depth).abs() < 0.0123,
                    "{} of a sphere at {depth}",
                    pixel.depth
                );
            }
            // The first mesh is glass, which layers look through.
            Seen::Mesh(mesh) => assert_eq!(mesh, 1),
            Seen::Ground => assert!(pixel.depth.is_finite()),
        }
    }
    assert!(counts[1..].iter().all(|&n| n > 50), "{counts:?}");
    // Without sky and ground the rest is the same; what is left of the ground is its shadow.
    let cut = render_layers(&picture, WIDTH, HEIGHT, Backdrop::Nothing).unwrap();
    let mut shadows = 0;
    for (whole, cut) in layers.pixels.iter().zip(&cut.pixels) {
        assert_eq!((whole.depth, whole.seen), (cut.depth, cut.seen));
        let [r, g, b, a] = cut.light;
        assert!((0.0..=1.0001).contains(&a) && r <= whole.light[0] + 1e-5);
        match cut.seen {
            Seen::Ground if r + g + b == 0.0 => shadows += usize::from(a > 0.3),
            Seen::Nothing if r + g + b == 0.0 => assert_eq!(a, 0.0),
            _ => {}
        }
    }
    assert!(shadows > 50, "{shadows} pixels of shadow");
    // A lone ball: alpha is the share that it covers.
    let ball = [Vec3::new(0.0, 0.0, 5.0)];
    let mut lone = Picture::new(grey(&ball, 1.0));
    lone.camera = Camera {
        position: Vec3::new(0.0, -10.0, 5.0),
        target: ball[0],
        ..from_above(0.0)
    };
    lone.camera.up = Vec3::Z;
    let layers = render_layers(&lone, WIDTH, HEIGHT, Backdrop::Nothing).unwrap();
    let covered: f32 = layers.pixels.iter().map(|pixel| pixel.light[3]).sum();
    let pixel = 2.0 * (0.5 * FOV).tan() / HEIGHT as f32;
    let expected = std::f32::consts::PI / 99.0 / (pixel * pixel);
    assert!((covered / expected - 1.0).abs() < 0.01, "{covered}, not {expected}");
    let mut bytes = Vec::new();
    layers.write_png(&mut bytes).unwrap();
    let mut reader = png::Decoder::new(std::io::Cursor::new(&bytes)).read_info().unwrap();
    let mut rgba = vec![0; reader.output_buffer_size().unwrap()];
    reader.next_frame(&mut rgba).unwrap();
    let shown: f32 = rgba.chunks(4).map(|p| f32::from(p[3]) / 255.0).sum();
    assert!((shown / expected - 1.0).abs() < 0.01);
    // Colors are not darkened toward the edge by the transparent pixels beside them.
    let edge = rgba.chunks(4).filter(|p| (50..200).contains(&p[3]));
    assert!(edge.clone().count() > 20 && edge.clone().all(|p| p[0] > 10));
}

fn busy(positions: &[Vec3]) -> Picture<'_> {
    const PANE: [Vec3; 3] = [
        Vec3::new(-0.1, -0.3, 0.0),
        Vec3::new(0.4, -0.3, 0.0),
        Vec3::new(0.2, -0.2, 0.5),
    ];
    let mut picture = Picture::new(Spheres::sand(positions, Radii::One(0.01)));
    let pane = |opacity, pose| Mesh {
        vertices: &PANE,
        triangles: &[[0, 1, 2]],
        pose,
        color: [0.2, 0.3, 0.4],
        opacity,
    };
    picture.meshes = vec![
        pane(0.2, Affine3A::IDENTITY),
        pane(1.0, Affine3A::from_translation(Vec3::new(-0.5, 0.3, 0.0))),
    ];
    picture.ground = Some(0.0);
    picture.camera = Camera::framing(&picture.bounds(), 4.0 / 3.0);
    picture
}

/// Returns points in a box, in no order.
fn scattered(count: u32) -> Vec<Vec3> {
    let part = |k: u32, step: f32| (k as f32 * step).fract();
    let point = |k| {
        Vec3::new(
            part(k, 0.754_877_7) - 0.5,
            part(k, 0.569_840_3) - 0.5,
            0.3 * part(k, 0.618_034),
        )
    };
    (0..count).map(point).collect()
}

#[test]
fn any_number_of_threads_gives_the_same_bits() {
    let positions = scattered(20_000);
    let picture = busy(&positions);
    let images = [1, 2, 3].map(|threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| render(&picture, 200, 150).unwrap())
    });
    assert!(images[0] == images[1] && images[0] == images[2]);
}

#[test]
fn glass_shows_what_is_behind_it() {
    let positions = [Vec3::ZERO];
    let pane = [[-2.0, -2.0], [2.0, -2.0], [0.0, 3.0]].map(|[x, y]| Vec3::new(x, y, 2.0));
    let image = |opacity: Option<f32>| {
        let mut picture = Picture::new(grey(&positions, 1.0));
        picture.meshes.extend(opacity.map(|opacity| Mesh {
            vertices: &pane,
            triangles: &[[0, 1, 2]],
            pose: Affine3A::IDENTITY,
            color: [0.0; 3],
            opacity,
        }));
        picture.camera = from_above(6.0);
        render(&picture, WIDTH, HEIGHT).unwrap()
    };
    let [bare, clear, dark, solid] = [None, Some(0.05), Some(0.5), Some(1.0)].map(image);
    let middle = |image: &Image| brightness(image, WIDTH / 2, HEIGHT / 2);
    assert!(middle(&bare).abs_diff(middle(&clear)) < middle(&bare) / 8);
    assert!(middle(&dark) < middle(&clear) && middle(&solid) < middle(&dark));
}

#[test]
fn odd_pictures_are_drawn_without_a_panic() {
    let odd = [
        Vec3::NAN,
        Vec3::INFINITY,
        Vec3::splat(f32::MAX),
        Vec3::splat(1e20),
        Vec3::ZERO,
        Vec3::new(0.0, 0.0, 3.0),
        Vec3::new(0.0, 0.0, 6.0),
    ];
    for radius in [0.0, -1.0, f32::NAN, f32::INFINITY, 1e-30, 1e-3, 1.0, 5.0, 1e6, 1e30] {
        let mut picture = Picture::new(grey(&odd, radius));
        picture.ground = Some(-1.0);
        picture.camera = from_above(3.0);
        let image = render(&picture, 40, 30).unwrap();
        assert_eq!(image.pixels.len(), 1200);
    }
    let mut picture = busy(&[]);
    picture.meshes[1].pose = Affine3A::from_scale(Vec3::splat(f32::NAN));
    picture.ground = Some(f32::NAN);
    render(&picture, 1, 1).unwrap();
    render(&Picture::new(Spheres::NONE), 33, 1).unwrap();
}

#[test]
fn what_the_camera_is_inside_of_does_not_hide_the_rest() {
    let camera = from_above(6.0);
    let positions = [Vec3::ZERO, camera.position];
    let draw = |positions: &[Vec3], radii: &[f32]| {
        let mut picture = Picture::new(grey(positions, 1.0));
        picture.spheres.radii = Radii::Each(radii);
        picture.camera = camera;
        render(&picture, WIDTH, HEIGHT).unwrap().pixel(WIDTH / 2, HEIGHT / 2)
    };
    let sky = draw(&[], &[]);
    assert_ne!(draw(&positions, &[1.0, 0.5]), sky);
    assert_eq!(draw(&positions[1..], &[0.5]), sky);
}

#[test]
fn wrong_input_is_an_error() {
    let positions = [Vec3::ZERO];
    let picture = Picture::new(grey(&positions, 1.0));
    assert!(matches!(render(&picture, 0, 10), Err(Error::Size { width: 0, .. })));
    assert!(matches!(render(&picture, 10, 0), Err(Error::Size { height: 0, .. })));
    assert!(matches!(render(&picture, u32::MAX, u32::MAX), Err(Error::Size { .. })));

    let mut wrong = picture.clone();
    wrong.spheres.radii = Radii::Each(&[1.0, 2.0]);
    assert!(matches!(
        render(&wrong, 8, 8),
        Err(Error::Count {
            what: "radii",
            spheres: 1,
            count: 2
        })
    ));
    wrong = picture.clone();
    wrong.spheres.colors = Colors::Each(&[]);
    assert!(matches!(render(&wrong, 8, 8), Err(Error::Count { what: "colors", .. })));
    wrong = picture.clone();
    wrong.camera.target = wrong.camera.position;
    assert!(matches!(render(&wrong, 8, 8), Err(Error::Camera { .. })));
    wrong = picture.clone();
    wrong.camera.vertical_fov = 4.0;
    assert!(matches!(render(&wrong, 8, 8), Err(Error::FieldOfView { .. })));
    wrong = picture.clone();
    wrong.sun.direction = Vec3::ZERO;
    assert!(matches!(render(&wrong, 8, 8), Err(Error::Sun { .. })));
    wrong = busy(&[]);
    wrong.meshes[1].triangles = &[[0, 1, 3]];
    assert!(matches!(
        render(&wrong, 8, 8),
        Err(Error::Vertex {
            mesh: 1,
            triangle: 0,
            vertex: 3,
            vertices: 3
        })
    ));
}

#[test]
fn a_png_holds_the_pixels() {
    let positions = scattered(100);
    let image = render(&busy(&positions), 50, 40).unwrap();
    let mut bytes = Vec::new();
    image.write_png(&mut bytes).unwrap();
    let mut reader = png::Decoder::new(std::io::Cursor::new(&bytes)).read_info().unwrap();
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut pixels).unwrap();
    assert_eq!((info.width, info.height), (50, 40));
    assert_eq!(pixels, image.pixels.as_flattened());
}
