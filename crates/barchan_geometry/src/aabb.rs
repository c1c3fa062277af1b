use glam::DVec3;

/// An axis-aligned box, [`min`](Self::min) to [`max`](Self::max) [m]. Empty if any `min` exceeds its `max`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Aabb {
    /// Smallest corner [m].
    pub min: DVec3,
    /// Largest corner [m].
    pub max: DVec3,
}

impl Aabb {
    /// The empty box; the neutral element of [`union`](Self::union).
    pub const EMPTY: Self = Self {
        min: DVec3::INFINITY,
        max: DVec3::NEG_INFINITY,
    };

    /// The box that contains everything.
    pub const UNBOUNDED: Self = Self {
        min: DVec3::NEG_INFINITY,
        max: DVec3::INFINITY,
    };

    /// Creates the box between two opposite corners [m].
    pub fn new(min: DVec3, max: DVec3) -> Self {
        Self { min, max }
    }

    /// Returns the smallest box around `points` [m].
    pub fn of_points(points: impl IntoIterator<Item = DVec3>) -> Self {
        points.into_iter().fold(Self::EMPTY, |b, p| Self {
            min: b.min.min(p),
            max: b.max.max(p),
        })
    }

    /// Returns true if the box contains no point.
    pub fn is_empty(&self) -> bool {
        !self.min.cmple(self.max).all()
    }

    /// Returns true if every side is finite.
    pub fn is_finite(&self) -> bool {
        self.min.is_finite() && self.max.is_finite()
    }

    /// Returns the center [m].
    pub fn center(&self) -> DVec3 {
        0.5 * (self.min + self.max)
    }

    /// Returns the side lengths [m].
    pub fn size(&self) -> DVec3 {
        self.max - self.min
    }

    /// Returns the volume [m³]; zero for an empty box.
    pub fn volume(&self) -> f64 {
        self.size().max(DVec3::ZERO).element_product()
    }

    /// Returns the box grown by `margin` [m] on every side (shrunk if negative).
    #[must_use]
    pub fn grown(&self, margin: f64) -> Self {
        Self::new(self.min - margin, self.max + margin)
    }

    /// Returns the smallest box around both.
    #[must_use]
    pub fn union(&self, other: &Self) -> Self {
        Self::new(self.min.min(other.min), self.max.max(other.max))
    }

    /// Returns the intersection of both.
    #[must_use]
    pub fn intersection(&self, other: &Self) -> Self {
        Self::new(self.min.max(other.min), self.max.min(other.max))
    }

    /// Returns true if `p` lies inside or on the border.
    pub fn contains(&self, p: DVec3) -> bool {
        p.cmpge(self.min).all() && p.cmple(self.max).all()
    }

    /// Returns the eight corners [m].
    pub fn corners(&self) -> [DVec3; 8] {
        std::array::from_fn(|k| {
            DVec3::new(
                if k & 1 == 0 { self.min.x } else { self.max.x },
                if k & 2 == 0 { self.min.y } else { self.max.y },
                if k & 4 == 0 { self.min.z } else { self.max.z },
            )
        })
    }
}
