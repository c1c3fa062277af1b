//! One contact of each of [`LANES`] guides, and the laws applied to them at once.
#![allow(clippy::needless_range_loop, reason = "lanes of several arrays at once")]

use glam::Vec4;

use super::contacts::candidates::Candidates;
use super::rows::Ways;
use super::rules::Rules;
use super::simd::{Gather, LANES, Lane, block, block_mut};
use crate::laws::{contact, friction};

/// One contact of each guide of a slice: planes that they must not cross in this step.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub(crate) struct Row {
    /// Normal, toward the guide [-].
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
    /// Displacement impulse of the stabilization on the guide [kg m], along the normal.
    pub push: Lane,
    /// Number of the other guide in the chunk.
    pub number: [u32; LANES],
    pub candidate: [u32; LANES],
}

/// Optional columns of a row, kept apart: rows are too many to fit into caches.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(64))]
pub(crate) struct Extra {
    /// Static and kinetic friction [-], if it differs between contacts.
    pub mu: [Lane; 2],
    /// Sum of the radii [m], if friction depends on it.
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

    /// Gives `v` to the guides of the slice from lane `first` on, and takes it from the others.
    #[inline(always)]
    pub(crate) fn exchange<S: Gather<W>, const W: usize>(
        &self,
        simd: S,
        first: usize,
        v: [[f32; W]; 3],
        counts: [f32; W],
        sum: &mut [Lane; 4],
        sums: &mut [Vec4],
    ) {
        let [x, y, z] = v;
        let mut taken = [x, y, z, [0.0; W]];
        for l in 0..W {
            taken[3][l] = -counts[l];
        }
        for (sum, given) in sum.iter_mut().zip([x, y, z, counts]) {
            let sum: &mut [f32; W] = block_mut(sum, first);
            for l in 0..W {
                sum[l] += given[l];
            }
        }
        simd.subtract(sums, block(&self.number, first), &taken);
    }

    /// Returns the displacement impulses of the stabilization on the guides of the slice from lane `first` on [kg m].
    #[inline(always)]
    pub(crate) fn pushes<const W: usize>(&self, first: usize) -> [[f32; W]; 3] {
        let push: &[f32; W] = block(&self.push, first);
        let [x, y, z]: [&[f32; W]; 3] = [&self.x, &self.y, &self.z].map(|axis| block(axis, first));
        let mut v = [[0.0; W]; 3];
        for l in 0..W {
            (v[0][l], v[1][l], v[2][l]) = (push[l] * x[l], push[l] * y[l], push[l] * z[l]);
        }
        v
    }

    /// Returns the components of `u` along the normals of the lanes from `first` on.
    #[inline(always)]
    pub(crate) fn along<const W: usize>(&self, first: usize, u: &[[f32; W]; 3]) -> [f32; W] {
        let [x, y, z]: [&[f32; W]; 3] = [&self.x, &self.y, &self.z].map(|axis| block(axis, first));
        let mut along = [0.0; W];
        for l in 0..W {
            along[l] = x[l] * u[0][l] + y[l] * u[1][l] + z[l] * u[2][l];
        }
        along
    }

    /// Makes the candidates of guides that are and go as `own` says planes, for the lanes from `first` on. Gives the sums of their radii [m].
    #[inline(always)]
    pub(crate) fn place<S: Gather<W>, const W: usize>(
        &mut self,
        simd: S,
        first: usize,
        candidates: &Candidates,
        own: &[[[f32; W]; 4]; 2],
        ways: &Ways,
        rules: Rules,
    ) -> [f32; W] {
        let candidate: &[u32; W] = block(&self.candidate, first);
        let number: &mut [u32; W] = block_mut(&mut self.number, first);
        for l in 0..W {
            number[l] = candidates.number[candidate[l] as usize];
        }
        let (base, p, at, u) = (
            simd.gather(&candidates.base, candidate),
            simd.gather(&candidates.impulse, candidate),
            simd.minus(&own[0], &simd.gather(&ways.at, number)),
            simd.minus(&own[1], &simd.gather(&ways.free, number)),
        );
        let [nx, ny, nz]: [&mut [f32; W]; 3] =
            [&mut self.x, &mut self.y, &mut self.z].map(|axis| block_mut(axis, first));
        let (gap, start): (&mut [f32; W], &mut [f32; W]) =
            (block_mut(&mut self.gap, first), block_mut(&mut self.start, first));
        let [px, py, pz]: [&mut [f32; W]; 3] = self.p.each_mut().map(|axis| block_mut(axis, first));
        for l in 0..W {
            let (x, y, z, reach) = (
                base[0][l] + at[0][l],
                base[1][l] + at[1][l],
                base[2][l] + at[2][l],
                base[3][l],
            );
            let length = (x * x + y * y + z * z).sqrt();
            let apart = length > 1e-12;
            let inverse = 1.0 / length.max(1e-12);
            // Coincident centers part along z: any direction will do.
            (nx[l], ny[l], nz[l]) = (x * inverse, y * inverse, if apart { z * inverse } else { 1.0 });
            let (cx, cy, cz) = (x + u[0][l], y + u[1][l], z + u[2][l]);
            start[l] = length - reach;
            let predicted = (cx * cx + cy * cy + cz * cz).sqrt() - reach;
            let along = nx[l] * u[0][l] + ny[l] * u[1][l] + nz[l] * u[2][l];
            let pressed = nx[l] * p[0][l] + ny[l] * p[1][l] + nz[l] * p[2][l];
            let kept = if rules.remembers & (pressed > 0.0) { 1.0 } else { 0.0 };
            gap[l] = predicted - along - rules.left * start[l].min(0.0);
            (px[l], py[l], pz[l]) = (p[0][l] * kept, p[1][l] * kept, p[2][l] * kept);
        }
        base[3]
    }

