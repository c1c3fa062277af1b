//! Joints: connections of two bodies, with limits, springs and motors.

use glam::{DQuat, DVec3};

use crate::{Archive, ArchiveError, BodyId, Wrench};

/// Degrees of freedom that a joint leaves.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum JointKind {
    /// Rotation about an axis, given in the first body's frame [-].
    Hinge {
        /// Axis, of unit length.
        axis: DVec3,
    },
    /// Translation along an axis, given in the first body's frame [-].
    Slider {
        /// Axis, of unit length.
        axis: DVec3,
    },
    /// Rotation about a point.
    Ball,
    /// Free motion within a distance of the two points [m].
    Rope {
        /// Longest distance [m].
        length: f64,
    },
    /// None.
    Fixed,
}

impl JointKind {
    /// Returns true for joints with one axis, whose motion limits, springs and motors act on.
    pub fn has_axis(self) -> bool {
        matches!(self, Self::Hinge { .. } | Self::Slider { .. })
    }
}

/// A linear spring and damper along the axis of a joint: F = k (rest - x) - c v.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spring {
    /// Stiffness k [N/m, N m/rad].
    pub stiffness: f64,
    /// Damping c [N s/m, N m s/rad].
    pub damping: f64,
    /// Position without force [m, rad].
    pub rest: f64,
}

/// Target of a motor.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Target {
    /// Speed of the second body relative to the first [m/s, rad/s].
    Speed(f64),
    /// Position of the joint [m, rad], approached at no more than a speed.
    Position {
        /// Position [m, rad].
        at: f64,
        /// Highest speed [m/s, rad/s].
        speed: f64,
    },
}

/// A motor that drives a joint along its axis, as an electric or hydraulic actuator with a force limit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Motor {
    /// Speed or position to reach.
    pub target: Target,
    /// Largest force [N] or torque [N m].
    pub limit: f64,
}

impl Motor {
    /// Time constant with which a motor approaches a position [s].
    pub const RESPONSE: f64 = 0.05;

    /// Returns the speed that it aims at over a step of `dt` [s] with `error` [m, rad] left to its position:
    /// v = error / max([`RESPONSE`](Self::RESPONSE), dt), no faster than its speed.
    pub fn speed(&self, error: f64, dt: f64) -> f64 {
        match self.target {
            Target::Speed(speed) => speed,
            Target::Position { speed, .. } => (error / Self::RESPONSE.max(dt)).clamp(-speed, speed),
        }
    }

    /// Sets the value of its target: the speed [m/s, rad/s] or the position [m, rad], whichever it has.
    pub fn set(&mut self, value: f64) {
        match &mut self.target {
            Target::Speed(speed) => *speed = value,
            Target::Position { at, .. } => *at = value,
        }
    }
}

/// Load of a joint on its second body; the first body receives the opposite.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct JointLoad {
    /// Force [N], and torque about the second body's anchor [N m], in the world's axes, of motor and spring too.
    pub wrench: Wrench,
    /// Force [N] or torque [N m] of the motor along the axis.
    pub motor: f64,
}

/// A connection of two bodies.
#[derive(Clone, Debug, PartialEq)]
pub struct Joint {
    /// Name in scene files.
    pub name: String,
    /// The two bodies.
    pub bodies: [BodyId; 2],
    /// Degrees of freedom that it leaves.
    pub kind: JointKind,
    /// Anchor in the frame of each body [m].
    pub anchors: [DVec3; 2],
    /// Rotation of the second body in the frame of the first where the position is zero; that of the start if none.
    pub zero: Option<DQuat>,
    /// Least and greatest position along the axis [m, rad].
    pub limits: Option<[f64; 2]>,
    /// Spring and damper along the axis.
    pub spring: Option<Spring>,
    /// Motor along the axis.
    pub motor: Option<Motor>,
    /// Time at which it is cut [s].
    pub until: f64,
    /// Displacement [m] or angle [rad] along the axis; angles lie within half a turn of zero, or of the middle of the limits.
    pub position: f64,
    /// Rate of the position [m/s, rad/s].
    pub speed: f64,
    /// Mean load over the last frame, or that of the last step within a frame.
    pub load: JointLoad,
}

