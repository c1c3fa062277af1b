//! Joints, as rapier has them: how they are built, driven and read.

use std::f64::consts::PI;

use barchan_world::{Body, Joint, JointKind, JointLoad, Pose, Target, Wrench};
use glam::{DQuat, DVec3};
use rapier3d_f64::math::Pose as Frame;
use rapier3d_f64::prelude::{
    GenericJoint, GenericJointBuilder, ImpulseJoint, ImpulseJointHandle, JointAxesMask, JointAxis, MotorModel,
    PhysicsWorld, RigidBodyHandle, RopeJointBuilder,
};

use crate::{BodiesError, Mobility};

/// Gain of a motor on an error of its speed [1/s]: as good as a constraint, up to its limit.
const MOTOR_GAIN: f64 = 1e12;

/// Fields of rapier's joints that motors change.
pub(crate) const DRIVEN: &[&str] = &["target_vel", "max_force"];

/// A joint in rapier. A spring is a joint of its own: an axis has one motor, which is rapier's name for both.
pub(crate) struct Link {
    joint: ImpulseJointHandle,
    spring: Option<ImpulseJointHandle>,
}

impl Link {
    /// Inserts joint `place` of the list between bodies that are where they are now: a hinge's axis and a fixed joint's angle are those
    /// of now.
    pub(crate) fn insert(
        rapier: &mut PhysicsWorld,
        handles: &[RigidBodyHandle],
        place: usize,
        joint: &Joint,
        bodies: &[Body],
    ) -> Result<Self, BodiesError> {
        check(joint, bodies).map_err(|reason| BodiesError::Joint { joint: place, reason })?;
        let [first, second] = joint.bodies.map(|body| handles[body]);
        let built = build(joint, bodies);
        let spring = joint.spring.map(|spring| {
            let axis = axis(joint.kind).expect("springs have an axis");
            // Without locked axes it acts along its own only.
            let mut only = GenericJointBuilder::new(JointAxesMask::empty())
                .contacts_enabled(false)
                .local_frame1(built.local_frame1)
                .local_frame2(built.local_frame2)
                .motor_model(axis, MotorModel::ForceBased)
                .build();
            only.set_motor_position(axis, spring.rest, spring.stiffness, spring.damping);
            rapier.insert_impulse_joint(first, second, only)
        });
        Ok(Self {
            joint: rapier.insert_impulse_joint(first, second, built),
            spring,
        })
    }

    /// Returns the joint in rapier, unless it was cut.
    pub(crate) fn joint<'a>(&self, rapier: &'a PhysicsWorld) -> Option<&'a ImpulseJoint> {
        rapier.impulse_joints.get(self.joint)
    }

    /// Removes it from rapier.
    pub(crate) fn cut(&self, rapier: &mut PhysicsWorld) {
        for handle in self.spring.into_iter().chain([self.joint]) {
            if rapier.impulse_joints.contains(handle) {
                rapier.remove_impulse_joint(handle);
            }
        }
    }

    /// Sets the motor for a step of `dt` [s].
    pub(crate) fn drive(&self, rapier: &mut PhysicsWorld, joint: &Joint, bodies: &[Body], dt: f64) {
        let (Some(motor), Some(axis), Some(held)) = (joint.motor, axis(joint.kind), self.joint(rapier)) else {
            return;
        };
        let now = position(&held.data, joint, bodies);
        let error = match motor.target {
            Target::Speed(_) => 0.0,
            Target::Position { at, .. } => match (joint.kind, joint.limits) {
                (JointKind::Hinge { .. }, None) => wrapped(at - now),
                _ => at - now,
            },
        };
        let (speed, limit) = (motor.speed(error, dt), motor.limit.min(f64::MAX));
        let set = held.data.motors[axis as usize];
        // A joint that was borrowed mutably is assembled again, so unchanged ones are not borrowed.
        if set.target_vel == speed && set.max_force == limit {
            return;
        }
        if let Some(held) = rapier.impulse_joints.get_mut(self.joint, false) {
            held.data.set_motor_velocity(axis, speed, MOTOR_GAIN);
            held.data.set_motor_max_force(axis, limit);
        }
    }

    /// Reads the joint after a step of `dt` [s].
    pub(crate) fn read(&self, rapier: &PhysicsWorld, joint: &mut Joint, bodies: &[Body], dt: f64) {
        // It holds nothing while a body is absent.
        let Some(held) = self.joint(rapier).filter(|held| held.data.is_enabled()) else {
            (joint.speed, joint.load) = (0.0, JointLoad::default());
            return;
        };
        joint.position = position(&held.data, joint, bodies);
        joint.speed = speed(&held.data, joint.kind, bodies, joint.bodies);
        // Impulses are those of the last of rapier's steps within this one.
        let step = dt / rapier.integration_parameters.num_solver_iterations as f64;
        let spring = self.spring.and_then(|spring| rapier.impulse_joints.get(spring));
        let parts = [Some(held), spring];
        let mut wrench = Wrench::default();
        for part in parts.into_iter().flatten() {
            wrench += impulse(part, bodies, joint.bodies) * (1.0 / step);
        }
        let motor = axis(joint.kind).map_or(0.0, |axis| -held.data.motors[axis as usize].impulse / step);
        joint.load = JointLoad { wrench, motor };
    }
}

