//! Motion by keyframes.

use glam::{DQuat, DVec3, EulerRot};

use crate::Pose;

/// A turn [rad], kept as it was written so that more than half a turn between two keys stays more than half a turn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Turn {
    /// About x, then y, then z, axes at rest.
    Euler(DVec3),
    /// About one axis of unit length.
    About {
        /// The axis [-].
        axis: DVec3,
        /// The angle [rad].
        angle: f64,
    },
}

impl Turn {
    /// No turn at all.
    pub const NONE: Self = Self::Euler(DVec3::ZERO);

    /// The rotation it makes.
    pub fn rotation(self) -> DQuat {
        match self {
            Self::Euler(angles) => DQuat::from_euler(EulerRot::ZYX, angles.z, angles.y, angles.x),
            Self::About { axis, angle } => DQuat::from_axis_angle(axis, angle),
        }
    }

    /// The share `s` of the way to `next`.
    fn towards(self, next: Self, s: f64) -> DQuat {
        match (self, next) {
            (Self::Euler(a), Self::Euler(b)) => Self::Euler(a.lerp(b, s)).rotation(),
            (Self::About { axis, angle: a }, Self::About { axis: other, angle: b }) if axis == other => Self::About {
                axis,
                angle: a + s * (b - a),
            }
            .rotation(),
            _ => self.rotation().slerp(next.rotation(), s),
        }
    }
}

/// How a body goes from one key to the next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ease {
    /// At a constant rate.
    #[default]
    Linear,
    /// Starting and ending at rest: s²(3 - 2s).
    Smooth,
}

/// Where a body is at a time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Key {
    /// When [s].
    pub time: f64,
    /// Where [m].
    pub at: DVec3,
    /// How it is turned.
    pub turn: Turn,
    /// How it goes on from here.
    pub ease: Ease,
}

/// Keys in the order of their times. Before the first and after the last a body stands still.
#[derive(Clone, Debug, PartialEq)]
pub struct Keys(Vec<Key>);

impl Keys {
    /// Keys sorted by time; at least one is needed, and no two at the same time.
    pub fn new(mut keys: Vec<Key>) -> Option<Self> {
        keys.sort_by(|a, b| a.time.total_cmp(&b.time));
        let distinct = keys.windows(2).all(|pair| pair[0].time < pair[1].time);
        (!keys.is_empty() && distinct).then_some(Self(keys))
    }

    /// The pose at a time [s], in the parent's frame.
    pub fn pose(&self, time: f64) -> Pose {
        let after = self.0.partition_point(|key| key.time <= time);
        let (Some(next), Some(last)) = (self.0.get(after), after.checked_sub(1).map(|k| self.0[k])) else {
            let still = self.0[after.saturating_sub(1)];
            return Pose {
                position: still.at,
                rotation: still.turn.rotation(),
            };
        };
        let s = (time - last.time) / (next.time - last.time);
        let s = match last.ease {
            Ease::Linear => s,
            Ease::Smooth => s * s * (3.0 - 2.0 * s),
        };
        Pose {
            position: last.at.lerp(next.at, s),
            rotation: last.turn.towards(next.turn, s),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f64::consts::{FRAC_PI_2, TAU};

    fn key(time: f64, x: f64, turn: Turn, ease: Ease) -> Key {
        Key {
            time,
            at: DVec3::X * x,
            turn,
            ease,
        }
    }

    #[test]
    fn poses_between_keys_are_interpolated_and_held_outside() {
        let keys = Keys::new(vec![
            key(3.0, 4.0, Turn::NONE, Ease::Linear),
            key(1.0, 0.0, Turn::NONE, Ease::Smooth),
            key(5.0, 6.0, Turn::NONE, Ease::Linear),
        ])
        .unwrap();
        let x = |time: f64| keys.pose(time).position.x;
        assert_eq!(
            [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 9.0].map(x),
            [0.0, 0.0, 2.0, 4.0, 5.0, 6.0, 6.0]
        );
        assert!((x(1.5) - 4.0 * 0.15625).abs() < 1e-12);
    }

    #[test]
    fn three_whole_turns_between_two_keys_are_three_turns() {
        let about = |angle| Turn::About { axis: DVec3::Y, angle };
        let euler = |angle| Turn::Euler(DVec3::Y * angle);
        for turn in [&about as &dyn Fn(f64) -> Turn, &euler] {
            let keys = Keys::new(vec![
                key(0.0, 0.0, turn(0.0), Ease::Linear),
                key(12.0, 0.0, turn(3.0 * TAU), Ease::Linear),
            ])
            .unwrap();
            let quarter = keys.pose(1.0).rotation * DVec3::Z;
            assert!(quarter.abs_diff_eq(DVec3::X, 1e-12), "{quarter}");
        }
    }

    #[test]
    fn euler_turns_about_x_first() {
        let turned = Turn::Euler(DVec3::new(FRAC_PI_2, 0.0, FRAC_PI_2)).rotation() * DVec3::Y;
        assert!(turned.abs_diff_eq(DVec3::Z, 1e-12), "{turned}");
    }

    #[test]
    fn no_keys_and_two_keys_at_one_time_are_refused() {
        assert!(Keys::new(vec![]).is_none());
        let twice = key(1.0, 0.0, Turn::NONE, Ease::Linear);
        assert!(Keys::new(vec![twice, twice]).is_none());
    }
}
