//! Pairs that may touch, among spheres of very different sizes: a grid for each octave of reach, so that small spheres are not
//! searched in cells made for large ones, [Ogarko12].

use barchan_neighbors::{ContactRule, Error, Grid, Lists};
use glam::Vec3;

/// Reaches that differ by less than this factor [-] share one grid.
const ALIKE: f32 = 2.5;
/// Octaves that are told apart [-].
const OCTAVES: usize = 12;

/// Pairs are near if their reaches touch.
const RULE: ContactRule = ContactRule {
    scale: 1.0,
    margin: 0.0,
};

/// Who may touch whom, each pair from both sides.
#[derive(Debug, Default)]
pub(crate) struct Near {
    lists: Lists,
    grid: Grid,
    levels: Vec<Level>,
    /// Found by levels: pairs of sphere `i` begin at `first[i]` of `others`.
    first: Vec<u32>,
    others: Vec<u32>,
    pairs: Vec<[u32; 2]>,
    is_level: bool,
}

/// Spheres of one octave.
#[derive(Debug, Default)]
struct Level {
    members: Vec<u32>,
    places: Vec<Vec3>,
    reaches: Vec<f32>,
    grid: Grid,
}

impl Near {
    /// For spheres in a world whose axes close upon themselves as those of `grid` do.
    pub(crate) fn new(grid: impl Fn() -> Grid) -> Self {
        let level = || Level {
            grid: grid(),
            ..Level::default()
        };
        Self {
            grid: grid(),
            levels: (0..OCTAVES).map(|_| level()).collect(),
            ..Self::default()
        }
    }

    /// Finds the pairs of spheres at `places` [m] whose `reaches` [m] touch.
    pub(crate) fn find(&mut self, places: &[Vec3], reaches: &[f32]) -> Result<(), Error> {
        let largest = reaches.iter().copied().fold(0.0, f32::max);
        let smallest = reaches.iter().copied().fold(f32::INFINITY, f32::min);
        self.is_level = largest > ALIKE * smallest;
        if self.is_level {
            return self.find_levels(places, reaches, largest);
        }
        let cell = RULE.largest_reach(reaches)?;
        self.grid.build(places, cell.max(f32::MIN_POSITIVE))?;
        self.lists.find_contacts(&self.grid, reaches, RULE)
    }

    /// What sphere `i` may touch.
    pub(crate) fn of(&self, i: usize) -> &[u32] {
        match self.is_level {
            true => &self.others[self.first[i] as usize..self.first[i + 1] as usize],
            false => self.lists.of(i),
        }
    }

    fn find_levels(&mut self, places: &[Vec3], reaches: &[f32], largest: f32) -> Result<(), Error> {
        for level in &mut self.levels {
            level.members.clear();
            level.places.clear();
            level.reaches.clear();
        }
        for (i, (&place, &reach)) in (0..).zip(places.iter().zip(reaches)) {
            let octave = (largest / reach.max(f32::MIN_POSITIVE)).log2() as usize;
            let level = &mut self.levels[octave.min(OCTAVES - 1)];
            level.members.push(i);
            level.places.push(place);
            level.reaches.push(reach);
        }
        for level in self.levels.iter_mut().filter(|level| !level.members.is_empty()) {
            let cell = RULE.largest_reach(&level.reaches)?;
            level.grid.build(&level.places, cell.max(f32::MIN_POSITIVE))?;
        }
        self.pairs.clear();
        for (small, fine) in self.levels.iter().enumerate() {
            if fine.members.is_empty() {
                continue;
            }
            self.lists.find_contacts(&fine.grid, &fine.reaches, RULE)?;
            for (k, &i) in fine.members.iter().enumerate() {
                let found = self.lists.of(k).iter();
                self.pairs.extend(found.map(|&j| [i, fine.members[j as usize]]));
            }
            for coarse in self.levels[..small].iter().filter(|level| !level.members.is_empty()) {
                let Level { grid, reaches, .. } = coarse;
                self.lists
                    .find_contacts_for(&fine.places, &fine.reaches, grid, reaches, RULE)?;
                for (k, &i) in fine.members.iter().enumerate() {
                    for &j in self.lists.of(k) {
                        let j = coarse.members[j as usize];
                        self.pairs.extend([[i, j], [j, i]]);
                    }
                }
            }
        }
        self.gather(places.len());
        Ok(())
    }

    /// Sorts pairs by their first sphere; those of one sphere keep their order.
    fn gather(&mut self, count: usize) {
        self.first.clear();
        self.first.resize(count + 2, 0);
        for &[i, _] in &self.pairs {
            self.first[i as usize + 2] += 1;
        }
        for i in 2..self.first.len() {
            self.first[i] += self.first[i - 1];
        }
        self.others.clear();
        self.others.resize(self.pairs.len(), 0);
        for &[i, j] in &self.pairs {
            let place = &mut self.first[i as usize + 1];
            self.others[*place as usize] = j;
            *place += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use barchan_geometry::random::Stream;

    #[test]
    fn levels_find_the_pairs_that_touch_and_no_others() {
        let place = |k: u64| Stream::new(3, k).unit_cube().as_vec3();
        let reach = |k: u64| 0.2 * 0.5f32.powf(7.0 * Stream::new(4, k).unit() as f32);
        let (places, reaches): (Vec<Vec3>, Vec<f32>) = (0..600).map(|k| (place(k), reach(k))).unzip();
        let mut near = Near::new(Grid::new);
        near.find(&places, &reaches).unwrap();
        assert!(near.is_level);
        let mut pairs = 0;
        for i in 0..places.len() {
            let touches = |&j: &usize| j != i && places[i].distance(places[j]) < reaches[i] + reaches[j];
            let expected: Vec<usize> = (0..places.len()).filter(touches).collect();
            let mut found: Vec<usize> = near.of(i).iter().map(|&j| j as usize).collect();
            found.sort_unstable();
            assert_eq!(found, expected, "sphere {i}");
            pairs += found.len();
        }
        assert!(pairs > 1000, "{pairs}");
    }
}
