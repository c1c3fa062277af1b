//! Small worlds for tests.

use std::sync::Arc;

use barchan_geometry::mesh::TriMesh;
use barchan_geometry::random::Stream;
use barchan_geometry::shapes::{Cuboid, HalfSpace};
use barchan_geometry::{MassProperties, Shape, mass};
use barchan_world::{Body, Boundary, Friction, Material, Materials, Motion, Pose, Solver, Twist, World, Wrench};
use glam::{DMat3, DVec3, Vec3};

/// Duration of a frame [s].
pub const FRAME: f64 = 1.0 / 60.0;

/// Returns a friction of `mu` [-], static and kinetic.
pub fn friction(mu: f32) -> Friction {
    Friction {
        r#static: mu,
        kinetic: mu,
    }
}

/// Creates an empty world with one material: sand of 1600 kg/m³.
pub fn world(gravity: DVec3, friction: Friction) -> World {
    let sand = Material {
        name: "sand".to_owned(),
        density: 1600.0,
        particle_density: 2650.0,
        friction,
        angle_of_repose: None,
    };
    let materials = Materials {
        all: vec![sand],
        ..Materials::default()
    };
    World::new(gravity, materials, 1)
}

/// Returns Earth's gravity [m/s²].
pub fn down() -> DVec3 {
    DVec3::new(0.0, 0.0, -9.81)
}

/// Creates a body of 1000 kg/m³ with an exact distance function.
pub fn body(name: &str, shape: Arc<dyn Shape>, motion: Motion, mu: f32) -> Body {
    let mass_properties = mass::of_shape(&*shape, 1e-4).unwrap_or(MassProperties {
        volume: 1.0,
        center: DVec3::ZERO,
        inertia: DMat3::IDENTITY,
    });
    Body {
        name: name.to_owned(),
        boundary: Boundary::Exact(shape.clone()),
        shape,
        surface: Arc::new(TriMesh::default()),
        motion,
        friction: friction(mu),
        restitution: 0.0,
        density: 1000.0,
        mass_properties,
        from: f64::NEG_INFINITY,
        until: f64::INFINITY,
        pose: Pose::IDENTITY,
        twist: Twist::default(),
        wrench: Wrench::default(),
        peak: barchan_world::Peak::default(),
    }
}

/// Creates a body that fills the half-space below z = 0.
pub fn floor(mu: f32) -> Body {
    body(
        "floor",
        Arc::new(HalfSpace::new(DVec3::Z, 0.0).unwrap()),
        Motion::Fixed,
        mu,
    )
}

/// Creates four walls and a floor with the inner size `size`, standing on z = 0.
pub fn basin(size: DVec3, mu: f32) -> Vec<Body> {
    let mut all = vec![floor(mu)];
    for (axis, side) in [(0, 1.0), (0, -1.0), (1, 1.0), (1, -1.0)] {
        let mut thickness = size + DVec3::splat(0.4);
        thickness[axis] = 0.1;
        let mut wall = body("wall", Arc::new(Cuboid::new(thickness).unwrap()), Motion::Fixed, mu);
        wall.pose.position[axis] = side * (0.5 * size[axis] + 0.05);
        wall.pose.position.z = 0.5 * size.z;
        all.push(wall);
    }
    all
}

/// Fills a box with a jittered lattice of guides.
pub fn fill(world: &mut World, low: DVec3, high: DVec3, radius: f64, spread: f64) {
    let spacing = 2.0 * radius * (1.0 + spread);
    let mut stream = Stream::new(7, 0);
    let counts = ((high - low) / spacing).floor().as_ivec3();
    for z in 0..counts.z {
        for y in 0..counts.y {
            for x in 0..counts.x {
                let own = radius * (1.0 + spread * (2.0 * stream.unit() - 1.0));
                let jitter = (stream.unit_cube() - 0.5) * 0.1 * radius;
                let position = low + (DVec3::new(f64::from(x), f64::from(y), f64::from(z)) + 0.5) * spacing + jitter;
                let mass = world.settled_mass(0, own);
                world.add_guide(position, DVec3::ZERO, own, mass, 0);
            }
        }
    }
}

/// Simulates `frames` frames.
pub fn run(solver: &mut impl Solver, world: &mut World, frames: u32) {
    for _ in 0..frames {
        solver.advance(world, FRAME).expect("stable");
    }
}

/// Returns the momentum of the guides [kg m/s].
pub fn momentum(world: &World) -> DVec3 {
    let guides = &world.guides;
    guides
        .velocity
        .iter()
        .zip(&guides.mass)
        .map(|(v, m)| v.as_dvec3() * f64::from(*m))
        .sum()
}

/// Returns the angular momentum of the guides about the world's origin [kg m²/s].
pub fn angular_momentum(world: &World) -> DVec3 {
    let guides = &world.guides;
    let of = |i: usize| world.place(i).cross(guides.velocity[i].as_dvec3()) * f64::from(guides.mass[i]);
    (0..guides.len()).map(of).sum()
}

/// Returns the positions of the guides in the order of their ids.
pub fn places(world: &World) -> Vec<DVec3> {
    let mut all: Vec<(u32, DVec3)> = (0..world.guides.len())
        .map(|i| (world.guides.id[i], world.place(i)))
        .collect();
    all.sort_by_key(|a| a.0);
    all.into_iter().map(|a| a.1).collect()
}

/// Returns the state that must be bit-identical between runs.
pub fn bits(world: &World) -> Vec<u32> {
    let vectors = |v: &[Vec3]| {
        v.iter()
            .flat_map(|v| v.to_array().map(f32::to_bits))
            .collect::<Vec<_>>()
    };
    let guides = &world.guides;
    let mut bits = guides.id.clone();
    bits.extend(vectors(&guides.position));
    bits.extend(vectors(&guides.offset));
    bits.extend(vectors(&guides.velocity));
    for body in &world.bodies {
        let vectors = [
            body.pose.position,
            body.twist.linear,
            body.twist.angular,
            body.wrench.force,
            body.wrench.torque,
        ];
        bits.extend(
            vectors
                .into_iter()
                .flat_map(<[f64; 3]>::from)
                .flat_map(|x| [x.to_bits() as u32, (x.to_bits() >> 32) as u32]),
        );
    }
    bits
}
