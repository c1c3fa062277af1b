//! Overlapping grains in flow push each other apart, a little in each step. Optional: nothing else handles pairs of
//! grains.

use barchan_neighbors::Grid;
use glam::Vec3;
use rayon::prelude::*;

use crate::advect::CHUNK;
use crate::grains::Grains;

/// Farthest that a grain is pushed in a step, in mean radii [-].
pub(crate) const NUDGE: f64 = 0.15;
/// Share of its overlaps that a grain is pushed [-]: half of each is the other's.
const SHARE: f32 = 0.4;

/// Finds pairs, and keeps its memory.
#[derive(Debug, Default)]
pub(crate) struct Repeller {
    grid: Grid,
    places: Vec<Vec3>,
    pushes: Vec<Vec3>,
}

impl Repeller {
    /// Pushes the grains, of mean `radius` [m], of the chunks that move; `fastest` is the squared speed of each chunk's fastest
    /// grain [m²/s²]. What rests stays.
    pub fn advance(&mut self, grains: &mut Grains, fastest: &[f32], radius: f32) {
        if fastest.iter().all(|speed| *speed == 0.0) {
            return;
        }
        (0..grains.len())
            .into_par_iter()
            .map(|i| grains.place(i))
            .collect_into_vec(&mut self.places);
        let diameter = 2.0 * radius;
        if self.grid.build(&self.places, diameter).is_err() {
            return;
        }
        let (grid, places) = (&self.grid, &self.places);
        let most = NUDGE as f32 * radius;
        places
            .par_iter()
            .enumerate()
            .map(|(i, &place)| {
                let mut push = Vec3::ZERO;
                if fastest[i / CHUNK] > 0.0 {
                    grid.near(place, |j, squared| {
                        if squared > 0.0 {
                            let distance = squared.sqrt();
                            push += (place - places[j as usize]) * ((diameter - distance).max(0.0) / distance);
                        }
                    });
                }
                (SHARE * push).clamp_length_max(most)
            })
            .collect_into_vec(&mut self.pushes);
        for axis in 0..3 {
            let column = grains.position[axis].par_iter_mut();
            column.zip(&self.pushes).for_each(|(x, push)| *x += push[axis]);
        }
    }
}
