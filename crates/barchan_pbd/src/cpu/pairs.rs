//! Pairs of guides that may touch before the next search, each once, in blocks for vector instructions.

use barchan_neighbors::Lists;
use barchan_world::{Friction, Guides};
use glam::{DVec3, Vec3, Vec4};
use rayon::prelude::*;

use super::{CHUNK, for_each_part};

/// Pairs of a block [-].
pub(crate) const LANES: usize = 8;
pub(crate) type Lane = [f32; LANES];

/// In place of a guide's number: no pair here.
const PADDING: u32 = u32::MAX;

/// What a block of pairs is from one search to the next.
#[derive(Clone, Copy, Debug)]
#[repr(align(32))]
pub(crate) struct Base {
    /// From the second guide's centre to the first's at the search [m].
    pub x: Lane,
    pub y: Lane,
    pub z: Lane,
    /// Sum of the radii [m].
    pub reach: Lane,
    pub mu_static: Lane,
    pub mu_kinetic: Lane,
    pub i: [u32; LANES],
    pub j: [u32; LANES],
}

/// What a block of pairs is for the time of a step: planes that the guides must not cross.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(32))]
pub(crate) struct Plane {
    /// Normal, towards the first guide [-].
    pub x: Lane,
    pub y: Lane,
    pub z: Lane,
    /// Gap to close [m] if neither moved in this step.
    pub gap: Lane,
    /// Gap at the start of the step [m].
    pub start: Lane,
    /// Stiffness [kg]; 0 for pairs that are apart.
    pub stiffness: Lane,
}

impl Base {
    /// A block without pairs.
    pub(crate) const EMPTY: Self = Self {
        x: [1.0; LANES],
        y: [0.0; LANES],
        z: [0.0; LANES],
        reach: [0.0; LANES],
        mu_static: [0.0; LANES],
        mu_kinetic: [0.0; LANES],
        i: [0; LANES],
        j: [0; LANES],
    };
}

/// All pairs. Pair `p` is lane `p % LANES` of block `p / LANES`. Those that a guide comes first in lie in a row; chunks of
/// guides start with a block of their own.
#[derive(Debug, Default)]
pub(crate) struct Pairs {
    pub bases: Vec<Base>,
    pub planes: Vec<Plane>,
    /// Impulse on the first guide [kg m].
    pub impulse: Vec<Vec4>,
    /// Displacement impulse of the stabilisation on the first guide [kg m], and its length.
    pub push: Vec<Vec4>,
    /// Guide `i` comes first in the pairs `first[i]..first[i + 1]`, padding included.
    pub first: Vec<u32>,
    /// Guide `i` comes second in the pairs `second[second_first[i]..second_first[i + 1]]`.
    pub second_first: Vec<u32>,
    pub second: Vec<u32>,
    /// The second guide of each pair, or [`PADDING`].
    pub others: Vec<u32>,
    /// First block of each chunk of guides, and the end.
    pub blocks: Vec<u32>,
}

/// What a pair's base is made of.
pub(crate) struct Geometry<'a> {
    pub guides: &'a Guides,
    /// Lengths of periodic axes [m]; 0 for open ones.
    pub periods: DVec3,
    /// Friction of each two materials, a row a material.
    pub friction: &'a [Friction],
    pub materials: usize,
}

impl Geometry<'_> {
    /// From guide `j` to guide `i`, the nearest image [m].
    fn between(&self, i: usize, j: usize) -> Vec3 {
        let Guides { position, offset, .. } = self.guides;
        let d = (position[i] - position[j]) + (offset[i] - offset[j]);
        if self.periods == DVec3::ZERO {
            return d;
        }
        let image = |d: f64, period: f64| {
            if period > 0.0 {
                d - period * (d / period).round()
            } else {
                d
            }
        };
        let d = d.as_dvec3();
        DVec3::new(
            image(d.x, self.periods.x),
            image(d.y, self.periods.y),
            image(d.z, self.periods.z),
        )
        .as_vec3()
    }
}

