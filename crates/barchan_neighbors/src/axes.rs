//! From coordinates to cells, one axis at a time, open or periodic.

use glam::Vec3;
use std::ops::Range;

use crate::Error;

/// Cells are this much [-] longer than the reach, so that rounding in f64 can never lose a pair.
///
/// The pair test is monotone: `fl(dx*dx) < fl(reach*reach)` implies `|dx| < reach` on each axis, even where the squares
/// overflow or underflow. So only the cell coordinate itself can be off, by about 1e-16 of its value. Beyond 2^24 cells
/// from the origin two f32 coordinates within reach are equal and lie in the same cell whatever the error.
const SLACK: f64 = 1e-6;

/// On a periodic axis the f32 length of the period and the f32 difference of two coordinates round too: 2^-24 of the
/// period each. Cells are longer by this part [-] of the period.
const PERIOD_SLACK: f64 = 1.0 / (1u64 << 21) as f64;

/// A periodic range [m], with the constants of its minimum image.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Period {
    low: f32,
    high: f32,
}

impl Period {
    pub(crate) fn new(axis: usize, range: &Range<f32>) -> Result<Self, Error> {
        let (low, high) = (range.start, range.end);
        let ok = low.is_finite() && high.is_finite() && low < high && (high - low).is_finite();
        if ok {
            Ok(Self { low, high })
        } else {
            Err(Error::Range { axis, low, high })
        }
    }

    pub(crate) fn length(self) -> f32 {
        self.high - self.low
    }

    /// The image of `x` in `low..high`: `x` itself if it is inside, else reduced in f64 and rounded to f32.
    fn wrap(self, x: f32) -> f32 {
        if x >= self.low && x < self.high {
            return x;
        }
        let low = f64::from(self.low);
        let image = (low + (f64::from(x) - low).rem_euclid(f64::from(self.high) - low)) as f32;
        if image >= self.low && image < self.high {
            image
        } else {
            self.low
        }
    }
}

/// One axis cut into cells.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Axis {
    per_metre: f64,
    start: f64,
    /// Number of cells of a periodic axis; `None` for an open one.
    pub(crate) count: Option<i64>,
    period: Option<Period>,
}

impl Axis {
    pub(crate) fn new(reach: f32, period: Option<Period>) -> Self {
        let side = f64::from(reach) * (1.0 + SLACK);
        let Some(period) = period else {
            return Self {
                per_metre: side.recip(),
                start: 0.0,
                count: None,
                period: None,
            };
        };
        let length = f64::from(period.high) - f64::from(period.low);
        let count = (length / (side + length * PERIOD_SLACK)).floor().max(1.0);
        Self {
            per_metre: count / length,
            start: f64::from(period.low),
            count: Some(count as i64),
            period: Some(period),
        }
    }

    pub(crate) fn wrap(&self, x: f32) -> f32 {
        self.period.map_or(x, |period| period.wrap(x))
    }

    /// Cell of a wrapped coordinate.
    #[inline]
    pub(crate) fn cell(&self, x: f32) -> i64 {
        let cell = floor((f64::from(x) - self.start) * self.per_metre);
        self.count.map_or(cell, |count| cell.min(count - 1))
    }

    /// The cells within one of `cell`, each once, in visiting order.
    pub(crate) fn around(&self, cell: i64) -> Around {
        let (below, above) = (cell.wrapping_sub(1), cell.wrapping_add(1));
        match self.count {
            None => Around {
                cells: [below, cell, above],
                len: 3,
            },
            Some(1) => Around { cells: [0; 3], len: 1 },
            Some(2) => Around {
                cells: [0, 1, 0],
                len: 2,
            },
            Some(n) => Around {
                cells: [below.rem_euclid(n), cell, above.rem_euclid(n)],
                len: 3,
            },
        }
    }
}

/// Floor, saturating far beyond any cell that two distinct points could share.
#[inline]
fn floor(t: f64) -> i64 {
    // f64::floor is a call on baseline x86-64; truncation and a correction are not.
    let truncated = t as i64;
    truncated.wrapping_sub(i64::from(truncated as f64 > t))
}

/// Up to three cells.
pub(crate) struct Around {
    cells: [i64; 3],
    len: usize,
}

impl Around {
    pub(crate) fn as_slice(&self) -> &[i64] {
        &self.cells[..self.len]
    }
}

/// The three axes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Axes {
    pub(crate) axis: [Axis; 3],
    periodic: bool,
}

impl Axes {
    pub(crate) fn new(reach: f32, periods: [Option<Period>; 3]) -> Self {
        Self {
            axis: periods.map(|period| Axis::new(reach, period)),
            periodic: periods.iter().any(Option::is_some),
        }
    }

    pub(crate) fn is_periodic(&self) -> bool {
        self.periodic
    }

    #[inline]
    pub(crate) fn wrap(&self, p: Vec3) -> Vec3 {
        if !self.periodic {
            return p;
        }
        Vec3::new(self.axis[0].wrap(p.x), self.axis[1].wrap(p.y), self.axis[2].wrap(p.z))
    }

    #[inline]
    pub(crate) fn cell(&self, p: Vec3) -> [i64; 3] {
        [self.axis[0].cell(p.x), self.axis[1].cell(p.y), self.axis[2].cell(p.z)]
    }

    /// The same for three open axes.
    #[inline]
    pub(crate) fn open_cell(&self, p: Vec3) -> [i64; 3] {
        let per_metre = self.axis[0].per_metre;
        p.to_array().map(|x| floor(f64::from(x) * per_metre))
    }

    /// Periods [m] of the minimum image; infinite on open axes, where it then never acts.
    pub(crate) fn lengths(&self) -> [f32; 3] {
        self.axis.map(|axis| axis.period.map_or(f32::INFINITY, Period::length))
    }
}

/// Difference of two wrapped coordinates on an axis of period `length` [m]: the nearest image,
/// `d - length` for `d > length/2`, `d + length` for `d < -length/2`, with `d = a - b`, all in f32.
#[inline]
pub(crate) fn nearest_image(a: f32, b: f32, length: f32) -> f32 {
    let d = a - b;
    let half = 0.5 * length;
    if d > half {
        d - length
    } else if d < -half {
        d + length
    } else {
        d
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_a_true_floor_and_saturate() {
        let axis = Axis::new(1.0, None);
        assert_eq!(axis.cell(-0.25), -1);
        assert_eq!(axis.cell(0.25), 0);
        assert_eq!(axis.cell(-3.5), -4);
        let tiny = Axis::new(1e-30, None);
        assert_eq!(tiny.cell(f32::MAX), tiny.cell(1e38));
        assert_eq!(tiny.cell(f32::MIN), tiny.cell(-1e38));
    }

    #[test]
    fn wrapped_coordinates_stay_in_the_range() {
        let period = Period::new(0, &(-0.1..0.7)).expect("a good range");
        for x in [
            -1e6,
            -0.9,
            -0.1,
            0.0,
            0.699_999_9,
            0.7,
            0.700_000_05,
            1e6,
            f32::MAX,
            f32::MIN,
        ] {
            let image = period.wrap(x);
            assert!((-0.1..0.7).contains(&image), "{x} -> {image}");
        }
        assert_eq!(period.wrap(0.3), 0.3);
        assert!((period.wrap(1.0) - 0.2).abs() < 1e-6);
    }
}
