//! Machines driven by levers instead of the keys of the scene.

use barchan_bodies::twist_between;
use barchan_scene::{Control, Lever, Movement, Scene};
use barchan_world::{BodyId, Motion, Pose, Target, Twist, World};
use glam::{DQuat, DVec3};

/// Time in which a lever's pressure builds up [s].
const PRESSURE_TIME: f64 = 0.2;
/// Speed below which a body stands still [m/s, rad/s]: rounding noise.
const STILL_SPEED: f64 = 1e-9;

/// A machine: the bodies and motors that its levers move, and the bodies attached to them.
#[derive(Clone, Debug)]
pub struct Machine {
    name: String,
    controls: Vec<Control>,
    /// Fraction of its full speed that each control has reached [-].
    pressures: Vec<f64>,
    parts: Vec<Part>,
    is_taken: bool,
}

/// A body of the machine.
#[derive(Clone, Copy, Debug)]
struct Part {
    body: BodyId,
    parent: Option<BodyId>,
    /// Pose relative to the parent, or in the world.
    pose: Pose,
}

impl Machine {
    /// Creates the first machine of a scene, if it has levers.
    pub fn new(scene: &Scene) -> Option<Self> {
        Self::named(scene, &scene.controls.first()?.machine)
    }

    /// Creates all machines of a scene, in the order of their first levers.
    pub fn all(scene: &Scene) -> Vec<Self> {
        let mut names: Vec<&str> = Vec::new();
        for control in &scene.controls {
            if !names.contains(&control.machine.as_str()) {
                names.push(&control.machine);
            }
        }
        names.into_iter().filter_map(|name| Self::named(scene, name)).collect()
    }

    /// Creates the machine called `name`, if it has levers.
    pub fn named(scene: &Scene, name: &str) -> Option<Self> {
        let own = scene.controls.iter().filter(|control| control.machine == name);
        let controls: Vec<Control> = own.cloned().collect();
        let parent = |k: BodyId| match &scene.bodies[k].motion {
            Motion::Scripted { parent, .. } => *parent,
            _ => None,
        };
        let is_moved =
            |control: &Control, k: BodyId| control.body == k && !matches!(control.movement, Movement::Motor { .. });
        let moved = |k: BodyId| controls.iter().any(|control| is_moved(control, k));
        // Parents come before their children.
        let mut parts: Vec<Part> = Vec::new();
        for k in 0..scene.bodies.len() {
            let hangs = parent(k).is_some_and(|p| parts.iter().any(|part| part.body == p));
            if moved(k) || hangs {
                parts.push(Part {
                    body: k,
                    parent: parent(k),
                    pose: Pose::IDENTITY,
                });
            }
        }
        (!controls.is_empty()).then(|| Self {
            name: name.to_owned(),
            pressures: vec![0.0; controls.len()],
            controls,
            parts,
            is_taken: false,
        })
    }

    /// Returns its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the levers of the machine.
    pub fn levers(&self) -> Vec<Lever> {
        self.controls.iter().map(|control| control.lever).collect()
    }

    /// Returns true once a lever has been used; before that the machine follows the scene.
    pub fn is_taken(&self) -> bool {
        self.is_taken
    }

    /// Returns the bodies that levers move.
    pub fn bodies(&self) -> impl Iterator<Item = BodyId> {
        self.controls.iter().map(|control| control.body)
    }

