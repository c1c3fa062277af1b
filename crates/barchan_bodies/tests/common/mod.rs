//! Worlds of simple bodies.
#![allow(dead_code, reason = "each test file uses its part")]

use std::sync::Arc;

use barchan_bodies::Dynamics;
use barchan_geometry::mesh::{mass_properties, primitives};
use barchan_geometry::shapes::{Cuboid, HalfSpace, Sphere};
use barchan_geometry::{MassProperties, Shape, TriMesh};
use barchan_world::{Body, Boundary, Friction, Materials, Motion, Pose, Twist, World, Wrench};
use glam::{DMat3, DQuat, DVec3};

pub const GRAVITY: DVec3 = DVec3::new(0.0, 0.0, -9.81);

pub fn world(gravity: DVec3, bodies: Vec<Body>) -> World {
    let mut world = World::new(gravity, Materials::default(), 1);
    world.bodies = bodies;
    world
}

pub fn body(name: &str, motion: Motion, shape: Arc<dyn Shape>, surface: TriMesh) -> Body {
    let friction = Friction {
        r#static: 0.5,
        kinetic: 0.5,
    };
    Body {
        name: name.to_owned(),
        shape,
        mass_properties: mass_properties(&surface),
        surface: Arc::new(surface),
        boundary: Boundary::Particles {
            positions: [].into(),
            normals: [].into(),
            radius: 0.01,
        },
        motion,
        friction,
        restitution: 0.0,
        density: 1000.0,
        from: f64::NEG_INFINITY,
        until: f64::INFINITY,
        pose: Pose::IDENTITY,
        twist: Twist::default(),
        wrench: Wrench::default(),
        peak: barchan_world::Peak::default(),
    }
}

pub fn cuboid(name: &str, motion: Motion, size: DVec3, at: DVec3) -> Body {
    let mut body = body(
        name,
        motion,
        Arc::new(Cuboid::new(size).unwrap()),
        primitives::cuboid(size),
    );
    body.pose.position = at;
    body
}

pub fn ball(name: &str, radius: f64, at: DVec3) -> Body {
    let solid = Arc::new(Sphere::new(radius).unwrap());
    let mut body = body(name, Motion::Dynamic, solid, primitives::icosphere(radius, 2));
    body.pose.position = at;
    body
}

/// Everything below z = 0.
pub fn ground() -> Body {
    let solid = Arc::new(HalfSpace::new(DVec3::Z, 0.0).unwrap());
    body("ground", Motion::Fixed, solid, primitives::cuboid(DVec3::ONE))
}

/// A body with the given principal moments of inertia [kg m²] and mass 1 kg.
pub fn with_moments(moments: DVec3) -> Body {
    let mut body = cuboid("rotor", Motion::Dynamic, DVec3::splat(0.1), DVec3::ZERO);
    body.density = 1.0;
    body.mass_properties = MassProperties {
        volume: 1.0,
        center: DVec3::ZERO,
        inertia: DMat3::from_diagonal(moments),
    };
    body
}

pub fn step(dynamics: &mut Dynamics, world: &mut World, dt: f64) {
    let none = vec![Wrench::default(); world.bodies.len()];
    dynamics.step(world, &none, dt).unwrap();
    world.time += dt;
}

pub fn run(dynamics: &mut Dynamics, world: &mut World, dt: f64, steps: usize) {
    for _ in 0..steps {
        step(dynamics, world, dt);
    }
}

/// Inertia of a body about its center, in the world's axes [kg m²].
pub fn inertia(body: &Body) -> DMat3 {
    let axes = DMat3::from_quat(body.pose.rotation);
    axes * (body.mass_properties.inertia * body.density) * axes.transpose()
}

/// Angular momentum about the center of mass [kg m²/s].
pub fn spin(body: &Body) -> DVec3 {
    inertia(body) * body.twist.angular
}

pub fn momentum(body: &Body) -> DVec3 {
    body.mass() * body.twist.linear
}

/// Of motion [J].
pub fn energy(body: &Body) -> f64 {
    0.5 * (body.mass() * body.twist.linear.length_squared() + body.twist.angular.dot(spin(body)))
}

/// Some rotation, another for each `k`.
pub fn turned(k: usize) -> DQuat {
    DQuat::from_scaled_axis(DVec3::new(0.7, -1.1, 0.4) * (k as f64 + 1.0))
}
