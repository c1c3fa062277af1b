//! The camera `fit`: everything is inside the picture, with a margin, and no farther away than needed.

use barchan::render::Camera;
use barchan::scene::{Document, parse_scene};
use barchan::world::{Column, Frame, Table};
use barchan::{FIT, Look, Show, Simulation, Stage, Viewpoint};
use glam::{DQuat, DVec3, Vec3};

/// A column that collapses beyond its initial bounds.
const HEAP: &str = r#"
duration = 0.4
frame_rate = 30
[materials.sand]
density = 1600
friction = 0.2
[[fill]]
material = "sand"
radius = 0.04
packing = "lattice"
shape = { box = { size = [0.4, 0.4, 0.8] }, at = [0, 0, 0.4] }
[[body]]
name = "ground"
shape = { half_space = { normal = [0, 0, 1] } }
[[body]]
name = "ball"
motion = "dynamic"
density = 3000
velocity = [2, 0, 0]
shape = { sphere = { radius = 0.1 }, at = [-0.5, 0.1, 0.9] }
[refine]
radius = 0.02
"#;

const TALL: &str = r#"
duration = 0.2
frame_rate = 30
[materials.sand]
density = 1600
[[fill]]
material = "sand"
radius = 0.02
packing = "lattice"
shape = { box = { size = [0.06, 0.06, 3] }, at = [2000, -1000, 1.5] }
[[body]]
name = "plank"
shape = { box = { size = [0.1, 1.8, 0.04] }, at = [2000.9, -1000, 1], rotate = [20, 30, 50] }
[[body]]
name = "ground"
shape = { half_space = { normal = [0, 0, 1] } }
"#;

const SINGLE: &str = r#"
duration = 0.3
frame_rate = 30
[materials.sand]
density = 1600
[[fill]]
material = "sand"
radius = 0.1
packing = "lattice"
shape = { sphere = { radius = 0.12 }, at = [0, 0, 1] }
"#;

const CLUMPS: &str = r#"
duration = 0.1
frame_rate = 30
[solver]
kind = "dem"
[materials.sand]
density = 1600
[[fill]]
material = "sand"
radius = 0.05
clump = "tetrahedron"
shape = { box = { size = [0.5, 0.5, 0.3] }, at = [0, 0, 0.3] }
[[body]]
name = "ground"
shape = { half_space = { normal = [0, 0, 1] } }
"#;

/// A strip, wide, usual, square, tall, and a strip.
const SIZES: [[u32; 2]; 6] = [
    [3000, 200],
    [1600, 400],
    [1280, 720],
    [600, 600],
    [360, 1280],
    [200, 3000],
];
/// Half sides of the plank [m].
const PLANK: DVec3 = DVec3::new(0.05, 0.9, 0.02);

fn simulate(text: &str) -> (Stage, Vec<Frame>) {
    let (scene, _) = parse_scene(&Document::new("fit", text)).unwrap();
    let mut simulation = Simulation::new(&scene).unwrap();
    let stage = Stage::new(&scene, simulation.world());
    let mut frames = vec![simulation.frame()];
    for _ in 0..scene.frames() {
        simulation.advance().unwrap();
        frames.push(simulation.frame());
    }
    (stage, frames)
}

fn look(size: [u32; 2], show: Show) -> Look {
    Look {
        size,
        show,
        viewpoint: Viewpoint {
            camera: Some(FIT.to_owned()),
            ..Viewpoint::default()
        },
        ..Look::default()
    }
}

/// Returns points on a unit sphere.
fn directions() -> impl Iterator<Item = DVec3> {
    (0..300).map(|k| {
        let z = (f64::from(k) + 0.5) / 150.0 - 1.0;
        let (sin, cos) = (2.399_963_2 * f64::from(k)).sin_cos();
        let radius = (1.0 - z * z).sqrt();
        DVec3::new(radius * cos, radius * sin, z)
    })
}

/// Returns points on the surfaces of all particles of a table [m].
fn surface_points(table: &Table) -> Vec<DVec3> {
    let (Some(Column::Vec3(positions)), Some(Column::F32(radii))) = (table.column("position"), table.column("radius"))
    else {
        panic!("particles have positions and radii");
    };
    let spheres = positions.iter().zip(radii);
    spheres
        .flat_map(|(p, &r)| directions().map(move |d| p.as_dvec3() + f64::from(r) * d))
        .collect()
}