    /// Sets the velocities of its bodies and motors for the next `duration` [s]; `levers` returns the position of each lever, from
    /// -1 to 1. The first lever that is moved permanently takes the machine over from its keys and the targets of its motors.
    pub fn drive(&mut self, world: &mut World, levers: impl Fn(Lever) -> f64, duration: f64) {
        let asked: Vec<f64> = self
            .controls
            .iter()
            .map(|control| levers(control.lever).clamp(-1.0, 1.0))
            .collect();
        if !self.is_taken {
            if asked.iter().all(|&lever| lever == 0.0) {
                return;
            }
            self.take(world);
        }
        for (k, &lever) in asked.iter().enumerate() {
            let change = (lever - self.pressures[k]).clamp(-duration / PRESSURE_TIME, duration / PRESSURE_TIME);
            self.pressures[k] += change;
            if let Movement::Motor { joint } = self.controls[k].movement {
                if let Some(motor) = &mut world.joints[joint].motor {
                    motor.target = Target::Speed(self.pressures[k] * self.controls[k].speed);
                }
                continue;
            }
            let amount = self.pressures[k] * duration;
            if amount == 0.0 {
                continue;
            }
            let before = self.parts.clone();
            let lowest = self.lowest(world);
            self.apply(&self.controls[k].clone(), amount);
            // No part digs into the ground.
            if self.lowest(world) < lowest.min(ground(world)) - 1e-6 {
                self.parts = before;
                self.pressures[k] = 0.0;
            }
        }
        for (body, pose) in self.poses(world) {
            let held = &mut world.bodies[body];
            let twist = twist_between(held, &held.pose, &pose, duration);
            let still = twist.linear.length() < STILL_SPEED && twist.angular.length() < STILL_SPEED;
            held.twist = if still { Twist::default() } else { twist };
        }
    }

    /// Takes its bodies over from their keys, at their current poses.
    fn take(&mut self, world: &mut World) {
        for part in &mut self.parts {
            let pose = world.bodies[part.body].pose;
            let parent = part.parent.map_or(Pose::IDENTITY, |k| world.bodies[k].pose);
            part.pose = Pose {
                position: parent.local(pose.position),
                rotation: parent.rotation.inverse() * pose.rotation,
            };
            world.bodies[part.body].motion = Motion::Driven;
            world.bodies[part.body].twist = Twist::default();
        }
        self.is_taken = true;
    }

    /// Moves the body of a control by `amount` seconds of its full speed.
    fn apply(&mut self, control: &Control, amount: f64) {
        let Some(part) = self.parts.iter_mut().find(|part| part.body == control.body) else {
            return;
        };
        let pose = &mut part.pose;
        match control.movement {
            Movement::Move { along } => pose.position += pose.rotation * along * (amount * control.speed),
            Movement::Turn { axis } => {
                let now = angle_about(pose.rotation, axis);
                let wanted = now + amount * control.speed;
                let allowed = control.range.map_or(wanted, |[low, high]| {
                    // Keys may have left it beyond the range: it may return, but not move further out.
                    wanted.clamp(low.min(now), high.max(now))
                });
                pose.rotation = (pose.rotation * DQuat::from_axis_angle(axis, allowed - now)).normalize();
            }
            // Not the machine moves it, but the motor.
            Movement::Motor { .. } => {}
        }
    }

    /// Returns the target poses of its bodies.
    fn poses(&self, world: &World) -> Vec<(BodyId, Pose)> {
        let mut poses: Vec<(BodyId, Pose)> = Vec::with_capacity(self.parts.len());
        for part in &self.parts {
            let parent = part.parent.map_or(Pose::IDENTITY, |k| {
                let own = poses.iter().find(|(body, _)| *body == k);
                own.map_or(world.bodies[k].pose, |(_, pose)| *pose)
            });
            poses.push((part.body, parent.then(part.pose)));
        }
        poses
    }

    /// Returns the height of its lowest corner [m].
    fn lowest(&self, world: &World) -> f64 {
        let height = |(body, pose): (BodyId, Pose)| {
            let bounds = world.bodies[body].shape.bounds();
            let corner = |k: u32| {
                let pick = |bit: u32, low: f64, high: f64| if k >> bit & 1 == 0 { low } else { high };
                DVec3::new(
                    pick(0, bounds.min.x, bounds.max.x),
                    pick(1, bounds.min.y, bounds.max.y),
                    pick(2, bounds.min.z, bounds.max.z),
                )
            };
            (0..8).map(|k| pose.point(corner(k)).z).fold(f64::INFINITY, f64::min)
        };
        self.poses(world).into_iter().map(height).fold(f64::INFINITY, f64::min)
    }
}

