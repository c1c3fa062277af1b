//! The step, and what is kept between steps.

use barchan_world::{AdvanceError, Archive, ArchiveError, Bodies, Body, Motion, Pose, Twist, World, Wrench};
use glam::DVec3;
use rapier3d_f64::math::Pose as Frame;
use rapier3d_f64::prelude::{
    ActiveHooks, CoefficientCombineRule, ColliderBuilder, FrictionModel, IntegrationParameters, MassProperties,
    PhysicsWorld, RigidBody, RigidBodyBuilder, RigidBodyHandle, RigidBodyVelocity, SpringCoefficients,
};

use crate::friction::ContactFriction;
use crate::joint::Link;
use crate::matching::matched_motion;
use crate::mobility::inertia;
use crate::motion::{carried, free_motion, twist_between};
use crate::{BodiesError, Mobility, collider, snapshot};

/// Checkpoint entry of rapier's state.
const ENTRY: &str = "bodies.rapier";

/// Motion of an unconstrained body in a step of a given length [s] under gravity [m/s²].
type FreeMotion = fn(&Body, DVec3, f64) -> (Pose, Twist);

/// Moves the bodies of a world.
///
/// Contacts and joints are rapier's. Bodies that no contact and no joint holds in a step follow [`free_motion`], because
/// rapier's own turn drifts: spinning about its middle axis, a body flips up to 12 % late in steps of 4 ms.
///
/// The world's bodies are authoritative: changing a pose or twist between two steps changes the motion.
pub struct Dynamics {
    rapier: PhysicsWorld,
    bodies: Vec<RigidBodyHandle>,
    joints: Vec<Link>,
    friction: ContactFriction,
    /// Motion of unconstrained bodies.
    motion: FreeMotion,
    /// Pose and velocity of each body after the step without constraints.
    free: Vec<(Pose, Twist)>,
    /// True for bodies that a contact or joint constrains in this step.
    held: Vec<bool>,
}

