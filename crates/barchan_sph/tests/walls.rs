//! With every boundary model, guides rest on bodies, rub on them and push them.

mod support;

use std::sync::Arc;

use barchan_geometry::shapes::{Cuboid, Sphere};
use barchan_sph::{SphSettings, Walls};
use barchan_world::{Body, Boundary, Motion, Solver, Twist, World};
use glam::DVec3;
use support::*;

const SPACING: f64 = 0.04;
/// Height of the first layer of settled sand above a plane wall, in spacings [-].
const GAPS: [(Walls, f64); 3] = [(Walls::Density, 0.58), (Walls::Volume, 1.4), (Walls::Particles, 0.598)];

fn settings(walls: Walls) -> SphSettings {
    SphSettings {
        walls,
        ..SphSettings::default()
    }
}

/// Covers the box of `size` [m] about the origin with particles half a spacing below its surface.
fn cover(body: &mut Body, size: DVec3) {
    let half = 0.5 * size - 0.5 * SPACING;
    let counts = (2.0 * half / SPACING).round().max(DVec3::ONE).as_ivec3();
    let (mut positions, mut normals) = (Vec::new(), Vec::new());
    for z in 0..=counts.z {
        for y in 0..=counts.y {
            for x in 0..=counts.x {
                let at = glam::IVec3::new(x, y, z);
                let outward = DVec3::from_array([0, 1, 2].map(|a| match at[a] {
                    0 => -1.0,
                    k if k == counts[a] => 1.0,
                    _ => 0.0,
                }));
                if outward != DVec3::ZERO {
                    let place = -half + 2.0 * half * at.as_dvec3() / counts.as_dvec3();
                    positions.push(place.as_vec3());
                    normals.push(outward.normalize().as_vec3());
                }
            }
        }
    }
    body.boundary = Boundary::Particles {
        positions: positions.into(),
        normals: normals.into(),
        radius: 0.5 * SPACING as f32,
    };
}

/// A box with the boundary that `walls` needs.
fn block(walls: Walls, size: DVec3, motion: Motion, mu: f32) -> Body {
    let mut block = body("block", Arc::new(Cuboid::new(size).unwrap()), motion, mu);
    if walls == Walls::Particles {
        cover(&mut block, size);
    }
    block
}

/// A slab whose top is z = 0.
fn ground(walls: Walls, mu: f32) -> Body {
    let mut slab = block(walls, DVec3::new(2.0, 1.0, 0.2), Motion::Fixed, mu);
    slab.pose.position.z = -0.1;
    slab
}

fn lattice(world: &mut World, low: DVec3, count: [u32; 3], velocity: DVec3) {
    let mass = (1600.0 * SPACING.powi(3)) as f32;
    for k in 0..count.iter().product::<u32>() {
        let at = [k % count[0], k / count[0] % count[1], k / count[0] / count[1]].map(f64::from);
        world.add_guide(low + SPACING * DVec3::from(at), velocity, 0.5 * SPACING, mass, 0);
    }
}

#[test]
fn a_lattice_at_a_wall_is_as_dense_as_in_the_middle_of_sand() {
    for (walls, gap) in GAPS {
        let mut world = world(DVec3::ZERO, friction(0.5));
        world.bodies = vec![ground(walls, 0.5)];
        lattice(
            &mut world,
            DVec3::new(-0.2, -0.2, gap * SPACING),
            [11, 11, 8],
            DVec3::ZERO,
        );
        let mut solver = solver(settings(walls), &world);
        solver.advance(&mut world, 1e-5).unwrap();
        for (i, density) in column(&solver, "density").iter().enumerate() {
            let p = world.place(i);
            if p.x.abs().max(p.y.abs()) < 0.1 && p.z < 0.2 {
                assert!((density - 1.0).abs() < 0.02, "{walls:?} {p}: {density}");
            }
        }
    }
}

#[test]
fn a_slab_of_sand_slides_as_far_as_coulomb_says() {
    for (walls, gap) in GAPS {
        let mut world = world(down(), friction(1.2));
        let mu = 0.3;
        // The geometric mean of both is that of the wall.
        world.bodies = vec![ground(walls, mu * mu / 1.2)];
        lattice(&mut world, DVec3::new(-0.6, -0.1, gap * SPACING), [6, 6, 2], DVec3::X);
        let start = center(&world);
        let mut solver = solver(settings(walls), &world);
        run(&mut solver, &mut world, 45);
        let way = center(&world) - start;
        let expected = 1.0 / (2.0 * f64::from(mu) * 9.81);
        assert!(
            (way.x / expected - 1.0).abs() < 0.15,
            "{walls:?}: {} m, not {expected} m",
            way.x
        );
        let speed = momentum(&world).x / world.guides.mass.iter().map(|&m| f64::from(m)).sum::<f64>();
        assert!(speed.abs() < 0.02, "{walls:?}: it rests, but for {speed} m/s");
    }
}

fn center(world: &World) -> DVec3 {
    let places = places(world);
    places.iter().sum::<DVec3>() / places.len() as f64
}

