//! Motion by keyframes.

use glam::{DQuat, DVec3, EulerRot};

use crate::Pose;
use crate::spline::{Leg, hermite, tangent};

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
    /// No rotation.
    pub const NONE: Self = Self::Euler(DVec3::ZERO);

    /// Returns the rotation.
    pub fn rotation(self) -> DQuat {
        match self {
            Self::Euler(angles) => DQuat::from_euler(EulerRot::ZYX, angles.z, angles.y, angles.x),
            Self::About { axis, angle } => DQuat::from_axis_angle(axis, angle),
        }
    }

    /// Returns the single axis it turns about; none for no turn, and for angles about several axes.
    fn axis(self) -> Option<DVec3> {
        match self {
            Self::Euler(angles) => DVec3::AXES
                .into_iter()
                .find(|axis| angles != DVec3::ZERO && angles == angles * axis),
            Self::About { axis, angle } => (angle != 0.0).then_some(axis),
        }
    }

    /// Returns the signed angle [rad] about `axis` that makes this turn, if one does.
    fn angle_about(self, axis: DVec3) -> Option<f64> {
        if self.is_none() {
            return Some(0.0);
        }
        let own = self.axis()?;
        let along = own.dot(axis);
        (own.cross(axis).length() <= SAME_AXIS).then(|| self.largest_angle() * along.signum())
    }

    fn is_none(self) -> bool {
        self.largest_angle() == 0.0
    }

    /// Returns the angle of greatest magnitude [rad], with its sign.
    pub fn largest_angle(self) -> f64 {
        match self {
            Self::Euler(angles) => angles[angles.abs().max_position()],
            Self::About { angle, .. } => angle,
        }
    }

    /// Returns true if the rotation to `next` takes the shortest path, at most half a turn: the two have no axis in
    /// common.
    pub fn takes_shortest_way(self, next: Self) -> bool {
        matches!(self.path_to(next), Path::Shortest)
    }

    fn path_to(self, next: Self) -> Path {
        let angles = |turn: Self| match turn {
            Self::Euler(angles) => Some(angles),
            Self::About { .. } => turn.is_none().then_some(DVec3::ZERO),
        };
        if let (Some(from), Some(to)) = (angles(self), angles(next)) {
            return Path::Angles(from, to);
        }
        let along = |axis| Some(Path::About(axis, self.angle_about(axis)?, next.angle_about(axis)?));
        self.axis().or(next.axis()).and_then(along).unwrap_or(Path::Shortest)
    }

    /// The rotation after the share `s` [-] of the turn to `next`.
    fn towards(self, next: Self, s: f64) -> DQuat {
        match self.path_to(next) {
            Path::Angles(from, to) => Self::Euler(from.lerp(to, s)).rotation(),
            Path::About(axis, from, to) => DQuat::from_axis_angle(axis, from + s * (to - from)),
            Path::Shortest => self.rotation().slerp(next.rotation(), s),
        }
    }
}

/// Sine of the angle [-] below which two axes are one.
const SAME_AXIS: f64 = 1e-9;

/// The way from one turn to another.
#[derive(Clone, Copy, Debug)]
enum Path {
    /// Angles about x, y and z [rad] that change at a constant rate.
    Angles(DVec3, DVec3),
    /// An angle [rad] about one axis that changes at a constant rate.
    About(DVec3, f64, f64),
    /// The shortest one.
    Shortest,
}

impl Path {
    /// Its ends as three numbers [rad]: angles about x, y and z, or the one about its axis.
    fn ends(self) -> Option<[DVec3; 2]> {
        match self {
            Self::Angles(from, to) => Some([from, to]),
            Self::About(_, from, to) => Some([DVec3::X * from, DVec3::X * to]),
            Self::Shortest => None,
        }
    }