    /// Normal and tangential impulses of the whole step, each within its bound, for the lanes from `first` on. Gives them [kg m].
    #[inline(always)]
    pub(crate) fn solve_accumulated<const W: usize>(
        &mut self,
        first: usize,
        u: &[[f32; W]; 3],
        mu: &[Lane; 2],
    ) -> [[f32; W]; 3] {
        let [x, y, z]: [&[f32; W]; 3] = [&self.x, &self.y, &self.z].map(|axis| block(axis, first));
        let (stiffness, gap): (&[f32; W], &[f32; W]) = (block(&self.stiffness, first), block(&self.gap, first));
        let [mu_static, mu_kinetic]: [&[f32; W]; 2] = mu.each_ref().map(|mu| block(mu, first));
        let p: [&mut [f32; W]; 3] = self.p.each_mut().map(|axis| block_mut(axis, first));
        let mut given = [[0.0; W]; 3];
        for l in 0..W {
            let (nx, ny, nz, k) = (x[l], y[l], z[l], stiffness[l]);
            let along = nx * u[0][l] + ny * u[1][l] + nz * u[2][l];
            let before = nx * p[0][l] + ny * p[1][l] + nz * p[2][l];
            let normal = contact::accumulated(before, k, gap[l] + along);
            // Tangential impulse less its stiffness times the tangential motion: both are what is left without the normal part.
            let off = before - k * along;
            let tx = p[0][l] - k * u[0][l] - off * nx;
            let ty = p[1][l] - k * u[1][l] - off * ny;
            let tz = p[2][l] - k * u[2][l] - off * nz;
            let f = friction::coulomb(tx * tx + ty * ty + tz * tz, normal, mu_static[l], mu_kinetic[l]);
            given[0][l] = normal * nx + f * tx;
            given[1][l] = normal * ny + f * ty;
            given[2][l] = normal * nz + f * tz;
        }
        for axis in 0..3 {
            *p[axis] = given[axis];
        }
        given
    }

    /// Corrections of this pass alone, as [Sommer22] and [Macklin14] print them, added to those before. `length` [m]
    /// bounds friction. Gives all of them [kg m].
    #[inline(always)]
    pub(crate) fn solve_printed<const W: usize>(
        &mut self,
        first: usize,
        u: &[[f32; W]; 3],
        length: &[f32; W],
        mu: &[Lane; 2],
    ) -> [[f32; W]; 3] {
        let [x, y, z]: [&[f32; W]; 3] = [&self.x, &self.y, &self.z].map(|axis| block(axis, first));
        let (stiffness, gaps): (&[f32; W], &[f32; W]) = (block(&self.stiffness, first), block(&self.gap, first));
        let [mu_static, mu_kinetic]: [&[f32; W]; 2] = mu.each_ref().map(|mu| block(mu, first));
        let p: [&mut [f32; W]; 3] = self.p.each_mut().map(|axis| block_mut(axis, first));
        for l in 0..W {
            let (nx, ny, nz, k) = (x[l], y[l], z[l], stiffness[l]);
            let along = nx * u[0][l] + ny * u[1][l] + nz * u[2][l];
            let gap = gaps[l] + along;
            let normal = contact::printed(0.0, k, gap);
            let (tx, ty, tz) = (u[0][l] - along * nx, u[1][l] - along * ny, u[2][l] - along * nz);
            let squared = tx * tx + ty * ty + tz * tz;
            let f = friction::of_length(squared, length[l], mu_static[l], mu_kinetic[l]);
            let rub = if gap < 0.0 { -k * f } else { 0.0 };
            p[0][l] += normal * nx + rub * tx;
            p[1][l] += normal * ny + rub * ty;
            p[2][l] += normal * nz + rub * tz;
        }
        [*p[0], *p[1], *p[2]]
    }
}
