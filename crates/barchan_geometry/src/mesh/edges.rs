//! Adjacency and orientation of triangles across edges.

use rayon::slice::ParallelSliceMut;

/// One side of a triangle.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Side {
    /// The edge: its smaller vertex index above its larger one.
    edge: u64,
    triangle: u32,
    /// The triangle runs from the smaller index to the larger.
    forward: bool,
}

/// The sides of all triangles, sorted by edge.
pub(super) struct Edges(Vec<Side>);

/// Statistics of a surface's edges.
pub(super) struct EdgeCounts {
    /// Edges of one triangle.
    pub(super) open: usize,
    /// Edges of more than two triangles.
    pub(super) non_manifold: usize,
    /// Edges of two triangles that run along it in the same direction.
    pub(super) inconsistent: usize,
    /// Every edge is used equally often in both directions: the surface encloses a volume.
    pub(super) closed: bool,
}

impl Edges {
    pub(super) fn of(triangles: &[[u32; 3]]) -> Self {
        let mut sides: Vec<Side> = triangles
            .iter()
            .enumerate()
            .flat_map(|(t, &[a, b, c])| {
                [(a, b), (b, c), (c, a)].map(|(from, to)| Side {
                    edge: u64::from(from.min(to)) << 32 | u64::from(from.max(to)),
                    triangle: t as u32,
                    forward: from < to,
                })
            })
            .collect();
        sides.par_sort_unstable();
        Self(sides)
    }

    fn groups(&self) -> impl Iterator<Item = &[Side]> {
        self.0.chunk_by(|a, b| a.edge == b.edge)
    }

    /// Returns the two triangles at each edge that has no others.
    pub(super) fn pairs(&self) -> impl Iterator<Item = [u32; 2]> {
        self.groups().filter_map(|sides| match sides {
            [a, b] => Some([a.triangle, b.triangle]),
            _ => None,
        })
    }

    pub(super) fn count(&self) -> EdgeCounts {
        let mut counts = EdgeCounts {
            open: 0,
            non_manifold: 0,
            inconsistent: 0,
            closed: true,
        };
        for sides in self.groups() {
            let forward = sides.iter().filter(|s| s.forward).count();
            counts.closed &= 2 * forward == sides.len();
            match sides.len() {
                1 => counts.open += 1,
                2 => counts.inconsistent += usize::from(forward != 1),
                _ => counts.non_manifold += 1,
            }
        }
        counts
    }

    /// Flips triangles so that neighbors across manifold edges face the same side, and returns the number of flips. In
    /// each connected part the majority wins, at a tie its first triangle. Parts that cannot be oriented (a Möbius
    /// strip) stay unchanged.
    pub(super) fn orient(&mut self, triangles: &mut [[u32; 3]]) -> usize {
        let neighbors = self.neighbors(triangles.len());
        let mut against: Vec<Option<bool>> = vec![None; triangles.len()];
        let mut turn = vec![false; triangles.len()];
        for seed in 0..triangles.len() {
            if against[seed].is_some() {
                continue;
            }
            against[seed] = Some(false);
            let mut part = vec![seed];
            let mut orientable = true;
            let mut next = 0;
            while let Some(&t) = part.get(next) {
                next += 1;
                let here = against[t].expect("set when it was added");
                for &(neighbor, opposed) in neighbors[t].iter().flatten() {
                    let expected = here != opposed;
                    match against[neighbor as usize] {
                        None => {
                            against[neighbor as usize] = Some(expected);
                            part.push(neighbor as usize);
                        }
                        Some(found) => orientable &= found == expected,
                    }
                }
            }
            let opposed = part.iter().filter(|&&t| against[t] == Some(true)).count();
            if orientable && opposed > 0 {
                let minority = 2 * opposed <= part.len();
                for &t in &part {
                    turn[t] = against[t] == Some(minority);
                }
            }
        }

        for side in &mut self.0 {
            side.forward ^= turn[side.triangle as usize];
        }
        for (triangle, _) in triangles.iter_mut().zip(&turn).filter(|&(_, &turn)| turn) {
            triangle.swap(1, 2);
        }
        turn.iter().filter(|&&t| t).count()
    }

    /// Returns for each triangle those across its manifold edges; true for those that face the other side.
    fn neighbors(&self, triangles: usize) -> Vec<[Option<(u32, bool)>; 3]> {
        let mut neighbors = vec![[None; 3]; triangles];
        let mut join = |a: &Side, b: &Side| {
            let free = neighbors[a.triangle as usize].iter_mut().find(|slot| slot.is_none());
            *free.expect("a triangle has three sides") = Some((b.triangle, a.forward == b.forward));
        };
        for sides in self.groups() {
            if let [a, b] = sides {
                join(a, b);
                join(b, a);
            }
        }
        neighbors
    }
}

/// Counts the connected components, where triangles with a common edge are connected.
pub(super) fn count_components(edges: &Edges, triangles: usize) -> usize {
    let mut parent: Vec<u32> = (0..triangles as u32).collect();
    let mut components = triangles;
    for sides in edges.groups() {
        for pair in sides.windows(2) {
            let (a, b) = (find(&mut parent, pair[0].triangle), find(&mut parent, pair[1].triangle));
            if a != b {
                parent[a.max(b) as usize] = a.min(b);
                components -= 1;
            }
        }
    }
    components
}

/// Returns the representative of `t`, halving the path to it.
fn find(parent: &mut [u32], mut t: u32) -> u32 {
    while parent[t as usize] != t {
        parent[t as usize] = parent[parent[t as usize] as usize];
        t = parent[t as usize];
    }
    t
}
