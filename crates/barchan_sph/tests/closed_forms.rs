//! Results that are known without simulating.

mod support;

use barchan_sph::{SphSettings, SphSolver};
use barchan_world::{Solver, World};
use glam::DVec3;
use support::*;

const SPACING: f64 = 0.04;

/// A lattice of guides from `low` on, `count` of them in each direction.
fn lattice(world: &mut World, low: DVec3, count: [u32; 3]) {
    let mass = (1600.0 * SPACING.powi(3)) as f32;
    for z in 0..count[2] {
        for y in 0..count[1] {
            for x in 0..count[0] {
                let place = low + SPACING * DVec3::new(f64::from(x), f64::from(y), f64::from(z));
                world.add_guide(place, DVec3::ZERO, 0.5 * SPACING, mass, 0);
            }
        }
    }
}

fn energy(world: &World) -> f64 {
    let guides = &world.guides;
    let of = |i: usize| {
        let m = f64::from(guides.mass[i]);
        m * (0.5 * guides.velocity[i].as_dvec3().length_squared() - world.gravity.dot(world.place(i)))
    };
    (0..guides.len()).map(of).sum()
}

#[test]
fn a_lattice_at_a_wall_is_as_dense_as_in_the_middle_of_sand() {
    let mut world = world(DVec3::ZERO, friction(0.5));
    world.bodies = vec![floor(0.5)];
    lattice(&mut world, DVec3::new(-0.2, -0.2, 0.58 * SPACING), [11, 11, 8]);
    let mut solver = solver(SphSettings::default(), &world);
    solver.advance(&mut world, 1e-5).unwrap();
    for (i, density) in column(&solver, "density").iter().enumerate() {
        let p = world.place(i);
        if p.x.abs().max(p.y.abs()) < 0.1 && p.z < 0.2 {
            assert!((density - 1.0).abs() < 0.02, "{p}: {density}");
        }
    }
}

#[test]
fn a_cloud_without_walls_keeps_its_momentum_and_angular_momentum() {
    let mut world = world(DVec3::ZERO, friction(0.6));
    // Squeezed, so that there is pressure and friction between guides that move at random.
    fill(&mut world, DVec3::splat(-0.2), DVec3::splat(0.2), 0.02, 0.02);
    for (i, v) in world.guides.velocity.iter_mut().enumerate() {
        let p = world.guides.position[i];
        let swirl = glam::Vec3::new(-p.y, p.x, 0.3 * p.x);
        *v = -0.5 * p + 2.0 * swirl + 0.2 * glam::Vec3::new((37.0 * p.x).sin(), (41.0 * p.z).cos(), (29.0 * p.y).sin());
    }
    let (p, l) = (momentum(&world), angular_momentum(&world));
    let scale: f64 = (0..world.guides.len())
        .map(|i| f64::from(world.guides.mass[i] * world.guides.velocity[i].length()))
        .sum();
    let mut solver = solver(SphSettings::default(), &world);
    run(&mut solver, &mut world, 6);
    assert!(column(&solver, "pressure").iter().any(|&p| p > 0.0));
    assert!(
        (momentum(&world) - p).length() < 1e-5 * scale,
        "{}",
        momentum(&world) - p
    );
    assert!(
        (angular_momentum(&world) - l).length() < 1e-4 * scale * 0.2,
        "{}",
        angular_momentum(&world) - l
    );
}

/// A tank of sand at rest, without friction unless `mu` says so.
fn tank(mu: f32, frames: u32) -> (World, SphSolver) {
    let size = DVec3::new(0.4, 0.4, 0.6);
    let mut world = world(down(), friction(mu));
    world.bodies = basin(size, mu);
    lattice(
        &mut world,
        DVec3::new(-0.2 + 0.5 * SPACING, -0.2 + 0.5 * SPACING, 0.58 * SPACING),
        [10, 10, 14],
    );
    let settings = SphSettings {
        density_error: 1e-4,
        sleeping: false,
        ..SphSettings::default()
    };
    let mut solver = solver(settings, &world);
    run(&mut solver, &mut world, frames);
    (world, solver)
}

#[test]
fn pressure_in_a_tank_grows_with_depth_and_the_floor_carries_the_weight() {
    let (mut world, mut solver) = tank(0.0, 60);
    let (mut force, frames) = (0.0, 30);
    let mut layers = [(0.0, 0.0); 12];
    let top = 14.0 * SPACING;
    for _ in 0..frames {
        run(&mut solver, &mut world, 1);
        force -= world.bodies[0].wrench.force.z / f64::from(frames);
        for (i, &p) in column(&solver, "pressure").iter().enumerate() {
            assert!(p >= 0.0);
            let at = world.place(i);
            if at.x.abs().max(at.y.abs()) < 0.12 {
                let layer = &mut layers[(at.z / top * 12.0).min(11.0) as usize];
                *layer = (layer.0 + f64::from(p), layer.1 + 1.0);
            }
        }
    }
    let weight: f64 = world.guides.mass.iter().map(|&m| 9.81 * f64::from(m)).sum();
    assert!((force / weight - 1.0).abs() < 0.03, "{force} N of {weight} N");
    for (k, (sum, count)) in layers.iter().enumerate().skip(1).take(9) {
        let depth = top * (1.0 - (k as f64 + 0.5) / 12.0);
        let expected = 1600.0 * 9.81 * depth;
        let measured = sum / count;
        assert!(
            (measured - expected).abs() < 0.1 * 1600.0 * 9.81 * top,
            "{depth} m deep: {measured} Pa, not {expected} Pa"
        );
    }
}

