//! Small worlds.
#![allow(dead_code, reason = "not every test file needs every world")]

use std::sync::Arc;

use barchan_bodies::Dynamics;
use barchan_dem::{Contact, DemSettings, DemSolver};
use barchan_geometry::Shape;
use barchan_geometry::random::Stream;
use barchan_geometry::shapes::HalfSpace;
use barchan_testing::{body, friction};
use barchan_world::{Body, Material, Materials, Motion, Solver, World};
use glam::DVec3;

/// One material, of 2500 kg/m³.
pub fn world(gravity: DVec3, mu: f32) -> World {
    let glass = Material {
        name: "glass".to_owned(),
        density: 1500.0,
        particle_density: 2500.0,
        friction: friction(mu),
        angle_of_repose: None,
    };
    let materials = Materials {
        all: vec![glass],
        ..Materials::default()
    };
    World::new(gravity, materials, 1)
}

/// Everything below the plane through `at` [m].
pub fn plane(normal: DVec3, at: DVec3, mu: f32) -> Body {
    let shape: Arc<dyn Shape> = Arc::new(HalfSpace::new(normal, normal.dot(at)).unwrap());
    body("plane", shape, Motion::Fixed, mu)
}

pub fn add(world: &mut World, place: DVec3, velocity: DVec3, radius: f64) {
    let mass = world.settled_mass(0, radius);
    world.add_guide(place, velocity, radius, mass, 0);
}

/// Adds `count` spheres of radii about `radius` [m] on a loose jittered lattice above z = 0, moving at up to `speed`
/// [m/s].
pub fn cloud(world: &mut World, count: usize, radius: f64, speed: f64) {
    let side = (count as f64).cbrt().ceil() as usize;
    for k in 0..count {
        let mut stream = Stream::new(5, k as u64);
        let cell = DVec3::new((k % side) as f64, (k / side % side) as f64, (k / side / side) as f64);
        let place = (cell + 0.5) * 2.4 * radius + 0.1 * radius * stream.unit_cube();
        let velocity = speed * (2.0 * stream.unit_cube() - DVec3::ONE);
        let own = radius * (0.8 + 0.4 * stream.unit());
        add(world, place, velocity, own);
    }
}

pub fn contact() -> Contact {
    Contact::default()
}

pub fn solver(world: &World, settings: DemSettings) -> DemSolver {
    DemSolver::new(settings, Dynamics::new(world).expect("good bodies"), world).expect("good settings")
}

/// Advances by `frames` times `duration` [s].
pub fn run(solver: &mut DemSolver, world: &mut World, duration: f64, frames: u32) {
    for _ in 0..frames {
        let start = world.time;
        solver.advance(world, duration).expect("stable");
        world.time = start + duration;
    }
}

/// Returns the linear and, about the origin, the angular momentum, and the kinetic energy, all from the solver's own
/// numbers.
pub fn sums(solver: &DemSolver, world: &World) -> (DVec3, DVec3, f64) {
    let mut sums = (DVec3::ZERO, DVec3::ZERO, 0.0);
    for i in 0..world.guides.len() {
        let (mass, radius) = (f64::from(world.guides.mass[i]), f64::from(world.guides.radius[i]));
        let s = solver.sphere(world, world.guides.id[i]).unwrap();
        let inertia = 0.4 * mass * radius * radius;
        sums.0 += mass * s.velocity;
        sums.1 += mass * s.position.cross(s.velocity) + inertia * s.angular_velocity;
        sums.2 += 0.5 * mass * s.velocity.length_squared() + 0.5 * inertia * s.angular_velocity.length_squared();
    }
    sums
}
