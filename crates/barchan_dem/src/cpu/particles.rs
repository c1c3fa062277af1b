//! Rigid particles of one or several spheres. Kick, drift, kick: the rotation between kicks conserves angular momentum.

use barchan_geometry::clump::{Clump, Member};
use glam::{DMat3, DQuat, DVec3};

use super::contacts::Chunk;
use super::motion::Moved;
use super::rows::{FIXED_MASS, Push, Row};

/// Kind of a particle that is a single sphere.
pub(crate) const SPHERE: u32 = u32::MAX;

/// A rigid particle and its motion.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Particle {
    /// Center of mass, relative to the world's origin [m].
    pub position: DVec3,
    pub rotation: DQuat,
    /// Velocity [m/s].
    pub velocity: DVec3,
    /// Angular momentum [kg m²/s].
    pub momentum: DVec3,
    /// Acceleration [m/s²].
    pub acceleration: DVec3,
    /// Torque [N m].
    pub torque: DVec3,
    /// Index of its clump, or [`SPHERE`].
    pub kind: u32,
    /// Radius of the sphere of the same volume [m].
    pub size: f64,
    /// Mass [kg].
    pub mass: f64,
}

impl Particle {
    /// Inertia in its own axes [kg m²].
    fn inertia(&self, clumps: &[Clump]) -> DMat3 {
        let of_mass = match clumps.get(self.kind as usize) {
            Some(clump) => clump.inertia(),
            None => DMat3::IDENTITY * 0.4,
        };
        of_mass * (self.mass * self.size * self.size)
    }

    /// Inverse of the inertia in its own axes [1/(kg m²)], and whether all axes are alike.
    fn inverse_inertia(&self, clumps: &[Clump]) -> (DMat3, bool) {
        let scale = 1.0 / (self.mass * self.size * self.size);
        match clumps.get(self.kind as usize) {
            Some(clump) => (clump.inverse_inertia() * scale, clump.is_round()),
            None => (DMat3::IDENTITY * (2.5 * scale), true),
        }
    }

    /// Number of its spheres.
    pub(crate) fn count(&self, clumps: &[Clump]) -> usize {
        clumps.get(self.kind as usize).map_or(1, |clump| clump.members().len())
    }

    /// Angular velocity [rad/s].
    pub(crate) fn spin(&self, clumps: &[Clump]) -> DVec3 {
        angular_velocity(self.rotation, self.inverse_inertia(clumps), self.momentum)
    }

    /// Makes it spin at `spin` [rad/s].
    pub(crate) fn set_spin(&mut self, clumps: &[Clump], spin: DVec3) {
        self.momentum = self.rotation * (self.inertia(clumps) * (self.rotation.inverse() * spin));
    }

    /// Puts its spheres where they are, moving as they do at `velocity` [m/s] and `spin` [rad/s]; `ways` is how far each went [m].
    pub(crate) fn place(&self, clumps: &[Clump], rows: &mut [Row], ways: &mut [f32], velocity: DVec3, spin: DVec3) {
        let members = clumps.get(self.kind as usize).map_or(&[CENTER][..], Clump::members);
        for ((row, way), member) in rows.iter_mut().zip(ways).zip(members) {
            let arm = self.rotation * (self.size * member.offset);
            let place = self.position + arm;
            *way = (place.distance(row.place()) * (1.0 + 1e-6)) as f32;
            row.position = place.to_array();
            row.velocity = (velocity + spin.cross(arm)).as_vec3().to_array();
            row.spin = spin.as_vec3().to_array();
        }
    }

    /// Its `k`-th sphere, at rest at the origin.
    pub(crate) fn row(&self, clumps: &[Clump], k: usize, material: u8) -> Row {
        let members = clumps.get(self.kind as usize).map_or(&[CENTER][..], Clump::members);
        Row {
            radius: (self.size * members[k].radius) as f32,
            mass: self.mass as f32,
            material: f32::from(material),
            ..Row::default()
        }
    }
}

/// The only sphere of a particle that is one.
const CENTER: Member = Member {
    offset: DVec3::ZERO,
    radius: 1.0,
};

/// ω = R J⁻¹ Rᵀ L [rad/s], [Bell05] section 4; ω = L/J where all axes are alike.
#[inline(always)]
fn angular_velocity(rotation: DQuat, (inverse, is_round): (DMat3, bool), momentum: DVec3) -> DVec3 {
    match is_round {
        true => inverse.x_axis.x * momentum,
        false => rotation * (inverse * (rotation.inverse() * momentum)),
    }
}

