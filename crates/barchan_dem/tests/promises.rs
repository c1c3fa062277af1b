//! Properties that hold for every scene.

mod support;

use std::sync::Arc;

use barchan_bodies::Dynamics;
use barchan_dem::{Contact, DemSettings, DemSolver, Integrator, NormalLaw};
use barchan_geometry::mesh::primitives;
use barchan_geometry::sdf_grid::SdfGrid;
use barchan_geometry::shapes::{Cuboid, Sphere, Subtract};
use barchan_testing::{body, down, friction};
use barchan_world::{Archive, Boundary, Column, Motion, Solver, World};
use glam::DVec3;
use support::{add, cloud, contact, plane, run, solver, sums, world};

/// Spheres that fall into a box of planes and collide there.
fn heap(count: usize) -> World {
    let mut world = world(down(), 0.5);
    cloud(&mut world, count, 0.005, 0.5);
    let side = 2.4 * 0.005 * (count as f64).cbrt().ceil();
    world.bodies.push(plane(DVec3::Z, DVec3::ZERO, 0.5));
    for axis in [DVec3::X, DVec3::Y] {
        world.bodies.push(plane(axis, DVec3::ZERO, 0.5));
        world.bodies.push(plane(-axis, axis * (side + 0.005), 0.5));
    }
    world
}

fn settings() -> DemSettings {
    DemSettings {
        contacts: vec![Contact {
            rolling_friction: Some(0.05),
            ..contact()
        }],
        ..DemSettings::default()
    }
}

#[test]
fn a_gas_keeps_its_momentum_and_angular_momentum_to_round_off() {
    let mut world = world(DVec3::ZERO, 0.5);
    cloud(&mut world, 1000, 0.005, 2.0);
    // Moving towards the middle, so that they meet.
    for i in 0..world.guides.len() {
        let place = world.place(i) - DVec3::splat(0.06);
        world.guides.velocity[i] -= (20.0 * place).as_vec3();
    }
    let mut solver = solver(&world, settings());
    run(&mut solver, &mut world, 1e-3, 1);
    let (momentum, angular, energy) = sums(&solver, &world);
    run(&mut solver, &mut world, 1e-3, 20);
    let (momentum_then, angular_then, energy_then) = sums(&solver, &world);
    assert!(
        energy_then < 0.9 * energy,
        "they did not collide: {energy} {energy_then}"
    );
    let mass: f64 = world.guides.mass.iter().map(|&m| f64::from(m)).sum();
    let scale = (2.0 * mass * energy).sqrt();
    assert!((momentum_then - momentum).length() < 1e-12 * scale);
    assert!((angular_then - angular).length() < 1e-12 * scale * 0.06);
}

#[test]
fn what_particles_lose_to_a_body_it_gains_to_round_off_in_every_frame_however_long_steps_are() {
    let mut world = world(DVec3::ZERO, 0.5);
    cloud(&mut world, 500, 0.005, 0.5);
    let mut ball = body("ball", Arc::new(Sphere::new(0.02).unwrap()), Motion::Dynamic, 0.4);
    ball.density = 1500.0;
    ball.pose.position = DVec3::new(0.05, 0.05, 0.13);
    ball.twist.linear = DVec3::new(0.2, 0.0, -3.0);
    world.bodies.push(ball);
    let mut solver = solver(&world, settings());
    let momentum = |solver: &DemSolver, world: &World| {
        let ball = &world.bodies[0];
        sums(solver, world).0 + ball.mass() * ball.twist.linear
    };
    run(&mut solver, &mut world, 1e-5, 1);
    let (start, scale) = (momentum(&solver, &world), 3.0 * world.bodies[0].mass());
    // Frames of several lengths, so that steps differ from frame to frame.
    for frame in 0..40 {
        run(&mut solver, &mut world, [1e-3, 3e-4, 7e-4][frame % 3], 1);
        let error = (momentum(&solver, &world) - start).length();
        assert!(error < 1e-12 * scale, "frame {frame}: {error}");
    }
    let speed = world.bodies[0].twist.linear.length();
    assert!(speed < 1.5, "the ball hit nothing: {speed} m/s");
}

