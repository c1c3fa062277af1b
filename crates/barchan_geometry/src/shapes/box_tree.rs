//! A bounding volume hierarchy: finds the shapes that may be near a point.

use glam::DVec3;

use crate::Aabb;

/// Largest number of boxes in a leaf.
const LEAF: usize = 4;

/// A tree over numbered boxes.
#[derive(Clone, Debug)]
pub(super) struct BoxTree {
    /// Boxes that are empty or unbounded: always visited.
    endless: Vec<usize>,
    /// Indices of the others, leaf by leaf.
    order: Vec<usize>,
    /// Node 0 is the root; a node is followed by its left child.
    nodes: Vec<Node>,
}

#[derive(Clone, Debug)]
struct Node {
    bounds: Aabb,
    content: Content,
}

#[derive(Clone, Copy, Debug)]
enum Content {
    /// Range in the order, end exclusive.
    Leaf(usize, usize),
    /// The right child.
    Inner(usize),
}

impl BoxTree {
    pub fn new(boxes: &[Aabb]) -> Self {
        let has_end = |k: &usize| boxes[*k].is_finite() && !boxes[*k].is_empty();
        let (order, endless) = (0..boxes.len()).partition(has_end);
        let mut tree = Self {
            endless,
            order,
            nodes: Vec::new(),
        };
        if !tree.order.is_empty() {
            tree.build(boxes, 0, tree.order.len());
        }
        tree
    }

    /// Appends the node over the range `first` to `last` of the order, and all nodes below it.
    fn build(&mut self, boxes: &[Aabb], first: usize, last: usize) {
        let items = &mut self.order[first..last];
        let bounds = items.iter().fold(Aabb::EMPTY, |all, &k| all.union(&boxes[k]));
        let own = self.nodes.len();
        let content = Content::Leaf(first, last);
        self.nodes.push(Node { bounds, content });
        if last - first <= LEAF {
            return;
        }
        let middle = |k: usize| 0.5 * boxes[k].min + 0.5 * boxes[k].max;
        let spread = Aabb::of_points(items.iter().map(|&k| middle(k)));
        let axis = (0.5 * spread.max - 0.5 * spread.min).max_position();
        let half = items.len() / 2;
        items.select_nth_unstable_by(half, |&a, &b| {
            middle(a)[axis].total_cmp(&middle(b)[axis]).then(a.cmp(&b))
        });
        self.build(boxes, first, first + half);
        self.nodes[own].content = Content::Inner(self.nodes.len());
        self.build(boxes, first + half, last);
    }

    /// Calls `visit` with the indices of all boxes that contain `p` [m] or lie within a decreasing distance [m] of it:
    /// infinite at first, then the last result of `visit`. Boxes farther away may be visited, too.
    pub fn search(&self, p: DVec3, mut visit: impl FnMut(usize) -> f64) {
        let mut reach = f64::INFINITY;
        for &k in &self.endless {
            reach = visit(k);
        }
        if !self.nodes.is_empty() {
            self.descend(0, p, &mut reach, &mut visit);
        }
    }

    fn descend(&self, number: usize, p: DVec3, reach: &mut f64, visit: &mut impl FnMut(usize) -> f64) {
        match self.nodes[number].content {
            Content::Leaf(first, last) => {
                for &k in &self.order[first..last] {
                    *reach = visit(k);
                }
            }
            Content::Inner(right) => {
                let mut children = [number + 1, right].map(|child| (self.distance(child, p), child));
                if children[1].0 < children[0].0 {
                    children.swap(0, 1);
                }
                for (distance, child) in children {
                    if distance <= reach.max(0.0) || distance.is_nan() {
                        self.descend(child, p, reach, visit);
                    }
                }
            }
        }
    }

    fn distance(&self, node: usize, p: DVec3) -> f64 {
        let Aabb { min, max } = self.nodes[node].bounds;
        (p - p.clamp(min, max)).length()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Stream;

    #[test]
    fn the_nearest_box_is_found_after_few_visits() {
        let boxes: Vec<Aabb> = (0..5000)
            .map(|k| {
                let middle = Stream::new(3, k).unit_cube();
                Aabb::new(middle, middle).grown(0.01 * Stream::new(4, k).unit())
            })
            .chain([Aabb::EMPTY])
            .collect();
        let tree = BoxTree::new(&boxes);
        let distance = |k: usize, p: DVec3| match boxes[k].is_empty() {
            true => f64::INFINITY,
            false => (p - p.clamp(boxes[k].min, boxes[k].max)).length(),
        };
        let mut visits = 0;
        for n in 0..200 {
            let p = 2.0 * Stream::new(5, n).unit_cube() - 0.5;
            let mut least = f64::INFINITY;
            tree.search(p, |k| {
                visits += 1;
                least = least.min(distance(k, p));
                least
            });
            let expected = (0..boxes.len()).map(|k| distance(k, p)).fold(f64::INFINITY, f64::min);
            assert_eq!(least, expected);
        }
        assert!(visits < 200 * 100, "{visits} visits");
    }
}