/// The rotation after `step` [s] of a body that keeps its angular momentum: about one axis where all are alike, else q' = ½ ω q by Runge and
/// Kutta's scheme of fourth order.
fn turned(start: DQuat, inverse: (DMat3, bool), momentum: DVec3, step: f64) -> DQuat {
    if inverse.1 {
        return (DQuat::from_scaled_axis(step * angular_velocity(start, inverse, momentum)) * start).normalize();
    }
    let rate = |q: DQuat| {
        let q = q.normalize();
        let half = 0.5 * angular_velocity(q, inverse, momentum);
        DQuat::from_xyzw(half.x, half.y, half.z, 0.0) * q
    };
    let k1 = rate(start);
    let k2 = rate(start + k1 * (0.5 * step));
    let k3 = rate(start + k2 * (0.5 * step));
    let k4 = rate(start + k3 * step);
    (start + (k1 + (k2 + k3) * 2.0 + k4) * (step / 6.0)).normalize()
}

/// Mutable state of some chunks, for parallel work.
pub(crate) struct Parts<'a> {
    pub chunks: &'a mut [Chunk],
    pub particles: &'a mut [Particle],
    pub rows: &'a mut [Row],
    pub ways: &'a mut [f32],
}

impl Parts<'_> {
    /// Works on each chunk, in any order.
    pub(crate) fn each(self, work: &(impl Fn(Parts<'_>) + Sync)) {
        let count = self.chunks.len();
        if count <= 1 {
            if count == 1 {
                work(self);
            }
            return;
        }
        let (first, middle) = (&self.chunks[0], &self.chunks[count / 2]);
        let (particles, spheres) = (middle.first_particle - first.first_particle, middle.start - first.start);
        let (chunks_a, chunks_b) = self.chunks.split_at_mut(count / 2);
        let (particles_a, particles_b) = self.particles.split_at_mut(particles);
        let (rows_a, rows_b) = self.rows.split_at_mut(spheres.min(self.rows.len()));
        let (ways_a, ways_b) = self.ways.split_at_mut(spheres);
        let a = Parts {
            chunks: chunks_a,
            particles: particles_a,
            rows: rows_a,
            ways: ways_a,
        };
        let b = Parts {
            chunks: chunks_b,
            particles: particles_b,
            rows: rows_b,
            ways: ways_b,
        };
        rayon::join(|| a.each(work), || b.each(work));
    }
}

/// Moves the particles of one chunk and their spheres by a step, and expects the velocities at its end.
pub(crate) fn advance(parts: Parts<'_>, clumps: &[Clump], step: f64) {
    let half = 0.5 * step;
    let mut moved = Moved::NOT;
    let mut first = 0;
    for particle in parts.particles {
        particle.position += step * particle.velocity;
        let inverse = particle.inverse_inertia(clumps);
        particle.rotation = turned(particle.rotation, inverse, particle.momentum, step);
        let velocity = particle.velocity + half * particle.acceleration;
        let spin = angular_velocity(particle.rotation, inverse, particle.momentum + half * particle.torque);
        let own = first..first + particle.count(clumps);
        first = own.end;
        let (rows, ways) = (&mut parts.rows[own.clone()], &mut parts.ways[own]);
        particle.place(clumps, rows, ways, velocity, spin);
        for (row, way) in rows.iter_mut().zip(ways) {
            row.left -= *way;
            moved.left = moved.left.min(row.left);
            moved.is_finite &= way.is_finite();
        }
    }
    parts.chunks[0].moved = moved;
}

/// Sums the `pushes` on the spheres of each particle of a chunk, and changes velocities and momenta by it for `time` [s]. `rows` are all.
pub(crate) fn finish(parts: Parts<'_>, pushes: &[Push], rows: &[Row], clumps: &[Clump], gravity: DVec3, time: f64) {
    let start = parts.chunks[0].start;
    let mut first = 0;
    for particle in parts.particles {
        let (mut force, mut torque) = (DVec3::ZERO, DVec3::ZERO);
        for k in first..first + particle.count(clumps) {
            let push = &pushes[k];
            let own = DVec3::from_slice(&push.force);
            force += own;
            torque += DVec3::from_slice(&push.torque) + (rows[start + k].place() - particle.position).cross(own);
        }
        first += particle.count(clumps);
        if particle.mass >= f64::from(FIXED_MASS) {
            (particle.acceleration, particle.torque) = (DVec3::ZERO, DVec3::ZERO);
            (particle.velocity, particle.momentum) = (DVec3::ZERO, DVec3::ZERO);
            continue;
        }
        particle.acceleration = force / particle.mass + gravity;
        particle.torque = torque;
        particle.velocity += time * particle.acceleration;
        particle.momentum += time * torque;
    }
}
