//! Contacts between guides and bodies.

mod support;

use std::sync::Arc;

use barchan_geometry::sdf_grid::SdfGrid;
use barchan_geometry::shapes::{Cuboid, Sphere};
use barchan_pbd::{PbdSettings, Rigid};
use barchan_world::{Body, Boundary, Ease, Key, Keys, Motion, Solver, Turn, World};
use glam::{DVec3, Vec3};
use support::*;

type Solid = Arc<dyn barchan_geometry::Shape>;

fn straight(from: DVec3, to: DVec3, duration: f64) -> Motion {
    let key = |time, at| Key {
        time,
        at,
        turn: Turn::NONE,
        ease: Ease::Linear,
    };
    Motion::Scripted {
        parent: None,
        keys: Keys::new(vec![key(0.0, from), key(duration, to)]).unwrap(),
    }
}

/// A wall one guide radius thick that sweeps a basin of sand at 2 m/s; how many guides it left behind.
fn swept(boundary: impl Fn(&Solid) -> Boundary) -> (usize, World) {
    let radius = 0.02;
    let mut world = world(down(), friction(0.35));
    world.bodies = basin(DVec3::new(3.0, 0.3, 0.5), 0.35);
    let shape: Arc<dyn barchan_geometry::Shape> = Arc::new(Cuboid::new(DVec3::new(radius, 0.32, 1.2)).unwrap());
    let mut wall = body("wall", shape.clone(), Motion::Fixed, 0.35);
    wall.boundary = boundary(&shape);
    wall.motion = straight(DVec3::new(-1.0, 0.0, 0.5), DVec3::new(0.5, 0.0, 0.5), 0.75);
    wall.pose.position = DVec3::new(-1.0, 0.0, 0.5);
    world.bodies.push(wall);
    fill(
        &mut world,
        DVec3::new(-0.97, -0.15, 0.0),
        DVec3::new(-0.4, 0.15, 0.2),
        radius,
        0.0,
    );
    let mut solver = solver(&world, PbdSettings::default());
    run(&mut solver, &mut world, 45);
    let behind = places(&world)
        .iter()
        .filter(|p| p.x < world.bodies.last().unwrap().pose.position.x)
        .count();
    (behind, world)
}

#[test]
fn a_thin_wall_that_sweeps_at_two_metres_a_second_loses_nothing() {
    let (behind, world) = swept(|shape| Boundary::Exact(shape.clone()));
    assert_eq!(behind, 0);
    assert!((world.bodies.last().unwrap().pose.position.x - 0.5).abs() < 1e-9);
    // It pushes the sand, and the sand pushes back.
    assert!(
        world.bodies.last().unwrap().wrench.force.x < -1.0,
        "{:?}",
        world.bodies.last().unwrap().wrench
    );
    let (behind, _) = swept(|shape| Boundary::Field(Arc::new(SdfGrid::build(&**shape, 0.005, 0.06, 1 << 28).unwrap())));
    assert_eq!(behind, 0, "by its field");
}

#[test]
fn momentum_goes_over_from_guides_to_a_body_to_rounding() {
    for rigid in [Rigid::True, Rigid::ShapeMatching] {
        let mut world = world(DVec3::ZERO, friction(0.4));
        let mut ball = body("ball", Arc::new(Sphere::new(0.1).unwrap()), Motion::Dynamic, 0.4);
        ball.density = 800.0;
        world.bodies.push(ball);
        fill(
            &mut world,
            DVec3::new(-0.5, -0.1, -0.12),
            DVec3::new(-0.12, 0.14, 0.12),
            0.02,
            0.05,
        );
        world.guides.velocity.fill(Vec3::new(1.0, 0.2, 0.0));
        let total = |world: &World| momentum(world) + world.bodies[0].mass() * world.bodies[0].twist.linear;
        let before = total(&world);
        let mut solver = solver(
            &world,
            PbdSettings {
                rigid,
                ..PbdSettings::default()
            },
        );
        run(&mut solver, &mut world, 30);
        let body = &world.bodies[0];
        assert!(body.twist.linear.x > 0.2, "{rigid:?}: {:?}", body.twist);
        assert!(body.twist.angular.length() > 0.01, "{rigid:?}: {:?}", body.twist);
        let lost = (total(&world) - before).length() / before.length();
        assert!(lost < 2e-6, "{rigid:?}: {lost}");
    }
}

