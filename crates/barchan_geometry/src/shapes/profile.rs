//! A simple polygon in the half plane right of the axis, and the exact signed distance to it.

use glam::DVec2;

use super::ShapeError;

/// The edges of a polygon that are part of the surface: all except those on the axis x = 0. Counter-clockwise.
#[derive(Clone, Debug)]
pub(super) struct Profile {
    edges: Vec<Edge>,
}

#[derive(Clone, Copy, Debug)]
struct Edge {
    start: DVec2,
    end: DVec2,
    along: DVec2,
    length_squared: f64,
    /// Lowest and highest y [m].
    low: f64,
    high: f64,
}

/// Relative rounding error of a bound [-].
const ROUNDING: f64 = 1e-12;

impl Edge {
    /// Returns the position on the edge, 0 to 1, of the point nearest to `q`, and `q` relative to it.
    fn nearest(&self, q: DVec2) -> (f64, DVec2) {
        let from_start = q - self.start;
        let t = (from_start.dot(self.along) / self.length_squared).clamp(0.0, 1.0);
        (t, from_start - t * self.along)
    }

    /// Returns true if the edge may be nearer to `q` than the root of `squared` [m²]; excludes many edges by their
    /// height.
    fn may_be_nearer(&self, q: DVec2, squared: f64) -> bool {
        let beside = (self.low - q.y).max(q.y - self.high).max(0.0);
        beside * beside * (1.0 - ROUNDING) < squared
    }

    /// Returns true if a ray from `q` toward +x crosses the edge; its lower end counts, its upper end does not.
    fn is_crossed_by_ray(&self, q: DVec2) -> bool {
        // Compared without arithmetic, so that the two edges at a corner always agree on which side of it `q` is.
        let straddles = (q.y < self.start.y) != (q.y < self.end.y);
        straddles && ((q - self.start).perp_dot(self.along) < 0.0) == (self.along.y > 0.0)
    }
}

impl Profile {
    /// Creates the polygon through `points`, which are finite with x >= 0; checks that it has an inside.
    pub(super) fn new(points: &[DVec2]) -> Result<Self, ShapeError> {
        let mut corners = points.to_vec();
        corners.dedup();
        while corners.len() > 1 && corners.first() == corners.last() {
            corners.pop();
        }
        if corners.len() < 3 {
            return Err(ShapeError::FewPoints { count: corners.len() });
        }
        // Relative to one corner, because a small profile far up the axis would lose its area to cancellation.
        let origin = corners[0];
        let twice_areas = || sides(&corners).map(|(a, b)| (a - origin).perp_dot(b - origin));
        if twice_areas().all(|area| area == 0.0) {
            return Err(ShapeError::NoArea);
        }
        check_simple(&corners)?;
        let twice_area: f64 = twice_areas().sum();
        if twice_area < 0.0 {
            corners.reverse();
        }
        let edges = sides(&corners)
            .filter(|(a, b)| a.x > 0.0 || b.x > 0.0)
            .map(|(start, end)| Edge {
                start,
                end,
                along: end - start,
                length_squared: start.distance_squared(end),
                low: start.y.min(end.y),
                high: start.y.max(end.y),
            })
            .collect();
        Ok(Self { edges })
    }

    /// Returns the signed distance [m] from `q`, negative inside.
    pub(super) fn distance(&self, q: DVec2) -> f64 {
        let mut least = f64::INFINITY;
        let mut inside = false;
        for edge in &self.edges {
            if edge.may_be_nearer(q, least) {
                least = least.min(edge.nearest(q).1.length_squared());
            }
            inside ^= edge.is_crossed_by_ray(q);
        }
        if inside { -least.sqrt() } else { least.sqrt() }
    }

    /// Returns the outward unit normal [-] at `q`.
    pub(super) fn normal(&self, q: DVec2) -> DVec2 {
        let mut least = f64::INFINITY;
        let mut inside = false;
        let mut normal = DVec2::X;
        for edge in &self.edges {
            inside ^= edge.is_crossed_by_ray(q);
            if !edge.may_be_nearer(q, least) {
                continue;
            }
            let (t, offset) = edge.nearest(q);
            if offset.length_squared() < least {
                least = offset.length_squared();
                let face = -edge.along.perp() / edge.length_squared.sqrt();
                // Beside an edge its own normal has all digits; the offset is needed only around a corner.
                normal = if t > 0.0 && t < 1.0 {
                    if offset.dot(face) < 0.0 { -face } else { face }
                } else {
                    offset.try_normalize().unwrap_or(face)
                };
            }
        }
        if inside { -normal } else { normal }
    }
}

/// Returns the sides of a closed polygon.
fn sides(corners: &[DVec2]) -> impl Iterator<Item = (DVec2, DVec2)> {
    corners.iter().copied().zip(corners.iter().copied().cycle().skip(1))
}