#[test]
fn elastic_spheres_without_friction_keep_their_energy() {
    let mut world = world(DVec3::ZERO, 0.0);
    cloud(&mut world, 500, 0.005, 1.0);
    for i in 0..world.guides.len() {
        let place = world.place(i) - DVec3::splat(0.05);
        world.guides.velocity[i] -= (20.0 * place).as_vec3();
    }
    let elastic = Contact {
        restitution: 1.0,
        ..contact()
    };
    let settings = DemSettings {
        contacts: vec![elastic],
        steps_per_contact: 50.0,
        ..DemSettings::default()
    };
    let mut solver = solver(&world, settings);
    run(&mut solver, &mut world, 1e-5, 1);
    let before = sums(&solver, &world).2;
    // Until they have flown apart again.
    run(&mut solver, &mut world, 5e-3, 40);
    let after = sums(&solver, &world).2;
    assert!((after / before - 1.0).abs() < 5e-3, "{before} {after}");
}

/// Mean relative error of the energy after a head-on impact, over starts a little apart.
fn energy_error(steps_per_contact: f64) -> f64 {
    let duration = 1.019_586e-3;
    let step = duration / steps_per_contact;
    let error = |k: u32| {
        let mut world = world(DVec3::ZERO, 0.0);
        let z = 0.005 * (1.0 + 1e-6) + 0.5 * step * f64::from(k) / 16.0;
        add(&mut world, DVec3::new(0.0, 0.0, -z), 0.5 * DVec3::Z, 0.005);
        add(&mut world, DVec3::new(0.0, 0.0, z), -0.5 * DVec3::Z, 0.005);
        let settings = DemSettings {
            step: Some(step),
            contacts: vec![Contact {
                restitution: 1.0,
                ..contact()
            }],
            ..DemSettings::default()
        };
        let mut solver = solver(&world, settings);
        let steps = (1.5 * steps_per_contact) as u32;
        run(&mut solver, &mut world, step * f64::from(steps), 1);
        let mass = f64::from(world.guides.mass[0]);
        (sums(&solver, &world).2 / (0.25 * mass) - 1.0).abs()
    };
    (0..16).map(error).sum::<f64>() / 16.0
}

#[test]
fn the_energy_of_an_elastic_impact_is_right_to_second_order_in_the_step() {
    let (coarse, fine) = (energy_error(50.0), energy_error(100.0));
    assert!(coarse < 1e-3, "{coarse}");
    assert!(coarse > 3.5 * fine, "{coarse} {fine}");
}

#[test]
fn any_number_of_threads_gives_the_same_bits() {
    let run_with = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let mut world = heap(3000);
            let mut solver = solver(&world, settings());
            run(&mut solver, &mut world, 5e-3, 12);
            let Column::Vec3(spins) = solver.columns().swap_remove(0).1 else {
                panic!("spins are vectors")
            };
            let bits: Vec<[u32; 3]> = spins.iter().map(|spin| spin.to_array().map(f32::to_bits)).collect();
            (world.guides, bits)
        })
    };
    let alone = run_with(1);
    assert!(alone == run_with(2), "two threads differ");
    assert!(alone == run_with(5), "five threads differ");
}

#[test]
fn a_run_resumed_goes_on_bit_for_bit() {
    let mut world = heap(1500);
    let mut whole = solver(&world, settings());
    run(&mut whole, &mut world, 5e-3, 40);
    let mut archive = Archive::default();
    world.save(&mut archive);
    whole.save(&mut archive);
    let mut resumed_world = heap(1500);
    resumed_world.load(&archive).unwrap();
    let mut resumed = solver(&resumed_world, settings());
    resumed.load(&resumed_world, &archive).unwrap();
    run(&mut whole, &mut world, 5e-3, 8);
    run(&mut resumed, &mut resumed_world, 5e-3, 8);
    assert!(world.guides == resumed_world.guides);
    let mut ends = [Archive::default(), Archive::default()];
    whole.save(&mut ends[0]);
    resumed.save(&mut ends[1]);
    assert!(ends[0] == ends[1], "what the next frame starts from differs");
    // Not because nothing was remembered.
    assert!(archive.get::<[f32; 4]>("dem.pairs.history").unwrap().len() > 500);
}

#[test]
fn a_checkpoint_of_other_spheres_is_refused() {
    let mut world = heap(100);
    let mut first = solver(&world, settings());
    run(&mut first, &mut world, 5e-3, 1);
    let mut archive = Archive::default();
    first.save(&mut archive);
    let other = heap(99);
    assert!(solver(&other, settings()).load(&other, &archive).is_err());
}

