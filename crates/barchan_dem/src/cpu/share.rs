//! Shares of mass for particles with several simultaneous contacts, so that they rebound as with one: each contact
//! stops the share 1/Σ (n·n')² of the masses, summed over the contacts with normals n' of the same two particles.
#![allow(clippy::needless_range_loop, reason = "lanes of several arrays at once")]

use glam::DVec3;

use super::cells::nearest;
use super::contacts::{Chunk, Pairs};
use super::forces::ways;
use super::rows::Row;
use barchan_simd::Simd;

use super::simd::{LANES, RADIUS, gather, vectorized};

/// Pairs that join the same two particles, where several do.
#[derive(Debug, Default)]
pub(crate) struct Groups {
    /// Numbers of the pairs, group by group, by the spheres in them: an order in which both particles sum to the same bits.
    pairs: Vec<u32>,
    /// Their spheres, padded to whole blocks with the last row.
    spheres: [Vec<u32>; 2],
    padding: u32,
    /// True for pairs in contact.
    touch: Vec<bool>,
    /// End of each group.
    ends: Vec<u32>,
}

impl Groups {
    /// Groups the `pairs` of a chunk, whose spheres are of the particles `particle_of`. Pairs come particle by particle: the few of each are sorted.
    pub(crate) fn of(pairs: &Pairs, particle_of: &[u32]) -> Self {
        let particles = |c: u32| pairs.spheres(c as usize).map(|k| particle_of[k as usize]);
        let spheres = |c: u32| {
            let [i, j] = pairs.spheres(c as usize);
            [i.min(j), i.max(j)]
        };
        let count = pairs.first.last().copied().unwrap_or_default();
        let mut all: Vec<u32> = (0..count).collect();
        let mut groups = Self {
            padding: pairs.padding,
            ..Self::default()
        };
        for own in all.chunk_by_mut(|&a, &b| particles(a)[0] == particles(b)[0]) {
            own.sort_unstable_by_key(|&c| (particles(c)[1], spheres(c)));
            let same = own.chunk_by(|&a, &b| particles(a)[1] == particles(b)[1]);
            for group in same.filter(|group| group.len() > 1) {
                groups.pairs.extend_from_slice(group);
                groups.ends.push(groups.pairs.len() as u32);
            }
        }
        let padded = groups.pairs.len().next_multiple_of(LANES);
        groups.spheres = [0, 1].map(|side| {
            let mut spheres: Vec<u32> = groups.pairs.iter().map(|&c| pairs.spheres(c as usize)[side]).collect();
            spheres.resize(padded, pairs.padding);
            spheres
        });
        groups.touch.resize(padded, false);
        groups
    }

    /// The pairs of each group, and which of them touch.
    fn iter(&self) -> impl Iterator<Item = (&[u32], &[bool])> {
        let starts = std::iter::once(&0).chain(&self.ends);
        let groups = starts
            .zip(&self.ends)
            .map(|(&start, &end)| start as usize..end as usize);
        groups.map(|group| (&self.pairs[group.clone()], &self.touch[group]))
    }
}

vectorized! {
    /// Finds which pairs of groups touch; `periods` [m] are those of axes that close upon themselves.
    fn find_touching(groups: &mut Groups, rows: &[Row], periods: &[f64; 3]) = find_all
}

#[inline(always)]
fn find_all<S: Simd>(simd: S, groups: &mut Groups, rows: &[Row], periods: &[f64; 3]) {
    assert!(groups.touch.is_empty() || rows.len() == groups.padding as usize + 1);
    let [own, other] = &groups.spheres;
    let spheres = own.chunks_exact(LANES).zip(other.chunks_exact(LANES));
    for ((own, other), touch) in spheres.zip(groups.touch.chunks_exact_mut(LANES)) {
        let own: &[u32; LANES] = own.try_into().expect("a whole block");
        let other: &[u32; LANES] = other.try_into().expect("a whole block");
        let (a, b) = (gather(simd, rows, own), gather(simd, rows, other));
        let [x, y, z] = ways(&a, &b, periods);
        for l in 0..LANES {
            let reach = a[RADIUS][l] + b[RADIUS][l];
            touch[l] = x[l] * x[l] + y[l] * y[l] + z[l] * z[l] < reach * reach;
        }
    }
}

/// A contact of two particles that may meet elsewhere, too.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Meeting {
    /// Number of the pair.
    pair: u32,
    normal: DVec3,
}

/// Share of a contact of `normal` [-] among all of the same two particles: 1/Σ (n·n')², which is 1/N of N that push the same way.
pub(crate) fn share(normal: DVec3, all: impl Iterator<Item = DVec3>) -> f64 {
    1.0 / all.map(|other| normal.dot(other).powi(2)).sum::<f64>().max(1.0)
}

impl Chunk {
    /// Finds the shares of all pairs; `periods` [m] are those of axes that close upon themselves.
    pub(crate) fn share_pairs(&mut self, rows: &[Row], periods: &[f64; 3]) {
        let Self { pairs, meetings, .. } = self;
        find_touching(&mut pairs.groups, rows, periods);
        pairs.shares.fill(1.0);
        let groups = pairs.groups.iter();
        for (group, touch) in groups.filter(|(_, touch)| touch.iter().filter(|&&it| it).count() > 1) {
            meetings.clear();
            let touching = group.iter().zip(touch).filter(|(_, touches)| **touches);
            meetings.extend(touching.map(|(&pair, _)| {
                let [a, b] = pairs.spheres(pair as usize).map(|k| rows[k as usize].place());
                let normal = nearest(b - a, periods).normalize_or_zero();
                Meeting { pair, normal }
            }));
            for meeting in &*meetings {
                pairs.shares[meeting.pair as usize] = share(meeting.normal, meetings.iter().map(|other| other.normal));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_of_the_same_particles_are_grouped_in_one_order_from_both_sides() {
        let particle_of = [0, 0, 1, 1, 2];
        // Padded with the last row.
        let groups = |all: &[[u32; 2]]| {
            let pairs = Pairs {
                first: vec![0, all.len() as u32],
                own: all.iter().map(|pair| pair[0] as u16).chain([0]).collect(),
                other: all.iter().map(|pair| pair[1]).chain([5]).collect(),
                ..Pairs::default()
            };
            let groups = Groups::of(&pairs, &particle_of);
            let spheres = |&c: &u32| all[c as usize];
            let found: Vec<Vec<[u32; 2]>> = groups
                .iter()
                .map(|(group, _)| group.iter().map(spheres).collect())
                .collect();
            found
        };
        let here = groups(&[[0, 2], [0, 4], [1, 3], [1, 2]]);
        assert_eq!(here, [[[0, 2], [1, 2], [1, 3]]]);
        let there = groups(&[[3, 1], [2, 1], [2, 0], [3, 4], [2, 4]]);
        assert_eq!(there, [vec![[2, 0], [2, 1], [3, 1]], vec![[2, 4], [3, 4]]]);
    }

    #[test]
    fn contacts_that_push_the_same_way_share_and_those_across_do_not() {
        let among = |normals: &[DVec3]| share(DVec3::X, normals.iter().copied());
        assert_eq!(among(&[DVec3::X]), 1.0);
        assert_eq!(among(&[DVec3::X, DVec3::Y, DVec3::Z]), 1.0);
        assert_eq!(among(&[DVec3::X, -DVec3::X, DVec3::X, DVec3::X]), 0.25);
    }
}
