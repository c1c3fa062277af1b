//! Rigid bodies with the DEM solver: static friction, restitution, covers of spheres.

use barchan::Simulation;
use barchan::scene::{Document, parse_scene};
use barchan::world::{Body, World};
use glam::DVec3;

/// A few spheres far away, so that steps are as short as in DEM.
const SPHERES: &str = r#"
[solver]
kind = "dem"
[materials.sand]
density = 1600
friction = 0.5
rolling_friction = 0.2
[[fill]]
material = "sand"
radius = 0.02
shape = { box = { size = [0.1, 0.1, 0.1] }, at = [5, 0, 0.06] }
[[body]]
name = "tray"
shape = { box = { size = [2, 2, 0.2] }, at = [5, 0, -0.1] }
friction = 0.5
"#;

fn simulation(text: &str) -> Simulation {
    let text = format!("duration = 10\n{SPHERES}{text}");
    let (scene, _) = parse_scene(&Document::new("scene", &*text)).unwrap_or_else(|problems| panic!("{problems}"));
    Simulation::new(&scene).unwrap()
}

fn body<'a>(world: &'a World, name: &str) -> &'a Body {
    world.bodies.iter().find(|body| body.name == name).unwrap()
}

#[test]
fn a_stack_of_ten_boxes_stands() {
    let mut text =
        "[[body]]\nname = \"ground\"\nfriction = 0.5\nshape = { half_space = { normal = [0, 0, 1] } }\n".to_owned();
    for k in 0..10 {
        let height = 0.1 + 0.2 * f64::from(k);
        text += &format!(
            "[[body]]\nname = \"box {k}\"\nmotion = \"dynamic\"\ndensity = 1000\nfriction = 0.5\n\
             shape = {{ box = {{ size = [0.2, 0.2, 0.2] }}, at = [0, 0, {height}] }}\n"
        );
    }
    let mut stack = simulation(&text);
    for _ in 0..60 {
        stack.advance().unwrap();
    }
    assert!(stack.report().steps > 20, "{} steps a frame", stack.report().steps);
    for k in 0..10 {
        let place = body(stack.world(), &format!("box {k}")).center();
        let stood = DVec3::new(0.0, 0.0, 0.1 + 0.2 * f64::from(k));
        assert!(place.distance(stood) < 0.005, "box {k} is at {place}");
    }
}

/// Returns the displacement [m] of a box of friction 0.5 down a slope of `angle` [°] in one second.
fn displacement(angle: f64) -> f64 {
    let (sin, cos) = angle.to_radians().sin_cos();
    let text = format!(
        r#"
[[body]]
name = "ramp"
friction = 0.5
shape = {{ half_space = {{ normal = [{sin}, 0, {cos}] }} }}
[[body]]
name = "box"
motion = "dynamic"
density = 1000
friction = 0.5
shape = {{ box = {{ size = [0.3, 0.3, 0.2] }}, at = [{}, 0, {}], rotate = [0, {angle}, 0] }}
"#,
        0.1 * sin - 8.0 * cos,
        0.1 * cos + 8.0 * sin
    );
    let mut slope = simulation(&text);
    let start = body(slope.world(), "box").center();
    for _ in 0..60 {
        slope.advance().unwrap();
    }
    body(slope.world(), "box").center().distance(start)
}

#[test]
fn a_box_on_an_incline_stays_below_the_angle_of_friction_and_slides_above() {
    assert!(displacement(20.0) < 1e-3, "{}", displacement(20.0));
    let expected = 0.5 * 9.81 * (35f64.to_radians().sin() - 0.5 * 35f64.to_radians().cos());
    assert!(
        (displacement(35.0) / expected - 1.0).abs() < 0.05,
        "{} {expected}",
        displacement(35.0)
    );
}

/// Returns the restitution [-] of a body whose center falls by 0.2 m onto the ground: the square root of the relative
/// rebound height.
fn rebound(shape: &str) -> f64 {
    let text = format!(
        r#"
[[body]]
name = "ground"
restitution = 0.5
shape = {{ half_space = {{ normal = [0, 0, 1] }} }}
[[body]]
name = "stone"
motion = "dynamic"
density = 1000
restitution = 0.5
shape = {shape}
"#
    );
    let mut fall = simulation(&text);
    let (mut rises, mut highest) = (false, 0.0f64);
    for _ in 0..30 {
        fall.advance().unwrap();
        let stone = body(fall.world(), "stone");
        rises |= stone.twist.linear.z > 0.0;
        highest = highest.max(if rises { stone.center().z } else { 0.0 });
    }
    ((highest - 0.1) / 0.2).sqrt()
}

#[test]
fn a_body_rebounds_alike_on_one_point_and_on_a_face() {
    for shape in [
        "{ sphere = { radius = 0.1 }, at = [0, 0, 0.3] }",
        "{ box = { size = [0.2, 0.2, 0.2] }, at = [0, 0, 0.3] }",
    ] {
        let found = rebound(shape);
        assert!((found - 0.5).abs() < 0.03, "{shape}: {found}");
    }
}

#[test]
fn grains_rest_on_a_body_that_spheres_cover() {
    let text = format!("duration = 10\n{SPHERES}[solver.dem]\nboundary = \"particles\"\n");
    let (scene, _) = parse_scene(&Document::new("scene", &*text)).unwrap_or_else(|problems| panic!("{problems}"));
    let mut heap = Simulation::new(&scene).unwrap();
    for _ in 0..40 {
        heap.advance().unwrap();
    }
    let world = heap.world();
    let weight = 9.81 * world.guides.mass.iter().map(|&m| f64::from(m)).sum::<f64>();
    let load = -body(world, "tray").wrench.force.z;
    assert!((load / weight - 1.0).abs() < 0.05, "{load} {weight}");
    for i in 0..world.guides.len() {
        // Spheres of a cover leave dimples.
        assert!(world.place(i).z > 0.006, "{}", world.place(i));
    }
}
