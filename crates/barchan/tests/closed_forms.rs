//! Scenes with closed-form solutions.

use barchan::Simulation;
use barchan::scene::{Document, parse_scene};
use barchan::world::{Body, World};
use glam::{DMat3, DQuat, DVec3, EulerRot};

fn simulation(text: &str) -> Simulation {
    let (scene, _) = parse_scene(&Document::new("scene", text)).unwrap_or_else(|problems| panic!("{problems}\n{text}"));
    Simulation::new(&scene).unwrap()
}

fn after(text: &str, frames: u32) -> Simulation {
    let mut simulation = simulation(text);
    for _ in 0..frames {
        simulation.advance().unwrap();
    }
    simulation
}

fn body<'a>(world: &'a World, name: &str) -> &'a Body {
    world.bodies.iter().find(|body| body.name == name).unwrap()
}

#[test]
fn bodies_and_guides_fall_freely() {
    let text = r#"
duration = 1
[materials.sand]
density = 1600
[[fill]]
material = "sand"
radius = 0.01
velocity = [1, 0, 2]
shape = { sphere = { radius = 0.03 }, at = [0, 0, 5] }
[[body]]
name = "stone"
motion = "dynamic"
density = 2600
velocity = [1, 0, 2]
angular_velocity = [0, 90, 0]
shape = { box = { size = [0.1, 0.2, 0.3] }, at = [3, 0, 5] }
"#;
    let mut falling = after(text, 0);
    // Contact forces between guides cancel: the center of mass is unaffected.
    let center = |world: &World| {
        let n = world.guides.len();
        (0..n).map(|i| world.place(i)).sum::<DVec3>() / n as f64
    };
    let start = center(falling.world());
    let mut error = 0.0;
    for _ in 0..60 {
        falling.advance().unwrap();
        let step = 1.0 / 60.0 / f64::from(falling.report().steps);
        error += 0.5 * 9.81 * step / 60.0;
    }
    let displacement = DVec3::new(1.0, 0.0, 2.0 - 0.5 * 9.81);
    let world = falling.world();
    let stone = body(world, "stone");
    assert!((stone.center() - DVec3::new(3.0, 0.0, 5.0) - displacement).length() < 1e-9);
    // A quarter turn about its own axis.
    let turned = stone.pose.rotation * DVec3::X;
    assert!((turned + DVec3::Z).length() < 1e-9, "{turned}");
    // Symplectic steps fall too far by g Δt t / 2.
    let missed = center(world) - start - displacement;
    assert!((missed + DVec3::Z * error).length() < 1e-4, "{missed}, not {error}");
}

/// Returns displacement [m] and speed [m/s] of a block down a slope of `angle` [°] after `time` [s].
fn slide(angle: f64, friction: f64, time: f64) -> (f64, f64) {
    let (sin, cos) = angle.to_radians().sin_cos();
    let text = format!(
        r#"
duration = 2
[[body]]
name = "ramp"
friction = {friction}
shape = {{ half_space = {{ normal = [{sin}, 0, {cos}] }} }}
[[body]]
name = "block"
motion = "dynamic"
density = 2000
friction = {friction}
shape = {{ box = {{ size = [0.2, 0.2, 0.1] }}, rotate = [0, {angle}, 0], at = [{}, 0, {}] }}
"#,
        0.05 * sin,
        0.05 * cos
    );
    let end = after(&text, (60.0 * time) as u32);
    let down = DVec3::new(cos, 0.0, -sin);
    let block = body(end.world(), "block");
    (block.center().dot(down), block.twist.linear.dot(down))
}

#[test]
fn a_block_slides_on_an_incline_as_coulomb_has_it() {
    for (angle, friction, expected) in [(35.0, 0.5, 1.609), (30.0, 0.3, 2.356)] {
        let (displacement, speed) = slide(angle, friction, 1.0);
        assert!((speed / expected - 1.0).abs() < 0.02, "{angle}°: {speed} m/s");
        assert!(
            (2.0 * displacement / expected - 1.0).abs() < 0.03,
            "{angle}°: {displacement} m"
        );
    }
    for friction in [0.2f64, 0.5, 0.8] {
        let critical = friction.atan().to_degrees();
        let (displacement, _) = slide(critical - 1.0, friction, 1.0);
        assert!(
            displacement.abs() < 1e-3,
            "friction {friction}: {displacement} m below the friction angle"
        );
        let (displacement, _) = slide(critical + 1.0, friction, 1.0);
        assert!(
            displacement > 0.05,
            "friction {friction}: {displacement} m above the friction angle"
        );
    }
}

/// Returns the velocities along x [m/s] after a ball of 2 m/s hits one of twice its mass head-on.
fn impact(restitution: f64) -> [f64; 2] {
    let text = format!(
        r#"
duration = 1
gravity = [0, 0, 0]
[[body]]
name = "a"
motion = "dynamic"
density = 1000
velocity = [2, 0, 0]
restitution = {restitution}
shape = {{ sphere = {{ radius = 0.1 }} }}
[[body]]
name = "b"
motion = "dynamic"
density = 2000
shape = {{ sphere = {{ radius = 0.1 }}, at = [0.5, 0, 0] }}
"#
    );
    let end = after(&text, 40);
    ["a", "b"].map(|name| body(end.world(), name).twist.linear.x)
}

#[test]
fn two_bodies_keep_their_momentum_and_part_as_their_restitution_says() {
    for restitution in [0.0, 0.5, 0.9] {
        let [a, b] = impact(restitution);
        assert!((a + 2.0 * b - 2.0).abs() < 1e-9, "momentum {}", a + 2.0 * b);
        assert!(
            (b - a - 2.0 * restitution).abs() < 0.04,
            "restitution {restitution}: {}",
            (b - a) / 2.0
        );
    }
}