impl Joint {
    /// Creates a joint that is never cut, without limits, spring and motor.
    pub fn new(bodies: [BodyId; 2], kind: JointKind, anchors: [DVec3; 2]) -> Self {
        Self {
            name: String::new(),
            bodies,
            kind,
            anchors,
            zero: None,
            limits: None,
            spring: None,
            motor: None,
            until: f64::INFINITY,
            position: 0.0,
            speed: 0.0,
            load: JointLoad::default(),
        }
    }
}

/// Checkpoint entry of motors, which programs may have set.
const ENTRY: &str = "world.motors";

/// Numbers of a motor in a checkpoint: 1 for a position, the target, its speed and the limit.
type Numbers = [f64; 4];

/// Stores the motors of `joints`, if there are any.
pub(crate) fn save(joints: &[Joint], archive: &mut Archive) {
    let numbers = |motor: &Motor| match motor.target {
        Target::Speed(speed) => [0.0, speed, 0.0, motor.limit],
        Target::Position { at, speed } => [1.0, at, speed, motor.limit],
    };
    let motors: Vec<Numbers> = joints
        .iter()
        .filter_map(|joint| joint.motor.as_ref())
        .map(numbers)
        .collect();
    if !motors.is_empty() {
        archive.put(ENTRY, &motors);
    }
}

/// Restores what [`save`] stored.
pub(crate) fn load(joints: &mut [Joint], archive: &Archive) -> Result<(), ArchiveError> {
    let mut motors: Vec<&mut Motor> = joints.iter_mut().filter_map(|joint| joint.motor.as_mut()).collect();
    if motors.is_empty() {
        return Ok(());
    }
    let is_fit = |[kind, target, speed, limit]: &Numbers| {
        [0.0, 1.0].contains(kind) && target.is_finite() && *speed >= 0.0 && *limit >= 0.0
    };
    let stored: Vec<Numbers> = archive.get_fit(ENTRY, is_fit)?;
    if stored.len() != motors.len() {
        return Err(ArchiveError::Unfit {
            name: ENTRY.to_owned(),
            found: format!("{} motors where the scene has {}", stored.len(), motors.len()),
        });
    }
    for (motor, [kind, target, speed, limit]) in motors.iter_mut().zip(stored) {
        **motor = Motor {
            target: match kind {
                0.0 => Target::Speed(target),
                _ => Target::Position { at: target, speed },
            },
            limit,
        };
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn driven() -> Vec<Joint> {
        let motor = |target| {
            let mut joint = Joint::new([0, 1], JointKind::Hinge { axis: DVec3::X }, [DVec3::ZERO; 2]);
            joint.motor = Some(Motor { target, limit: 5.0 });
            joint
        };
        let free = Joint::new([0, 1], JointKind::Ball, [DVec3::ZERO; 2]);
        let reach = Target::Position {
            at: -0.5,
            speed: f64::INFINITY,
        };
        vec![motor(Target::Speed(3.0)), free, motor(reach)]
    }

    #[test]
    fn motors_come_back_as_a_program_left_them() {
        let mut archive = Archive::default();
        let mut left = driven();
        left[0].motor.as_mut().unwrap().set(-7.0);
        left[2].motor.as_mut().unwrap().limit = f64::INFINITY;
        save(&left, &mut archive);
        let mut found = driven();
        load(&mut found, &archive).unwrap();
        assert_eq!(found, left);
    }

    #[test]
    fn motors_that_cannot_be_are_rejected() {
        let refused = |numbers: &[Numbers]| {
            let mut archive = Archive::default();
            archive.put(ENTRY, numbers);
            load(&mut driven(), &archive).unwrap_err().to_string()
        };
        let good = [0.0, 3.0, 0.0, 5.0];
        assert!(refused(&[good]).contains("1 motors where the scene has 2"));
        for bad in [
            [2.0, 3.0, 0.0, 5.0],
            [0.0, f64::NAN, 0.0, 5.0],
            [1.0, 3.0, -1.0, 5.0],
            [0.0, 3.0, 0.0, -5.0],
        ] {
            assert!(refused(&[good, bad]).contains(ENTRY), "{bad:?}");
        }
    }

    #[test]
    fn a_position_is_approached_in_proportion_and_no_faster_than_allowed() {
        let target = Target::Position { at: 1.0, speed: 2.0 };
        let motor = Motor { target, limit: 1.0 };
        assert_eq!(motor.speed(0.05, 1e-3), 1.0);
        assert_eq!(motor.speed(-1.0, 1e-3), -2.0);
        // A step that is longer than the response does not overshoot.
        assert_eq!(motor.speed(0.1, 0.1), 1.0);
    }
}
