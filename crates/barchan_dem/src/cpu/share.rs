//! Grains that meet with several spheres at once rebound as those that meet with one: each contact stops a share of the masses (methods F-B4).

use glam::DVec3;

use super::cells::nearest;
use super::contacts::{Chunk, Pairs};
use super::rows::Row;

/// Pairs that join the same two grains, where several do.
#[derive(Debug, Default)]
pub(crate) struct Groups {
    /// Numbers of the pairs, group by group, by the spheres in them: an order in which both grains sum to the same bits.
    pairs: Vec<u32>,
    /// Where each group ends.
    ends: Vec<u32>,
}

impl Groups {
    /// Groups the `pairs` of a chunk, whose spheres are of the grains `grain_of`.
    pub(crate) fn of(pairs: &Pairs, grain_of: &[u32]) -> Self {
        let grains = |c: u32| [&pairs.own, &pairs.other].map(|side| grain_of[side[c as usize] as usize]);
        let spheres = |c: u32| {
            let (i, j) = (pairs.own[c as usize], pairs.other[c as usize]);
            [i.min(j), i.max(j)]
        };
        let count = pairs.first.last().copied().unwrap_or_default();
        let mut all: Vec<u32> = (0..count).collect();
        all.sort_unstable_by_key(|&c| (grains(c), spheres(c)));
        let mut groups = Self::default();
        let same = all.chunk_by(|&a, &b| grains(a) == grains(b));
        for group in same.filter(|group| group.len() > 1) {
            groups.pairs.extend_from_slice(group);
            groups.ends.push(groups.pairs.len() as u32);
        }
        groups
    }

    fn iter(&self) -> impl Iterator<Item = &[u32]> {
        let starts = std::iter::once(&0).chain(&self.ends);
        starts
            .zip(&self.ends)
            .map(|(&start, &end)| &self.pairs[start as usize..end as usize])
    }
}

/// A contact of two grains that may meet elsewhere, too.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Meeting {
    /// Number of the pair.
    pair: u32,
    normal: DVec3,
}

/// Share of a contact of `normal` [-] among all of the same two grains: 1/Σ (n·n')², which is 1/N of N that push the same way.
pub(crate) fn share(normal: DVec3, all: impl Iterator<Item = DVec3>) -> f64 {
    1.0 / all.map(|other| normal.dot(other).powi(2)).sum::<f64>().max(1.0)
}

impl Chunk {
    /// Finds the shares of all pairs; `periods` [m] are those of axes that close upon themselves.
    pub(crate) fn share_pairs(&mut self, rows: &[Row], periods: &[f64; 3]) {
        let Self { pairs, meetings, .. } = self;
        for group in pairs.groups.iter() {
            meetings.clear();
            for &pair in group {
                let c = pair as usize;
                pairs.shares[c] = 1.0;
                let (a, b) = (&rows[pairs.own[c] as usize], &rows[pairs.other[c] as usize]);
                let way = nearest(b.place() - a.place(), periods);
                let reach = a.radius() + b.radius();
                if way.length_squared() < reach * reach {
                    meetings.push(Meeting { pair, normal: way });
                }
            }
            if meetings.len() < 2 {
                continue;
            }
            for meeting in &mut *meetings {
                meeting.normal = meeting.normal.normalize_or_zero();
            }
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
    fn pairs_of_the_same_grains_are_grouped_in_one_order_from_both_sides() {
        let grain_of = [0, 0, 1, 1, 2];
        // Padded by a pair with nobody.
        let groups = |all: &[[u32; 2]]| {
            let pairs = Pairs {
                first: vec![0, all.len() as u32],
                own: all.iter().map(|pair| pair[0]).chain([0]).collect(),
                other: all.iter().map(|pair| pair[1]).chain([5]).collect(),
                ..Pairs::default()
            };
            let groups = Groups::of(&pairs, &grain_of);
            let spheres = |&c: &u32| all[c as usize];
            let found: Vec<Vec<[u32; 2]>> = groups.iter().map(|group| group.iter().map(spheres).collect()).collect();
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