#[test]
fn a_body_floats_on_heavier_sand_and_the_floor_carries_both() {
    let mut world = world(down(), friction(0.35));
    world.bodies = basin(DVec3::new(0.4, 0.4, 0.5), 0.35);
    let mut block = body(
        "block",
        Arc::new(Cuboid::new(DVec3::new(0.15, 0.15, 0.08)).unwrap()),
        Motion::Dynamic,
        0.35,
    );
    block.density = 500.0;
    block.pose.position = DVec3::new(0.0, 0.0, 0.32);
    world.bodies.push(block);
    fill(
        &mut world,
        DVec3::new(-0.2, -0.2, 0.0),
        DVec3::new(0.2, 0.2, 0.2),
        0.02,
        0.1,
    );
    let mut solver = solver(&world, PbdSettings::default());
    run(&mut solver, &mut world, 120);
    let block = world.bodies.last().unwrap();
    assert!(
        block.pose.position.z > 0.15 && block.twist.linear.length() < 0.05,
        "{:?} {:?}",
        block.pose,
        block.twist
    );
    let weight = 9.81 * block.mass();
    assert!(
        (block.wrench.force.z - weight).abs() < 0.15 * weight,
        "{:?} {weight}",
        block.wrench
    );
    let sand: f64 = world.guides.mass.iter().map(|m| 9.81 * f64::from(*m)).sum();
    let carried: f64 = world.bodies[..5].iter().map(|b| b.wrench.force.z).sum();
    assert!(
        (carried + sand + weight).abs() < 0.05 * (sand + weight),
        "{carried} {sand} {weight}"
    );
}

#[test]
fn guides_rest_in_the_corner_of_one_body() {
    // A trough of one body: floor and walls are felt at once.
    let cube = |side: f64| -> Arc<dyn barchan_geometry::Shape> { Arc::new(Cuboid::new(DVec3::splat(side)).unwrap()) };
    let trough = barchan_geometry::shapes::Subtract::new(vec![cube(0.6), cube(0.4)], 0.0);
    let mut world = world(down(), friction(0.0));
    world.gravity = DVec3::new(-4.0, -3.0, -9.0);
    let mut trough = body("trough", Arc::new(trough.unwrap()), Motion::Fixed, 0.0);
    // Bodies touch each other by their surfaces; here is no other.
    trough.surface = Arc::new(cube(0.6).triangles().unwrap());
    world.bodies.push(trough);
    world.add_guide(DVec3::splat(-0.15), DVec3::ZERO, 0.02, 0.05, 0);
    let mut solver = solver(&world, PbdSettings::default());
    run(&mut solver, &mut world, 60);
    assert!(
        world.place(0).distance(DVec3::splat(-0.18)) < 1e-4,
        "{}",
        world.place(0)
    );
    assert!(world.guides.velocity[0].length() < 1e-3);
}

#[test]
fn boundary_particles_hold_sand_as_a_field_does() {
    let shape: Arc<dyn barchan_geometry::Shape> = Arc::new(Cuboid::new(DVec3::new(0.4, 0.4, 0.1)).unwrap());
    let radius = 0.02;
    let mut world = world(down(), friction(0.35));
    let mut plate = body("plate", shape.clone(), Motion::Fixed, 0.35);
    // A lattice inset by a radius is enough of a covering for a plate.
    let at = |k: i32| 0.03 * k as f32;
    let positions: Vec<Vec3> = (-6..=6)
        .flat_map(|y| (-6..=6).map(move |x| Vec3::new(at(x), at(y), 0.05 - radius as f32)))
        .collect();
    plate.boundary = Boundary::Particles {
        normals: vec![Vec3::Z; positions.len()].into(),
        positions: positions.into(),
        radius: radius as f32,
    };
    world.bodies.push(plate);
    fill(
        &mut world,
        DVec3::new(-0.06, -0.06, 0.05),
        DVec3::new(0.06, 0.06, 0.15),
        radius,
        0.0,
    );
    let mut solver = solver(&world, PbdSettings::default());
    run(&mut solver, &mut world, 40);
    for place in places(&world) {
        assert!(place.z > 0.05 + 0.5 * radius, "{place}");
    }
}

#[test]
fn a_state_without_sense_names_its_guide_and_a_setting() {
    let mut world = world(down(), friction(0.3));
    world.add_guide(DVec3::ZERO, DVec3::ZERO, 0.02, 0.05, 0);
    world.add_guide(DVec3::X, DVec3::new(f64::NAN, 0.0, 0.0), 0.02, 0.05, 0);
    let error = solver(&world, PbdSettings::default())
        .advance(&mut world, FRAME)
        .unwrap_err()
        .to_string();
    assert!(error.contains("guide 1") && error.contains("`step`"), "{error}");
    world.guides.velocity.fill(Vec3::X * 1e6);
    let error = solver(&world, PbdSettings::default())
        .advance(&mut world, FRAME)
        .unwrap_err()
        .to_string();
    assert!(error.contains("1000000 m/s"), "{error}");
}

#[test]
fn a_world_without_guides_still_moves_its_bodies() {
    let mut world = world(down(), friction(0.3));
    let mut ball = body("ball", Arc::new(Sphere::new(0.1).unwrap()), Motion::Dynamic, 0.3);
    ball.twist.angular = DVec3::X;
    ball.pose.position.z = 1.0;
    world.bodies = vec![floor(0.3), ball];
    let mut solver = solver(&world, PbdSettings::default());
    run(&mut solver, &mut world, 6);
    assert!((world.bodies[1].pose.position.z - 1.0 + 0.5 * 9.81 * 0.1f64.powi(2)).abs() < 1e-9);
    assert!(world.bodies[1].twist.angular.distance(DVec3::X) < 1e-9);
}

