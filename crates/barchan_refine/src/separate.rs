//! Flowing grains that lie inside each other part.
//!
//! Interpolated flow mixes grains until they lie as random points do, many inside each other. In turns, the grains of a window
//! of memory, which lie near each other, push those apart that are too close. Pairs part no farther than they move against each other
//! meanwhile: what rests or moves as one is left alone. Windows begin half a window later in every other round, and sorting moves
//! their ends, so that few pairs are never in one window.

#![allow(clippy::needless_range_loop, reason = "axes and columns of several arrays at once")]

use barchan_world::{Archive, ArchiveError};
use rayon::prelude::*;

use crate::advect::{CHUNK, GROUP};
use crate::grains::Grains;

/// Steps from one turn of a window to its next.
const PERIOD: usize = 16;
/// Distance below which grains part, in radii [-]. Twice the radius would be the touching of all, which takes many passes; spheres of
/// this size take up less than a quarter of a bed, and find room at once.
const REACH: f32 = 1.5;
/// Farthest that a grain is pushed in a turn, in radii [-].
const MAX_PUSH: f32 = 0.5;
/// Way that the grains of a window go against each other between turns below which none parts, in radii [-].
const MIN_SHEAR: f32 = 0.25;
/// Cells of a window [-], at most: one that is wider is in flight, or far from sorted.
const MAX_CELLS: usize = 8192;

/// Parts grains, window by window.
#[derive(Debug, Default)]
pub(crate) struct Separator {
    /// Steps, modulo two rounds.
    step: u32,
}

/// Columns of a window.
struct Window<'a> {
    position: [&'a mut [f32]; 3],
    velocity: [&'a [f32]; 3],
    /// Squared speed of the fastest grain of each chunk [m²/s²].
    fastest: &'a mut [f32],
}

/// Grains of a window in cells.
#[derive(Debug, Default)]
struct Cells {
    key: Vec<u16>,
    /// Grains of cell k are `first[k]..first[k + 1]` of `order`.
    first: Vec<u16>,
    order: Vec<u16>,
    /// Positions in the order of cells [m].
    place: [Vec<f32>; 3],
}

impl Separator {
    /// Parts the grains, of about `radius` [m], of the windows whose turn it is, after a step of `step` [s]. The `fastest` speeds of their
    /// chunks then include the way that they were pushed.
    pub fn advance(&mut self, grains: &mut Grains, fastest: &mut [f32], radius: f32, step: f32) {
        let turn = self.step as usize;
        self.step = (self.step + 1) % (2 * PERIOD as u32);
        let start = if turn < PERIOD { 0 } else { GROUP / 2 };
        if grains.len() <= start {
            return;
        }
        let [x, y, z] = grains.position.each_mut().map(|column| &mut column[start..]);
        let [u, v, w] = grains.velocity.each_ref().map(|column| &column[start..]);
        let windows = x
            .par_chunks_mut(GROUP)
            .zip(y.par_chunks_mut(GROUP))
            .zip(z.par_chunks_mut(GROUP))
            .zip(u.par_chunks(GROUP).zip(v.par_chunks(GROUP)).zip(w.par_chunks(GROUP)))
            .zip(fastest[start / CHUNK..].par_chunks_mut(GROUP / CHUNK));
        windows
            .enumerate()
            .filter(|(k, _)| k % PERIOD == turn % PERIOD)
            .for_each_init(Cells::default, |cells, (_, ((((x, y), z), ((u, v), w)), fastest))| {
                if fastest.iter().any(|speed| *speed > 0.0) {
                    let window = Window {
                        position: [x, y, z],
                        velocity: [u, v, w],
                        fastest,
                    };
                    window.part(cells, radius, step);
                }
            });
    }

    pub fn save(&self, archive: &mut Archive) {
        archive.put("grains.turn", &[self.step]);
    }

    pub fn load(&mut self, archive: &Archive) -> Result<(), ArchiveError> {
        self.step = archive.get_one_fit("grains.turn", |turn| *turn < 2 * PERIOD as u32)?;
        Ok(())
    }
}

impl Window<'_> {
    /// Largest difference of velocities along an axis [m/s].
    fn shear(&self) -> f32 {
        let range = |column: &&[f32]| {
            let (low, high) = range(column);
            high - low
        };
        self.velocity.iter().map(range).fold(0.0, f32::max)
    }

    fn part(self, cells: &mut Cells, radius: f32, step: f32) {
        let reach = REACH * radius;
        let meanwhile = PERIOD as f32 * step;
        if meanwhile * self.shear() < MIN_SHEAR * radius {
            return;
        }
        let Some(size) = cells.sort(&self.position, reach) else {
            return;
        };
        let ([x, y, z], [u, v, w]) = (self.position, self.velocity);
        let mut pushed = [0.0f32; GROUP / CHUNK];
        for i in 0..x.len() {
            if u[i] == 0.0 && v[i] == 0.0 && w[i] == 0.0 {
                continue;
            }
            let (here, key) = ([x[i], y[i], z[i]], usize::from(cells.key[i]));
            let mut push = [0.0; 3];
            cells.near(key, size, |k| {
                let away: [f32; 3] = std::array::from_fn(|axis| here[axis] - cells.place[axis][k]);
                let squared = away[0] * away[0] + away[1] * away[1] + away[2] * away[2];
                if squared < reach * reach && squared > 0.0 {
                    let j = usize::from(cells.order[k]);
                    let against = (u[i] - u[j]).powi(2) + (v[i] - v[j]).powi(2) + (w[i] - w[j]).powi(2);
                    let distance = squared.sqrt();
                    let way = (0.5 * (reach - distance)).min(meanwhile * against.sqrt());
                    for axis in 0..3 {
                        push[axis] += away[axis] * (way / distance);
                    }
                }
            });
            let length = (push[0] * push[0] + push[1] * push[1] + push[2] * push[2]).sqrt();
            if length > 0.0 {
                let share = (MAX_PUSH * radius / length).min(1.0);
                for (column, push) in [&mut *x, &mut *y, &mut *z].into_iter().zip(push) {
                    column[i] += share * push;
                }
                pushed[i / CHUNK] = pushed[i / CHUNK].max(share * length);
            }
        }
        for (fastest, pushed) in self.fastest.iter_mut().zip(pushed) {
            if pushed > 0.0 {
                *fastest = (fastest.sqrt() + pushed / step).powi(2);
            }
        }
    }
}