    /// Returns its angle about the axis of `other` [rad]; none if the two have no axis in common.
    fn change_as(self, other: Self) -> Option<DVec3> {
        let along = |axis: DVec3, angles: DVec3| {
            let angle = Turn::Euler(angles).angle_about(axis)?;
            Some(DVec3::X * angle)
        };
        match (self, other) {
            (Self::Shortest, _) | (_, Self::Shortest) => None,
            (Self::Angles(from, to), _) if from == to => Some(DVec3::ZERO),
            (Self::About(_, from, to), _) if from == to => Some(DVec3::ZERO),
            (Self::Angles(from, to), Self::Angles(..)) => Some(to - from),
            (Self::Angles(from, to), Self::About(axis, ..)) => Some(along(axis, to)? - along(axis, from)?),
            (Self::About(own, from, to), Self::About(axis, ..)) => {
                let is_same = own.cross(axis).length() <= SAME_AXIS;
                is_same.then(|| DVec3::X * (to - from) * own.dot(axis).signum())
            }
            (Self::About(own, from, to), Self::Angles(start, end)) => {
                along(own, start)?;
                along(own, end)?;
                Some(own * (to - from))
            }
        }
    }
}

/// Interpolation between two keys of a body.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ease {
    /// At a constant rate.
    #[default]
    Linear,
    /// Starting and ending at rest: s²(3 - 2s).
    Smooth,
    /// Through the keys without a jump of its velocity.
    Spline,
}

/// Pose of a body at a time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Key {
    /// Time [s].
    pub time: f64,
    /// Position [m].
    pub at: DVec3,
    /// Rotation.
    pub turn: Turn,
    /// Interpolation to the next key.
    pub ease: Ease,
}

/// Keys in the order of their times. Before the first and after the last a body stands still.
#[derive(Clone, Debug, PartialEq)]
pub struct Keys(Vec<Key>);

impl Keys {
    /// Sorts the keys by time; returns none if there are none, or two at the same time.
    pub fn new(mut keys: Vec<Key>) -> Option<Self> {
        keys.sort_by(|a, b| a.time.total_cmp(&b.time));
        let distinct = keys.windows(2).all(|pair| pair[0].time < pair[1].time);
        (!keys.is_empty() && distinct).then_some(Self(keys))
    }