/// Returns the height of the highest level, unbounded body [m]; negative infinity if there is none.
fn ground(world: &World) -> f64 {
    let level = world.bodies.iter().filter_map(|body| {
        let bounds = body.shape.bounds();
        let flat = (body.pose.rotation * DVec3::Z).z > 1.0 - 1e-9;
        (flat && bounds.max.z.is_finite() && !bounds.is_finite()).then_some(body.pose.position.z + bounds.max.z)
    });
    level.fold(f64::NEG_INFINITY, f64::max)
}

/// Returns the angle of a rotation about `axis` [rad], from -π to π.
fn angle_about(rotation: DQuat, axis: DVec3) -> f64 {
    let angle = 2.0 * rotation.xyz().dot(axis).atan2(rotation.w);
    (angle + std::f64::consts::PI).rem_euclid(std::f64::consts::TAU) - std::f64::consts::PI
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Simulation;
    use crate::scene::{Document, parse_scene};

    const ARM: &str = r#"
        duration = 1
        frame_rate = 60
        [materials.sand]
        density = 1600
        [[body]]
        name = "ground"
        shape = { half_space = { normal = [0, 0, 1] } }
        [[body]]
        name = "cab"
        motion = "scripted"
        shape = { box = { size = [0.4, 0.4, 0.4] }, at = [0, 0, 0.2] }
        keys = [{ time = 0, at = [1, 0, 0] }]
        [[body]]
        name = "arm"
        motion = "scripted"
        parent = "cab"
        shape = { box = { size = [1, 0.1, 0.1] }, at = [0.5, 0, 0] }
        keys = [{ time = 0, at = [0.2, 0, 0.7], rotate = { axis = [0, -1, 0], angle = 10 } }]
        [[control]]
        lever = "drive"
        body = "cab"
        move = [1, 0, 0]
        speed = 0.5
        [[control]]
        lever = "boom"
        body = "arm"
        turn = [0, -1, 0]
        speed = 30
        range = [-80, 40]
    "#;

    const LOADER: &str = r#"
        duration = 1
        frame_rate = 60
        gravity = [0, 0, 0]
        [materials.sand]
        density = 1600
        [[body]]
        name = "frame"
        shape = { box = { size = [0.2, 0.2, 0.2] } }
        [[body]]
        name = "bucket"
        motion = "dynamic"
        mass = 5
        shape = { box = { size = [0.2, 0.4, 0.2] }, at = [0.5, 0, 0] }
        [[body]]
        name = "wall"
        motion = "dynamic"
        mass = 50
        shape = { box = { size = [0.2, 1, 1] }, at = [0.8, 0, 0] }
        [[joint]]
        name = "ram"
        bodies = ["frame", "bucket"]
        kind = "slider"
        axis = [1, 0, 0]
        at = [0.3, 0, 0]
        motor = { speed = 0, max_force = 300 }
        [[joint]]
        name = "cell"
        bodies = ["frame", "wall"]
        kind = "fixed"
        at = [0.8, 0, 0]
        [[control]]
        machine = "loader"
        lever = "bucket"
        joint = "ram"
        speed = 0.4
        [[control]]
        machine = "other"
        lever = "bucket"
        joint = "ram"
        speed = 0.1
    "#;

    #[test]
    fn a_bucket_on_a_motor_stalls_at_a_wall_with_the_largest_force() {
        let (scene, _) = parse_scene(&Document::new("loader", LOADER)).unwrap();
        let names: Vec<String> = Machine::all(&scene)
            .iter()
            .map(|machine| machine.name().to_owned())
            .collect();
        assert_eq!(names, ["loader", "other"]);
        let mut simulation = Simulation::new(&scene).unwrap();
        let mut machine = Machine::named(&scene, "loader").unwrap();
        hold(&mut simulation, &mut machine, Lever::Bucket, 1.0, 12);
        let ram = simulation.joint("ram").unwrap();
        assert!((ram.speed - 0.4).abs() < 0.01, "{ram:?}");
        hold(&mut simulation, &mut machine, Lever::Bucket, 1.0, 60);
        let (ram, cell) = (simulation.joint("ram").unwrap(), simulation.joint("cell").unwrap());
        assert!(ram.speed.abs() < 1e-3 && (ram.position - 0.1).abs() < 2e-3, "{ram:?}");
        assert!((ram.load.motor / 300.0 - 1.0).abs() < 1e-6, "{ram:?}");
        assert!((cell.load.wrench.force.x / -300.0 - 1.0).abs() < 0.03, "{cell:?}");
        // The lever let go: the motor holds, and pushes no more.
        hold(&mut simulation, &mut machine, Lever::Bucket, -1.0, 30);
        assert!(simulation.joint("ram").unwrap().position < 0.05);
    }

    fn machine() -> (Simulation, Machine) {
        let (scene, _) = parse_scene(&Document::new("arm", ARM)).unwrap();
        (Simulation::new(&scene).unwrap(), Machine::new(&scene).unwrap())
    }

    fn hold(simulation: &mut Simulation, machine: &mut Machine, lever: Lever, value: f64, frames: u32) {
        for _ in 0..frames {
            let at = |l: Lever| if l == lever { value } else { 0.0 };
            machine.drive(simulation.world_mut(), at, 1.0 / 60.0);
            simulation.advance().unwrap();
        }
    }

    #[test]
    fn a_machine_that_is_not_driven_follows_its_keys() {
        let (mut simulation, mut machine) = machine();
        hold(&mut simulation, &mut machine, Lever::Boom, 0.0, 3);
        assert!(!machine.is_taken());
        assert!(matches!(simulation.world().bodies[1].motion, Motion::Scripted { .. }));
    }

    #[test]
    fn driving_carries_the_arm_along_and_stops_where_the_lever_is_let_go() {
        let (mut simulation, mut machine) = machine();
        let start = simulation.world().bodies[2].pose;
        hold(&mut simulation, &mut machine, Lever::Drive, 1.0, 72);
        hold(&mut simulation, &mut machine, Lever::Drive, 0.0, 30);
        let end = simulation.world().bodies[2].pose;
        // Full speed for 1.2 s: the build-up loses the distance that the release gains.
        let displacement = end.position - start.position;
        assert!(
            (displacement.x - 0.6).abs() < 0.01 && displacement.with_x(0.0).length() < 1e-9,
            "{displacement}"
        );
        assert_eq!(simulation.world().bodies[2].twist, Twist::default());
        assert!(end.rotation.angle_between(start.rotation) < 1e-7);
    }

    #[test]
    fn a_lever_goes_to_the_end_of_its_range_and_no_further() {
        let (mut simulation, mut machine) = machine();
        hold(&mut simulation, &mut machine, Lever::Boom, 1.0, 180);
        let arm = simulation.world().bodies[2].pose.rotation * DVec3::X;
        assert!((arm.z.asin().to_degrees() - 40.0).abs() < 1e-6, "{arm}");
    }

    #[test]
    fn nothing_is_driven_into_the_ground() {
        let (mut simulation, mut machine) = machine();
        hold(&mut simulation, &mut machine, Lever::Boom, -1.0, 240);
        let arm = &simulation.world().bodies[2];
        let tip = arm.pose.point(DVec3::new(1.0, 0.0, -0.05));
        assert!(tip.z > -1e-6, "{tip}");
        let angle = (arm.pose.rotation * DVec3::X).z.asin().to_degrees();
        assert!(angle < -38.0, "it went down to {angle}°");
    }
}