impl Dynamics {
    /// For the bodies and joints of a world, in the poses they have now.
    ///
    /// Dynamic bodies have the mass, center and inertia of their solids. The rule by which bodies touch each other:
    /// half-spaces, balls, cuboids and upright cylinders and capsules are themselves; other bodies whose surface is convex
    /// are its hull; the rest are their surface's convex pieces if dynamic, its triangles if not.
    pub fn new(world: &World) -> Result<Self, BodiesError> {
        let mut rapier = PhysicsWorld::new();
        set_parameters(&mut rapier, world);
        let mut bodies = Vec::with_capacity(world.bodies.len());
        for (k, body) in world.bodies.iter().enumerate() {
            check(body)?;
            let (place, shape) = collider::build(body)?;
            let mut collider = ColliderBuilder::new(shape)
                .position(place)
                .density(0.0)
                .friction(f64::from(body.friction.kinetic))
                .friction_combine_rule(CoefficientCombineRule::GeometricMean)
                .restitution(body.restitution)
                .restitution_combine_rule(CoefficientCombineRule::Max);
            if body.friction.r#static != body.friction.kinetic {
                collider = collider.active_hooks(ActiveHooks::MODIFY_SOLVER_CONTACTS);
            }
            let (handle, _) = rapier.insert(rigid_body(body).user_data(k as u128), collider);
            bodies.push(handle);
        }
        let mut joints = Vec::with_capacity(world.joints.len());
        for (k, joint) in world.joints.iter().enumerate() {
            joints.push(Link::insert(&mut rapier, &bodies, k, joint, &world.bodies)?);
        }
        Ok(Self {
            rapier,
            friction: ContactFriction::of(&world.bodies),
            motion: free_motion,
            free: Vec::with_capacity(bodies.len()),
            held: Vec::with_capacity(bodies.len()),
            bodies,
            joints,
        })
    }

    /// The same, with bodies that nothing holds moved by [`matched_motion`].
    pub fn shape_matched(mut self) -> Self {
        self.motion = matched_motion;
        self
    }

    /// Moves the bodies by `dt` [s] from the world's time, which stays, and reads the positions and loads of joints.
    ///
    /// `impulses`, one for each body, are what guides gave it in this step: linear [N s] and, about its center of mass,
    /// angular [N m s]; they act at the beginning of the step. Scripted bodies are afterwards where their keys say, driven
    /// ones where their twist carries them; the twist of a scripted body is what took it there.
    ///
    /// # Panics
    /// If there is not one impulse for each body, or `dt` is not positive.
    pub fn step(&mut self, world: &mut World, impulses: &[Wrench], dt: f64) -> Result<(), AdvanceError> {
        assert_eq!(impulses.len(), world.bodies.len(), "one impulse for each body");
        assert!(dt > 0.0 && dt.is_finite(), "a step takes time, not {dt} s");
        self.follow(world)?;
        push(&mut world.bodies, impulses);
        self.predict(world, dt);
        if world
            .bodies
            .iter()
            .any(|body| body.is_dynamic() && body.is_present(world.time))
        {
            self.cut_joints(world);
            self.hand_over(world);
            for (link, joint) in self.joints.iter().zip(&world.joints) {
                link.drive(&mut self.rapier, joint, &world.bodies, dt);
            }
            self.rapier.gravity = world.gravity;
            set_step(&mut self.rapier.integration_parameters, dt);
            self.rapier.step_with_events(&self.friction, &());
            self.find_held(world, dt);
            self.take_back(world);
        }
        self.write(world)?;
        let World { joints, bodies, .. } = world;
        for (link, joint) in self.joints.iter().zip(joints) {
            link.read(&self.rapier, joint, bodies, dt);
        }
        Ok(())
    }

    /// Rebuilds rapier's world if forces now move other bodies than before, as after settling.
    fn follow(&mut self, world: &World) -> Result<(), AdvanceError> {
        let is_same =
            |(body, &handle): (&Body, &RigidBodyHandle)| body.is_dynamic() == self.rapier.bodies[handle].is_dynamic();
        if world.bodies.iter().zip(&self.bodies).all(is_same) {
            return Ok(());
        }
        let built = Self::new(world).map_err(|error| AdvanceError::Scene {
            what: error.to_string(),
            advice: "change the body".to_owned(),
        })?;
        *self = Self {
            motion: self.motion,
            ..built
        };
        Ok(())
    }

    /// Adds `impulses`, one for each body, to the motion of those that nothing held in the last step, and takes them from the list. What
    /// holds the others would undo it at once, so theirs stay for the next step.
    pub fn push(&self, world: &mut World, impulses: &mut [Wrench]) {
        for (k, impulse) in impulses.iter_mut().enumerate() {
            if !self.held.get(k).is_some_and(|&held| held) {
                push(&mut world.bodies[k..=k], &[std::mem::take(impulse)]);
            }
        }
    }

    /// Predicts the pose and the velocity of each body without contacts and joints.
    fn predict(&mut self, world: &World, dt: f64) {
        self.free.clear();
        self.free
            .extend(world.bodies.iter().enumerate().map(|(k, body)| match body.motion {
                Motion::Fixed => (body.pose, Twist::default()),
                Motion::Driven => (carried(body, dt), body.twist),
                Motion::Scripted { .. } => {
                    let next = world.bodies.scripted_pose(k, world.time + dt);
                    (next, twist_between(body, &body.pose, &next, dt))
                }
                Motion::Dynamic if body.is_present(world.time) => (self.motion)(body, world.gravity, dt),
                Motion::Dynamic => (body.pose, body.twist),
            }));
    }

    /// Lets go of the joints whose time has come.
    fn cut_joints(&mut self, world: &World) {
        for (joint, link) in world.joints.iter().zip(&self.joints) {
            if joint.until <= world.time {
                link.cut(&mut self.rapier);
            }
        }
    }

    /// Tells rapier where bodies are, how they move, and where those go that forces do not move.
    fn hand_over(&mut self, world: &World) {
        for ((body, &handle), (next, _)) in world.bodies.iter().zip(&self.bodies).zip(&self.free) {
            let present = body.is_present(world.time);
            let (pose, twist) = state(&self.rapier.bodies[handle]);
            let enabled = self.rapier.bodies[handle].is_enabled();
            let moves = body.motion != Motion::Fixed && !body.is_dynamic();
            let changed = pose != body.pose || body.is_dynamic() && twist != body.twist;
            // Rapier checks every body that was borrowed mutably again, so unchanged ones are not borrowed.
            if !(moves || changed || enabled != present) {
                continue;
            }
            let Some(rigid) = self.rapier.bodies.get_mut(handle) else {
                continue;
            };
            rigid.set_enabled(present);
            if pose != body.pose {
                rigid.set_position(frame(&body.pose), true);
            }
            if body.is_dynamic() {
                rigid.set_vels(velocity(&body.twist), true);
            } else if moves {
                rigid.set_next_kinematic_position(near_side(&body.pose, next));
            }
        }
    }

    /// Marks the bodies whose motion contacts, joints or the sweep of a fast body changed in the step just made.
    fn find_held(&mut self, world: &World, dt: f64) {
        // Rapier's scheme falls by up to this [m] more than a parabola; a body that the sweep stopped lies farther off.
        let scheme = world.gravity.length() * dt * dt + 1e-9;
        self.held.clear();
        self.held.extend(
            self.bodies
                .iter()
                .zip(&self.free)
                .zip(&world.bodies)
                .map(|((&handle, (pose, _)), body)| {
                    let rigid = &self.rapier.bodies[handle];
                    let free = pose.point(body.mass_properties.center);
                    rigid.is_ccd_active() && rigid.center_of_mass().distance(free) > scheme
                }),
        );
        for pair in self.rapier.contact_pairs().filter(|pair| pair.has_any_active_contact()) {
            for collider in [pair.collider1, pair.collider2] {
                if let Some(parent) = self.rapier.colliders[collider].parent() {
                    self.held[self.rapier.bodies[parent].user_data as usize] = true;
                }
            }
        }
        for (joint, link) in world.joints.iter().zip(&self.joints) {
            if link.joint(&self.rapier).is_some() {
                for body in joint.bodies {
                    self.held[body] = true;
                }
            }
        }
    }

    /// Takes the motion of held bodies from rapier, and gives it that of free ones.
    fn take_back(&mut self, world: &World) {
        for (k, body) in world.bodies.iter().enumerate() {
            if !body.is_dynamic() || !body.is_present(world.time) {
                continue;
            }
            let handle = self.bodies[k];
            if self.held[k] {
                self.free[k] = state(&self.rapier.bodies[handle]);
            } else if let Some(rigid) = self.rapier.bodies.get_mut(handle) {
                let (pose, twist) = &self.free[k];
                rigid.set_position(frame(pose), true);
                rigid.set_vels(velocity(twist), true);
            }
        }
    }

    /// Writes poses and twists to the world, or says which body has none that means anything.
    fn write(&self, world: &mut World) -> Result<(), AdvanceError> {
        let broken = |k: usize| {
            let (pose, twist) = &self.free[k];
            let finite = pose.position.is_finite() && pose.rotation.is_finite();
            let quarantined = self.rapier.quarantine().bodies().contains(&self.bodies[k]);
            quarantined || !(finite && twist.linear.is_finite() && twist.angular.is_finite())
        };
        if let Some(k) = (0..world.bodies.len()).find(|&k| broken(k)) {
            return Err(AdvanceError::Body {
                time: world.time,
                body: world.bodies[k].name.clone(),
                what: "has a pose or a velocity that is no number".to_owned(),
                advice: "take smaller steps".to_owned(),
            });
        }
        for (body, (pose, twist)) in world.bodies.iter_mut().zip(&self.free) {
            (body.pose, body.twist) = (*pose, *twist);
        }
        Ok(())
    }

    /// Stores what it needs to go on bit for bit, besides the world.
    pub fn save(&self, archive: &mut Archive) {
        let bytes = postcard::to_allocvec(&self.rapier).expect("rapier's state has a length everywhere");
        archive.put(ENTRY, &bytes);
    }

    /// Takes back what [`save`](Self::save) stored, for a world built from the same scene.
    pub fn load(&mut self, world: &World, archive: &Archive) -> Result<(), ArchiveError> {
        let bytes: Vec<u8> = archive.get(ENTRY)?;
        let unfit = |found: String| ArchiveError::Unfit {
            name: ENTRY.to_owned(),
            found,
        };
        let mut rapier: PhysicsWorld = postcard::from_bytes(&bytes).map_err(|error| unfit(error.to_string()))?;
        let known = self.bodies.iter().all(|&handle| rapier.bodies.contains(handle));
        if !known || rapier.bodies.len() != world.bodies.len() || self.bodies.len() != world.bodies.len() {
            return Err(unfit(format!("{} bodies", rapier.bodies.len())));
        }
        let is_same =
            |&handle: &RigidBodyHandle| rapier.bodies[handle].is_dynamic() == self.rapier.bodies[handle].is_dynamic();
        // A state from before bodies were let go would be rebuilt by the next step.
        if !self.bodies.iter().all(is_same) {
            return Ok(());
        }
        snapshot::check(&rapier, &self.rapier).map_err(|error| unfit(error.to_string()))?;
        // These hold no state: no need to trust the checkpoint.
        std::mem::swap(
            &mut rapier.integration_parameters,
            &mut self.rapier.integration_parameters,
        );
        std::mem::swap(&mut rapier.multibody_joints, &mut self.rapier.multibody_joints);
        std::mem::swap(&mut rapier.soft_bodies, &mut self.rapier.soft_bodies);
        self.rapier = rapier;
        Ok(())
    }
}