/// Returns why a joint cannot be.
fn check(joint: &Joint, bodies: &[Body]) -> Result<(), String> {
    let [first, second] = joint.bodies;
    if let Some(missing) = joint.bodies.into_iter().find(|&body| body >= bodies.len()) {
        return Err(format!("holds body {missing} of {}", bodies.len()));
    }
    if first == second {
        return Err(format!("holds body `{}` twice", bodies[first].name));
    }
    if let Some(anchor) = joint.anchors.into_iter().find(|anchor| !anchor.is_finite()) {
        return Err(format!("has its anchor at {anchor} m"));
    }
    match joint.kind {
        JointKind::Hinge { axis } | JointKind::Slider { axis } if axis.try_normalize().is_none() => {
            return Err(format!("has no axis: {axis}"));
        }
        JointKind::Rope { length } if !(length > 0.0 && length.is_finite()) => {
            return Err(format!("is a rope of {length} m"));
        }
        _ => {}
    }
    let has_parts = joint.limits.is_some() || joint.spring.is_some() || joint.motor.is_some();
    if has_parts && !joint.kind.has_axis() {
        return Err("has limits, a spring or a motor, but no axis".to_owned());
    }
    if let Some([low, high]) = joint
        .limits
        .filter(|[low, high]| !(low < high && low.is_finite() && high.is_finite()))
    {
        return Err(format!("has the limits {low} and {high}"));
    }
    if let Some(spring) = joint.spring {
        let is_good = |number: f64| number >= 0.0 && number.is_finite();
        if !(is_good(spring.stiffness) && is_good(spring.damping) && spring.rest.is_finite()) {
            return Err(format!("has the spring {spring:?}"));
        }
    }
    if let Some(motor) = joint.motor.filter(|motor| motor.limit.is_nan() || motor.limit < 0.0) {
        return Err(format!("has a motor with the limit {}", motor.limit));
    }
    Ok(())
}

/// Builds a joint that was checked.
fn build(joint: &Joint, bodies: &[Body]) -> GenericJoint {
    let [first, second] = joint.bodies.map(|body| bodies[body].pose.rotation);
    let zero = joint.zero.unwrap_or(first.inverse() * second);
    let held = |axes: JointAxesMask, frame: DQuat| {
        // Bodies held together overlap at the joint; contact would fight it.
        let mut held = GenericJointBuilder::new(axes)
            .contacts_enabled(false)
            .local_frame1(Frame::from_parts(joint.anchors[0], frame))
            .local_frame2(Frame::from_parts(joint.anchors[1], zero.inverse() * frame))
            .build();
        if let Some(axis) = axis(joint.kind) {
            if let Some(limits) = joint.limits {
                held.set_limits(axis, limits);
            }
            if joint.motor.is_some() {
                held.set_motor_velocity(axis, 0.0, MOTOR_GAIN);
            }
        }
        held
    };
    let along = |axis: DVec3| DQuat::from_rotation_arc(DVec3::X, axis.normalize());
    match joint.kind {
        JointKind::Hinge { axis } => held(JointAxesMask::LOCKED_REVOLUTE_AXES, along(axis)),
        JointKind::Slider { axis } => held(JointAxesMask::LOCKED_PRISMATIC_AXES, along(axis)),
        JointKind::Ball => held(JointAxesMask::LOCKED_SPHERICAL_AXES, DQuat::IDENTITY),
        JointKind::Fixed => held(JointAxesMask::LOCKED_FIXED_AXES, DQuat::IDENTITY),
        JointKind::Rope { length } => RopeJointBuilder::new(length)
            .local_anchor1(joint.anchors[0])
            .local_anchor2(joint.anchors[1])
            .build()
            .into(),
    }
}

