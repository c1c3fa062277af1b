//! Against closed forms and conservation laws.

mod support;

use barchan_pbd::{FrictionMode, PbdSettings, Splitting};
use barchan_world::Solver;
use glam::DVec3;
use support::*;

#[test]
fn a_free_guide_falls_as_symplectic_steps_do() {
    let mut world = world(down(), friction(0.3));
    world.add_guide(DVec3::new(0.1, 0.2, 10.0), DVec3::X, 0.02, 0.05, 0);
    let mut solver = solver(&world, PbdSettings::default());
    run(&mut solver, &mut world, 30);
    let place = world.place(0);
    // z(t) = z0 - g t (t + dt) / 2 with steps dt; the frame's 8 steps are no more by the CFL condition of 4.9 m/s.
    let (t, dt) = (0.5, FRAME / 8.0);
    assert!((place.z - (10.0 - 0.5 * 9.81 * t * (t + dt))).abs() < 1e-2, "{place}");
    assert!((place.x - 0.6).abs() < 1e-5, "{place}");
    assert!((world.guides.velocity[0].z + 9.81 * 0.5).abs() < 1e-4);
    assert!((world.time - 0.5).abs() < 1e-12);
}

#[test]
fn two_guides_meet_head_on_and_keep_their_momentum() {
    let mut world = world(DVec3::ZERO, friction(0.3));
    world.add_guide(DVec3::new(-0.05, 0.0, 0.0), DVec3::X, 0.02, 0.05, 0);
    world.add_guide(DVec3::new(0.05, 0.0, 0.0), DVec3::X * -0.5, 0.03, 0.15, 0);
    let before = momentum(&world);
    let mut solver = solver(&world, PbdSettings::default());
    run(&mut solver, &mut world, 30);
    assert!(
        (momentum(&world) - before).length() < 1e-8,
        "{} {before}",
        momentum(&world)
    );
    // Inelastic: both go on with the common velocity.
    let common = before.x / 0.2;
    for v in &world.guides.velocity {
        assert!((f64::from(v.x) - common).abs() < 1e-3, "{v} {common}");
    }
}

/// A cloud that collides with itself.
fn cloud() -> barchan_world::World {
    let mut world = world(DVec3::ZERO, friction(0.0));
    fill(&mut world, DVec3::splat(-0.2), DVec3::splat(0.2), 0.02, 0.0);
    for i in 0..world.guides.len() {
        let p = world.guides.position[i];
        world.guides.velocity[i] = -2.0 * p + glam::Vec3::new(-p.y, p.x, 0.3);
        world.guides.mass[i] *= 1.0 + 0.5 * (i % 3) as f32;
    }
    world
}

fn drift(settings: PbdSettings) -> (f64, f64) {
    let mut world = cloud();
    let scale: f64 = world
        .guides
        .velocity
        .iter()
        .zip(&world.guides.mass)
        .map(|(v, m)| f64::from(v.length() * m))
        .sum();
    let (p, l) = (momentum(&world), angular_momentum(&world));
    let mut solver = solver(&world, settings);
    run(&mut solver, &mut world, 10);
    (
        (momentum(&world) - p).length() / scale,
        (angular_momentum(&world) - l).length() / (0.2 * scale),
    )
}

#[test]
fn a_thousand_guides_keep_momentum_and_angular_momentum_to_rounding() {
    let without_pushes = PbdSettings {
        stabilization: 0,
        ..PbdSettings::default()
    };
    let (linear, angular) = drift(without_pushes.clone());
    assert!(linear < 1e-6 && angular < 1e-6, "{linear} {angular}");
    // Pushes move guides without speed: momentum stays, its moment about a point does not quite.
    let (linear, _) = drift(PbdSettings::default());
    assert!(linear < 1e-6, "{linear}");
    let averaged = PbdSettings {
        splitting: Splitting::Average,
        ..without_pushes
    };
    assert!(drift(averaged).0 > 1e-4, "averages are not symmetric");
}

fn slide(degrees: f64, frames: u32) -> f64 {
    let mut world = world(
        down(),
        barchan_world::Friction {
            r#static: 0.5,
            kinetic: 0.4,
        },
    );
    let angle = degrees.to_radians();
    let normal = DVec3::new(angle.sin(), 0.0, angle.cos());
    let mut plane = floor(0.0);
    plane.shape = std::sync::Arc::new(barchan_geometry::shapes::HalfSpace::new(normal, 0.0).unwrap());
    plane.boundary = barchan_world::Boundary::Exact(plane.shape.clone());
    plane.friction = world.materials.all[0].friction;
    world.bodies.push(plane);
    world.add_guide(normal * 0.02, DVec3::ZERO, 0.02, 0.05, 0);
    let mut solver = solver(&world, PbdSettings::default());
    run(&mut solver, &mut world, frames);
    let downhill = DVec3::new(angle.cos(), 0.0, -angle.sin());
    assert!((world.place(0).dot(normal) - 0.02).abs() < 1e-4, "{}", world.place(0));
    world.place(0).dot(downhill)
}

