//! Robots from URDF files.

use barchan::Simulation;
use barchan::scene::{Diagnostics, Document, Scene, parse_scene};
use barchan::world::{Motion, Target};
use glam::DVec3;

/// A scene with the arm; its files are beside this one.
fn arm(keys: &str) -> Result<(Scene, Vec<String>), Diagnostics> {
    let text = format!(
        "duration = 1\n[materials.sand]\ndensity = 1600\n[[robot]]\nurdf = \"tests/robots/arm.urdf\"\nat = [1, 0, 0]\n{keys}"
    );
    let (scene, warnings) = parse_scene(&Document::new("scene.toml", text))?;
    // The scene has no sand, of which it warns too.
    let messages = warnings.into_iter().map(|warning| warning.message);
    Ok((scene, messages.filter(|message| message.contains("urdf")).collect()))
}

fn refused(keys: &str) -> String {
    arm(keys).unwrap_err().to_string()
}

#[test]
fn links_become_bodies_and_fixed_joints_weld_them() {
    let (scene, warnings) = arm("").unwrap();
    assert_eq!(warnings, [""; 0]);
    let names: Vec<&str> = scene.bodies.iter().map(|body| body.name.as_str()).collect();
    assert_eq!(names, ["arm/world", "arm/upper", "arm/finger"]);
    assert_eq!(scene.bodies[0].motion, Motion::Fixed);
    let world = scene.build().unwrap();
    let upper = &world.bodies[1];
    assert!((upper.mass() - 3.0).abs() < 1e-9);
    // 2 kg at 0.2 m and 1 kg at 0.4 m; Steiner: 0.03 + 0.001 + 2/3 kg times the square of the distance of 0.2 m.
    assert!(upper.mass_properties.center.abs_diff_eq(DVec3::X * (0.8 / 3.0), 1e-9));
    let inertia = upper.mass_properties.inertia * upper.density;
    assert!(
        (inertia.y_axis.y - (0.031 + 2.0 / 3.0 * 0.04)).abs() < 1e-9,
        "{inertia}"
    );
    assert!((inertia.x_axis.x - 0.011).abs() < 1e-9);
    // It starts at the limit that is nearest to zero, turned about y from the top of the post.
    let tip = upper.pose.point(DVec3::X * 0.4);
    let expected = DVec3::new(1.0 + 0.4 * 0.2f64.cos(), 0.0, 1.0 - 0.4 * 0.2f64.sin());
    assert!(tip.abs_diff_eq(expected, 1e-9), "{tip}");
    let finger = &world.bodies[2];
    assert!((finger.shape.bounds().size().x - 0.1).abs() < 1e-9);
}

#[test]
fn motors_hold_the_arm_and_carry_its_weight_until_a_program_moves_it() {
    let (scene, _) =
        arm("pose = [{ joint = \"shoulder\", angle = 40 }, { joint = \"slide\", position = 0.05 }]").unwrap();
    let mut simulation = Simulation::new(&scene).unwrap();
    for _ in 0..30 {
        simulation.advance().unwrap();
    }
    let shoulder = simulation.joint("arm/shoulder").unwrap();
    assert!((shoulder.position.to_degrees() - 40.0).abs() < 0.5, "{shoulder:?}");
    assert!(
        (shoulder.load.wrench.force.z / (3.5 * 9.81) - 1.0).abs() < 0.01,
        "{shoulder:?}"
    );
    // The motor holds the moment of the weights about the shoulder: arms of 0.8 / 3 m and of 0.4 + 0.06 + 0.05 + 0.05 m.
    let moment = 9.81 * 40f64.to_radians().cos() * (3.0 * 0.8 / 3.0 + 0.5 * 0.56);
    assert!(
        (shoulder.load.motor / -moment - 1.0).abs() < 0.02,
        "{shoulder:?}, expected {moment}"
    );
    let slide = simulation.joint("arm/slide").unwrap();
    assert!((slide.position - 0.05).abs() < 2e-3, "{slide:?}");

    let motor = simulation.motor_mut("arm/shoulder").unwrap();
    assert_eq!(motor.limit, 200.0);
    motor.set(80f64.to_radians());
    // 40 degrees at 1.5 rad/s take 0.47 s.
    for _ in 0..20 {
        simulation.advance().unwrap();
    }
    let speed = simulation.joint("arm/shoulder").unwrap().speed;
    assert!((speed - 1.5).abs() < 0.03, "{speed}");
    for _ in 0..40 {
        simulation.advance().unwrap();
    }
    let position = simulation.joint("arm/shoulder").unwrap().position.to_degrees();
    assert!((position - 80.0).abs() < 0.5, "{position}");
}

#[test]
fn a_robot_without_motors_falls_to_its_limit() {
    let (scene, _) = arm("motors = \"none\"\nname = \"left\"").unwrap();
    assert!(scene.joints.iter().all(|joint| joint.motor.is_none()));
    let mut simulation = Simulation::new(&scene).unwrap();
    for _ in 0..300 {
        simulation.advance().unwrap();
    }
    let shoulder = simulation.joint("left/shoulder").unwrap();
    assert!(shoulder.position > 0.5 && shoulder.position < 2.55, "{shoulder:?}");
}

#[test]
fn the_base_may_be_free_and_the_target_of_its_motors_is_kept() {
    let (scene, warnings) = arm("base = \"free\"").unwrap();
    assert_eq!(scene.bodies[0].motion, Motion::Dynamic);
    assert!(
        warnings[0].contains("link `world` has no inertia; its density is 1000 kg/m³"),
        "{warnings:?}"
    );
    let motor = scene.joints[0].motor.unwrap();
    assert_eq!(motor.target, Target::Position { at: 0.2, speed: 1.5 });
}

#[test]
fn what_is_wrong_with_a_robot_is_said_with_its_place() {
    for (keys, said) in [
        (
            "pose = [{ joint = \"sholder\", angle = 1 }]",
            "did you mean `shoulder`?",
        ),
        (
            "pose = [{ joint = \"shoulder\", angle = 1 }]",
            "joint `shoulder` goes from 11.459",
        ),
        (
            "pose = [{ joint = \"shoulder\", position = 1 }]",
            "must have the key `angle`",
        ),
        ("pose = [{ joint = \"weld\", angle = 1 }]", "joint `weld` has no axis"),
        ("base = \"fixd\"", "did you mean `fixed`?"),
        (
            "[[robot]]\nurdf = \"tests/robots/arm.urdf\"",
            "there is a body `arm/world` before",
        ),
        (
            "[[robot]]\nurdf = \"tests/robots/leg.urdf\"",
            "cannot read tests/robots/leg.urdf",
        ),
        ("[[robot]]\nurdf = \"tests/robots/rod.obj\"", "tests/robots/rod.obj:1: "),
    ] {
        let text = refused(keys);
        assert!(text.contains(said) && text.contains("scene.toml:"), "{keys}: {text}");
    }
}
