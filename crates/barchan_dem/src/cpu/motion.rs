//! Velocity Verlet with expected velocities, [Groot97] eqs. (8)-(11) with λ = 1: second order also where forces depend on velocity.
//!
//! x' = x + dt v + dt²/2 a,  u = v + dt a,  a' = a(x', u),  v' = v + dt/2 (a + a').
//!
//! Within a frame only w = v + dt/2 a is kept: x' = x + dt w, u = w + dt/2 a, w' = w + dt a'.

use glam::DVec3;

use super::rows::{Push, Row};

/// Velocities of a sphere [m/s, rad/s]: now, or within a frame in the middle of the next step.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SphereMotion {
    pub velocity: DVec3,
    pub spin: DVec3,
}

/// Acceleration [m/s²] and angular acceleration [rad/s²] of a sphere: good enough to expect a velocity by.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Pull {
    pub linear: [f32; 3],
    pub angular: [f32; 3],
}

/// Motion of a chunk in a step.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Moved {
    /// Smallest distance that a sphere may still move before the lists end [m].
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

/// Moves spheres by a step, and expects their velocities at its end. `ways` is how far each went [m].
pub(crate) fn advance(
    rows: &mut [Row],
    motions: &[SphereMotion],
    pulls: &[Pull],
    ways: &mut [f32],
    step: f64,
) -> Moved {
    let half = 0.5 * step;
    let mut moved = Moved::NOT;
    let columns = rows.iter_mut().zip(motions).zip(pulls).zip(ways);
    for (((row, motion), pull), way) in columns {
        let mut length = 0.0;
        for axis in 0..3 {
            let shift = step * motion.velocity[axis];
            length += shift * shift;
            row.position[axis] += shift;
            row.velocity[axis] = (motion.velocity[axis] + half * f64::from(pull.linear[axis])) as f32;
            row.spin[axis] = (motion.spin[axis] + half * f64::from(pull.angular[axis])) as f32;
        }
        *way = (length.sqrt() * (1.0 + 1e-6)) as f32;
        row.left -= *way;
        moved.left = moved.left.min(row.left);
        moved.is_finite &= length.is_finite();
    }
    moved
}

/// Turns forces and torques into accelerations, and changes velocities by them for `time` [s]. A solid sphere's inertia is 2/5 m r².
pub(crate) fn finish(
    rows: &[Row],
    motions: &mut [SphereMotion],
    pulls: &mut [Pull],
    pushes: &[Push],
    gravity: DVec3,
    time: f64,
) {
    for (((row, motion), pull), push) in rows.iter().zip(motions).zip(pulls).zip(pushes) {
        if row.is_fixed() {
            (*motion, *pull) = (SphereMotion::default(), Pull::default());
            continue;
        }
        let inverse_mass = 1.0 / row.mass();
        let inverse_inertia = 2.5 * inverse_mass / (row.radius() * row.radius());
        for axis in 0..3 {
            let linear = push.force[axis] * inverse_mass + gravity[axis];
            let angular = push.torque[axis] * inverse_inertia;
            motion.velocity[axis] += time * linear;
            motion.spin[axis] += time * angular;
            (pull.linear[axis], pull.angular[axis]) = (linear as f32, angular as f32);
        }
    }
}