/// A thin plate of √2 to 1 has moments of inertia of 1 : 2 : 3.
const PLATE: &str = r#"
duration = 20
gravity = [0, 0, 0]
[[body]]
name = "plate"
motion = "dynamic"
density = 1000
angular_velocity = [0.5729578, 572.9578, 0]
shape = { box = { size = [1.41421356, 1, 0.01] } }
"#;

/// Returns the times [s] at which the spin of the plate about its middle axis changes sign, and the remaining energy
/// [-] after 20 s.
fn flips(text: &str) -> (Vec<f64>, f64) {
    let mut simulation = simulation(text);
    let spin = |world: &World| {
        let plate = &world.bodies[0];
        let own = plate.pose.rotation.inverse() * plate.twist.angular;
        let moments = plate.mass_properties.inertia * plate.density;
        (own.y, own.dot(moments * own))
    };
    let (mut last, start) = spin(simulation.world());
    let mut times = Vec::new();
    while simulation.world().time < 20.0 {
        simulation.advance().unwrap();
        let (now, _) = spin(simulation.world());
        if now * last < 0.0 {
            // Linear interpolation between two frames.
            times.push(simulation.world().time - now.abs() / (now - last).abs() / 60.0);
        }
        last = now;
    }
    (times, spin(simulation.world()).1 / start)
}

#[test]
fn a_plate_flips_about_its_middle_axis_when_it_should() {
    let (times, energy) = flips(PLATE);
    assert!((times[0] / 1.4366 - 1.0).abs() < 0.01, "first at {} s", times[0]);
    assert_eq!(times.len(), 7);
    for pair in times.windows(2) {
        assert!(((pair[1] - pair[0]) / 2.8731 - 1.0).abs() < 0.01, "{times:?}");
    }
    assert!((energy - 1.0).abs() < 1e-5, "energy {energy}");
}

#[test]
fn shape_matching_takes_spin_away_as_its_steps_say() {
    let text = r#"
duration = 2
gravity = [0, 0, 0]
[solver.pbd]
rigid = "shape_matching"
[[body]]
name = "ball"
motion = "dynamic"
density = 1000
angular_velocity = [0, 0, 572.9578]
shape = { sphere = { radius = 0.1 } }
"#;
    let mut spinning = simulation(text);
    let mut slower = 1.0 / 100.0;
    for _ in 0..120 {
        spinning.advance().unwrap();
        // dω/dt = -ω³ Δt
        slower += 2.0 / 60.0 / 60.0 / f64::from(spinning.report().steps);
    }
    let (found, expected) = (spinning.world().bodies[0].twist.angular.z, slower.sqrt().recip());
    assert!((found / expected - 1.0).abs() < 0.01, "{found} rad/s, not {expected}");
    assert!(expected < 9.0, "nothing to see");
}

/// A ball falls into a tray of sand; the whole scene is translated and rotated.
fn tray(shift: DVec3, turn: DQuat) -> String {
    // The notation rotates about x, then y, then z.
    let (rz, ry, rx) = turn.to_euler(EulerRot::ZYX);
    let rotate = [rx, ry, rz].map(f64::to_degrees);
    let gravity = turn * DVec3::new(0.0, 0.0, -9.81);
    let at = |p: DVec3| {
        let p = shift + turn * p;
        format!("rotate = {rotate:?}, at = {:?}", p.to_array())
    };
    format!(
        r#"
duration = 1
gravity = {:?}
[materials.sand]
density = 1600
[[fill]]
material = "sand"
radius = 0.02
shape = {{ box = {{ size = [0.4, 0.4, 0.2] }}, {} }}
[[body]]
name = "tray"
shape = {{ {}, subtract = [ {{ box = {{ size = [0.5, 0.5, 0.5] }} }}, {{ box = {{ size = [0.4, 0.4, 0.5] }}, at = [0, 0, 0.05] }} ] }}
[[body]]
name = "ball"
motion = "dynamic"
density = 3000
shape = {{ sphere = {{ radius = 0.06 }}, {} }}
"#,
        gravity.to_array(),
        at(DVec3::Z * 0.1),
        at(DVec3::Z * 0.2),
        at(DVec3::Z * 0.4),
    )
}

/// Returns the depth of the ball and the height of the sand's center, in the tray's frame [m].
fn depth(shift: DVec3, turn: DQuat) -> [f64; 2] {
    let end = after(&tray(shift, turn), 60);
    let world = end.world();
    let seen = |p: DVec3| (DMat3::from_quat(turn).transpose() * (p - shift)).z;
    let n = world.guides.len();
    let height = (0..n).map(|i| seen(world.place(i))).sum::<f64>() / n as f64;
    [seen(body(world, "ball").center()), height]
}

#[test]
fn a_scene_shifted_by_a_kilometer_or_turned_with_gravity_behaves_the_same() {
    let here = depth(DVec3::ZERO, DQuat::IDENTITY);
    let turn = DQuat::from_euler(EulerRot::ZYX, 0.4, -0.9, 0.7);
    let others = [
        (
            "shifted",
            depth(DVec3::new(1000.0, -1000.0, 1000.0), DQuat::IDENTITY),
            1e-3,
        ),
        // Another sampling grid, so other sand: within the difference between two seeds.
        ("turned", depth(DVec3::ZERO, turn), 0.01),
    ];
    for (name, there, allowed) in others {
        println!("{name}: {here:?} {there:?}");
        for (a, b) in here.iter().zip(there) {
            assert!((a - b).abs() < allowed, "{name}: {here:?} and {there:?}");
        }
    }
}
