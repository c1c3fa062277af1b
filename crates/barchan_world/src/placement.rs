//! Poses of bodies, prepared for many queries.

use glam::{DMat3, DVec3};

use crate::{Body, Pose};

/// Smallest rotation between two poses [rad] that counts as one.
const LEAST_TURN: f64 = 1e-9;

/// A body in a pose, for positions of many particles.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Placement {
    /// The pose.
    pub pose: Pose,
    /// From the world's axes to the body's.
    into: DMat3,
    /// Center of mass [m].
    pub center: DVec3,
    /// Center and radius of a bounding sphere [m].
    ball: (DVec3, f64),
}

impl Placement {
    /// Places `body` in `pose`.
    pub fn new(body: &Body, pose: Pose) -> Self {
        let bounds = body.shape.bounds();
        Self {
            pose,
            into: DMat3::from_quat(pose.rotation).transpose(),
            center: pose.point(body.mass_properties.center),
            ball: (pose.point(bounds.center()), 0.5 * bounds.size().length()),
        }
    }

    /// Returns the same body displaced by `shift` [m].
    #[must_use]
    pub fn shifted(mut self, shift: DVec3) -> Self {
        self.pose.position += shift;
        self.center += shift;
        self.ball.0 += shift;
        self
    }

    /// Converts the position `p` [m] into the body's frame.
    #[inline]
    pub fn local(&self, p: DVec3) -> DVec3 {
        self.into * (p - self.pose.position)
    }

    /// Converts the point `local` [m] of the body into the world.
    #[inline]
    pub fn point(&self, local: DVec3) -> DVec3 {
        self.pose.position + self.axes() * local
    }

    /// Returns the rotation from the body's axes to the world's.
    #[inline]
    pub fn axes(&self) -> DMat3 {
        self.into.transpose()
    }

    /// Returns a lower bound of the distance [m] from the position `p` [m] to the body; negative infinity for unbounded bodies.
    #[inline]
    pub fn clearance(&self, p: DVec3) -> f64 {
        let (middle, radius) = self.ball;
        match radius.is_finite() {
            true => p.distance(middle) - radius,
            false => f64::NEG_INFINITY,
        }
    }

    /// Returns the largest distance [m] that a point within `extent` [m] of the center of mass covers on the way to `next`.
    pub fn travel(&self, next: &Self, extent: f64) -> f64 {
        let angle = self.pose.rotation.angle_between(next.pose.rotation);
        let turned = if angle > LEAST_TURN {
            2.0 * (0.5 * angle).sin() * extent
        } else {
            0.0
        };
        self.center.distance(next.center) + turned
    }
}

#[cfg(test)]
mod tests {
    use barchan_geometry::shapes::{Cuboid, HalfSpace};
    use glam::DQuat;

    use super::*;
    use crate::images::tests::body;

    #[test]
    fn positions_are_converted_as_by_the_pose_and_points_travel_no_farther_than_stated() {
        let body = body(Cuboid::new(DVec3::new(1.0, 2.0, 3.0)).unwrap(), 0.5);
        let next = Pose {
            position: DVec3::new(0.6, -0.1, 0.2),
            rotation: DQuat::from_axis_angle(DVec3::new(2.0, -1.0, 2.0) / 3.0, 0.4),
        };
        let (from, to) = (Placement::new(&body, body.pose), Placement::new(&body, next));
        let mut longest = 0.0f64;
        for k in 0..8 {
            let corner = DVec3::new(f64::from(k & 1), f64::from(k >> 1 & 1), f64::from(k >> 2)) - 0.5;
            let local = corner * DVec3::new(1.0, 2.0, 3.0);
            let p = next.point(local);
            assert!(to.local(p).distance(local) < 1e-12 && to.point(local).distance(p) < 1e-12);
            assert!(to.clearance(p) <= 1e-12);
            longest = longest.max(p.distance(body.pose.point(local)));
        }
        let travel = from.travel(&to, DVec3::new(0.5, 1.0, 1.5).length());
        assert!(longest <= travel && travel < 1.5 * longest, "{longest} {travel}");
        let away = to.shifted(DVec3::X);
        assert!((away.clearance(DVec3::X * 9.0) - to.clearance(DVec3::X * 8.0)).abs() < 1e-12);
    }

    #[test]
    fn unbounded_bodies_are_near_everywhere() {
        let ground = body(HalfSpace::new(DVec3::Z, 0.0).unwrap(), 0.0);
        let placed = Placement::new(&ground, ground.pose);
        assert_eq!(placed.clearance(DVec3::splat(1e6)), f64::NEG_INFINITY);
    }
}