/// Returns the free axis of a joint, which is the first of its frame.
fn axis(kind: JointKind) -> Option<JointAxis> {
    match kind {
        JointKind::Hinge { .. } => Some(JointAxis::AngX),
        JointKind::Slider { .. } => Some(JointAxis::LinX),
        JointKind::Ball | JointKind::Rope { .. } | JointKind::Fixed => None,
    }
}

/// Returns the frames of a joint in the world.
fn frames(joint: &GenericJoint, bodies: &[Body], held: [usize; 2]) -> [Pose; 2] {
    let in_world = |body: usize, local: &Frame| {
        bodies[body].pose.then(Pose {
            position: local.translation,
            rotation: local.rotation,
        })
    };
    [
        in_world(held[0], &joint.local_frame1),
        in_world(held[1], &joint.local_frame2),
    ]
}

/// Returns `angle` [rad] within half a turn of zero.
fn wrapped(angle: f64) -> f64 {
    (angle + PI).rem_euclid(2.0 * PI) - PI
}

/// Returns the position of a joint along its axis [m, rad].
fn position(built: &GenericJoint, joint: &Joint, bodies: &[Body]) -> f64 {
    let [first, second] = frames(built, bodies, joint.bodies);
    match joint.kind {
        JointKind::Hinge { .. } => {
            let turn = first.rotation.inverse() * second.rotation;
            let middle = joint.limits.map_or(0.0, |[low, high]| 0.5 * (low + high));
            middle + wrapped(2.0 * turn.x.atan2(turn.w) - middle)
        }
        JointKind::Slider { .. } => (second.position - first.position).dot(first.rotation * DVec3::X),
        JointKind::Ball | JointKind::Rope { .. } | JointKind::Fixed => 0.0,
    }
}

/// Returns the rate of that position [m/s, rad/s].
fn speed(built: &GenericJoint, kind: JointKind, bodies: &[Body], held: [usize; 2]) -> f64 {
    let [first, second] = frames(built, bodies, held);
    let (axis, [a, b]) = (first.rotation * DVec3::X, held.map(|k| &bodies[k]));
    match kind {
        JointKind::Hinge { .. } => (b.twist.angular - a.twist.angular).dot(axis),
        JointKind::Slider { .. } => (b.velocity_at(second.position) - a.velocity_at(second.position)).dot(axis),
        JointKind::Ball | JointKind::Rope { .. } | JointKind::Fixed => 0.0,
    }
}

/// A row of rapier's constraints: a unit impulse gives the bodies ±`linear` and the angular impulses `turns` about their centers.
#[derive(Clone, Copy)]
struct Row {
    linear: DVec3,
    turns: [DVec3; 2],
    impulse: f64,
}

impl Row {
    /// Returns the product of two rows under the bodies' inverse masses.
    fn product(&self, other: &Self, bodies: &[Mobility; 2]) -> f64 {
        let masses = bodies[0].inverse_mass + bodies[1].inverse_mass;
        let turn = |k: usize| self.turns[k].dot(bodies[k].inverse_inertia * other.turns[k]);
        masses * self.linear.dot(other.linear) + turn(0) + turn(1)
    }
}