#[test]
fn a_guide_sticks_to_a_slope_below_the_friction_angle_and_slides_above_it() {
    let angle = 0.5f64.atan().to_degrees();
    assert!(slide(angle - 1.0, 120).abs() < 1e-5, "{}", slide(angle - 1.0, 120));
    for steeper in [1.0, 10.0] {
        let a = 9.81 * ((angle + steeper).to_radians().sin() - 0.4 * (angle + steeper).to_radians().cos());
        let expected = 0.5 * a * 4.0;
        let way = slide(angle + steeper, 120);
        assert!((way - expected).abs() < 0.1 * expected, "{way} {expected}");
    }
}

#[test]
fn a_column_of_twenty_stays() {
    let mut world = world(down(), friction(0.3));
    world.bodies.push(floor(0.3));
    for k in 0..20 {
        world.add_guide(
            DVec3::new(0.0, 0.0, 0.02 + 0.04 * f64::from(k)),
            DVec3::ZERO,
            0.02,
            0.05,
            0,
        );
    }
    // Asleep it would stay, come what may.
    let mut solver = solver(
        &world,
        PbdSettings {
            sleeping: false,
            ..PbdSettings::default()
        },
    );
    run(&mut solver, &mut world, 240);
    let before = places(&world);
    run(&mut solver, &mut world, 60);
    let report = solver.advance(&mut world, FRAME).unwrap();
    assert!(report.max_overlap < 1e-3, "{report:?}");
    for (k, (now, then)) in places(&world).iter().zip(before).enumerate() {
        assert!(now.distance(then) < 0.01 * 0.02, "{k}: {now} {then}");
        assert!((now.z - (0.02 + 0.04 * k as f64)).abs() < 0.01 * 0.02, "{k}: {}", now.z);
    }
    // The floor carries the column.
    let weight = 20.0 * 0.05 * 9.81;
    assert!(
        (world.bodies[0].wrench.force.z + weight).abs() < 0.01 * weight,
        "{}",
        world.bodies[0].wrench.force
    );
}

/// Mean speed [m/s] down a slope of 30 degrees after a second, of a layer with friction 0.35 and these settings.
fn speed_on_a_slope(settings: PbdSettings) -> f32 {
    let mut world = world(down(), friction(0.35));
    let angle = 30f64.to_radians();
    world.gravity = DVec3::new(9.81 * angle.sin(), 0.0, -9.81 * angle.cos());
    world.periodic = [Some([0.0, 0.48]), Some([0.0, 0.48]), None];
    world.bodies.push(floor(0.35));
    fill(&mut world, DVec3::ZERO, DVec3::new(0.48, 0.48, 0.2), 0.02, 0.0);
    let mut solver = solver(&world, settings);
    run(&mut solver, &mut world, 60);
    let report = solver.advance(&mut world, FRAME).unwrap();
    assert!(report.max_overlap < 0.5, "{report:?}");
    // What moves, not what is stored: stabilized stacks differ in the two.
    let ways: f32 = solver.frame_displacement().iter().map(|d| d.x).sum();
    ways / FRAME as f32 / world.guides.len() as f32
}

#[test]
fn friction_by_size_holds_what_coulomb_friction_lets_slide() {
    // tan 30 degrees is 0.58: more than 0.35 can hold.
    let coulomb = speed_on_a_slope(PbdSettings::default());
    let closed_form = 9.81 * (30f32.to_radians().sin() - 0.35 * 30f32.to_radians().cos()) * 61.0 / 60.0;
    assert!(
        (coulomb - closed_form).abs() < 0.15 * closed_form,
        "{coulomb} {closed_form}"
    );
    let macklin = speed_on_a_slope(PbdSettings {
        friction: FrictionMode::Macklin,
        ..PbdSettings::paper()
    });
    assert!(macklin > 1.0, "{macklin}");
    let sommer = speed_on_a_slope(PbdSettings::paper());
    assert!(sommer < 0.25 * coulomb, "{sommer} {coulomb}");
}

#[test]
fn masses_that_fall_with_height_stiffen_a_column() {
    let height = |mass_scaling: f32| {
        let mut world = world(down(), friction(0.3));
        world.bodies.push(floor(0.3));
        for k in 0..20 {
            world.add_guide(
                DVec3::new(0.0, 0.0, 0.02 + 0.04 * f64::from(k)),
                DVec3::ZERO,
                0.02,
                0.05,
                0,
            );
        }
        let mut solver = solver(
            &world,
            PbdSettings {
                splitting: Splitting::Mass,
                mass_scaling,
                ..PbdSettings::paper()
            },
        );
        run(&mut solver, &mut world, 60);
        places(&world)[19].z
    };
    let (plain, scaled) = (height(0.0), height(20.0));
    assert!(scaled > plain + 0.01, "{plain} {scaled}");
}
