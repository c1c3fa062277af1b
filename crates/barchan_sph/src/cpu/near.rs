//! Neighbor candidates: searched with a margin beyond the kernel radius, and kept until guides have moved that far.

use barchan_neighbors::{ContactRule, Error, Grid, Lists};
use glam::{Vec3, Vec4};
use rayon::prelude::*;

use super::CHUNK;
use super::columns::Columns;
use super::pairs::Space;

/// Search margin, as a fraction of the kernel radius [-]. A tenth more makes a third more candidates, which every step
/// must reject again.
const MARGIN: f32 = 0.08;

/// Candidates of a frame.
#[derive(Debug)]
pub(crate) struct Near {
    pub grid: Grid,
    pub lists: Lists,
    /// Positions at the last search [m]; empty if the next step must search.
    places: Vec<Vec4>,
    /// Distance that a guide may move from there before the next search [m].
    free: f32,
}

impl Near {
    pub(crate) fn new() -> Self {
        Self {
            grid: Grid::new(),
            lists: Lists::new(),
            places: Vec::new(),
            free: 0.0,
        }
    }

    /// Lets the next search be a new one: guides have other numbers now.
    pub(crate) fn forget(&mut self) {
        self.places.clear();
    }

    /// Finds candidates for kernels of the `largest` and `smallest` radius [m], unless those that are known will do, for guides that go no
    /// farther than `way` [m] in this step.
    pub(crate) fn find(
        &mut self,
        positions: &[Vec3],
        columns: &Columns,
        [largest, smallest]: [f32; 2],
        space: &Space,
        way: f32,
    ) -> Result<(), Error> {
        if self.places.len() == positions.len() && farthest(&self.places, &columns.place) < self.free {
            return Ok(());
        }
        let is_wide = |length: f32| length == 0.0 || length > 2.0 * (1.0 + MARGIN) * largest;
        // What lasts for one step is not worth more candidates.
        let lasts = 2.0 * way < MARGIN * smallest;
        let margin = if lasts && space.length.to_array().into_iter().all(is_wide) {
            MARGIN
        } else {
            0.0
        };
        self.grid
            .build(positions, ((1.0 + margin) * largest).max(f32::MIN_POSITIVE))?;
        if smallest == largest {
            self.lists.find(&self.grid);
        } else {
            let rule = ContactRule {
                scale: 1.0 + margin,
                margin: 0.0,
            };
            self.lists.find_contacts(&self.grid, &columns.half_support, rule)?;
        }
        self.free = 0.49 * margin * smallest;
        self.places.clear();
        self.places.extend_from_slice(&columns.place);
        Ok(())
    }
}

/// Longest way between two places of a guide [m].
fn farthest(before: &[Vec4], now: &[Vec4]) -> f32 {
    let ways = before.par_iter().with_min_len(CHUNK).zip(now);
    ways.map(|(a, b)| a.distance_squared(*b))
        .reduce(|| 0.0, f32::max)
        .sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cpu::pairs;
    use barchan_neighbors::jittered_lattice;
    use barchan_world::World;
    use glam::DVec3;

    /// A cloud of guides of two sizes.
    fn cloud(spacing: f32) -> World {
        let mut world = barchan_testing::world(DVec3::ZERO, barchan_testing::friction(0.5));
        for (k, p) in jittered_lattice(600, spacing, 0.3, 5).into_iter().enumerate() {
            let mass = 1600.0 * (spacing * [1.0, 1.2][k % 2]).powi(3);
            world.add_guide(p.as_dvec3(), DVec3::ZERO, 0.5 * f64::from(spacing), mass, 0);
        }
        world
    }

    #[test]
    fn guides_that_move_always_find_those_whom_brute_force_finds() {
        let spacing = 0.04;
        let mut world = cloud(spacing);
        let (mut near, mut rows, mut columns) = (Near::new(), Vec::new(), Columns::default());
        let space = Space::default();
        columns.reset(&world, 2.0);
        let halves = columns.half_support.clone();
        let [least, most] = [f32::min, f32::max].map(|f| halves.iter().copied().reduce(f).unwrap());
        let mut searches = 0;
        for step in 0..12 {
            columns.locate(&world.guides, Vec3::ZERO);
            let before = near.places.clone();
            near.find(
                &world.guides.position,
                &columns,
                [2.0 * most, 2.0 * least],
                &space,
                1e-4,
            )
            .unwrap();
            searches += usize::from(before != near.places);
            pairs::build(&mut rows, &near.lists, &mut columns, &space, 1e-3);
            let places = &world.guides.position;
            for i in (0..places.len()).step_by(7) {
                let mut found: Vec<usize> = rows[i / CHUNK].row(i % CHUNK).map(|row| row.0).collect();
                found.sort_unstable();
                let is_near = |&j: &usize| j != i && places[i].distance(places[j]) < halves[i] + halves[j];
                let expected: Vec<usize> = (0..places.len()).filter(is_near).collect();
                assert_eq!(found, expected, "guide {i} in step {step}");
            }
            for (k, p) in world.guides.position.iter_mut().enumerate() {
                let turn = k as f32;
                *p += 6e-4 * Vec3::new(turn.sin(), turn.cos(), (3.0 * turn).sin());
            }
        }
        assert!((2..12).contains(&searches), "{searches} searches");
    }
}
