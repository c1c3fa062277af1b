//! Clumps of several spheres.

mod support;

use barchan_dem::{Clump, Contact, DemSettings};
use barchan_testing::down;
use barchan_world::{Archive, Solver, World};
use glam::{DMat3, DQuat, DVec3};
use support::{add, cloud, contact, plane, run, solver, sums, world};

/// All guides are `clump`.
fn settings(clump: Clump) -> DemSettings {
    DemSettings {
        clumps: vec![clump],
        clumped: vec![(0..u32::MAX, 0)],
        ..DemSettings::default()
    }
}

/// Clumps that fall onto a plane between walls.
fn heap(count: usize) -> World {
    let mut world = world(down(), 0.5);
    cloud(&mut world, count, 0.005, 0.3);
    for place in 0..world.guides.len() {
        world.guides.position[place] *= 1.2;
    }
    let side = 1.25 * 2.4 * 0.005 * (count as f64).cbrt().ceil();
    world.bodies.push(plane(DVec3::Z, DVec3::new(0.0, 0.0, -0.005), 0.5));
    for axis in [DVec3::X, DVec3::Y] {
        world.bodies.push(plane(axis, -0.005 * axis, 0.5));
        world.bodies.push(plane(-axis, axis * (side + 0.005), 0.5));
    }
    world
}

#[test]
fn a_clump_of_one_sphere_moves_as_a_sphere() {
    let drop = |settings: DemSettings| {
        let mut world = world(down(), 0.4);
        world.bodies.push(plane(DVec3::Z, DVec3::ZERO, 0.4));
        add(&mut world, DVec3::new(0.0, 0.0, 0.02), DVec3::new(0.5, 0.0, 0.0), 0.005);
        let settings = DemSettings {
            step: Some(1e-5),
            ..settings
        };
        let mut solver = solver(&world, settings);
        solver.spin(0, DVec3::new(0.0, -40.0, 10.0));
        run(&mut solver, &mut world, 5e-3, 30);
        solver.sphere(&world, 0).unwrap()
    };
    let alone = drop(DemSettings::default());
    let clumped = drop(settings(Clump::of_spheres(&[(DVec3::ZERO, 1.0)]).unwrap()));
    assert!(
        alone.position.distance(clumped.position) < 1e-5,
        "{alone:?} {clumped:?}"
    );
    assert!(
        alone.velocity.distance(clumped.velocity) < 1e-3,
        "{alone:?} {clumped:?}"
    );
    assert!(alone.angular_velocity.distance(clumped.angular_velocity) < 0.5);
}

#[test]
fn an_asymmetric_clump_flips_about_its_middle_axis_when_it_should() {
    let arms = [DVec3::new(1.4, 0.0, 0.0), DVec3::new(0.0, 1.0, 0.0)];
    let spheres = [arms[0], -arms[0], arms[1], -arms[1]].map(|place| (place, 0.3));
    let clump = Clump::of_spheres(&spheres).unwrap();
    let inertia: DMat3 = clump.inertia();
    let mut world = world(DVec3::ZERO, 0.0);
    add(&mut world, DVec3::ZERO, DVec3::ZERO, 0.01);
    let settings = DemSettings {
        step: Some(1e-4),
        contacts: vec![Contact {
            youngs_modulus: 1e5,
            ..contact()
        }],
        ..settings(clump)
    };
    let mut solver = solver(&world, settings);
    let spin = |solver: &barchan_dem::DemSolver, world: &World| solver.sphere(world, 0).unwrap().angular_velocity;
    // About the middle axis, a little aside; the clump lies at random.
    run(&mut solver, &mut world, 1e-3, 1);
    let rotation = {
        let (name, column) = &solver.columns()[1];
        assert_eq!(*name, "rotation");
        let barchan_world::Column::Vec3(turns) = column else {
            panic!()
        };
        DQuat::from_scaled_axis(turns[0].as_dvec3())
    };
    let start = rotation * DVec3::new(0.01, 10.0, 0.0);
    solver.spin(0, start);
    run(&mut solver, &mut world, 1e-3, 1);
    let momentum = |w: DVec3, turn: DQuat| turn * (inertia * (turn.inverse() * w));
    let kept = momentum(start, rotation);
    let mut flips = Vec::new();
    let mut sign = 1.0;
    for k in 1..9000 {
        run(&mut solver, &mut world, 1e-3, 1);
        let barchan_world::Column::Vec3(turns) = &solver.columns()[1].1 else {
            panic!()
        };
        let turn = DQuat::from_scaled_axis(turns[0].as_dvec3());
        let w = spin(&solver, &world);
        let middle = (turn.inverse() * w).y;
        if middle * sign < 0.0 {
            flips.push(f64::from(k) * 1e-3);
            sign = -sign;
        }
        let drift = (momentum(w, turn) - kept).length() / kept.length();
        assert!(drift < 1e-4, "angular momentum drifts by {drift}");
    }
    let expected = flips_of(DVec3::new(inertia.x_axis.x, inertia.y_axis.y, inertia.z_axis.z));
    assert!(
        flips.len() > 2 && flips.len() == expected.len(),
        "{flips:?} {expected:?}"
    );
    for (found, expected) in flips.iter().zip(&expected) {
        assert!((found - expected).abs() < 0.01 * expected, "{flips:?} {expected:?}");
    }
}