impl Cells {
    /// Sorts grains at `position` into cells of `side` [m]. Returns how many there are along each axis; nothing if they are too many.
    fn sort(&mut self, position: &[&mut [f32]; 3], side: f32) -> Option<[usize; 3]> {
        let mut low = [0.0; 3];
        let mut size = [0; 3];
        for axis in 0..3 {
            let (first, last) = range(position[axis]);
            // A cell at each end has no grains, so that all others have neighbors.
            low[axis] = first;
            size[axis] = ((last - first) / side) as usize + 3;
        }
        let count = size[0].saturating_mul(size[1]).saturating_mul(size[2]);
        if count > MAX_CELLS {
            return None;
        }
        let [x, y, z] = position;
        let cell = |c: f32, axis: usize| ((c - low[axis]) / side) as usize + 1;
        self.first.clear();
        self.first.resize(count + 1, 0);
        self.key.clear();
        for ((&x, &y), &z) in x.iter().zip(y.iter()).zip(z.iter()) {
            let key = (cell(z, 2) * size[1] + cell(y, 1)) * size[0] + cell(x, 0);
            self.first[key] += 1;
            self.key.push(key as u16);
        }
        let mut sum = 0;
        for first in &mut self.first {
            sum += *first;
            *first = sum;
        }
        let n = x.len();
        self.order.resize(n, 0);
        for column in &mut self.place {
            column.resize(n, 0.0);
        }
        for i in (0..n).rev() {
            let at = &mut self.first[usize::from(self.key[i])];
            *at -= 1;
            let at = usize::from(*at);
            self.order[at] = i as u16;
            for axis in 0..3 {
                self.place[axis][at] = position[axis][i];
            }
        }
        Some(size)
    }

