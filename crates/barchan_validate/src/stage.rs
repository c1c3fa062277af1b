//! Simulates the scene of an experiment.

use std::borrow::Cow;
use std::sync::Arc;

use barchan::geometry::Shape;
use barchan::geometry::random::Stream;
use barchan::geometry::shapes::Transformed;
use barchan::scene::{FillSource, JointPlace, JointType, Scene};
use barchan::world::spec::Weight;
use barchan::world::{Body, Mass, Motion, Spare};
use barchan::{Simulation, SimulationError};
use glam::{DQuat, DVec3};

use crate::experiment::Change;
use crate::expression::{ExpressionError, GRAVITY, Parameters};
use crate::measures::{Momenta, Rest, RestBand, carried};
use crate::pause::Pause;

/// Translation by a kilometer, more than 1000 diameters, in no direction aligned with a grid [m].
const SHIFT: DVec3 = DVec3::new(812.3, -571.9, 119.7);

/// Velocity of a boosted scene [m/s], along the ground.
const BOOST: DVec3 = DVec3::new(0.61, -0.37, 0.0);

/// Results of an experiment.
#[derive(Clone, Debug, Default)]
pub struct Observation {
    /// Quantities by name. A missing one was not measured; NaN fails any band.
    pub values: Vec<(Cow<'static, str>, f64)>,
    /// Notes for the reader.
    pub notes: Vec<String>,
    /// Number of guides at the end.
    pub guides: usize,
    /// The simulation stopped early.
    pub broken: bool,
}

impl Observation {
    /// Returns the quantity `name`.
    pub fn value(&self, name: &str) -> Option<f64> {
        self.values.iter().find(|v| v.0 == name).map(|v| v.1)
    }
}

/// Converts named quantities to those of an observation.
pub(crate) fn values<const N: usize>(named: [(&'static str, f64); N]) -> Vec<(Cow<'static, str>, f64)> {
    named.into_iter().map(|(name, value)| (name.into(), value)).collect()
}

/// A running experiment. Positions and velocities are in the frame of the scene file, wherever a twin moved it.
pub struct Stage {
    simulation: Simulation,
    pause: Pause,
    weight: Weight,
    frame_duration: f64,
    parameters: Parameters,
    rotation: DQuat,
    shift: DVec3,
    drift: DVec3,
}

impl Stage {
    /// Builds `scene`, changed by `change`, or restores it from `pause`.
    pub fn new(
        mut scene: Scene,
        parameters: Parameters,
        change: Option<Change>,
        mut pause: Pause,
    ) -> Result<Self, SimulationError> {
        let rotation = match change {
            Some(Change::Rotate) => DQuat::from_axis_angle(DVec3::new(0.48, 0.6, -0.64), 1.1),
            _ => DQuat::IDENTITY,
        };
        let shift = match change {
            Some(Change::Shift) => SHIFT,
            _ => DVec3::ZERO,
        };
        if rotation != DQuat::IDENTITY || shift != DVec3::ZERO {
            transform(&mut scene, rotation, shift);
        }
        let (frame_duration, weight) = (1.0 / scene.frame_rate, scene.facts().weight);
        let kept = pause.resume(&scene);
        let is_new = kept.is_none();
        let mut simulation = kept.map_or_else(|| Simulation::new(&scene), Ok)?;
        match change.filter(|_| is_new) {
            Some(Change::Mirror) => mirror(&mut simulation),
            Some(Change::Permute) => permute(&mut simulation),
            Some(Change::Boost) => boost(&mut simulation),
            _ => (),
        }
        let drift = match change {
            Some(Change::Boost) => BOOST,
            _ => DVec3::ZERO,
        };
        Ok(Self {
            simulation,
            pause,
            weight,
            frame_duration,
            parameters,
            rotation,
            shift,
            drift,
        })
    }

    /// Evaluates an expression of the experiment's parameters.
    pub fn value(&self, expression: &str) -> Result<f64, ExpressionError> {
        self.parameters.value(expression)
    }

    /// Advances by one frame.
    pub fn advance(&mut self) -> Result<(), SimulationError> {
        self.simulation.advance()
    }

    /// Advances to `time` [s], from the checkpoint of an interrupted run if that is earlier.
    pub fn advance_to(&mut self, time: f64) -> Result<(), SimulationError> {
        while self.time() < time {
            self.advance()?;
            self.pause.keep(&self.simulation);
        }
        Ok(())
    }

    /// Ends the experiment and removes its checkpoint. Returns the time that it took [s].
    pub fn end(self) -> f64 {
        self.pause.forget();
        self.pause.seconds()
    }

    /// Returns whether guides are particles, which are held to what particles do one by one.
    pub fn has_particles(&self) -> bool {
        self.weight == Weight::Particle
    }

    /// Returns the duration of a frame [s].
    pub fn frame_duration(&self) -> f64 {
        self.frame_duration
    }

    /// Returns the current time [s].
    pub fn time(&self) -> f64 {
        self.simulation.world().time
    }

    /// Returns the simulation.
    pub fn simulation(&self) -> &Simulation {
        &self.simulation
    }

    /// Returns the simulation, to drive its motors.
    pub fn simulation_mut(&mut self) -> &mut Simulation {
        &mut self.simulation
    }

    /// Returns the number of guides.
    pub fn guides(&self) -> usize {
        self.simulation.world().guides.len()
    }

    /// Returns the positions of guides [m].
    pub fn positions(&self) -> Vec<DVec3> {
        let world = self.simulation.world();
        (0..world.guides.len())
            .map(|i| self.to_scene_frame(world.place(i)))
            .collect()
    }

    /// Transforms a position of the world [m] to the frame of the scene file.
    pub fn to_scene_frame(&self, position: DVec3) -> DVec3 {
        self.rotation.inverse() * (position - self.shift - self.drift * self.time())
    }

    /// Returns the radii of guides [m].
    pub fn radii(&self) -> Vec<f64> {
        let radii = &self.simulation.world().guides.radius;
        radii.iter().map(|&r| f64::from(r)).collect()
    }

    /// Returns the mean velocities of guides over the last frame [m/s].
    pub fn velocities(&self) -> Vec<DVec3> {
        let back = self.rotation.inverse();
        let velocities = self.simulation.velocities().iter();
        velocities.map(|v| back * (v.as_dvec3() - self.drift)).collect()
    }

    /// Returns the body of that name.
    ///
    /// # Panics
    /// If the experiment's scene has no such body.
    pub fn body(&self, name: &str) -> &Body {
        let mut bodies = self.simulation.world().bodies.iter();
        bodies
            .find(|body| body.name == name)
            .expect("the experiment's scene has that body")
    }

    /// Sets the velocity of a driven body to `velocity` [m/s] from now on.
    ///
    /// # Panics
    /// If the experiment's scene has no such body.
    pub fn drive(&mut self, name: &str, velocity: DVec3) {
        let velocity = self.rotation * velocity;
        let mut bodies = self.simulation.world_mut().bodies.iter_mut();
        let body = bodies.find(|body| body.name == name);
        body.expect("the experiment's scene has that body").twist.linear = velocity;
    }

    /// Rotates gravity by `angle` [rad] from -z toward x, and sets the velocity of all guides to `speed` [m/s] along x.
    pub fn tilt(&mut self, angle: f64, speed: f64) {
        let down = DVec3::new(angle.sin(), 0.0, -angle.cos());
        let velocity = (self.rotation * DVec3::X * speed).as_vec3();
        let gravity = self.rotation * down * GRAVITY;
        let world = self.simulation.world_mut();
        world.gravity = gravity;
        world.guides.velocity.fill(velocity);
    }

    /// Removes the guides at positions [m] for which `gone` returns true, and records them in the ledger.
    pub fn remove(&mut self, gone: impl Fn(DVec3) -> bool) {
        let keep: Vec<bool> = self.positions().into_iter().map(|position| !gone(position)).collect();
        let world = self.simulation.world_mut();
        let masses = world.guides.mass.iter().zip(&keep).filter(|k| !*k.1).map(|k| *k.0);
        world.ledger.removed += Mass::sum(masses);
        world.guides.retain(&keep);
    }

    /// Returns the positions of guides [m] by id; `None` for removed ones.
    pub fn positions_by_id(&self) -> Vec<Option<DVec3>> {
        let world = self.simulation.world();
        let mut positions = vec![None; world.next_id as usize];
        for i in 0..world.guides.len() {
            positions[world.guides.id[i] as usize] = Some(self.to_scene_frame(world.place(i)));
        }
        positions
    }

    /// Returns the momenta of the guides about the origin, from the velocities that the solver stores.
    pub fn momenta(&self) -> Momenta {
        let guides = &self.simulation.world().guides;
        let masses: Vec<f64> = guides.mass.iter().map(|&m| f64::from(m)).collect();
        let back = self.rotation.inverse();
        let velocities: Vec<DVec3> = guides.velocity.iter().map(|v| back * v.as_dvec3()).collect();
        Momenta::new(&masses, &self.positions(), &velocities, DVec3::ZERO)
    }

    /// Returns the mean over the next `duration` [s] of the force on all bodies relative to the weight of all guides
    /// [-].
    pub fn carried(&mut self, duration: f64) -> Result<f64, SimulationError> {
        let end = self.time() + duration;
        let (mut sum, mut frames) = (0.0, 0.0);
        while self.time() < end - 1e-9 {
            self.advance()?;
            let world = self.simulation.world();
            let forces = world.bodies.iter().map(|body| body.wrench.force);
            let masses = world.guides.mass.iter().map(|&m| f64::from(m));
            sum += carried(forces, masses, world.gravity);
            frames += 1.0;
        }
        Ok(sum / frames)
    }

    /// Advances until the guides, of `diameter` [m], rest or `limit` [s] is reached; returns the time of rest.
    pub fn until_rest(&mut self, diameter: f64, limit: f64) -> Result<Option<f64>, SimulationError> {
        let mut rest = Rest::new(RestBand::PICTURES, GRAVITY, diameter);
        while self.time() < limit {
            self.advance()?;
            let velocities = self.velocities();
            if rest.watch(self.time(), velocities.iter().map(|v| v.length())) {
                return Ok(Some(self.time()));
            }
        }
        Ok(None)
    }
}

fn moved(shape: &Arc<dyn Shape>, rotation: DQuat, shift: DVec3) -> Arc<dyn Shape> {
    let moved = Transformed::new(shape.clone(), shift, rotation, DVec3::ONE);
    Arc::new(moved.expect("a turn and a finite shift"))
}

/// Rotates and translates everything. Scripted bodies stay: their keys are in world coordinates.
fn transform(scene: &mut Scene, rotation: DQuat, shift: DVec3) {
    let put = |p: DVec3| rotation * p + shift;
    scene.gravity = rotation * scene.gravity;
    for fill in &mut scene.fills {
        fill.velocity = rotation * fill.velocity;
        match &mut fill.source {
            FillSource::Shape { shape, .. } => *shape = moved(shape, rotation, shift),
            FillSource::Points(particles) => particles.positions.iter_mut().for_each(|p| *p = put(*p)),
        }
    }
    for emitter in &mut scene.emitters {
        emitter.shape = moved(&emitter.shape, rotation, shift);
        emitter.velocity = rotation * emitter.velocity;
    }
    for sink in &mut scene.sinks {
        sink.shape = moved(&sink.shape, rotation, shift);
    }
    for body in &mut scene.bodies {
        body.shape.whole = moved(&body.shape.whole, rotation, shift);
        body.shape.at = put(body.shape.at);
        body.shape.rotation = rotation * body.shape.rotation;
        body.velocity = rotation * body.velocity;
        body.angular_velocity = rotation * body.angular_velocity;
    }
    for joint in &mut scene.joints {
        if let JointType::Hinge { axis } | JointType::Slider { axis } = &mut joint.kind {
            *axis = rotation * *axis;
        }
        if let JointPlace::World(at) = &mut joint.holds {
            *at = put(*at);
        }
    }
}

/// Mirrors the guides at x = 0; only for symmetric scenes.
fn mirror(simulation: &mut Simulation) {
    let world = simulation.world_mut();
    for i in 0..world.guides.len() {
        let original = world.place(i);
        let mirrored = DVec3::new(-original.x, original.y, original.z);
        let position = world.local(mirrored);
        world.guides.position[i] = position;
        world.guides.offset[i] = (mirrored - world.origin - position.as_dvec3()).as_vec3();
        world.guides.velocity[i].x *= -1.0;
    }
}

/// Adds a common velocity to guides and bodies; only for scenes with fixed bodies.
fn boost(simulation: &mut Simulation) {
    let world = simulation.world_mut();
    for velocity in &mut world.guides.velocity {
        *velocity += BOOST.as_vec3();
    }
    for body in &mut world.bodies {
        body.motion = Motion::Driven;
        body.twist.linear = BOOST;
    }
}

/// Puts the guides into a random order.
fn permute(simulation: &mut Simulation) {
    let guides = &mut simulation.world_mut().guides;
    let mut order: Vec<u32> = (0..guides.len() as u32).collect();
    let key = |i: &u32| Stream::new(11, u64::from(*i)).unit().to_bits();
    order.sort_by_key(key);
    guides.gather(&order, &mut Spare::default());
}