/// Returns the impulse [N s] of a joint on its second body, and the angular impulse about that body's anchor [N m s].
///
/// Rapier makes the rows of locked axes and limits orthogonal to each other, in this order, before it solves them (0.36): their impulses
/// are components along the changed rows, which are found here again.
fn impulse(joint: &ImpulseJoint, bodies: &[Body], held: [usize; 2]) -> Wrench {
    let data = &joint.data;
    let [first, second] = frames(data, bodies, held);
    let mobility = held.map(|k| Mobility::of(&bodies[k]));
    let axes = [DVec3::X, DVec3::Y, DVec3::Z].map(|axis| first.rotation * axis);
    let has = |mask: JointAxesMask, k: usize| mask.bits() >> k & 1 == 1;
    // On the first body forces act at the second anchor, except along locked axes.
    let apart = second.position - first.position;
    let locked = (0..3).filter(|&k| has(data.locked_axes, k));
    let at = second.position - locked.map(|k| apart.dot(axes[k]) * axes[k]).sum::<DVec3>();
    let linear = |axis: DVec3, impulse: f64| Row {
        linear: axis,
        turns: [
            (at - mobility[0].center).cross(axis),
            (second.position - mobility[1].center).cross(axis),
        ],
        impulse,
    };
    let angular = |axis: DVec3, impulse: f64| Row {
        linear: DVec3::ZERO,
        turns: [axis; 2],
        impulse,
    };
    let mut rows = Vec::with_capacity(6);
    if data.coupled_axes.is_empty() {
        let errors = error_axes(first.rotation, second.rotation);
        let locks = (3..6).filter(|&k| has(data.locked_axes, k));
        rows.extend(locks.map(|k| angular(errors[k - 3], joint.impulses[k])));
        let locks = (0..3).filter(|&k| has(data.locked_axes, k));
        rows.extend(locks.map(|k| linear(axes[k], joint.impulses[k])));
        let limited = |k: &usize| has(data.limit_axes, *k) && !has(data.locked_axes, *k);
        rows.extend(
            (3..6)
                .filter(limited)
                .map(|k| angular(axes[k - 3], data.limits[k].impulse)),
        );
        rows.extend((0..3).filter(limited).map(|k| linear(axes[k], data.limits[k].impulse)));
    } else {
        rows.push(linear(apart.normalize_or_zero(), data.limits[0].impulse));
    }
    for j in 0..rows.len() {
        let pivot = rows[j];
        let own = pivot.product(&pivot, &mobility);
        for row in &mut rows[j + 1..] {
            let share = if own > 0.0 {
                row.product(&pivot, &mobility) / own
            } else {
                0.0
            };
            row.linear -= share * pivot.linear;
            row.turns = [
                row.turns[0] - share * pivot.turns[0],
                row.turns[1] - share * pivot.turns[1],
            ];
        }
    }
    // Motors and springs are solved before the others, on their own.
    rows.extend(
        (3..6)
            .filter(|&k| has(data.motor_axes, k))
            .map(|k| angular(axes[k - 3], data.motors[k].impulse)),
    );
    rows.extend(
        (0..3)
            .filter(|&k| has(data.motor_axes, k))
            .map(|k| linear(axes[k], data.motors[k].impulse)),
    );
    // Rapier adds impulses to the first body.
    let force: DVec3 = rows.iter().map(|row| -row.impulse * row.linear).sum();
    let about_center: DVec3 = rows.iter().map(|row| -row.impulse * row.turns[1]).sum();
    Wrench {
        force,
        torque: about_center - (second.position - mobility[1].center).cross(force),
    }
}

/// Returns the axes along which relative turning changes the components of the rotation from `first` to `second`.
fn error_axes(first: DQuat, second: DQuat) -> [DVec3; 3] {
    let sign = if first.dot(second) < 0.0 { -0.5 } else { 0.5 };
    let change = |axis: DVec3| {
        let turn = DQuat::from_xyzw(axis.x, axis.y, axis.z, 0.0);
        sign * (first.conjugate() * turn * second).xyz()
    };
    let [x, y, z] = [DVec3::X, DVec3::Y, DVec3::Z].map(change);
    [0, 1, 2].map(|k| DVec3::new(x[k], y[k], z[k]))
}