    /// Returns the pose at a time [s], in the parent's frame.
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
            Ease::Spline => return self.spline_pose(after - 1, s),
        };
        Pose {
            position: last.at.lerp(next.at, s),
            rotation: last.turn.towards(next.turn, s),
        }
    }

    /// The pose after the share `s` [-] of the spline that starts at key `k`.
    fn spline_pose(&self, k: usize, s: f64) -> Pose {
        let (last, next) = (self.0[k], self.0[k + 1]);
        let tangents = |change: &dyn Fn(&[Key]) -> Option<DVec3>| {
            let leg = |k: usize| {
                let keys = self.0.get(k..k + 2)?;
                let duration = keys[1].time - keys[0].time;
                Some(Leg {
                    rate: change(keys)? / duration,
                    duration,
                    ease: keys[0].ease,
                })
            };
            let own = next.time - last.time;
            let before = k.checked_sub(1).and_then(leg);
            [tangent(before, leg(k)) * own, tangent(leg(k), leg(k + 1)) * own]
        };
        let position = hermite(last.at, next.at, tangents(&|keys| Some(keys[1].at - keys[0].at)), s);
        let path = last.turn.path_to(next.turn);
        let turned = tangents(&|keys| keys[0].turn.path_to(keys[1].turn).change_as(path));
        let angles = path.ends().map(|[from, to]| hermite(from, to, turned, s));
        let rotation = match (path, angles) {
            (Path::Angles(..), Some(angles)) => Turn::Euler(angles).rotation(),
            (Path::About(axis, ..), Some(angles)) => DQuat::from_axis_angle(axis, angles.x),
            // Turns without a common axis start and end at rest.
            _ => last.turn.towards(next.turn, s * s * (3.0 - 2.0 * s)),
        };
        Pose { position, rotation }
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

    /// The angle [rad] about `axis` that a body has turned through between two times, in small steps.
    fn turned(keys: &Keys, axis: DVec3, from: f64, to: f64) -> f64 {
        const STEPS: u32 = 1000;
        let rotation = |n: u32| keys.pose(from + (to - from) * f64::from(n) / f64::from(STEPS)).rotation;
        let angle = |n: u32| {
            let turn = rotation(n + 1) * rotation(n).inverse();
            let shorter = if turn.w < 0.0 { -turn } else { turn };
            shorter.to_scaled_axis().dot(axis)
        };
        (0..STEPS).map(angle).sum()
    }

    #[test]
    fn turns_from_the_default_go_through_the_whole_angle() {
        let axis = DVec3::new(1.0, 2.0, -2.0) / 3.0;
        for ease in [Ease::Linear, Ease::Smooth] {
            for degrees in [287.0f64, 360.0, 1200.0, -287.0, -1200.0, 30.0] {
                let about = |axis: DVec3| Turn::About {
                    axis,
                    angle: degrees.to_radians(),
                };
                let default_first = Keys::new(vec![
                    key(0.0, 0.0, Turn::NONE, ease),
                    key(1.0, 0.0, about(axis), ease),
                    key(2.0, 0.0, about(axis), ease),
                    key(3.0, 0.0, Turn::NONE, ease),
                ])
                .unwrap();
                let there = turned(&default_first, axis, 0.0, 1.0).to_degrees();
                let held = turned(&default_first, axis, 1.0, 2.0).to_degrees();
                let back = turned(&default_first, axis, 2.0, 3.0).to_degrees();
                assert!((there - degrees).abs() < 1e-6, "{there} of {degrees}");
                assert!(held.abs() < 1e-6 && (back + degrees).abs() < 1e-6, "{held} {back}");
            }
        }
    }

    #[test]
    fn one_axis_written_in_different_ways_is_one_axis() {
        let about = |axis: DVec3, angle| Turn::About { axis, angle };
        let nearly = DVec3::new(1e-13, 1.0, 0.0).normalize();
        let pairs = [
            (about(DVec3::Y, 1.0), about(nearly, 1.0 + TAU)),
            (about(DVec3::Y, 1.0), about(-DVec3::Y, -1.0 - TAU)),
            (Turn::Euler(DVec3::Y), about(DVec3::Y, 1.0 + TAU)),
            (about(DVec3::Y, 1.0), Turn::Euler(DVec3::Y * (1.0 + TAU))),
            (about(DVec3::X, 0.0), about(DVec3::Y, TAU)),
            (about(DVec3::X, 0.0), Turn::Euler(DVec3::Y * TAU)),
        ];
        for (from, to) in pairs {
            let keys = Keys::new(vec![key(0.0, 0.0, from, Ease::Linear), key(1.0, 0.0, to, Ease::Linear)]).unwrap();
            let angle = turned(&keys, DVec3::Y, 0.0, 1.0);
            assert!((angle - TAU).abs() < 1e-6, "{from:?} {to:?}: {angle}");
            assert!(!from.takes_shortest_way(to));
        }
    }

    #[test]
    fn turns_about_different_axes_take_the_shortest_way() {
        let (from, to) = (
            Turn::Euler(DVec3::new(0.3, 0.0, 0.0)),
            Turn::About {
                axis: DVec3::Y,
                angle: 3.0 * TAU + 0.3,
            },
        );
        assert!(from.takes_shortest_way(to));
        let keys = Keys::new(vec![key(0.0, 0.0, from, Ease::Linear), key(1.0, 0.0, to, Ease::Linear)]).unwrap();
        let middle = keys.pose(0.5).rotation;
        let whole = from.rotation().angle_between(to.rotation());
        assert!((from.rotation().angle_between(middle) - 0.5 * whole).abs() < 1e-9);
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

    /// Velocity [m/s] and angular velocity [rad/s] at a time [s], by the difference over a microsecond after or before it.
    fn rates(keys: &Keys, time: f64, side: f64) -> (DVec3, DVec3) {
        let step = 1e-6 * side;
        let (a, b) = (keys.pose(time), keys.pose(time + step));
        let turn = b.rotation * a.rotation.inverse();
        let shorter = if turn.w < 0.0 { -turn } else { turn };
        ((b.position - a.position) / step, shorter.to_scaled_axis() / step)
    }

    #[test]
    fn a_spline_passes_its_keys_without_a_jump_of_velocity() {
        let axis = DVec3::new(2.0, -1.0, 2.0) / 3.0;
        let about = |degrees: f64| Turn::About {
            axis,
            angle: degrees.to_radians(),
        };
        let euler = |degrees: f64| Turn::Euler(DVec3::new(degrees, -0.5 * degrees, 20.0).map(f64::to_radians));
        for turn in [&about as &dyn Fn(f64) -> Turn, &euler] {
            let keys: Vec<Key> = [
                (0.0, 0.0, 0.0),
                (1.0, 2.0, 1200.0),
                (1.5, 2.5, 1300.0),
                (4.0, -3.0, 1300.0),
                (5.0, -3.0, 100.0),
            ]
            .into_iter()
            .map(|(time, x, degrees)| Key {
                at: DVec3::new(x, x * x, 1.0),
                ..key(time, x, turn(degrees), Ease::Spline)
            })
            .collect();
            let keys = Keys::new(keys).unwrap();
            for k in &keys.0 {
                let pose = keys.pose(k.time);
                assert!(
                    pose.position.abs_diff_eq(k.at, 1e-12),
                    "{} at {}",
                    pose.position,
                    k.time
                );
                assert!(pose.rotation.angle_between(k.turn.rotation()) < 1e-6, "{}", k.time);
                let ((v0, w0), (v1, w1)) = (rates(&keys, k.time, -1.0), rates(&keys, k.time, 1.0));
                assert!(
                    v0.abs_diff_eq(v1, 1e-3) && w0.abs_diff_eq(w1, 2e-3),
                    "{v0} {v1} {w0} {w1} at {}",
                    k.time
                );
            }
            // At rest at both ends, and fast in between.
            for end in [0.0, 5.0] {
                assert!(rates(&keys, end, 1.0 - 2.0 * f64::from(end > 0.0)).0.length() < 1e-3);
            }
            assert!(rates(&keys, 1.0, 1.0).0.x > 1.0);
            // Where nothing changes between two keys, nothing moves.
            let still = keys.pose(4.5).position;
            assert!(still.abs_diff_eq(DVec3::new(-3.0, 9.0, 1.0), 1e-12), "{still}");
        }
        let keys = Keys::new(vec![
            key(0.0, 0.0, Turn::NONE, Ease::Spline),
            key(1.0, 0.0, about(1200.0), Ease::Spline),
            key(3.0, 0.0, about(0.0), Ease::Spline),
        ])
        .unwrap();
        let there = turned(&keys, axis, 0.0, 1.0).to_degrees();
        assert!((there - 1200.0).abs() < 1e-6, "{there}");
        let back = turned(&keys, axis, 1.0, 3.0).to_degrees();
        assert!((back + 1200.0).abs() < 1e-6, "{back}");
    }

    #[test]
    fn a_spline_keeps_a_steady_pace_and_does_not_overshoot_at_its_ends() {
        // Seven keys at uneven times along a line, then a slow end.
        let times = [0.0, 0.7, 1.0, 1.8, 2.0, 3.0, 4.0];
        let mut keys: Vec<Key> = times.map(|t| key(t, 2.0 * t, Turn::NONE, Ease::Spline)).to_vec();
        keys.push(key(6.0, 8.01, Turn::NONE, Ease::Spline));
        let keys = Keys::new(keys).unwrap();
        let x = |time: f64| keys.pose(time).position.x;
        for time in [0.71, 0.9, 1.3, 1.9, 2.5] {
            assert!((x(time) - 2.0 * time).abs() < 1e-12, "{} at {time}", x(time));
        }
        let highest = (0..=600).map(|n| x(0.01 * f64::from(n))).fold(0.0, f64::max);
        assert!(highest <= 8.01 + 1e-12, "{highest}");
        let lowest = (0..=600).map(|n| x(0.01 * f64::from(n))).fold(0.0, f64::min);
        assert!(lowest >= 0.0, "{lowest}");
    }

    #[test]
    fn a_spline_goes_on_with_the_pace_of_a_linear_leg() {
        let keys = Keys::new(vec![
            key(0.0, 0.0, Turn::NONE, Ease::Linear),
            key(1.0, 3.0, Turn::NONE, Ease::Spline),
            key(2.0, 4.0, Turn::NONE, Ease::Smooth),
            key(3.0, 9.0, Turn::NONE, Ease::Linear),
        ])
        .unwrap();
        assert!((rates(&keys, 1.0, 1.0).0.x - 3.0).abs() < 1e-3);
        assert!(rates(&keys, 2.0, -1.0).0.x.abs() < 1e-3);
    }
}