/// Rejects a polygon whose sides meet anywhere except at their common corners or on the axis, where nothing can cross.
/// Sides are sorted by height, so that only adjacent ones are compared.
fn check_simple(corners: &[DVec2]) -> Result<(), ShapeError> {
    let sides: Vec<_> = sides(corners).collect();
    let count = sides.len();
    let bottom = |k: usize| sides[k].0.y.min(sides[k].1.y);
    let top = |k: usize| sides[k].0.y.max(sides[k].1.y);
    let mut by_height: Vec<usize> = (0..count).collect();
    by_height.sort_by(|&a, &b| bottom(a).total_cmp(&bottom(b)));
    for (rank, &i) in by_height.iter().enumerate() {
        for &j in by_height[rank + 1..].iter().take_while(|&&j| bottom(j) <= top(i)) {
            let (first, second) = (i.min(j), i.max(j));
            let meet = if second == first + 1 {
                fold_back(sides[first], sides[second])
            } else if first == 0 && second == count - 1 {
                fold_back(sides[second], sides[first])
            } else {
                touch(sides[first], sides[second])
            };
            if meet {
                return Err(ShapeError::SelfIntersecting { first, second });
            }
        }
    }
    Ok(())
}

/// Returns true if the side `b`, which begins at the end of `a`, runs back over it (not on the axis).
fn fold_back(a: (DVec2, DVec2), b: (DVec2, DVec2)) -> bool {
    let (u, v) = (a.1 - a.0, b.1 - b.0);
    u.perp_dot(v) == 0.0 && u.dot(v) < 0.0 && (a.1.x > 0.0 || a.0.x > 0.0)
}

/// Returns true if two sides have a common point off the axis.
fn touch(a: (DVec2, DVec2), b: (DVec2, DVec2)) -> bool {
    let side = |line: (DVec2, DVec2), p: DVec2| (line.1 - line.0).perp_dot(p - line.0);
    let on = |line: (DVec2, DVec2), p: DVec2| {
        let within = p.cmpge(line.0.min(line.1)).all() && p.cmple(line.0.max(line.1)).all();
        p.x > 0.0 && within && side(line, p) == 0.0
    };
    let apart = |line: (DVec2, DVec2), other: (DVec2, DVec2)| side(line, other.0) * side(line, other.1) < 0.0;
    apart(a, b) && apart(b, a) || on(a, b.0) || on(a, b.1) || on(b, a.0) || on(b, a.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn profile(points: &[[f64; 2]]) -> Result<Profile, ShapeError> {
        let points: Vec<_> = points.iter().copied().map(DVec2::from).collect();
        Profile::new(&points)
    }

    #[test]
    fn a_square_is_the_same_in_both_directions_and_with_its_first_point_repeated() {
        let square = [[1.0, 0.0], [2.0, 0.0], [2.0, 1.0], [1.0, 1.0]];
        let mut reversed = square;
        reversed.reverse();
        let mut closed = square.to_vec();
        closed.push(square[0]);
        for points in [&square[..], &reversed, &closed] {
            let profile = profile(points).unwrap();
            assert_eq!(profile.distance(DVec2::new(1.5, 0.25)), -0.25);
            assert_eq!(profile.normal(DVec2::new(1.5, 0.25)), DVec2::NEG_Y);
            assert_eq!(profile.distance(DVec2::new(5.0, 5.0)), 5.0);
            assert_eq!(profile.distance(DVec2::new(0.0, 0.0)), 1.0);
        }
    }

    #[test]
    fn a_side_on_the_axis_is_not_surface() {
        let rod = profile(&[[0.0, 0.0], [2.0, 0.0], [2.0, 10.0], [0.0, 10.0]]).unwrap();
        assert_eq!(rod.distance(DVec2::new(0.0, 5.0)), -2.0);
    }

    #[test]
    fn cones_tip_to_tip_are_allowed_to_touch_the_axis() {
        let double = profile(&[[0.0, -1.0], [1.0, -1.0], [0.0, 0.0], [1.0, 1.0], [0.0, 1.0]]).unwrap();
        assert!(double.distance(DVec2::new(0.1, 0.5)) < 0.0);
        assert!(double.distance(DVec2::new(0.5, 0.1)) > 0.0);
    }

    #[test]
    fn profiles_without_a_clear_inside_are_refused() {
        let few = profile(&[[1.0, 0.0], [2.0, 0.0], [2.0, 0.0], [1.0, 0.0]]);
        assert!(matches!(few, Err(ShapeError::FewPoints { count: 2 })), "{few:?}");
        let bow_tie = profile(&[[1.0, 0.0], [2.0, 1.0], [2.0, 0.0], [1.0, 1.0]]);
        assert!(
            matches!(bow_tie, Err(ShapeError::SelfIntersecting { first: 0, second: 2 })),
            "{bow_tie:?}"
        );
        let touching = profile(&[[1.0, 0.0], [3.0, 0.0], [3.0, 2.0], [2.0, 0.0], [1.0, 2.0]]);
        assert!(
            matches!(touching, Err(ShapeError::SelfIntersecting { .. })),
            "{touching:?}"
        );
        let spike = profile(&[[1.0, 0.0], [2.0, 0.0], [2.0, 1.0], [2.0, 0.5]]);
        assert!(matches!(spike, Err(ShapeError::SelfIntersecting { .. })), "{spike:?}");
        for r in [0.0, 1.0] {
            let flat = profile(&[[r, 0.0], [r, 1.0], [r, 3.0]]);
            assert!(matches!(flat, Err(ShapeError::NoArea)), "{flat:?}");
        }
    }
}
