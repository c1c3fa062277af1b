//! Periodic scenes.

use barchan::Simulation;
use barchan::scene::{Document, Scene, parse_scene};
use barchan::world::Column;
use glam::{DVec3, Vec3};

fn scene(text: &str) -> Scene {
    let (scene, _) = parse_scene(&Document::new("scene", text)).unwrap_or_else(|problems| panic!("{problems}"));
    scene
}

/// A cloud without gravity in a periodic box of 0.5 m, moving with `velocity` [m/s].
fn cloud(solver: &str, velocity: DVec3) -> Scene {
    scene(&format!(
        r#"
duration = 1
gravity = [0, 0, 0]
periodic = {{ x = [0, 0.5], y = [-0.2, 0.3] }}
[solver]
kind = "{solver}"
[materials.sand]
density = 1600
[[fill]]
material = "sand"
radius = 0.02
packing = "lattice"
velocity = {:?}
shape = {{ box = {{ size = [0.2, 0.2, 0.2] }}, at = [0.15, 0.05, 0] }}
[refine]
radius = 0.01
"#,
        velocity.to_array()
    ))
}

fn vectors(column: Option<&Column>) -> &[Vec3] {
    match column {
        Some(Column::Vec3(values)) => values,
        _ => panic!("no vectors"),
    }
}

#[test]
fn speeds_beyond_half_a_period_per_frame_are_published_as_they_are() {
    // 3.7 periods per frame of a 60th of a second along x, and 1.2 back along y.
    let velocity = DVec3::new(3.7, -1.2, 0.0) * 0.5 * 60.0;
    for solver in ["pbd", "sph", "dem", "mpm"] {
        let scene = cloud(solver, velocity);
        let mut simulation = Simulation::new(&scene).unwrap();
        let (mut resumed, mut starts) = (None, Vec::new());
        for number in 0..4 {
            let frame = simulation.frame();
            let (stats, mass) = (&frame.stats, frame.stats.mass);
            let energy = 0.5 * mass * velocity.length_squared();
            // A cloud that is too dense for SPH spreads a little.
            for (what, found, tolerance) in [
                (
                    "momentum",
                    stats.momentum.distance(mass * velocity) / (mass * velocity.length()),
                    1e-3,
                ),
                ("energy", (stats.kinetic_energy / energy - 1.0).abs(), 1e-3),
                ("speed", (stats.max_speed / velocity.length() - 1.0).abs(), 1e-2),
            ] {
                assert!(found < tolerance, "{solver}, frame {number}: {what} is off by {found}");
            }
            let grains = frame.grains.as_ref().unwrap();
            for (what, table) in [("guide", &frame.guides), ("grain", grains)] {
                for found in vectors(table.column("velocity")) {
                    let off = (found.as_dvec3() - velocity).length();
                    assert!(
                        off < 0.02 * velocity.length(),
                        "{solver}, frame {number}: a {what} at {found}"
                    );
                }
            }
            // Grains stay around their guides across periodic faces.
            let positions: Vec<Vec3> = vectors(grains.column("position")).to_vec();
            let Some(Column::U32(ids)) = grains.column("id") else {
                panic!("no ids");
            };
            let mut here: Vec<(u32, Vec3)> = ids.iter().copied().zip(positions).collect();
            here.sort_by_key(|grain| grain.0);
            if number == 0 {
                starts = here;
            } else {
                let gone = velocity * f64::from(number) / 60.0;
                let world = simulation.world();
                for ((id, start), (_, now)) in starts.iter().zip(&here) {
                    let off = world.shortest_way(now.as_dvec3() - start.as_dvec3() - gone).length();
                    assert!(off < 0.02, "{solver}, frame {number}: grain {id} is off by {off} m");
                }
            }
            if number == 2 {
                resumed = Some(Simulation::resume(&scene, &simulation.save()).unwrap());
            }
            simulation.advance().unwrap();
        }
        let mut resumed = resumed.unwrap();
        resumed.advance().unwrap();
        resumed.advance().unwrap();
        assert!(simulation.frame().guides == resumed.frame().guides, "{solver}");
    }
}

