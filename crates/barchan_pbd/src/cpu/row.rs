//! One contact of each of [`LANES`] guides, and the laws applied to them at once.
#![allow(clippy::needless_range_loop, reason = "lanes of several arrays at once")]

use glam::Vec4;

use super::candidates::Candidates;
use super::rows::Ways;
use super::rules::Rules;
use super::simd::{LANES, Lane, Vectors, minus};
use crate::laws::{contact, friction};

/// One contact of each guide of a slice: planes that they must not cross in this step.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub(crate) struct Row {
    /// Normal, towards the guide [-].
    pub x: Lane,
    pub y: Lane,
    pub z: Lane,
    /// Gap to close [m] if neither moved in this step.
    pub gap: Lane,
    /// Gap at the start of the step [m].
    pub start: Lane,
    /// Stiffness [kg]; 0 where there is no contact.
    pub stiffness: Lane,
    /// Impulse on the guide [kg m].
    pub p: [Lane; 3],
    /// Displacement impulse of the stabilisation on the guide [kg m], along the normal.
    pub push: Lane,
    /// Number of the other guide in the chunk.
    pub number: [u32; LANES],
    pub candidate: [u32; LANES],
}

/// What a row has besides, where it is asked for: rows are so many that they do not fit into caches.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(64))]
pub(crate) struct Extra {
    /// Static and kinetic friction [-], where it is not the same for all.
    pub mu: [Lane; 2],
    /// Sum of the radii [m], where friction goes by it.
    pub reach: Lane,
}

impl Row {
    pub(crate) const EMPTY: Self = Self {
        x: [0.0; LANES],
        y: [0.0; LANES],
        z: [1.0; LANES],
        gap: [1.0; LANES],
        start: [1.0; LANES],
        stiffness: [0.0; LANES],
        p: [[0.0; LANES]; 3],
        push: [0.0; LANES],
        number: [0; LANES],
        candidate: [0; LANES],
    };

    /// Gives `v` to the guides of the slice and takes it from the others.
    ///
    /// # Safety
    /// The numbers of the others are places of `sums`.
    #[inline(always)]
    pub(crate) unsafe fn exchange<V: Vectors>(
        &self,
        v: [Lane; 3],
        counts: Lane,
        sum: &mut [Lane; 4],
        sums: &mut [Vec4],
    ) {
        let [x, y, z] = v;
        let mut taken = [x, y, z, [0.0; LANES]];
        for l in 0..LANES {
            taken[3][l] = -counts[l];
            sum[0][l] += x[l];
            sum[1][l] += y[l];
            sum[2][l] += z[l];
            sum[3][l] += counts[l];
        }
        // SAFETY: as promised.
        unsafe { V::take(sums, &self.number, &taken) }
    }

    /// What the stabilisation gives the guides of the slice [kg m].
    #[inline(always)]
    pub(crate) fn pushes(&self) -> [Lane; 3] {
        let mut v = [[0.0; LANES]; 3];
        for l in 0..LANES {
            (v[0][l], v[1][l], v[2][l]) = (
                self.push[l] * self.x[l],
                self.push[l] * self.y[l],
                self.push[l] * self.z[l],
            );
        }
        v
    }