/// Rapier's settings that are not its defaults.
fn set_parameters(rapier: &mut PhysicsWorld, world: &World) {
    let parameters = &mut rapier.integration_parameters;
    // The margins of contact, made for bodies of a meter, follow the smallest body.
    let size = |body: &Body| body.mass_properties.volume.cbrt();
    let dynamic = world.bodies.iter().filter(|body| body.is_dynamic());
    parameters.length_unit = dynamic.map(size).fold(1.0, f64::min).max(1e-3);
    parameters.normalized_max_linear_velocity = f64::MAX;
    // Rapier would keep a contact's normal until its bodies have turned by 0.2 rad: a block on a slab that tilts slowly, stuck up
    // to 10° beyond the friction angle (0.36.1).
    parameters.contact_recycling = false;
    // One friction a patch: rapier's friction a point loses 6 % of what it should hold on a sliding box (0.36.1).
    parameters.friction_model = FrictionModel::Simplified;
}

/// A step of `dt` [s], with contacts as stiff as it allows: rapier's own values are for steps of 1/60 s, and would let a
/// box of 0.2 m sink by 2 mm into the one below.
fn set_step(parameters: &mut IntegrationParameters, dt: f64) {
    let ratio = 1.0 / (60.0 * dt);
    let scaled = |softness: SpringCoefficients<f64>| {
        SpringCoefficients::new(ratio * softness.natural_frequency, softness.damping_ratio)
    };
    parameters.dt = dt;
    parameters.contact_softness = scaled(SpringCoefficients::contact_defaults());
    parameters.static_contact_softness = scaled(SpringCoefficients::contact_static_defaults());
}

