//! Grains that meet with several spheres at once rebound as those that meet with one: each contact stops a share of the masses (methods F-B4).

use glam::DVec3;

use super::contacts::Chunk;
use super::rows::Row;

/// A contact of two grains.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Meeting {
    /// The other grain.
    grain: u32,
    /// Both spheres, the lower number first: an order in which both grains sum to the same bits.
    spheres: [u32; 2],
    /// Number of the pair.
    pair: usize,
    normal: DVec3,
}

/// Share of a contact of `normal` [-] among all of the same two grains: 1/Σ (n·n')², which is 1/N of N that push the same way.
pub(crate) fn share(normal: DVec3, all: impl Iterator<Item = DVec3>) -> f64 {
    1.0 / all.map(|other| normal.dot(other).powi(2)).sum::<f64>().max(1.0)
}

impl Chunk {
    /// Finds the shares of all pairs; `periods` [m] are those of axes that close upon themselves.
    pub(crate) fn share_pairs(&mut self, rows: &[Row], grain_of: &[u32], periods: &[f64; 3]) {
        let pairs = &mut self.pairs;
        pairs.shares.fill(1.0);
        let own = &grain_of[self.start..self.start + self.len];
        let mut k = 0;
        for grain in own.chunk_by(|a, b| a == b) {
            let range = pairs.first[k] as usize..pairs.first[k + grain.len()] as usize;
            k += grain.len();
            self.meetings.clear();
            for c in range {
                let (i, j) = (pairs.own[c], pairs.other[c]);
                let (a, b) = (&rows[i as usize], &rows[j as usize]);
                let way = nearest(b.place() - a.place(), periods);
                let reach = a.radius() + b.radius();
                if way.length_squared() < reach * reach {
                    self.meetings.push(Meeting {
                        grain: grain_of[j as usize],
                        spheres: [i.min(j), i.max(j)],
                        pair: c,
                        normal: way.normalize_or_zero(),
                    });
                }
            }
            if self.meetings.len() < 2 {
                continue;
            }
            self.meetings.sort_unstable_by_key(|m| (m.grain, m.spheres));
            let groups = self.meetings.chunk_by(|a, b| a.grain == b.grain);
            for group in groups.filter(|group| group.len() > 1) {
                for meeting in group {
                    pairs.shares[meeting.pair] = share(meeting.normal, group.iter().map(|other| other.normal));
                }
            }
        }
    }
}

/// The nearest image of a way [m].
fn nearest(mut way: DVec3, periods: &[f64; 3]) -> DVec3 {
    for (axis, &period) in periods.iter().enumerate().filter(|p| *p.1 > 0.0) {
        way[axis] -= period * (way[axis] / period).round();
    }
    way
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contacts_that_push_the_same_way_share_and_those_across_do_not() {
        let among = |normals: &[DVec3]| share(DVec3::X, normals.iter().copied());
        assert_eq!(among(&[DVec3::X]), 1.0);
        assert_eq!(among(&[DVec3::X, DVec3::Y, DVec3::Z]), 1.0);
        assert_eq!(among(&[DVec3::X, -DVec3::X, DVec3::X, DVec3::X]), 0.25);
    }
}
