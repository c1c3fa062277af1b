//! Motion and stress whose result is known.

mod support;

use barchan_mpm::MpmSettings;
use barchan_world::{MaterialLaw, Motion, Solver, World};
use glam::DVec3;
use support::*;

/// Mean height of the guides [m].
fn height(world: &World) -> f64 {
    places(world).iter().map(|p| p.z).sum::<f64>() / world.guides.len() as f64
}

#[test]
fn a_block_falls_freely() {
    let mut world = world(down(), friction(0.5));
    lattice(&mut world, DVec3::ZERO, [5, 5, 5], 0.05);
    let before = height(&world);
    let mut solver = solver(MpmSettings::default(), &world);
    run(&mut solver, &mut world, 30);
    let time = 30.0 * FRAME;
    let fallen = before - height(&world);
    assert!((fallen / (0.5 * 9.81 * time * time) - 1.0).abs() < 0.02, "{fallen}");
    let speed = -momentum(&world).z / (1600.0 * 0.25f64.powi(3));
    assert!((speed / (9.81 * time) - 1.0).abs() < 1e-4, "{speed}");
    // It neither spreads nor turns.
    let places = places(&world);
    let apart = (places[124] - places[0]).length();
    assert!((apart / (0.2 * 3f64.sqrt()) - 1.0).abs() < 1e-3, "{apart}");
}

#[test]
fn a_wave_travels_at_the_speed_of_its_modulus() {
    // Standing wave in a bar of one period with periodic sides: displacement and velocity follow cos(k c t).
    let mut world = world(DVec3::ZERO, friction(0.5));
    let (cells, spacing) = (128, 0.025);
    let length = f64::from(cells) * spacing;
    let side = 8.0 * spacing;
    world.periodic = [Some([0.0, length]), Some([0.0, side]), Some([0.0, side])];
    lattice(&mut world, DVec3::ZERO, [cells, 8, 8], spacing);
    let k = std::f64::consts::TAU / length;
    for i in 0..world.guides.len() {
        world.guides.velocity[i].x = (0.01 * (k * world.place(i).x).sin()) as f32;
    }
    let settings = made_of(MaterialLaw::Elastic, |contact| {
        contact.youngs_modulus = Some(1e5);
        contact.poisson_ratio = Some(0.3);
    });
    let mut solver = solver(settings, &world);
    let modulus = 1e5 * 0.7 / (1.3 * 0.4);
    let period = length / f64::sqrt(modulus / 1600.0);
    // The amplitude of the wave changes its sign at a quarter and at three quarters of the period.
    let amplitude = |world: &World| {
        let guides = 0..world.guides.len();
        guides
            .map(|i| f64::from(world.guides.velocity[i].x) * (k * world.place(i).x).sin())
            .sum::<f64>()
    };
    let frame = period / 200.0;
    let (mut crossings, mut before) = (Vec::new(), amplitude(&world));
    for n in 0..160 {
        solver.advance(&mut world, frame).unwrap();
        let now = amplitude(&world);
        if now * before < 0.0 {
            crossings.push(frame * (f64::from(n) + before / (before - now)));
        }
        before = now;
    }
    let half = crossings[1] - crossings[0];
    assert!((2.0 * half / period - 1.0).abs() < 0.02, "{half} of {period}");
}

#[test]
fn compressed_snow_bears_the_stress_of_its_law() {
    // A plate presses a block of snow between periodic sides, slowly against the speed of waves.
    let mut world = world(DVec3::ZERO, friction(0.0));
    world.materials.all[0].density = 400.0;
    let (spacing, speed) = (0.025, 0.0125);
    world.periodic = [Some([0.0, 8.0 * spacing]), Some([0.0, 8.0 * spacing]), None];
    lattice(&mut world, DVec3::ZERO, [8, 8, 16], spacing);
    let shape = std::sync::Arc::new(barchan_geometry::shapes::HalfSpace::new(-DVec3::Z, -16.0 * spacing).unwrap());
    let mut plate = body("plate", shape, Motion::Driven, 0.0);
    plate.twist.linear.z = -speed;
    world.bodies = vec![floor(0.0), plate];
    let settings = made_of(MaterialLaw::PackedSnow, |contact| {
        contact.youngs_modulus = Some(1.4e5);
        contact.poisson_ratio = Some(0.2);
    });
    let mut solver = solver(settings, &world);
    let height = 16.0 * spacing;
    let (shear, bulk) = (1.4e5 / 2.4, 1.4e5 / 1.8);
    let lambda = bulk - 2.0 / 3.0 * shear;
    let mut worst = 0.0f64;
    for n in 1..=48 {
        let duration = height / speed / 1000.0;
        solver.advance(&mut world, duration).unwrap();
        world.bodies[1].pose.position.z = -speed * duration * f64::from(n);
        let stretch = 1.0 - 1e-3 * f64::from(n);
        // [Stomakhin13] with θ_c = 0.025 and ξ = 10, as Cauchy stress on the plate.
        let kept = stretch.max(1.0 - 0.025);
        let factor = (10.0 * (1.0 - stretch / kept)).exp();
        let wanted = -factor * (2.0 * shear * (kept - 1.0) * kept + lambda * (kept - 1.0) * kept);
        let found = world.bodies[1].wrench.force.z / (64.0 * spacing * spacing);
        if n > 8 {
            worst = worst.max((found / wanted - 1.0).abs());
        }
    }
    assert!(worst < 0.12, "{worst}");
}