impl Pairs {
    /// Takes the pairs of `lists`, all without impulse.
    pub(crate) fn build(&mut self, lists: &Lists, geometry: &Geometry<'_>) {
        let n = geometry.guides.len();
        self.first.resize(n + 1, 0);
        self.first[1..]
            .par_chunks_mut(CHUNK)
            .enumerate()
            .for_each(|(chunk, first)| {
                for (i, first) in (chunk * CHUNK..).zip(first) {
                    *first = lists.of(i).iter().filter(|&&j| j as usize > i).count() as u32;
                }
            });
        self.sum_counts(n);
        self.bases
            .resize(self.blocks.last().map_or(0, |&b| b as usize), Base::EMPTY);
        let pairs = self.bases.len() * LANES;
        self.planes.resize(self.bases.len(), Plane::default());
        self.push.resize(pairs, Vec4::ZERO);
        self.impulse.resize(pairs, Vec4::ZERO);
        self.impulse
            .par_chunks_mut(CHUNK * LANES)
            .for_each(|impulse| impulse.fill(Vec4::ZERO));
        self.others.resize(pairs, PADDING);

        let first = &self.first;
        for_each_part(&mut self.bases, &self.blocks, &|chunk, bases| {
            let start = first[chunk * CHUNK] as usize;
            bases.fill(Base::EMPTY);
            for i in chunk * CHUNK..n.min((chunk + 1) * CHUNK) {
                let others = lists.of(i).iter().filter(|&&j| j as usize > i);
                for (p, &j) in (first[i] as usize - start..).zip(others) {
                    let (d, radius) = (geometry.between(i, j as usize), &geometry.guides.radius);
                    let material = |i: usize| usize::from(geometry.guides.material[i]);
                    let friction = geometry.friction[material(i) * geometry.materials + material(j as usize)];
                    let (base, l) = (&mut bases[p / LANES], p % LANES);
                    (base.x[l], base.y[l], base.z[l]) = (d.x, d.y, d.z);
                    base.reach[l] = radius[i] + radius[j as usize];
                    (base.mu_static[l], base.mu_kinetic[l]) = (friction.r#static, friction.kinetic);
                    (base.i[l], base.j[l]) = (i as u32, j);
                }
            }
        });

        self.others
            .par_chunks_mut(CHUNK * LANES)
            .zip(self.bases.par_chunks(CHUNK))
            .for_each(|(others, bases)| {
                for (others, base) in others.as_chunks_mut::<LANES>().0.iter_mut().zip(bases) {
                    *others = std::array::from_fn(|l| if base.reach[l] > 0.0 { base.j[l] } else { PADDING });
                }
            });
        self.find_seconds(n);
    }

    /// Finds the pairs that each guide comes second in: a counting sort, in one thread, since it takes less than a pass.
    fn find_seconds(&mut self, n: usize) {
        let Self {
            others,
            second,
            second_first,
            ..
        } = self;
        second_first.clear();
        second_first.resize(n + 2, 0);
        for &j in others.iter().filter(|&&j| j != PADDING) {
            second_first[j as usize + 2] += 1;
        }
        for i in 2..n + 2 {
            second_first[i] += second_first[i - 1];
        }
        second.resize(second_first[n + 1] as usize, 0);
        for (p, &j) in (0..).zip(&*others).filter(|(_, j)| **j != PADDING) {
            let place = &mut second_first[j as usize + 1];
            second[*place as usize] = p;
            *place += 1;
        }
        second_first.truncate(n + 1);
    }

    /// Counts become places, each chunk of guides starting with a new block.
    fn sum_counts(&mut self, n: usize) {
        self.first[0] = 0;
        self.blocks.clear();
        for i in 0..n {
            if i % CHUNK == 0 {
                self.first[i] = self.first[i].next_multiple_of(LANES as u32);
                self.blocks.push(self.first[i] / LANES as u32);
            }
            self.first[i + 1] += self.first[i];
        }
        self.first[n] = self.first[n].next_multiple_of(LANES as u32);
        self.blocks.push(self.first[n] / LANES as u32);
    }

    /// The sum of what `of_pairs` gives guide `i`, which it gives the other guide with the opposite sign.
    #[inline(always)]
    pub(crate) fn sum(&self, of_pairs: &[Vec4], i: usize) -> Vec4 {
        let own = &of_pairs[self.first[i] as usize..self.first[i + 1] as usize];
        let mut sum = own.iter().fold(Vec4::ZERO, |sum, &p| sum + p);
        for &p in &self.second[self.second_first[i] as usize..self.second_first[i + 1] as usize] {
            sum -= of_pairs[p as usize];
        }
        sum
    }

    /// The sum of the impulses on guide `i`, and in the last place the number of its contacts [-] as `place_planes` left
    /// them.
    #[inline(always)]
    pub(crate) fn sum_and_count(&self, i: usize) -> Vec4 {
        let own = &self.impulse[self.first[i] as usize..self.first[i + 1] as usize];
        let mut sum = own.iter().fold(Vec4::ZERO, |sum, &p| sum + p);
        for &p in &self.second[self.second_first[i] as usize..self.second_first[i + 1] as usize] {
            sum += self.impulse[p as usize] * Vec4::new(-1.0, -1.0, -1.0, 1.0);
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use barchan_neighbors::{ContactRule, Grid, jittered_lattice};
    use barchan_world::Guide;

    #[test]
    fn every_pair_is_there_once_and_both_of_its_guides_know_it() {
        let mut guides = Guides::default();
        for (id, position) in (0..).zip(jittered_lattice(2000, 0.04, 0.4, 3)) {
            guides.push(Guide {
                id,
                position,
                radius: 0.015 + 0.001 * (id % 7) as f32,
                ..Guide::default()
            });
        }
        let rule = ContactRule {
            scale: 1.0,
            margin: 0.004,
        };
        let (mut grid, mut lists, mut pairs) = (Grid::new(), Lists::new(), Pairs::default());
        grid.build(&guides.position, rule.largest_reach(&guides.radius).unwrap())
            .unwrap();
        lists.find_contacts(&grid, &guides.radius, rule).unwrap();
        let friction = [Friction {
            r#static: 0.5,
            kinetic: 0.4,
        }];
        let geometry = Geometry {
            guides: &guides,
            periods: DVec3::ZERO,
            friction: &friction,
            materials: 1,
        };
        pairs.build(&lists, &geometry);
        let mut expected = 0;
        for i in 0..guides.len() {
            for j in i + 1..guides.len() {
                let reach = rule.reach(guides.radius[i], guides.radius[j]);
                let near = (guides.position[i] - guides.position[j]).length_squared() < reach * reach;
                let own = pairs.first[i] as usize..pairs.first[i + 1] as usize;
                let of_pair = |&p: &usize| pairs.others[p] == j as u32;
                let found: Vec<usize> = own.filter(of_pair).collect();
                assert_eq!(found.len(), usize::from(near), "{i} {j}");
                if let [p] = found[..] {
                    let second = &pairs.second[pairs.second_first[j] as usize..pairs.second_first[j + 1] as usize];
                    assert_eq!(second.iter().filter(|&&q| q as usize == p).count(), 1);
                    assert_eq!(pairs.bases[p / LANES].i[p % LANES], i as u32);
                    expected += 1;
                }
            }
        }
        assert_eq!(pairs.second.len(), expected);
    }
}