#[test]
fn sand_flows_steadily_down_a_slope_and_slower_than_with_the_friction_of_slow_flow() {
    // Friction of tan 22.8° on a slope of 29°.
    let speeds = |flow_friction: f32| {
        let slope = 29f64.to_radians();
        let mut world = world(9.81 * DVec3::new(slope.sin(), 0.0, -slope.cos()), friction(0.42));
        let side = 6.0 * SPACING;
        world.periodic = [Some([0.0, side]), Some([0.0, side]), None];
        world.bodies = vec![floor(4.0)];
        lattice(
            &mut world,
            DVec3::new(0.5 * SPACING, 0.5 * SPACING, 0.58 * SPACING),
            [6, 6, 6],
        );
        world.guides.velocity.fill(glam::Vec3::X);
        let settings = SphSettings {
            flow_friction,
            ..SphSettings::default()
        };
        let mut solver = solver(settings, &world);
        let mass: f64 = world.guides.mass.iter().map(|&m| f64::from(m)).sum();
        [150, 60].map(|frames| {
            run(&mut solver, &mut world, frames);
            momentum(&world).x / mass
        })
    };
    let [before, after] = speeds(SphSettings::default().flow_friction);
    assert!(before > 0.2 && after < 1.1 * before, "{before} m/s, then {after} m/s");
    let [_, without] = speeds(0.0);
    assert!(after < 0.8 * without, "{after} m/s, {without} m/s without");
}

#[test]
fn rough_walls_carry_a_part_of_the_sand_between_them() {
    let (mut world, mut solver) = tank(0.5, 60);
    let (mut up, mut floor) = (0.0, 0.0);
    let frames = 30;
    for _ in 0..frames {
        run(&mut solver, &mut world, 1);
        floor -= world.bodies[0].wrench.force.z / f64::from(frames);
        up -= world.bodies.iter().map(|b| b.wrench.force.z).sum::<f64>() / f64::from(frames);
    }
    let weight: f64 = world.guides.mass.iter().map(|&m| 9.81 * f64::from(m)).sum();
    assert!(
        (up / weight - 1.0).abs() < 0.03,
        "walls and floor carry {up} N of {weight} N"
    );
    assert!(floor < 0.9 * weight, "the floor carries {floor} N of {weight} N");
}

#[test]
fn a_collapsing_block_only_loses_energy() {
    let mut world = world(down(), friction(0.6));
    world.bodies = vec![floor(0.6)];
    lattice(&mut world, DVec3::new(-0.18, -0.18, 0.58 * SPACING), [10, 10, 12]);
    let mut solver = solver(SphSettings::default(), &world);
    let start = energy(&world);
    let mut last = start;
    for _ in 0..60 {
        run(&mut solver, &mut world, 1);
        let now = energy(&world);
        assert!(now < last + 0.005 * start, "{now} J after {last} J");
        last = now;
    }
    assert!(last < 0.9 * start);
}

#[test]
fn a_lone_guide_falls_as_it_should_and_stays_above_the_floor() {
    let mut world = world(down(), friction(0.5));
    world.bodies = vec![floor(0.5)];
    let mass = world.settled_mass(0, 0.02);
    world.add_guide(DVec3::new(0.0, 0.0, 1.0), DVec3::ZERO, 0.02, mass, 0);
    let mut solver = solver(SphSettings::default(), &world);
    run(&mut solver, &mut world, 24);
    let t = 24.0 * FRAME;
    assert!((world.place(0).z - (1.0 - 0.5 * 9.81 * t * t)).abs() < 9.81 * t * 0.002);
    run(&mut solver, &mut world, 60);
    let z = world.place(0).z;
    assert!((0.01..0.025).contains(&z), "{z}");
    assert!(world.guides.velocity[0].length() < 1e-3);
}

/// Height that is left [-] of a block of `height` [m] of sand of 30 degrees with this cohesion [Pa], after a second.
fn left_of_a_cut(height: f64, cohesion: f32) -> f64 {
    let mut world = world(down(), friction(30f32.to_radians().tan()));
    world.bodies = vec![floor(1.0)];
    let layers = (height / SPACING).round() as u32;
    lattice(&mut world, DVec3::new(-0.22, -0.22, 0.58 * SPACING), [12, 12, layers]);
    let settings = SphSettings {
        cohesion: vec![cohesion],
        ..SphSettings::default()
    };
    let mut solver = solver(settings, &world);
    let top = |world: &World| {
        let mut heights: Vec<f64> = places(world).iter().map(|p| p.z).collect();
        heights.sort_by(f64::total_cmp);
        heights[heights.len() * 98 / 100]
    };
    let start = top(&world);
    run(&mut solver, &mut world, 60);
    top(&world) / start
}

#[test]
fn a_vertical_cut_of_moist_sand_stands_up_to_its_critical_height() {
    // H = 4c/(ρ g) tan(45° + θ/2): 0.44 m for 1000 Pa and 30 degrees.
    let critical = 4.0 * 1000.0 / (1600.0 * 9.81) * 60f64.to_radians().tan();
    let (low, high, dry) = (
        left_of_a_cut(0.6 * critical, 1000.0),
        left_of_a_cut(1.6 * critical, 1000.0),
        left_of_a_cut(0.6 * critical, 0.0),
    );
    assert!(low > 0.85, "0.6 of it: {low}");
    assert!(high < 0.8, "1.6 of it: {high}");
    assert!(dry < 0.8, "dry: {dry}");
}
