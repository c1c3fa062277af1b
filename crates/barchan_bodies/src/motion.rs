//! Motion of a body that touches nothing.

use barchan_world::{Body, Pose, Twist};
use glam::{DMat3, DQuat, DVec3};

use crate::mobility::{inertia, inverse_inertia};

/// Largest turn of one Runge-Kutta step [rad]; the energy of a tumbling body then drifts by less than 1e-8 in a minute.
const LARGEST_TURN: f64 = 0.02;

/// Bounds the work for a body that spins absurdly fast.
const MOST_STEPS: f64 = 1000.0;

/// Returns the pose and the velocity of a dynamic body after `dt` [s] if only `gravity` [m/s²] acts on it: a parabola,
/// and a rotation that conserves its angular momentum. Bodies that are not dynamic stay.
pub fn free_motion(body: &Body, gravity: DVec3, dt: f64) -> (Pose, Twist) {
    if !body.is_dynamic() {
        return (body.pose, body.twist);
    }
    let Twist { linear, angular } = body.twist;
    let center = body.center() + dt * (linear + 0.5 * dt * gravity);
    let (rotation, angular) = tumble(body.pose.rotation, angular, inertia(body), inverse_inertia(body), dt);
    let twist = Twist {
        linear: linear + dt * gravity,
        angular,
    };
    (placed(body.mass_properties.center, center, rotation), twist)
}

/// Returns the pose of a body after `dt` [s] at its current velocity and angular velocity.
pub fn carried(body: &Body, dt: f64) -> Pose {
    carried_at(body, &body.twist, dt)
}

/// Returns the pose of a body after `dt` [s] at the velocity and angular velocity of `twist`.
pub fn carried_at(body: &Body, twist: &Twist, dt: f64) -> Pose {
    let center = body.center() + dt * twist.linear;
    let rotation = DQuat::from_scaled_axis(dt * twist.angular) * body.pose.rotation;
    placed(body.mass_properties.center, center, rotation.normalize())
}

/// The steady motion that takes `body` from one pose to another in `dt` [s]: its center of mass by the straight way, its
/// axes by the shorter turn. The inverse of [`carried`].
pub fn twist_between(body: &Body, from: &Pose, to: &Pose, dt: f64) -> Twist {
    let center = body.mass_properties.center;
    let turn = to.rotation * from.rotation.inverse();
    let shorter = if turn.w < 0.0 { -turn } else { turn };
    Twist {
        linear: (to.point(center) - from.point(center)) / dt,
        angular: shorter.to_scaled_axis() / dt,
    }
}

/// The pose of a frame turned by `rotation` whose point `local` [m] is at `center` [m].
pub(crate) fn placed(local: DVec3, center: DVec3, rotation: DQuat) -> Pose {
    Pose {
        position: center - rotation * local,
        rotation,
    }
}

/// Rotation and angular velocity [rad/s] of a body without torque after `dt` [s].
///
/// The angular momentum L stays as it is; the axes follow q' = ½ ω q with ω = R J⁻¹ Rᵀ L, by Runge and Kutta's scheme of
/// fourth order.
fn tumble(start: DQuat, angular: DVec3, inertia: DMat3, inverse: DMat3, dt: f64) -> (DQuat, DVec3) {
    let momentum = start * (inertia * (start.inverse() * angular));
    let spin = |q: DQuat| q * (inverse * (q.inverse() * momentum));
    let rate = |q: DQuat| {
        let q = q.normalize();
        let half = 0.5 * spin(q);
        DQuat::from_xyzw(half.x, half.y, half.z, 0.0) * q
    };
    let steps = (angular.length() * dt / LARGEST_TURN).ceil().clamp(1.0, MOST_STEPS);
    let h = dt / steps;
    let mut q = start;
    for _ in 0..steps as u32 {
        let k1 = rate(q);
        let k2 = rate(q + k1 * (0.5 * h));
        let k3 = rate(q + k2 * (0.5 * h));
        let k4 = rate(q + k3 * h);
        q = (q + (k1 + (k2 + k3) * 2.0 + k4) * (h / 6.0)).normalize();
    }
    (q, spin(q))
}