#[test]
fn guides_that_fall_asleep_outside_their_range_are_published_at_rest() {
    for solver in ["pbd", "sph"] {
        let scene = scene(&format!(
            r#"
duration = 5
periodic = {{ x = [0, 0.4], y = [0, 0.4] }}
[solver]
kind = "{solver}"
[materials.sand]
density = 1600
[[fill]]
material = "sand"
radius = 0.02
shape = {{ box = {{ size = [0.36, 0.36, 0.06] }}, at = [0.2, 0.2, 0.03] }}
[[body]]
name = "ground"
shape = {{ half_space = {{ normal = [0, 0, 1] }} }}
"#
        ));
        let mut simulation = Simulation::new(&scene).unwrap();
        for _ in 0..240 {
            simulation.advance().unwrap();
            if simulation.report().steps == 0 {
                break;
            }
        }
        assert_eq!(simulation.report().steps, 0, "{solver} never sleeps");
        // As if they had fallen asleep beyond a face.
        let world = simulation.world_mut();
        for position in &mut world.guides.position {
            position.x += 0.4;
        }
        simulation.advance().unwrap();
        let fastest = simulation.frame().stats.max_speed;
        assert!(fastest < 1e-9, "{solver}: {fastest} m/s");
    }
}

#[test]
fn the_shortest_period_that_a_scene_may_have_can_be_run_however_fast_guides_are() {
    // A cube of two diameters, the smallest for DEM, has room for a few guides only.
    for (solver, period, guides) in [
        ("pbd", 0.1041, 8),
        ("dem", 0.0801, 1),
        ("sph", 0.2001, 8),
        ("mpm", 0.2401, 8),
    ] {
        let text = |period: f64| {
            format!(
                r#"
duration = 1
gravity = [0, 0, 0]
periodic = {{ x = [0, {period}], y = [0, {period}], z = [0, {period}] }}
[solver]
kind = "{solver}"
[materials.sand]
density = 1600
youngs_modulus = 1e8
[[fill]]
material = "sand"
radius = 0.02
shape = {{ box = {{ size = [{period}, {period}, {period}] }}, at = [{0}, {0}, {0}] }}
"#,
                0.5 * period
            )
        };
        let shorter = parse_scene(&Document::new("scene", text(0.99 * period))).unwrap_err();
        assert!(
            shorter.to_string().contains("a periodic range must be"),
            "{solver}: {shorter}"
        );
        // Guides fly past each other in all directions.
        let mut scene = scene(&text(period));
        let mut simulation = Simulation::prepared(&mut scene, |_, world| {
            for (i, velocity) in world.guides.velocity.iter_mut().enumerate() {
                let k = i as f32;
                *velocity = 20.0 * Vec3::new(k.sin(), (2.0 * k).cos(), (3.0 * k).sin());
            }
        })
        .unwrap();
        assert!(simulation.world().guides.len() > guides, "{solver}");
        let before = simulation.frame().stats.momentum;
        for number in 0..6 {
            let advanced = simulation.advance();
            assert!(advanced.is_ok(), "{solver}, frame {number}: {advanced:?}");
        }
        let stats = simulation.frame().stats;
        let off = (stats.momentum - before).length() / (stats.mass * 20.0);
        assert!(off < 1e-3, "{solver}: momentum changed by {off}");
    }
}

#[test]
fn guides_meet_the_image_that_comes_towards_them_not_the_one_that_is_nearer_behind() {
    // Two guides, a little more than half a period apart, fly toward each other so fast that they meet within a step.
    for speed in [1.0_f32, 30.0, 60.0] {
        let mut scene = scene(
            r#"
duration = 1
gravity = [0, 0, 0]
periodic = { x = [0, 0.128] }
[solver]
kind = "pbd"
[materials.sand]
density = 1600
[[fill]]
material = "sand"
radius = 0.02
shape = { box = { size = [0.1, 0.05, 0.05] }, at = [0.064, 0, 0] }
"#,
        );
        let mut simulation = Simulation::prepared(&mut scene, |_, world| {
            let keep: Vec<bool> = (0..world.guides.len()).map(|i| i < 2).collect();
            world.guides.retain(&keep);
            for (i, x) in [0.02_f32, 0.085].into_iter().enumerate() {
                world.guides.position[i] = Vec3::new(x, 0.0, 0.0);
                world.guides.offset[i] = Vec3::ZERO;
                world.guides.velocity[i] = Vec3::X * speed * [1.0, -1.0][i];
            }
        })
        .unwrap();
        for _ in 0..3 {
            simulation.advance().unwrap();
        }
        let fastest = simulation.frame().stats.max_speed;
        assert!(fastest < 0.05 * f64::from(speed), "{fastest} of {speed} m/s");
    }
}
