//! Bodies for the time of a step.

use barchan_bodies::{BodyStep, carried_at, place_seen, twist_between};
use barchan_world::{Motion, Placement, Twist, World};
use glam::{DMat3, DVec3, Vec3};

/// A body, or an image of it, during a step.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SeenBody {
    /// Number of the body in the world.
    pub of: u32,
    /// Where guides see it.
    pub at: Placement,
    /// Mean velocity over the step.
    pub twist: Twist,
    pub is_present: bool,
    pub is_dynamic: bool,
}

impl SeenBody {
    /// Body `k` of `world` over the next `step` [s]. `accelerations` [m/s²] are those of bodies that forces move, but for the guides' forces.
    fn new(world: &World, k: usize, step: f64, accelerations: &[DVec3]) -> Self {
        let body = &world.bodies[k];
        let is_dynamic = matches!(body.motion, Motion::Dynamic);
        let free = Twist {
            linear: body.twist.linear + step * accelerations[k],
            angular: body.twist.angular,
        };
        let over = BodyStep::new(world, k, step, |body| carried_at(body, &free, step));
        Self {
            of: k as u32,
            at: over.from,
            twist: match (is_dynamic, over.is_fixed) {
                (true, _) => free,
                (_, true) => Twist::default(),
                _ => twist_between(body, &over.from.pose, &over.to.pose, step),
            },
            is_present: over.is_present,
            is_dynamic,
        }
    }

    fn shifted(self, shift: Option<DVec3>) -> Self {
        Self {
            at: self.at.shifted(shift.unwrap_or_default()),
            is_present: self.is_present && shift.is_some(),
            ..self
        }
    }

    /// Velocity [m/s] of the point at `arm` [m] from the center of mass.
    #[inline]
    pub(crate) fn velocity(&self, arm: Vec3) -> Vec3 {
        (self.twist.linear + self.twist.angular.cross(arm.as_dvec3())).as_vec3()
    }

    /// Largest speed [m/s] of a point within `extent` [m] of the center of mass.
    pub(crate) fn speed(&self, extent: f64) -> f64 {
        let turning = self.twist.angular.length();
        self.twist.linear.length() + if turning > 0.0 { turning * extent } else { 0.0 }
    }
}

/// Places the bodies of `world` for the next `step` [s], then their images through periodic faces.
pub(crate) fn place(seen: &mut Vec<SeenBody>, world: &World, step: f64, accelerations: &[DVec3]) {
    place_seen(
        seen,
        world,
        |k| SeenBody::new(world, k, step, accelerations),
        SeenBody::shifted,
    );
}

/// Mass that moves with a body during a step, by its moments about the body's center of mass.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Burden {
    /// Mass [kg], first [kg m] and second moment [kg m²].
    mass: f64,
    first: DVec3,
    second: DMat3,
    /// Momentum [N s] and angular momentum [N m s].
    momentum: DVec3,
    angular: DVec3,
}

impl Default for Burden {
    /// Nothing.
    fn default() -> Self {
        Self {
            mass: 0.0,
            first: DVec3::ZERO,
            second: DMat3::ZERO,
            momentum: DVec3::ZERO,
            angular: DVec3::ZERO,
        }
    }
}

impl std::ops::AddAssign for Burden {
    fn add_assign(&mut self, other: Self) {
        self.mass += other.mass;
        self.first += other.first;
        self.second += other.second;
        self.momentum += other.momentum;
        self.angular += other.angular;
    }
}

impl Burden {
    /// Adds `mass` [kg] at `arm` [m] that moves with `velocity` [m/s].
    pub(crate) fn add(&mut self, mass: f64, arm: DVec3, velocity: DVec3) {
        self.mass += mass;
        self.first += mass * arm;
        // Inertia of a point: m (|r|² I - r rᵀ).
        self.second += mass * (DMat3::from_diagonal(DVec3::splat(arm.length_squared())) - outer(arm, arm));
        self.momentum += mass * velocity;
        self.angular += mass * arm.cross(velocity);
    }

    /// Common motion after a perfectly inelastic meeting with a body of `mass` [kg] and `inertia` [kg m²] that moves with `twist`.
    ///
    /// Solves for both momenta: p = (m + M) v + ω × s, L = s × v + (I + J) ω.
    pub(crate) fn meet(&self, mass: f64, inertia: DMat3, twist: &Twist) -> Twist {
        if self.mass == 0.0 {
            return *twist;
        }
        let total = mass + self.mass;
        let center = self.first / total;
        let momentum = mass * twist.linear + self.momentum;
        // About the common center of mass.
        let angular = inertia * twist.angular + self.angular - center.cross(momentum);
        let shifted = inertia + self.second
            - total * (DMat3::from_diagonal(DVec3::splat(center.length_squared())) - outer(center, center));
        let spin = shifted.inverse() * angular;
        let spin = if spin.is_finite() { spin } else { twist.angular };
        Twist {
            linear: momentum / total - spin.cross(center),
            angular: spin,
        }
    }
}

fn outer(a: DVec3, b: DVec3) -> DMat3 {
    DMat3::from_cols(a * b.x, a * b.y, a * b.z)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_and_its_burden_meet_with_both_momenta() {
        let mut burden = Burden::default();
        let arms = [
            DVec3::new(0.3, -0.1, 0.2),
            DVec3::new(-0.2, 0.4, 0.1),
            DVec3::new(0.1, 0.1, -0.5),
        ];
        let speeds = [DVec3::X, DVec3::new(0.2, -1.0, 0.5), DVec3::Z];
        for (k, (arm, speed)) in arms.into_iter().zip(speeds).enumerate() {
            burden.add(0.5 + k as f64, arm, speed);
        }
        let inertia = DMat3::from_diagonal(DVec3::new(0.4, 0.7, 0.9));
        let before = Twist {
            linear: DVec3::new(-1.0, 0.5, 0.0),
            angular: DVec3::new(0.3, 0.0, -2.0),
        };
        let after = burden.meet(2.0, inertia, &before);
        let point = |arm: DVec3| after.linear + after.angular.cross(arm);
        let (mut p, mut l) = (2.0 * after.linear, inertia * after.angular);
        for (k, arm) in arms.into_iter().enumerate() {
            let mass = 0.5 + k as f64;
            p += mass * point(arm);
            l += mass * arm.cross(point(arm));
        }
        let wanted = 2.0 * before.linear + burden.momentum;
        assert!(p.distance(wanted) < 1e-12, "{p} {wanted}");
        assert!(l.distance(inertia * before.angular + burden.angular) < 1e-12);
        assert_eq!(Burden::default().meet(2.0, inertia, &before), before);
    }
}