/// When a free body of these moments of inertia turns over, by Euler's equations I ω' = (I ω) × ω.
fn flips_of(moments: DVec3) -> Vec<f64> {
    let rate = |w: DVec3| (moments * w).cross(w) / moments;
    let (mut w, h, mut flips) = (DVec3::new(0.01, 10.0, 0.0), 1e-4, Vec::new());
    for k in 0..90_000 {
        let before = w.y;
        let k1 = rate(w);
        let k2 = rate(w + 0.5 * h * k1);
        let k3 = rate(w + 0.5 * h * k2);
        let k4 = rate(w + h * k3);
        w += h / 6.0 * (k1 + 2.0 * (k2 + k3) + k4);
        if before * w.y < 0.0 {
            flips.push(f64::from(k) * h);
        }
    }
    flips
}

#[test]
fn clumps_that_collide_keep_their_momentum() {
    let mut world = world(DVec3::ZERO, 0.5);
    cloud(&mut world, 300, 0.005, 1.0);
    for i in 0..world.guides.len() {
        world.guides.position[i] *= 1.2;
        let place = world.place(i) - DVec3::splat(0.05);
        world.guides.velocity[i] -= (20.0 * place).as_vec3();
    }
    let mut solver = solver(&world, settings(Clump::tetrahedron(1.4).unwrap()));
    run(&mut solver, &mut world, 1e-4, 1);
    let (momentum, _, energy) = sums(&solver, &world);
    run(&mut solver, &mut world, 2e-3, 20);
    let (then, _, energy_then) = sums(&solver, &world);
    assert!(
        energy_then < 0.9 * energy,
        "they did not collide: {energy} {energy_then}"
    );
    let mass: f64 = world.guides.mass.iter().map(|&m| f64::from(m)).sum();
    assert!((then - momentum).length() < 1e-12 * (2.0 * mass * energy).sqrt());
}

#[test]
fn a_heap_of_clumps_is_the_same_on_any_threads_and_after_a_resume_and_rests() {
    let mut mixed = settings(Clump::tetrahedron(1.4).unwrap());
    mixed.clumps.push(Clump::cube(1.2).unwrap());
    mixed.clumped = vec![(0..200, 0), (200..400, 1)];
    let run_with = |threads: usize, stop: Option<u32>| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let mut world = heap(500);
            let mut solver = solver(&world, mixed.clone());
            let frames = 36;
            if let Some(stop) = stop {
                run(&mut solver, &mut world, 5e-3, stop);
                let mut archive = Archive::default();
                world.save(&mut archive);
                solver.save(&mut archive);
                world = heap(500);
                world.load(&archive).unwrap();
                solver = support::solver(&world, mixed.clone());
                solver.load(&world, &archive).unwrap();
            }
            run(&mut solver, &mut world, 5e-3, frames - stop.unwrap_or(0));
            let mut archive = Archive::default();
            solver.save(&mut archive);
            (world, archive)
        })
    };
    let (world, archive) = run_with(1, None);
    let (two, archive_two) = run_with(2, None);
    assert!(
        world.guides == two.guides && archive == archive_two,
        "two threads differ"
    );
    let (resumed, archive_resumed) = run_with(2, Some(17));
    assert!(
        world.guides == resumed.guides && archive == archive_resumed,
        "a resumed run differs"
    );
    for i in 0..world.guides.len() {
        assert!(world.place(i).z > -0.005, "guide {i} is below the floor");
    }
    let load = -world.bodies[0].wrench.force.z;
    let mass: f64 = world.guides.mass.iter().map(|&m| f64::from(m)).sum();
    assert!((load / (mass * 9.81) - 1.0).abs() < 0.5, "{load} {}", mass * 9.81);
}