/// Refuses what rapier would choke on.
fn check(body: &Body) -> Result<(), BodiesError> {
    let name = || body.name.clone();
    let rotation = body.pose.rotation;
    let quantities = [
        (
            "position",
            body.pose.position.to_string(),
            body.pose.position.is_finite(),
        ),
        (
            "rotation",
            rotation.to_string(),
            rotation.is_finite() && rotation.is_normalized(),
        ),
        ("velocity", body.twist.linear.to_string(), body.twist.linear.is_finite()),
        (
            "angular velocity",
            body.twist.angular.to_string(),
            body.twist.angular.is_finite(),
        ),
    ];
    if let Some((what, value, _)) = quantities.into_iter().find(|(_, _, fine)| !fine) {
        return Err(BodiesError::State {
            body: name(),
            what,
            value,
        });
    }
    if !body.is_dynamic() {
        return Ok(());
    }
    let mass = body.mass();
    if !(mass > 0.0 && mass.is_finite()) {
        return Err(BodiesError::Mass { body: name(), mass });
    }
    let inertia = inertia(body);
    let [a, b, c] = inertia.to_cols_array_2d();
    // Sylvester's criterion.
    if !(a[0] > 0.0 && a[0] * b[1] > a[1] * b[0] && inertia.determinant() > 0.0 && inertia.is_finite()) {
        return Err(BodiesError::Inertia {
            body: name(),
            moments: [a[0], b[1], c[2]],
        });
    }
    Ok(())
}

fn mass_properties(body: &Body) -> MassProperties {
    MassProperties::with_inertia_matrix(body.mass_properties.center, body.mass(), inertia(body))
}

fn rigid_body(body: &Body) -> RigidBodyBuilder {
    let builder = match body.motion {
        Motion::Fixed => RigidBodyBuilder::fixed(),
        Motion::Scripted { .. } | Motion::Driven => RigidBodyBuilder::kinematic_position_based(),
        // Sleep would hide creep, and a cap on spin would brake what may spin.
        Motion::Dynamic => RigidBodyBuilder::dynamic()
            .additional_mass_properties(mass_properties(body))
            .linvel(body.twist.linear)
            .angvel(body.twist.angular)
            .can_sleep(false)
            .ccd_enabled(true)
            .allow_fast_rotation(true),
    };
    builder.pose(frame(&body.pose))
}

/// Adds what guides gave to the motion of the bodies.
fn push(bodies: &mut [Body], impulses: &[Wrench]) {
    for (body, impulse) in bodies.iter_mut().zip(impulses) {
        if *impulse != Wrench::default() {
            let change = Mobility::of(body).response(*impulse);
            body.twist.linear += change.linear;
            body.twist.angular += change.angular;
        }
    }
}

fn frame(pose: &Pose) -> Frame {
    Frame::from_parts(pose.position, pose.rotation)
}

/// The pose `next` with the sign of its quaternion that makes the turn from `now` the shorter one.
fn near_side(now: &Pose, next: &Pose) -> Frame {
    let sign = if now.rotation.dot(next.rotation) < 0.0 {
        -1.0
    } else {
        1.0
    };
    Frame::from_parts(next.position, next.rotation * sign)
}

fn velocity(twist: &Twist) -> RigidBodyVelocity<f64> {
    RigidBodyVelocity::new(twist.linear, twist.angular)
}

fn state(rigid: &RigidBody) -> (Pose, Twist) {
    let pose = Pose {
        position: rigid.translation(),
        rotation: *rigid.rotation(),
    };
    let twist = Twist {
        linear: rigid.linvel(),
        angular: rigid.angvel(),
    };
    (pose, twist)
}
