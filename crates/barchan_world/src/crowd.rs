//! Spheres that a new guide must not overlap.

use glam::{DVec3, I64Vec3};

/// Marks the end of a bucket.
const END: u32 = u32::MAX;
/// Fewest buckets.
const BUCKETS: usize = 1024;

/// Spheres in a hash of cells, for overlap tests in constant time. Those much larger than the tested ones are few and are compared one by one.
#[derive(Debug)]
pub(crate) struct Crowd {
    /// Coordinates of cells are relative to this position [m].
    center: DVec3,
    /// Side of a cell [m]: no sphere in a cell reaches beyond the neighbors of that cell.
    side: f64,
    /// Largest radius of a sphere in a cell [m].
    largest: f64,
    /// First sphere of each bucket. A bucket may hold spheres of several cells.
    first: Vec<u32>,
    spheres: Vec<Sphere>,
    large: Vec<(DVec3, f64)>,
}

#[derive(Clone, Copy, Debug)]
struct Sphere {
    position: DVec3,
    radius: f64,
    /// Next sphere of the bucket.
    next: u32,
}

impl Crowd {
    /// No spheres yet, about `center` [m]: those of up to `largest` [m] lie in cells. Spheres of up to `tested` [m] will be compared.
    pub fn new(center: DVec3, largest: f64, tested: f64) -> Self {
        Self {
            center,
            side: largest + tested,
            largest,
            first: vec![END; BUCKETS],
            spheres: Vec::new(),
            large: Vec::new(),
        }
    }

    /// Adds a sphere.
    pub fn add(&mut self, position: DVec3, radius: f64) {
        if radius > self.largest {
            self.large.push((position, radius));
            return;
        }
        self.spheres.push(Sphere {
            position,
            radius,
            next: END,
        });
        if self.spheres.len() > self.first.len() {
            let buckets = 4 * self.first.len();
            self.first.clear();
            self.first.resize(buckets, END);
            (0..self.spheres.len()).for_each(|k| self.link(k));
        } else {
            self.link(self.spheres.len() - 1);
        }
    }

    /// Returns whether a sphere at `position` [m] overlaps one of them.
    pub fn overlaps(&self, position: DVec3, radius: f64) -> bool {
        let meets = |(other, r): (DVec3, f64)| position.distance(other) < radius + r;
        if self.large.iter().copied().any(meets) {
            return true;
        }
        let cell = self.cell(position);
        (0..27).any(|k| {
            let mut at = self.first[self.bucket(cell + I64Vec3::new(k % 3 - 1, k / 3 % 3 - 1, k / 9 - 1))];
            while at != END {
                let sphere = &self.spheres[at as usize];
                if meets((sphere.position, sphere.radius)) {
                    return true;
                }
                at = sphere.next;
            }
            false
        })
    }

    fn link(&mut self, k: usize) {
        let bucket = self.bucket(self.cell(self.spheres[k].position));
        self.spheres[k].next = std::mem::replace(&mut self.first[bucket], k as u32);
    }

    fn cell(&self, position: DVec3) -> I64Vec3 {
        ((position - self.center) / self.side).floor().as_i64vec3()
    }

    fn bucket(&self, cell: I64Vec3) -> usize {
        let mix = |hash: u64, x: i64| (hash ^ x as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
        let hash = cell.to_array().into_iter().fold(0, mix);
        hash as usize & (self.first.len() - 1)
    }
}

#[cfg(test)]
mod tests {
    use barchan_geometry::random::Stream;

    use super::*;

    #[test]
    fn overlaps_are_those_found_by_comparing_all() {
        let center = DVec3::new(1e3, -20.0, 0.5);
        let mut crowd = Crowd::new(center, 0.02, 0.015);
        let mut all: Vec<(DVec3, f64)> = Vec::new();
        let mut hits = 0;
        for k in 0..6000 {
            let mut stream = Stream::new(1, k);
            let position = center + 0.7 * stream.unit_cube();
            let radius = 0.005 + 0.01 * stream.unit();
            let expected = all.iter().any(|(other, r)| position.distance(*other) < radius + r);
            assert_eq!(crowd.overlaps(position, radius), expected, "{k}");
            hits += usize::from(expected);
            // Some are larger than what lies in cells.
            let radius = if k % 97 == 0 { 0.1 } else { radius };
            crowd.add(position, radius);
            all.push((position, radius));
        }
        assert!((1000..5500).contains(&hits), "{hits}");
    }
}
