//! Scenes that close upon themselves.

use barchan::Simulation;
use barchan::scene::{Document, Scene, parse_scene};
use barchan::world::Column;
use glam::{DVec3, Vec3};

fn scene(text: &str) -> Scene {
    let (scene, _) = parse_scene(&Document::new("scene", text)).unwrap_or_else(|problems| panic!("{problems}"));
    scene
}

/// A cloud without gravity in a box of 0.5 m that repeats, moving with `velocity` [m/s].
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
    // 3.7 periods in a frame of a 60th of a second along x, and 1.2 back along y.
    let velocity = DVec3::new(3.7, -1.2, 0.0) * 0.5 * 60.0;
    for solver in ["pbd", "sph", "dem"] {
        let scene = cloud(solver, velocity);
        let mut simulation = Simulation::new(&scene).unwrap();
        let (mut resumed, mut starts) = (None, Vec::new());
        for number in 0..4 {
            let frame = simulation.frame();
            let (stats, mass) = (&frame.stats, frame.stats.mass);
            let energy = 0.5 * mass * velocity.length_squared();
            // A cloud that sph finds too dense spreads a little.
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
            // Grains stay around their guides, whatever the faces between them.
            let places: Vec<Vec3> = vectors(grains.column("position")).to_vec();
            let Some(Column::U32(ids)) = grains.column("id") else {
                panic!("no ids");
            };
            let mut here: Vec<(u32, Vec3)> = ids.iter().copied().zip(places).collect();
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
shape = {{ box = {{ size = [0.4, 0.4, 0.06] }}, at = [0.2, 0.2, 0.03] }}
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
        // As if they had gone to sleep beyond a face.
        let world = simulation.world_mut();
        for position in &mut world.guides.position {
            position.x += 0.4;
        }
        simulation.advance().unwrap();
        let fastest = simulation.frame().stats.max_speed;
        assert!(fastest < 1e-9, "{solver}: {fastest} m/s");
    }
}
