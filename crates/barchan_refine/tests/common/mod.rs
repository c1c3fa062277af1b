//! Worlds of guides, for tests of grains.
#![allow(dead_code, reason = "not every test needs everything")]

use std::sync::Arc;

use barchan_geometry::random::Stream;
use barchan_geometry::sample::Radii;
use barchan_geometry::{MassProperties, Shape, TriMesh};
use barchan_refine::{Mode, RefineSettings, Seeding};
use barchan_world::{Body, Boundary, Friction, Material, Materials, Motion, Pose, Twist, World, Wrench};
use glam::{DVec3, Vec3};

/// Length of a frame [s].
pub const STEP: f64 = 1.0 / 60.0;

pub fn world(gravity: f64) -> World {
    let friction = Friction {
        r#static: 0.35,
        kinetic: 0.3,
    };
    let sand = Material {
        name: "sand".to_owned(),
        density: 1600.0,
        particle_density: 2600.0,
        friction,
        angle_of_repose: None,
    };
    let materials = Materials {
        all: vec![sand],
        ..Materials::default()
    };
    World::new(DVec3::new(0.0, 0.0, -gravity), materials, 1)
}

/// `count` guides with radii from the first to the second [m] in a cube of `side` [m] that move at random, at the end of a frame.
pub fn guides_of(world: &mut World, radii: [f64; 2], count: u32, side: f64, seed: u64) -> Vec<Vec3> {
    let mut stream = Stream::new(seed, 0);
    (0..count)
        .map(|_| {
            let velocity = (stream.unit_cube() - 0.5) * 4.0;
            let place = stream.unit_cube() * side + velocity * STEP;
            let radius = radii[0] + (radii[1] - radii[0]) * stream.unit();
            world.add_guide(place, velocity, radius, 1.0, 0);
            velocity.as_vec3()
        })
        .collect()
}

/// Moves guide `i` by `way` [m].
pub fn shift(world: &mut World, i: usize, way: Vec3) {
    let guides = &mut world.guides;
    barchan_world::displace(&mut guides.position[i], &mut guides.offset[i], way);
}

pub fn settings(mode: Mode, per_guide: u32) -> RefineSettings {
    RefineSettings {
        mode,
        seeding: Seeding::Support,
        per_guide: Some(per_guide),
        ..RefineSettings::new(Radii::one(0.01).unwrap())
    }
}

/// Adds a body at the origin.
pub fn body(world: &mut World, shape: Arc<dyn Shape>, boundary: Boundary) {
    world.bodies.push(Body {
        name: "body".to_owned(),
        surface: Arc::new(TriMesh::default()),
        shape,
        boundary,
        motion: Motion::Driven,
        friction: Friction {
            r#static: 0.35,
            kinetic: 0.3,
        },
        restitution: 0.0,
        density: 1000.0,
        mass_properties: MassProperties {
            volume: 1.0,
            center: DVec3::ZERO,
            inertia: glam::DMat3::IDENTITY,
        },
        from: f64::NEG_INFINITY,
        until: f64::INFINITY,
        pose: Pose::IDENTITY,
        twist: Twist::default(),
        wrench: Wrench::default(),
        peak: barchan_world::Peak::default(),
    });
}
