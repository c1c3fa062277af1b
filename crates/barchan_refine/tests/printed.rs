//! The rules as printed against a plain sum in f64 over guides and particles of bodies.

mod common;

use std::sync::Arc;

use barchan_geometry::sample::Packing;
use barchan_geometry::shapes::{Cuboid, HalfSpace};
use barchan_refine::{GrainRefiner, Mode, RefineSettings, Seeding, Source};
use barchan_world::{Boundary, Refiner, World};
use glam::{DVec3, Vec3};

use common::{STEP, body, guides_of, settings, world};

/// A particle that moves grains: position and velocity [m, m/s], radius [m], and true for those of bodies.
type Particle = (DVec3, DVec3, f64, bool);

/// Velocity after a step of `step` [s] of a grain at `p` with the velocity `v` [m/s]: equations 23 to 25 of Ihmsen et al. 2013, with the
/// exception of Sommer et al. 2022 for bodies, or the rule of Alduán et al. 2009, for which bodies are no particles.
fn printed(particles: &[Particle], p: DVec3, v: DVec3, gravity: DVec3, step: f64, mode: Mode) -> DVec3 {
    let weight = |(place, _, radius, _): &Particle| {
        (1.0 - p.distance_squared(*place) / (3.0 * radius).powi(2))
            .max(0.0)
            .powi(3)
    };
    let has_guide = particles.iter().any(|particle| !particle.3 && weight(particle) > 0.0);
    let counts = |particle: &&Particle| match mode {
        Mode::Ihmsen => true,
        Mode::Sommer => has_guide,
        _ => !particle.3,
    };
    let near: Vec<(f64, DVec3)> = particles
        .iter()
        .filter(counts)
        .map(|particle| (weight(particle), particle.1))
        .filter(|(w, _)| *w > 0.0)
        .collect();
    let sum: f64 = near.iter().map(|(w, _)| w).sum();
    let largest = near.iter().map(|(w, _)| *w).fold(0.0, f64::max);
    let mean = match near.is_empty() {
        true => DVec3::ZERO,
        false => near.iter().map(|(w, v)| *w * *v).sum::<DVec3>() / sum,
    };
    let alpha = match mode {
        Mode::Alduan => f64::from(u8::from(near.len() <= 1)),
        _ if near.is_empty() || largest / sum >= 0.6 || largest <= 512.0 / 729.0 => 1.0 - largest,
        _ => 0.0,
    };
    (1.0 - alpha) * mean + alpha * (v + step * gravity)
}

/// Guides that move at random over a plate that moves, and the particles of both at the start of the frame.
fn scene(count: u32) -> (World, Vec<Vec3>, Vec<Particle>) {
    let mut world = world(9.81);
    let velocities = guides_of(&mut world, [0.04, 0.04], count, 0.5, 5);
    // As far as grains are concerned, it is its particles.
    let plate = Arc::new(Cuboid::new(DVec3::splat(0.001)).unwrap());
    let positions: Vec<Vec3> = (0..400)
        .map(|k| Vec3::new(0.05 * (k % 20) as f32, 0.05 * (k / 20) as f32, 0.0) - 0.25)
        .collect();
    let boundary = Boundary::Particles {
        normals: vec![Vec3::Z; positions.len()].into(),
        positions: positions.clone().into(),
        radius: 0.04,
    };
    body(&mut world, plate, boundary);
    let guides = velocities.iter().enumerate().map(|(i, velocity)| {
        let velocity = velocity.as_dvec3();
        (
            world.place(i) - velocity * STEP,
            velocity,
            f64::from(world.guides.radius[i]),
            false,
        )
    });
    let own = positions
        .iter()
        .map(|p| (p.as_dvec3(), DVec3::new(0.6, 0.0, 0.3), 0.04, true));
    let particles = guides.chain(own).collect();
    (world, velocities, particles)
}