    /// Visits the grains, by their place in the order of cells, of the cell `key` and those around it.
    #[inline(always)]
    fn near(&self, key: usize, [columns, rows, _]: [usize; 3], mut visit: impl FnMut(usize)) {
        for layer in [key - columns * rows, key, key + columns * rows] {
            for row in [layer - columns, layer, layer + columns] {
                for k in self.first[row - 1]..self.first[row + 2] {
                    visit(usize::from(k));
                }
            }
        }
    }
}

/// Smallest and largest of `values`.
fn range(values: &[f32]) -> (f32, f32) {
    let wider = |(low, high): (f32, f32), &x: &f32| (low.min(x), high.max(x));
    values.iter().fold((f32::INFINITY, f32::NEG_INFINITY), wider)
}

#[cfg(test)]
mod tests {
    use super::*;
    use barchan_geometry::random::Stream;
    use glam::Vec3;

    /// So many grains of radius 1 m in a cube as a packed bed has, sorted by nothing, which move apart if `flows`.
    fn crowd(count: u32, flows: bool) -> Grains {
        let side = (f64::from(count) * 4.19 / 0.6).cbrt();
        let mut grains = Grains::default();
        for id in 0..count {
            let mut stream = Stream::new(5, u64::from(id));
            let place = (side * stream.unit_cube()).as_vec3();
            let own = if flows {
                stream.unit_cube().as_vec3()
            } else {
                Vec3::ZERO
            };
            grains.push(place, Vec3::X + own, id, 0);
        }
        grains
    }

    fn part(grains: &mut Grains, turns: usize) {
        let mut separator = Separator::default();
        let mut fastest = vec![9.0; grains.len().div_ceil(CHUNK)];
        for _ in 0..turns {
            separator.advance(grains, &mut fastest, 1.0, 0.5);
        }
    }

    fn tight(grains: &Grains) -> f64 {
        let places: Vec<Vec3> = (0..grains.len()).map(|i| grains.place(i)).collect();
        let nearest = crate::measures::nearest_distances(&places, 3.0);
        crate::measures::share_below(&nearest, 1.0)
    }

    #[test]
    fn flowing_grains_part_and_those_that_move_as_one_stay() {
        let mut flowing = crowd(GROUP as u32, true);
        let before = tight(&flowing);
        part(&mut flowing, 1);
        assert!(before > 0.35 && tight(&flowing) < 0.05, "{before} {}", tight(&flowing));
        let start = crowd(GROUP as u32, false);
        let mut rigid = start.clone();
        part(&mut rigid, 1);
        assert_eq!(rigid, start);
    }

    #[test]
    fn a_grain_at_rest_is_not_pushed_but_others_part_from_it() {
        let mut grains = Grains::default();
        grains.push(Vec3::ZERO, Vec3::ZERO, 0, 0);
        grains.push(Vec3::X, Vec3::Y, 1, 0);
        part(&mut grains, 1);
        assert_eq!(grains.place(0), Vec3::ZERO);
        // Half of what they lack to 1.5 radii.
        assert_eq!(grains.place(1), 1.25 * Vec3::X);
    }

    #[test]
    fn every_window_has_its_turn_and_pushes_count_as_speed() {
        // The tail of a window is in the middle of one of the other round.
        for count in [3 * GROUP, 8 * GROUP + 100] {
            let mut grains = crowd(count as u32, true);
            crate::order::Sorter::default().sort(&mut grains, 0.6 / 4.19);
            let start = grains.clone();
            part(&mut grains, 2 * PERIOD);
            let moved = |i: &usize| grains.place(*i) != start.place(*i);
            assert!((0..count).filter(moved).count() > count / 50, "{count}");
        }
        let mut pair = Grains::default();
        pair.push(Vec3::ZERO, Vec3::Y, 0, 0);
        pair.push(Vec3::X, Vec3::ZERO, 1, 0);
        let mut fastest = [1.0];
        Separator::default().advance(&mut pair, &mut fastest, 1.0, 0.5);
        // A quarter of a meter in half a second, besides its own meter per second.
        assert_eq!(fastest[0], 1.5f32.powi(2));
    }
}