/// A ball falls into a bed in a periodic box, seen from elsewhere: everything is shifted along x by `shift` and brought back.
fn ball_in_a_periodic_bed(shift: f64, boundary: impl Fn(&Solid) -> Boundary) -> World {
    let mut world = world(down(), friction(0.4));
    world.periodic = [Some([0.0, 0.4]), Some([0.0, 0.4]), None];
    fill(&mut world, DVec3::ZERO, DVec3::new(0.4, 0.4, 0.2), 0.02, 0.0);
    for i in 0..world.guides.len() {
        let place = world.place(i);
        world.guides.position[i].x = (place.x + shift).rem_euclid(0.4) as f32;
    }
    let solid: Solid = Arc::new(Sphere::new(0.06).unwrap());
    let mut ball = body("ball", solid.clone(), Motion::Dynamic, 0.4);
    ball.boundary = boundary(&solid);
    ball.density = 3000.0;
    ball.pose.position = DVec3::new(0.2 + shift, 0.19, 0.3);
    ball.twist.linear = DVec3::new(0.3, 0.0, -1.0);
    world.bodies = vec![floor(0.4), ball];
    let mut solver = solver(&world, PbdSettings::default());
    // Right after the hit: later, round-off has grown from contact to contact.
    run(&mut solver, &mut world, 4);
    world
}

#[test]
fn a_ball_that_straddles_a_periodic_face_sinks_and_pushes_as_one_in_the_middle() {
    let field = |solid: &Solid| Boundary::Exact(solid.clone());
    let covered = |_: &Solid| Boundary::Particles {
        positions: (0..200)
            .map(|k| {
                let z = 1.0 - (2.0 * k as f32 + 1.0) / 200.0;
                let (sin, cos) = (2.399_963 * k as f32).sin_cos();
                0.055 * Vec3::new(cos * (1.0 - z * z).sqrt(), sin * (1.0 - z * z).sqrt(), z)
            })
            .collect(),
        normals: [].into(),
        radius: 0.005,
    };
    let seen = |world: &World| {
        let ball = &world.bodies[1];
        (ball.pose.position.z, ball.twist.linear, ball.wrench.force)
    };
    let boundaries: [&dyn Fn(&Solid) -> Boundary; 2] = [&field, &covered];
    for boundary in boundaries {
        let (depth, velocity, force) = seen(&ball_in_a_periodic_bed(0.0, boundary));
        assert!(
            depth < 0.3 && force.z > 0.0,
            "it hangs at {depth} m, pushed by {force} N"
        );
        // Half of it beyond the face; all of it beyond, a period and more.
        for shift in [0.2, 0.3, 0.6] {
            let (there, moving, pushed) = seen(&ball_in_a_periodic_bed(shift, boundary));
            assert!((there - depth).abs() < 1e-4, "{shift}: {there} m, not {depth} m");
            assert!((moving - velocity).length() < 1e-2, "{shift}: {moving}, not {velocity}");
            assert!(
                (pushed - force).length() < 0.05 * force.length(),
                "{shift}: {pushed}, not {force}"
            );
        }
    }
}

#[test]
fn a_floor_as_long_as_the_periodic_range_carries_as_one_without_an_end() {
    let settled = |ground: Body| {
        let mut world = world(down(), friction(0.4));
        world.periodic = [Some([0.0, 0.4]), Some([0.0, 0.4]), None];
        fill(&mut world, DVec3::ZERO, DVec3::new(0.4, 0.4, 0.2), 0.02, 0.15);
        world.guides.velocity.fill(Vec3::new(0.7, 0.4, 0.0));
        world.bodies = vec![ground];
        let mut solver = solver(&world, PbdSettings::default());
        run(&mut solver, &mut world, 60);
        let heights = places(&world).into_iter().map(|p| p.z);
        let force = world.bodies[0].wrench.force.z;
        (
            heights.clone().fold(f64::INFINITY, f64::min),
            heights.sum::<f64>(),
            force,
        )
    };
    let mut tile = body(
        "tile",
        Arc::new(Cuboid::new(DVec3::new(0.4, 0.4, 0.1)).unwrap()),
        Motion::Fixed,
        0.4,
    );
    tile.pose.position = DVec3::new(0.2, 0.2, -0.05);
    let (lowest, sum, force) = settled(tile);
    let (expected_lowest, expected, endless) = settled(floor(0.4));
    assert!((lowest - expected_lowest).abs() < 1e-3, "{lowest} {expected_lowest}");
    assert!((sum / expected - 1.0).abs() < 5e-3, "{sum} {expected}");
    assert!((force / endless - 1.0).abs() < 0.02, "{force} {endless}");
}