#[test]
fn nothing_leaves_a_box_given_as_a_distance_field_and_its_floor_carries_the_weight() {
    let mut world = world(down(), 0.5);
    cloud(&mut world, 600, 0.005, 0.5);
    let inner = Cuboid::new(DVec3::new(0.12, 0.12, 0.3)).unwrap();
    let outer = Cuboid::new(DVec3::new(0.15, 0.15, 0.33)).unwrap();
    let shape = Arc::new(Subtract::new(vec![Arc::new(outer), Arc::new(inner)], 0.0).unwrap());
    let mut basin = body("basin", shape.clone(), Motion::Fixed, 0.5);
    basin.boundary = Boundary::Field(Arc::new(SdfGrid::build(&*shape, 0.0025, 0.01, 1 << 28).unwrap()));
    basin.surface = Arc::new(primitives::icosphere(1.0, 1));
    basin.pose.position = DVec3::new(0.055, 0.055, 0.14);
    world.bodies.push(basin);
    let mut solver = solver(&world, settings());
    run(&mut solver, &mut world, 5e-3, 160);
    let mass: f64 = world.guides.mass.iter().map(|&m| f64::from(m)).sum();
    for i in 0..world.guides.len() {
        let local = world.place(i) - DVec3::new(0.055, 0.055, 0.14);
        let radius = f64::from(world.guides.radius[i]);
        assert!(
            local.abs().cmplt(DVec3::new(0.06, 0.06, 0.15) - 0.95 * radius).all(),
            "{local} {radius}"
        );
    }
    let load = -world.bodies[0].wrench.force.z;
    assert!((load / (mass * 9.81) - 1.0).abs() < 0.01, "{load} {}", mass * 9.81);
}

#[test]
fn particles_on_an_axis_that_closes_upon_itself_push_each_other_across_its_ends() {
    let mut world = world(DVec3::ZERO, 0.0);
    world.periodic[0] = Some([0.0, 0.1]);
    add(&mut world, DVec3::new(0.004, 0.0, 0.0), -0.5 * DVec3::X, 0.005);
    add(&mut world, DVec3::new(0.089, 0.0, 0.0), 0.5 * DVec3::X, 0.005);
    let elastic = Contact {
        restitution: 1.0,
        ..contact()
    };
    let settings = DemSettings {
        contacts: vec![elastic],
        steps_per_contact: 100.0,
        ..DemSettings::default()
    };
    let mut solver = solver(&world, settings);
    run(&mut solver, &mut world, 1e-3, 10);
    let speed = |id: u32| solver.sphere(&world, id).unwrap().velocity.x;
    assert!((speed(0) - 0.5).abs() < 1e-3, "{}", speed(0));
    assert!((speed(1) + 0.5).abs() < 1e-3, "{}", speed(1));
}

#[test]
fn settings_that_mean_nothing_are_refused_with_the_number_to_change() {
    let mut world = world(down(), 0.5);
    add(&mut world, DVec3::Z, DVec3::ZERO, 0.005);
    let refusal = |settings: DemSettings| {
        let dynamics = Dynamics::new(&world).unwrap();
        DemSolver::new(settings, dynamics, &world)
            .err()
            .expect("refused")
            .to_string()
    };
    let of = |contact: Contact| DemSettings {
        contacts: vec![contact],
        ..DemSettings::default()
    };
    let wrong = [
        (
            of(Contact {
                restitution: 0.0,
                ..contact()
            }),
            "material `glass`: `restitution` must be above 0 and at most 1, got 0",
        ),
        (
            of(Contact {
                restitution: 1.1,
                ..contact()
            }),
            "`restitution` must be above 0 and at most 1, got 1.1",
        ),
        (
            of(Contact {
                poisson_ratio: 0.6,
                ..contact()
            }),
            "`poisson_ratio` must be above -1 and at most 0.5, got 0.6",
        ),
        (
            of(Contact {
                poisson_ratio: -1.0,
                ..contact()
            }),
            "`poisson_ratio` must be above -1 and at most 0.5, got -1",
        ),
        (
            of(Contact {
                youngs_modulus: -1.0,
                ..contact()
            }),
            "`youngs_modulus` must be above 0 Pa, got -1",
        ),
        (
            DemSettings {
                step: Some(1e-2),
                ..DemSettings::default()
            },
            "`step` must be at most 1.699e-4 s",
        ),
        (
            DemSettings {
                steps_per_contact: 2.0,
                ..DemSettings::default()
            },
            "`steps_per_contact` must be from 10 to 10000, got 2",
        ),
    ];
    for (settings, expected) in wrong {
        let found = refusal(settings);
        assert!(found.contains(expected), "{found}\n{expected}");
    }
}