/// Returns the largest distance from the center of the picture, 1 at its edge. `ball` is the radius of a spherical body
/// [m].
fn farthest(look: &Look, frames: &[Frame], ball: Option<f64>) -> f64 {
    let [position, target] = look.viewpoint.framing.unwrap().view();
    let forward = (target - position).normalize();
    let right = forward.cross(DVec3::Z).normalize();
    let up = right.cross(forward);
    let slope = f64::from(0.5 * Camera::default().vertical_fov).tan();
    let halves = if look.show == Show::Compare { 2 } else { 1 };
    let aspect = f64::from(look.size[0] / halves) / f64::from(look.size[1]);
    let mut most = 0.0f64;
    let mut see = |point: DVec3| {
        let offset = point - position;
        let depth = offset.dot(forward);
        assert!(depth > 0.0, "{point} is behind the camera");
        most = most.max((offset.dot(right) / (aspect * slope * depth)).abs());
        most = most.max((offset.dot(up) / (slope * depth)).abs());
    };
    for frame in frames {
        let grains = frame.grains.iter().filter(|_| look.show != Show::Guides);
        let guides = (look.show != Show::Finest || frame.grains.is_none()).then_some(&frame.guides);
        grains
            .chain(guides)
            .for_each(|table| surface_points(table).into_iter().for_each(&mut see));
        for body in frame.bodies.iter().filter(|body| body.name == "ball") {
            let turn = DQuat::from_array(body.rotation);
            let radius = ball.unwrap();
            directions().for_each(|d| see(body.position + turn * (radius * d)));
        }
        for body in frame.bodies.iter().filter(|body| body.name == "plank") {
            let turn = DQuat::from_array(body.rotation);
            let sign = |k: u32, bit: u32| if k >> bit & 1 == 1 { 1.0 } else { -1.0 };
            let corners = (0..8).map(|k| PLANK * DVec3::new(sign(k, 0), sign(k, 1), sign(k, 2)));
            corners.for_each(|corner| see(body.position + turn * corner));
        }
    }
    most
}

#[test]
fn everything_is_inside_with_a_margin_over_the_whole_movie_and_in_each_picture() {
    for (text, ball) in [(HEAP, Some(0.1)), (TALL, None), (SINGLE, None)] {
        let (stage, frames) = simulate(text);
        for size in SIZES {
            for show in [Show::Finest, Show::Guides] {
                let mut movie = look(size, show);
                for frame in &frames {
                    stage.include(frame, &mut movie).unwrap();
                }
                let filled = farthest(&movie, &frames, ball);
                assert!(
                    (0.82..0.9).contains(&filled),
                    "a movie of {size:?} is filled by {filled}"
                );
                for frame in frames.iter().step_by(5) {
                    let mut picture = look(size, show);
                    stage.include(frame, &mut picture).unwrap();
                    let filled = farthest(&picture, std::slice::from_ref(frame), ball);
                    assert!(
                        (0.82..0.9).contains(&filled),
                        "a picture of {size:?} is filled by {filled}"
                    );
                }
            }
        }
    }
}

#[test]
fn two_pictures_side_by_side_each_show_everything() {
    let (stage, frames) = simulate(HEAP);
    for size in SIZES {
        let mut both = look(size, Show::Compare);
        for frame in &frames {
            stage.include(frame, &mut both).unwrap();
        }
        let filled = farthest(&both, &frames, Some(0.1));
        assert!((0.82..0.9).contains(&filled), "{size:?} is filled by {filled}");
    }
}

#[test]
fn the_spheres_of_clumps_are_inside() {
    let (stage, frames) = simulate(CLUMPS);
    let mut plain = look([800, 600], Show::Guides);
    for frame in &frames {
        stage.include(frame, &mut plain).unwrap();
    }
    // The bounding spheres of equal volume reach less far than the clumps' own spheres.
    let filled = farthest(&plain, &frames, None);
    assert!((0.7..0.88).contains(&filled), "filled by {filled}");
}

#[test]
fn a_stray_does_not_move_the_camera() {
    let part = |k: u32, step: f64| (f64::from(k) * step).fract() as f32;
    let point = |k| Vec3::new(part(k, 0.754_877_666), part(k, 0.569_840_29), part(k, 0.618_033_988));
    let framing = |strays: &[Vec3]| {
        let positions: Vec<Vec3> = (0..1000).map(point).chain(strays.iter().copied()).collect();
        let mut guides = Table::default();
        guides.push("radius", Column::F32(vec![0.01; positions.len()]));
        guides.push("position", Column::Vec3(positions));
        let frame = Frame {
            guides,
            ..Frame::default()
        };
        let mut look = look([1280, 720], Show::Guides);
        Stage::default().include(&frame, &mut look).unwrap();
        look.viewpoint.framing.unwrap().view()
    };
    let alone = framing(&[]);
    assert_eq!(framing(&[Vec3::new(0.5, 0.5, -5000.0), Vec3::NAN]), alone);
    // Particles a few sizes away are framed.
    assert_ne!(framing(&[Vec3::new(0.5, 0.5, 4.0)]), alone);
}