    /// Makes the candidates of guides that are and go as `own` says planes. Gives the sums of their radii [m].
    #[inline(always)]
    pub(crate) fn place<V: Vectors>(
        &mut self,
        candidates: &Candidates,
        own: &[[Lane; 4]; 2],
        ways: &Ways,
        rules: Rules,
    ) -> Lane {
        for l in 0..LANES {
            self.number[l] = candidates.number[self.candidate[l] as usize];
        }
        // SAFETY: the other columns of candidates are as long as the one above; ways have all numbers of the chunk.
        let (base, p, at, u): (_, _, [Lane; 3], [Lane; 3]) = unsafe {
            (
                V::gather(&candidates.base, &self.candidate),
                V::gather(&candidates.impulse, &self.candidate),
                minus(&own[0], &V::gather(&ways.at, &self.number)),
                minus(&own[1], &V::gather(&ways.free, &self.number)),
            )
        };
        for l in 0..LANES {
            let (x, y, z, reach) = (
                base[0][l] + at[0][l],
                base[1][l] + at[1][l],
                base[2][l] + at[2][l],
                base[3][l],
            );
            let length = (x * x + y * y + z * z).sqrt();
            let apart = length > 1e-12;
            let inverse = 1.0 / length.max(1e-12);
            // Coincident centres part along z: any direction will do.
            let (nx, ny, nz) = (x * inverse, y * inverse, if apart { z * inverse } else { 1.0 });
            let (cx, cy, cz) = (x + u[0][l], y + u[1][l], z + u[2][l]);
            let start = length - reach;
            let predicted = (cx * cx + cy * cy + cz * cz).sqrt() - reach;
            let along = nx * u[0][l] + ny * u[1][l] + nz * u[2][l];
            let pressed = nx * p[0][l] + ny * p[1][l] + nz * p[2][l];
            let kept = if pressed > 0.0 { rules.memory } else { 0.0 };
            let inherited = if rules.inherits { start.min(0.0) } else { 0.0 };
            (self.x[l], self.y[l], self.z[l]) = (nx, ny, nz);
            self.gap[l] = predicted - along - inherited;
            self.start[l] = start;
            for axis in 0..3 {
                self.p[axis][l] = p[axis][l] * kept;
            }
        }
        base[3]
    }
}

/// Normal and tangential impulses of the whole step, each within its bound.
#[inline(always)]
pub(crate) fn solve_accumulated(row: &mut Row, u: &[Lane; 3], [mu_static, mu_kinetic]: &[Lane; 2]) {
    let p = &mut row.p;
    for l in 0..LANES {
        let (nx, ny, nz, k) = (row.x[l], row.y[l], row.z[l], row.stiffness[l]);
        let along = nx * u[0][l] + ny * u[1][l] + nz * u[2][l];
        let before = nx * p[0][l] + ny * p[1][l] + nz * p[2][l];
        let normal = contact::accumulated(before, k, row.gap[l] + along);
        // Tangential impulse less its stiffness times the tangential motion: both are what is left without the normal part.
        let off = before - k * along;
        let tx = p[0][l] - k * u[0][l] - off * nx;
        let ty = p[1][l] - k * u[1][l] - off * ny;
        let tz = p[2][l] - k * u[2][l] - off * nz;
        let f = friction::coulomb(tx * tx + ty * ty + tz * tz, normal, mu_static[l], mu_kinetic[l]);
        p[0][l] = normal * nx + f * tx;
        p[1][l] = normal * ny + f * ty;
        p[2][l] = normal * nz + f * tz;
    }
}

/// Corrections of this pass alone, as [Sommer22] and [Macklin14] print them, added to those before. `length` [m]
/// bounds friction.
#[inline(always)]
pub(crate) fn solve_printed(row: &mut Row, u: &[Lane; 3], length: &Lane, [mu_static, mu_kinetic]: &[Lane; 2]) {
    let p = &mut row.p;
    for l in 0..LANES {
        let (nx, ny, nz, k) = (row.x[l], row.y[l], row.z[l], row.stiffness[l]);
        let along = nx * u[0][l] + ny * u[1][l] + nz * u[2][l];
        let gap = row.gap[l] + along;
        let normal = contact::printed(0.0, k, gap);
        let (tx, ty, tz) = (u[0][l] - along * nx, u[1][l] - along * ny, u[2][l] - along * nz);
        let squared = tx * tx + ty * ty + tz * tz;
        let f = friction::of_length(squared, length[l], mu_static[l], mu_kinetic[l]);
        let rub = if gap < 0.0 { -k * f } else { 0.0 };
        p[0][l] += normal * nx + rub * tx;
        p[1][l] += normal * ny + rub * ty;
        p[2][l] += normal * nz + rub * tz;
    }
}