/// Returns the initial rotations of the first two clumps.
fn rotations() -> [DQuat; 2] {
    let mut world = world(DVec3::ZERO, 0.0);
    add(&mut world, DVec3::ZERO, DVec3::ZERO, 0.01);
    add(&mut world, DVec3::X, DVec3::ZERO, 0.01);
    let mut solver = solver(&world, settings(Clump::cube(1.2).unwrap()));
    run(&mut solver, &mut world, 1e-6, 1);
    let barchan_world::Column::Vec3(turns) = &solver.columns()[1].1 else {
        panic!()
    };
    let turn = |id: u32| {
        let place = world.guides.id.iter().position(|&known| known == id).unwrap();
        DQuat::from_scaled_axis(turns[place].as_dvec3())
    };
    [turn(0), turn(1)]
}

/// A plate of `side` times `side` spheres across z, turned by `turn`.
fn square(side: i32, turn: DQuat) -> Clump {
    let spheres: Vec<(DVec3, f64)> = (0..side * side)
        .map(|k| (turn * DVec3::new(f64::from(k % side), f64::from(k / side), 0.0), 0.6))
        .collect();
    Clump::of_spheres(&spheres).unwrap()
}

#[test]
fn a_plate_rebounds_alike_however_many_spheres_it_lands_on() {
    for side in 1..5 {
        let clump = square(side, DQuat::IDENTITY);
        let normal = rotations()[0] * DVec3::Z;
        let mut world = world(DVec3::ZERO, 0.0);
        let thickness = clump.members()[0].radius * 0.01;
        add(&mut world, 1.001 * thickness * normal, -0.5 * normal, 0.01);
        world.bodies.push(plane(normal, DVec3::ZERO, 0.0));
        let settings = DemSettings {
            steps_per_contact: 100.0,
            ..settings(clump)
        };
        let mut solver = solver(&world, settings);
        run(&mut solver, &mut world, 1e-3, 20);
        let after = solver.sphere(&world, 0).unwrap();
        let restitution = after.velocity.dot(normal) / 0.5;
        assert!((restitution - 0.5).abs() < 0.02, "{side}: {restitution}");
    }
}

#[test]
fn two_plates_rebound_alike_however_many_spheres_meet() {
    let turns = rotations();
    let normal = turns[0] * DVec3::Z;
    for side in 1..5 {
        // The second lies as the first does.
        let plates = vec![
            square(side, DQuat::IDENTITY),
            square(side, turns[1].inverse() * turns[0]),
        ];
        let mut world = world(DVec3::ZERO, 0.0);
        let thickness = plates[0].members()[0].radius * 0.01;
        add(&mut world, DVec3::ZERO, 0.25 * normal, 0.01);
        add(&mut world, 2.002 * thickness * normal, -0.25 * normal, 0.01);
        let settings = DemSettings {
            steps_per_contact: 100.0,
            clumps: plates,
            clumped: vec![(0..1, 0), (1..2, 1)],
            ..DemSettings::default()
        };
        let mut solver = solver(&world, settings);
        run(&mut solver, &mut world, 1e-3, 20);
        let velocity = |id: u32| solver.sphere(&world, id).unwrap().velocity;
        let restitution = (velocity(1) - velocity(0)).dot(normal) / 0.5;
        assert!((restitution - 0.5).abs() < 0.02, "{side}: {restitution}");
    }
}