#[test]
fn two_materials_meet_by_their_common_restitution() {
    let mut world = world(DVec3::ZERO, 0.0);
    let mut steel = world.materials.all[0].clone();
    steel.name = "steel".to_owned();
    steel.friction = friction(0.0);
    world.materials.all.push(steel);
    add(&mut world, DVec3::new(0.0, 0.0, -0.00501), 0.5 * DVec3::Z, 0.005);
    add(&mut world, DVec3::new(0.0, 0.0, 0.00501), -0.5 * DVec3::Z, 0.005);
    world.guides.material[1] = 1;
    let with = |restitution: f64| Contact {
        restitution,
        ..contact()
    };
    let settings = DemSettings {
        contacts: vec![with(0.9), with(0.4)],
        normal: NormalLaw::Linear,
        steps_per_contact: 100.0,
        ..DemSettings::default()
    };
    let mut solver = solver(&world, settings);
    run(&mut solver, &mut world, 1e-3, 4);
    let speed = solver.sphere(&world, 1).unwrap().velocity.z;
    assert!((2.0 * speed - 0.6).abs() < 5e-3, "{speed}");
}

#[test]
fn adaptive_steps_are_the_same_on_any_threads_and_after_a_resume_and_keep_momentum() {
    let adaptive = || DemSettings {
        integrator: Integrator::Rkf45,
        ..settings()
    };
    let run_with = |threads: usize, stop: u32| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let mut world = heap(300);
            let mut whole = solver(&world, adaptive());
            run(&mut whole, &mut world, 4e-3, stop);
            let mut archive = Archive::default();
            world.save(&mut archive);
            whole.save(&mut archive);
            let mut world = heap(300);
            world.load(&archive).unwrap();
            let mut resumed = solver(&world, adaptive());
            resumed.load(&world, &archive).unwrap();
            run(&mut resumed, &mut world, 4e-3, 24 - stop);
            world.guides
        })
    };
    let one = run_with(1, 7);
    assert!(one == run_with(2, 7), "two threads differ");
    assert!(one == run_with(2, 15), "resumed elsewhere, it differs");
}

#[test]
fn an_adaptive_step_loses_less_energy_where_less_is_tolerated() {
    let loss = |tolerance: f64| {
        let mut world = world(DVec3::ZERO, 0.0);
        add(&mut world, DVec3::new(0.0, 0.0, -0.00501), 0.5 * DVec3::Z, 0.005);
        add(&mut world, DVec3::new(0.0, 0.0, 0.00501), -0.5 * DVec3::Z, 0.005);
        let elastic = Contact {
            restitution: 1.0,
            ..contact()
        };
        let settings = DemSettings {
            integrator: Integrator::Rkf45,
            tolerance,
            contacts: vec![elastic],
            ..DemSettings::default()
        };
        let mut solver = solver(&world, settings);
        run(&mut solver, &mut world, 3e-3, 1);
        let mass = f64::from(world.guides.mass[0]);
        (sums(&solver, &world).2 / (0.25 * mass) - 1.0).abs()
    };
    let (coarse, fine) = (loss(1e-4), loss(1e-7));
    assert!(coarse < 5e-2, "{coarse}");
    assert!(fine < 1e-3 && fine < 0.2 * coarse, "{coarse} {fine}");
}

#[test]
fn a_round_particle_that_stands_for_sand_lies_on_a_plane_up_to_its_angle_and_rolls_beyond() {
    let sand = Contact {
        rolling_friction: Some(0.5),
        ..contact()
    };
    let speed_on = |degrees: f64| {
        let slope = degrees.to_radians();
        let normal = DVec3::new(slope.sin(), 0.0, slope.cos());
        let mut world = world(down(), 0.9);
        world.bodies.push(plane(normal, DVec3::ZERO, 0.9));
        add(&mut world, 0.005 * normal, DVec3::ZERO, 0.005);
        let settings = DemSettings {
            contacts: vec![sand],
            ..DemSettings::default()
        };
        let mut solver = solver(&world, settings);
        run(&mut solver, &mut world, 1e-2, 50);
        solver.sphere(&world, 0).unwrap().velocity.length()
    };
    // atan 0.5 = 26.6°; beyond it a = 5/7 g (sin θ - μ cos θ), see tests/cases.
    assert!(speed_on(24.0) < 1e-4, "{}", speed_on(24.0));
    let (sin, cos) = 32f64.to_radians().sin_cos();
    let expected = 0.5 * 5.0 / 7.0 * 9.81 * (sin - 0.5 * cos);
    let found = speed_on(32.0);
    assert!((found / expected - 1.0).abs() < 0.05, "{found} {expected}");
}