#[test]
fn sand_and_a_body_that_it_hits_keep_their_momentum() {
    for (walls, _) in GAPS {
        let mut world = world(DVec3::ZERO, friction(0.5));
        let mut target = block(walls, DVec3::new(0.2, 0.2, 0.2), Motion::Dynamic, 0.4);
        target.pose.position = DVec3::new(0.0, 0.05, 0.0);
        world.bodies = vec![target];
        lattice(
            &mut world,
            DVec3::new(-0.4, -0.06, -0.06),
            [4, 4, 4],
            DVec3::new(2.0, 0.0, 0.0),
        );
        let all = |world: &World| {
            let body = &world.bodies[0];
            let inertia = body.density * body.mass_properties.inertia;
            let spin = inertia * (body.pose.rotation.inverse() * body.twist.angular);
            let linear = momentum(world) + body.mass() * body.twist.linear;
            let angular = angular_momentum(world)
                + body.center().cross(body.mass() * body.twist.linear)
                + body.pose.rotation * spin;
            (linear, angular)
        };
        let (p, l) = all(&world);
        let mut solver = solver(settings(walls), &world);
        run(&mut solver, &mut world, 30);
        let (p_now, l_now) = all(&world);
        assert!(world.bodies[0].twist.linear.x > 0.1, "{walls:?}: it was hit");
        assert!((p_now - p).length() < 1e-4 * p.length(), "{walls:?}: {p_now} {p}");
        // Friction acts at the surface, and not at the guide's center.
        assert!((l_now - l).length() < 0.1 * p.length() * 0.2, "{walls:?}: {l_now} {l}");
    }
}

#[test]
fn a_scripted_wall_and_a_driven_one_push_sand_alike() {
    use barchan_world::{Key, Keys, Turn};
    let key = |time: f64, x: f64| Key {
        time,
        at: DVec3::new(x, 0.0, 0.1),
        turn: Turn::NONE,
        ease: barchan_world::Ease::Linear,
    };
    for (walls, gap) in GAPS {
        let pushed = |motion: Motion| {
            let mut world = world(down(), friction(0.5));
            let mut plate = block(walls, DVec3::new(0.08, 0.4, 0.3), motion, 0.3);
            plate.pose.position = DVec3::new(-0.4, 0.0, 0.1);
            plate.twist = Twist {
                linear: DVec3::X,
                ..Twist::default()
            };
            world.bodies = vec![ground(walls, 0.2), plate];
            lattice(
                &mut world,
                DVec3::new(-0.16, -0.1, gap * SPACING),
                [5, 6, 4],
                DVec3::ZERO,
            );
            let mut solver = solver(settings(walls), &world);
            run(&mut solver, &mut world, 24);
            assert!(
                places(&world).iter().all(|p| p.x > world.bodies[1].pose.position.x),
                "{walls:?}: none is behind the plate"
            );
            (center(&world), world.bodies[1].wrench.force)
        };
        let (scripted, force) = pushed(Motion::Scripted {
            parent: None,
            keys: Keys::new(vec![key(0.0, -0.4), key(1.0, 0.6)]).unwrap(),
        });
        let (driven, _) = pushed(Motion::Driven);
        assert!(force.x < 0.0, "{walls:?}: sand pushes back: {force}");
        assert!((scripted - driven).length() < 0.02, "{walls:?}: {scripted} {driven}");
        assert!(scripted.x > 0.0, "{walls:?}: it went along: {scripted}");
    }
}

#[test]
fn guides_under_a_heavy_ball_stay_out_of_the_ball_and_of_the_ground() {
    let mut world = world(down(), friction(0.3));
    let radius = 0.2;
    let mut ball = body("ball", Arc::new(Sphere::new(radius).unwrap()), Motion::Dynamic, 0.3);
    ball.density = 20_000.0;
    ball.pose.position.z = radius + 3.0 * SPACING;
    ball.twist.linear.z = -2.0;
    world.bodies = vec![floor(0.3), ball];
    lattice(
        &mut world,
        DVec3::new(-0.22, -0.22, 0.58 * SPACING),
        [12, 12, 2],
        DVec3::ZERO,
    );
    let mut solver = solver(settings(Walls::Density), &world);
    for _ in 0..60 {
        let deepest = solver.advance(&mut world, FRAME).unwrap().max_overlap;
        assert!(deepest < 0.1, "{deepest} radii deep after {} s", world.time);
    }
    let gap = world.bodies[1].pose.position.z - radius;
    assert!(gap < SPACING, "it came down through the sand: {gap} m");
}

#[test]
fn walls_of_particles_give_the_same_bits_on_any_number_of_threads() {
    let bits_on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let mut world = world(down(), friction(0.5));
            world.bodies = vec![ground(Walls::Particles, 0.4)];
            lattice(&mut world, DVec3::new(-0.2, -0.2, 0.03), [8, 8, 12], DVec3::ZERO);
            let mut solver = solver(settings(Walls::Particles), &world);
            run(&mut solver, &mut world, 6);
            bits(&world)
        })
    };
    assert_eq!(bits_on(1), bits_on(3));
}