#[test]
fn sand_settles_without_a_jump() {
    let mut world = world(down(), friction(0.6));
    world.bodies = basin(DVec3::new(0.4, 0.4, 0.5), 0.0);
    lattice(&mut world, DVec3::new(-0.2, -0.2, 0.0), [16, 16, 16], 0.025);
    let before = height(&world);
    let mut solver = solver(MpmSettings::default(), &world);
    let mut fastest = 0.0f32;
    for _ in 0..60 {
        solver.advance(&mut world, FRAME).unwrap();
        fastest = world.guides.velocity.iter().map(|v| v.length()).fold(fastest, f32::max);
    }
    // Weight compresses it by ρ g H/2 (λ + 2μ) on average.
    let sag = (before - height(&world)) / before;
    let expected = 1600.0 * 9.81 * 0.4 / (2.0 * 1.346 * 3.5e5);
    assert!((0.3 * expected..3.0 * expected).contains(&sag), "{sag} of {expected}");
    assert!(fastest < 0.25, "{fastest}");
    let force = world.bodies[0].wrench.force.z;
    let weight = -9.81 * 1600.0 * 0.4f64.powi(3);
    assert!((force / weight - 1.0).abs() < 0.05, "{force} of {weight}");
    let rest = world.guides.velocity.iter().map(|v| v.length()).fold(0.0, f32::max);
    assert!(rest < 0.02, "{rest}");
}

#[test]
fn a_cohesive_cut_stands_below_its_critical_height_and_falls_above() {
    // H_c = 4 c/(ρ g) tan(45° + θ/2), 0.22 m for 500 Pa and 30°.
    let fall = |height: u32| {
        let mut world = world(down(), friction(0.577));
        let spacing = 0.0221;
        let width = 8.0 * spacing;
        world.periodic[1] = Some([0.0, width]);
        world.bodies = basin(DVec3::new(1.2, 2.0, 1.0), 0.577);
        // Walls along y lie outside of the period.
        world.bodies.truncate(3);
        lattice(&mut world, DVec3::new(-0.6, 0.0, 0.0), [24, 8, height], spacing);
        let top = f64::from(height) * spacing;
        let settings = made_of(MaterialLaw::Sand, |contact| contact.cohesion = Some(500.0));
        let mut solver = solver(settings, &world);
        run(&mut solver, &mut world, 60);
        let far = places(&world).iter().map(|p| p.x).fold(f64::MIN, f64::max);
        (far + 0.6 - 24.0 * spacing) / top
    };
    let (stands, falls) = (fall(6), fall(20));
    assert!(stands < 0.1, "{stands}");
    assert!(falls > 0.25, "{falls}");
}

#[test]
fn a_thin_wall_does_not_leak() {
    // Sand leans on a wall much thinner than a cell; nothing comes through, and what lies behind does not move.
    let mut world = world(down(), friction(0.5));
    world.bodies = basin(DVec3::new(0.8, 0.3, 0.5), 0.3);
    let shape = std::sync::Arc::new(barchan_geometry::shapes::Cuboid::new(DVec3::new(0.004, 0.4, 0.8)).unwrap());
    let mut wall = body("plate", shape, Motion::Fixed, 0.3);
    wall.pose.position = DVec3::new(0.0, 0.0, 0.4);
    world.bodies.push(wall);
    lattice(&mut world, DVec3::new(-0.4, -0.15, 0.0), [16, 12, 16], 0.025);
    let deep = world.guides.len();
    lattice(&mut world, DVec3::new(0.002, -0.15, 0.0), [15, 12, 2], 0.025);
    let mut solver = solver(MpmSettings::default(), &world);
    let before = places(&world);
    run(&mut solver, &mut world, 60);
    let after = places(&world);
    assert!(after[..deep].iter().all(|p| p.x < 0.0), "sand came through");
    let moved = (deep..after.len())
        .map(|i| (after[i] - before[i]).length())
        .fold(0.0, f64::max);
    assert!(moved < 0.01, "{moved}");
}
