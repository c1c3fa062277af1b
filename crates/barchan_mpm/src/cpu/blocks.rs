//! Blocks that hold guides, and blocks of nodes that guides reach.

use rayon::prelude::*;

use super::lattice::{Lattice, key, of_key};
use super::particles::Particle;
use super::{BLOCK, MARGIN};

/// Blocks around a block, itself included [-].
pub(crate) const AROUND: usize = 27;
/// No block.
pub(crate) const NONE: u32 = u32::MAX;
/// Guides that a thread visits at least [-].
const CHUNK: usize = 1024;

/// Steps along x, y and z to neighbor `k` of a block.
pub(crate) fn steps(k: usize) -> [i32; 3] {
    [k / 9, k / 3 % 3, k % 3].map(|step| step as i32 - 1)
}

/// Blocks with guides, blocks of nodes, and the neighbors of both.
#[derive(Debug, Default)]
pub(crate) struct Blocks {
    /// Key of each block with guides, in their order.
    pub keys: Vec<u64>,
    /// First guide of each block, and the number of guides.
    pub starts: Vec<u32>,
    /// Blocks of nodes, in their order.
    pub nodes: Vec<u64>,
    /// Block of nodes at each of the steps from a block with guides.
    pub around: Vec<[u32; AROUND]>,
    /// Block with guides from which each of the steps leads to a block of nodes.
    pub from: Vec<[u32; AROUND]>,
    order: Vec<(u64, u32)>,
    spare: Vec<Particle>,
}

impl Blocks {
    /// Returns true if all guides are near the blocks that they were sorted into.
    pub(crate) fn hold(particles: &[Particle], lattice: &Lattice) -> bool {
        let (low, high) = (0.5 - MARGIN as f32, 0.5 + (BLOCK + MARGIN) as f32);
        let per_spacing = 1.0 / lattice.spacing;
        let is_near = |particle: &Particle| {
            let cell = particle.local * per_spacing;
            cell.min_element() >= low && cell.max_element() < high
        };
        particles.par_iter().with_min_len(CHUNK).all(is_near)
    }

    /// Sorts guides into blocks; those of a block keep their order.
    pub(crate) fn sort(&mut self, particles: &mut Vec<Particle>, lattice: &Lattice) {
        let block = lattice.block();
        let reach = 0.5 * lattice.spacing;
        particles.par_iter_mut().with_min_len(CHUNK).for_each(|particle| {
            let gone = ((particle.local - reach) / block).floor();
            particle.local -= gone * block;
            particle.block = lattice.beside(particle.block, gone.to_array().map(|x| x as i32));
        });
        let keyed = |(k, particle): (usize, &Particle)| (key(particle.block), k as u32);
        particles
            .par_iter()
            .with_min_len(CHUNK)
            .enumerate()
            .map(keyed)
            .collect_into_vec(&mut self.order);
        self.order.par_sort_unstable();
        self.order
            .par_iter()
            .with_min_len(CHUNK)
            .map(|&(_, k)| particles[k as usize])
            .collect_into_vec(&mut self.spare);
        std::mem::swap(particles, &mut self.spare);
        self.find_blocks();
        self.find_nodes(lattice);
    }

    fn find_blocks(&mut self) {
        self.keys.clear();
        self.starts.clear();
        for (k, &(key, _)) in (0..).zip(&self.order) {
            if self.keys.last() != Some(&key) {
                self.keys.push(key);
                self.starts.push(k);
            }
        }
        self.starts.push(self.order.len() as u32);
    }

    fn find_nodes(&mut self, lattice: &Lattice) {
        let beside = |key_of: u64, sign: i32| {
            let at = of_key(key_of);
            (0..AROUND).map(move |k| key(lattice.beside(at, steps(k).map(|step| sign * step))))
        };
        self.nodes.clear();
        self.nodes.extend(self.keys.iter().flat_map(|&key| beside(key, 1)));
        self.nodes.sort_unstable();
        self.nodes.dedup();
        let find = |among: &[u64], key: u64| among.binary_search(&key).map_or(NONE, |k| k as u32);
        let all = |among: &[u64], of: u64, sign: i32| {
            let mut found = [NONE; AROUND];
            for (found, key) in found.iter_mut().zip(beside(of, sign)) {
                *found = find(among, key);
            }
            found
        };
        self.around.clear();
        self.around
            .extend(self.keys.iter().map(|&key| all(&self.nodes, key, 1)));
        self.from.clear();
        self.from.extend(self.nodes.iter().map(|&key| all(&self.keys, key, -1)));
    }

    /// Guides of block `b`.
    pub(crate) fn range(&self, b: usize) -> std::ops::Range<usize> {
        self.starts[b] as usize..self.starts[b + 1] as usize
    }
}