#[test]
fn every_printed_mode_moves_grains_by_its_equations() {
    for (mode, count) in [
        (Mode::Ihmsen, 200),
        (Mode::Ihmsen, 25),
        (Mode::Sommer, 200),
        (Mode::Sommer, 25),
        (Mode::Alduan, 200),
        (Mode::Alduan, 25),
    ] {
        let (mut world, velocities, particles) = scene(count);
        let two_steps = RefineSettings {
            step: 0.5 * STEP,
            seeding: Seeding::Volume,
            ..settings(mode, 1)
        };
        let source = Source::Shape {
            shape: Arc::new(Cuboid::new(DVec3::splat(0.8)).unwrap()),
            packing: Packing::Random,
            material: 0,
            velocity: Vec3::new(0.3, 0.2, 0.1),
        };
        if mode == Mode::Alduan {
            // It says nothing of bodies; here they push grains out.
            world.bodies.clear();
        }
        let mut refiner = GrainRefiner::new(two_steps, &world, &[source]).unwrap();
        if let Some(plate) = world.bodies.first_mut() {
            plate.pose.position += DVec3::new(0.6, 0.0, 0.3) * STEP;
        }
        let before = refiner.grains().clone();
        refiner.advance(&world, &velocities, STEP);
        let after = refiner.grains();
        let mut old = vec![0; before.len()];
        (0..before.len()).for_each(|i| old[before.id[i] as usize] = i);
        let (mut wrong, mut differs) = (0, 0);
        for i in 0..after.len() {
            let was = old[after.id[i] as usize];
            let (mut p, mut v) = (before.place(was).as_dvec3(), before.rate(was).as_dvec3());
            let mut other = v;
            for k in 0..2 {
                let moved = |&(place, velocity, radius, of_body): &Particle| {
                    (place + f64::from(k) * 0.5 * STEP * velocity, velocity, radius, of_body)
                };
                let now: Vec<Particle> = particles.iter().map(moved).collect();
                if k == 0 {
                    let rule = if mode == Mode::Sommer {
                        Mode::Ihmsen
                    } else {
                        Mode::Sommer
                    };
                    other = printed(&now, p, v, world.gravity, 0.5 * STEP, rule);
                }
                v = printed(&now, p, v, world.gravity, 0.5 * STEP, mode);
                if k == 0 {
                    differs += u32::from(other.distance(v) > 1e-3);
                }
                p += 0.5 * STEP * v;
            }
            let close = after.rate(i).as_dvec3().distance(v) < 2e-4 && after.place(i).as_dvec3().distance(p) < 1e-5;
            wrong += u32::from(!close);
        }
        // α jumps: a grain at its edge may fall to the other side in single precision.
        assert!(
            wrong <= after.len() as u32 / 1000,
            "{mode:?}, {count} guides: {wrong} of {} grains",
            after.len()
        );
        // The modes differ where bodies are alone, so that the test can tell them apart.
        assert!(
            mode == Mode::Alduan || count > 25 || differs > 10,
            "{mode:?}: {differs}"
        );
    }
}

#[test]
fn grains_stick_to_a_plate_that_moves_by_one_rule_and_not_by_the_other() {
    // The only guide is far away.
    let rise = |mode: Mode| {
        let (mut world, _, _) = scene(1);
        // The plate is in the midst of the grains.
        world.bodies[0].pose.position = world.place(0) - DVec3::new(0.225, 0.225, -0.25);
        world.guides.velocity[0] = Vec3::ZERO;
        let mut refiner = GrainRefiner::new(settings(mode, 200), &world, &[]).unwrap();
        world.guides.position[0] = Vec3::splat(50.0);
        for _ in 0..3 {
            world.bodies[0].pose.position.z += 2.0 * STEP;
            refiner.advance(&world, &[Vec3::ZERO], STEP);
        }
        let rates: f32 = refiner.grains().velocity[2].iter().sum();
        rates / refiner.len() as f32
    };
    let (ihmsen, sommer) = (rise(Mode::Ihmsen), rise(Mode::Sommer));
    assert!(ihmsen > 0.5, "{ihmsen} m/s");
    assert!((sommer + 3.0 * 9.81 / 60.0).abs() < 1e-3, "{sommer} m/s");
}

#[test]
fn bodies_without_particles_are_covered_by_some() {
    // Grains of a guide that rests on the ground are held by the ground's particles, and fall through it without them.
    let sunk = |mode: Mode| {
        let mut world = world(9.81);
        let ground = Arc::new(HalfSpace::new(DVec3::Z, 0.0).unwrap());
        body(&mut world, ground.clone(), Boundary::Exact(ground));
        world.add_guide(DVec3::new(0.0, 0.0, 0.04), DVec3::ZERO, 0.04, 1.0, 0);
        let mut refiner = GrainRefiner::new(settings(mode, 400), &world, &[]).unwrap();
        for _ in 0..60 {
            refiner.advance(&world, &[Vec3::ZERO], STEP);
        }
        let below = refiner.grains().position[2].iter().filter(|z| **z < -0.2).count();
        below as f64 / refiner.len() as f64
    };
    assert!(sunk(Mode::Ihmsen) == 0.0, "{}", sunk(Mode::Ihmsen));
    // A ground that pushes grains out lets none through.
    assert!(sunk(Mode::Alduan) == 0.0, "{}", sunk(Mode::Alduan));
}
