//! Velocity Verlet with expected velocities, [Groot97] eqs. (8)-(11) with λ = 1: second order also where forces depend on velocity.
//!
//! x' = x + dt v + dt²/2 a,  u = v + dt a,  a' = a(x', u),  v' = v + dt/2 (a + a').

use glam::DVec3;

use super::rows::{Push, Row};

/// Velocities of a sphere, at the end of a step or in its middle [m/s, rad/s].
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Motion {
    pub velocity: DVec3,
    pub spin: DVec3,
}

/// What happened to a chunk in a step.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Moved {
    /// Least way that a sphere may still go before lists end [m].
    pub left: f32,
    pub is_finite: bool,
}

impl Default for Moved {
    fn default() -> Self {
        Self::NOT
    }
}

impl Moved {
    pub(crate) const NOT: Self = Self {
        left: f32::INFINITY,
        is_finite: true,
    };

    pub(crate) fn with(self, other: Self) -> Self {
        Self {
            left: self.left.min(other.left),
            is_finite: self.is_finite && other.is_finite,
        }
    }
}

/// Moves spheres by a step, and leaves their velocities in its middle. `pushes` are accelerations before and zero after; `left` is what
/// each may still go, `ways` how far it went [m].
pub(crate) fn advance(
    rows: &mut [Row],
    motions: &mut [Motion],
    pushes: &mut [Push],
    left: &mut [f32],
    ways: &mut [f32],
    step: f64,
) -> Moved {
    let half = 0.5 * step;
    let mut moved = Moved::NOT;
    let columns = rows.iter_mut().zip(motions).zip(pushes).zip(left).zip(ways);
    for ((((row, motion), push), left), way) in columns {
        let mut length = 0.0;
        for axis in 0..3 {
            let middle = motion.velocity[axis] + half * push.force[axis];
            let shift = step * middle;
            length += shift * shift;
            row.position[axis] += shift;
            row.velocity[axis] = middle + half * push.force[axis];
            motion.velocity[axis] = middle;
            motion.spin[axis] += half * push.torque[axis];
            row.spin[axis] = motion.spin[axis] + half * push.torque[axis];
        }
        *push = Push::default();
        *way = (length.sqrt() * (1.0 + 1e-6)) as f32;
        *left -= *way;
        moved.left = moved.left.min(*left);
        moved.is_finite &= length.is_finite();
    }
    moved
}

/// Turns forces and torques into accelerations, and brings velocities to the end of the step. A solid sphere's inertia is 2/5 m r².
pub(crate) fn finish(rows: &[Row], motions: &mut [Motion], pushes: &mut [Push], gravity: DVec3, step: f64) {
    let half = 0.5 * step;
    for ((row, motion), push) in rows.iter().zip(motions).zip(pushes) {
        let inverse_mass = 1.0 / row.mass;
        let inverse_inertia = 2.5 * inverse_mass / (row.radius * row.radius);
        for axis in 0..3 {
            push.force[axis] = push.force[axis] * inverse_mass + gravity[axis];
            push.torque[axis] *= inverse_inertia;
            motion.velocity[axis] += half * push.force[axis];
            motion.spin[axis] += half * push.torque[axis];
        }
    }
}
