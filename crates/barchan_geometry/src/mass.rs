//! Volume, center and inertia of solids.

use glam::{DMat3, DQuat, DVec3};
use rayon::prelude::*;
use thiserror::Error;

use crate::text::short_vector;
use crate::{Aabb, Shape};

/// Mass properties of a solid of density 1 kg/m³.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MassProperties {
    /// Volume [m³].
    pub volume: f64,
    /// Center of mass [m].
    pub center: DVec3,
    /// Inertia about the center of mass, per density [m⁵].
    pub inertia: DMat3,
}

/// Reason why a shape has no mass properties.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum MassError {
    /// The tolerance is not a positive number.
    #[error("the relative tolerance of mass properties must be positive, got {relative_tolerance}")]
    Tolerance {
        /// Tolerance [-].
        relative_tolerance: f64,
    },
    /// The shape is unbounded.
    #[error("mass properties need a shape with finite bounds, got {} to {} m", short_vector(*.min), short_vector(*.max))]
    Bounds {
        /// Smallest corner [m].
        min: DVec3,
        /// Largest corner [m].
        max: DVec3,
    },
    /// The shape is empty, or smaller than the finest cells resolve.
    #[error("the shape within {} to {} m has no volume", short_vector(*.min), short_vector(*.max))]
    Empty {
        /// Smallest corner [m].
        min: DVec3,
        /// Largest corner [m].
        max: DVec3,
    },
    /// The finest cells still change the result by too much.
    #[error(
        "mass properties still change by {change:.1e} at the finest cells, more than the tolerance {relative_tolerance:.1e}"
    )]
    Unsettled {
        /// Last relative change [-].
        change: f64,
        /// Tolerance [-].
        relative_tolerance: f64,
    },
}

/// Cells along the longest side of the bounds in the first attempt; each further attempt doubles them.
const FIRST_CELLS: u32 = 32;
/// Number of attempts; the last has 512 cells per side, of which only those at the surface are visited.
const ATTEMPTS: u32 = 5;

/// Computes the mass properties of any bounded `shape`, within about `relative_tolerance` [-] of the volume, of the
/// size for the center, and of the largest inertia.
///
/// Cubes entirely inside, by the distance at their center, count in full; others are halved down to a cell size at
/// which the surface is approximated by a plane from distance and normal. The cell size is halved until the result,
/// extrapolated to zero cell size, converges.
pub fn of_shape(shape: &dyn Shape, relative_tolerance: f64) -> Result<MassProperties, MassError> {
    if relative_tolerance.is_nan() || relative_tolerance <= 0.0 {
        return Err(MassError::Tolerance { relative_tolerance });
    }
    let bounds = shape.bounds();
    let Aabb { min, max } = bounds;
    if bounds.is_empty() {
        return Err(MassError::Empty { min, max });
    }
    if !bounds.is_finite() {
        return Err(MassError::Bounds { min, max });
    }
    let mut coarse = Moments::of_shape(shape, FIRST_CELLS);
    let mut last: Option<MassProperties> = None;
    let mut change = f64::INFINITY;
    for n in 1..ATTEMPTS {
        let fine = Moments::of_shape(shape, FIRST_CELLS << n);
        let next = fine.extrapolated_from(&coarse);
        let next = (next.volume > 0.0).then(|| next.properties(bounds.center()));
        if let (Some(last), Some(next)) = (last, next) {
            change = relative_change(&last, &next, bounds.size().max_element());
            if change <= relative_tolerance {
                return Ok(next);
            }
        }
        (coarse, last) = (fine, next);
    }
    match last {
        None => Err(MassError::Empty { min, max }),
        Some(_) => Err(MassError::Unsettled {
            change,
            relative_tolerance,
        }),
    }
}

fn relative_change(from: &MassProperties, to: &MassProperties, size: f64) -> f64 {
    let largest = |m: DMat3| m.to_cols_array().into_iter().map(f64::abs).fold(0.0, f64::max);
    let volume = (to.volume - from.volume).abs() / to.volume;
    let center = to.center.distance(from.center) / size;
    let inertia = largest(to.inertia - from.inertia) / largest(to.inertia);
    volume.max(center).max(inertia)
}

impl MassProperties {
    /// Returns the properties of the solid scaled along its axes by `scale` [-], then rotated by `rotation`, then
    /// translated by `at` [m].
    #[must_use]
    pub fn transformed(&self, scale: DVec3, rotation: DQuat, at: DVec3) -> Self {
        let stretch = DMat3::from_diagonal(scale);
        let grown = scale.element_product();
        // ∫ xxᵀ about the center of mass.
        let spread = trace_minus(0.5, self.inertia);
        let turn = DMat3::from_quat(rotation);
        let inertia = trace_minus(1.0, stretch * spread * stretch * grown);
        Self {
            volume: grown * self.volume,
            center: at + rotation * (scale * self.center),
            inertia: turn * inertia * turn.transpose(),
        }
    }
}

/// Computes f tr(M) I - M: from second moments to inertia with f = 1, and back with f = 1/2.
fn trace_minus(factor: f64, m: DMat3) -> DMat3 {
    let trace = m.x_axis.x + m.y_axis.y + m.z_axis.z;
    DMat3::from_diagonal(DVec3::splat(factor * trace)) - m
}

/// ∫ 1, x, xxᵀ over a solid.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Moments {
    pub volume: f64,
    pub first: DVec3,
    pub second: DMat3,
}

impl Moments {
    pub const ZERO: Self = Self {
        volume: 0.0,
        first: DVec3::ZERO,
        second: DMat3::ZERO,
    };

    /// Computes moments about the center of the shape's bounds, from cells that divide the longest side into `cells`.
    fn of_shape(shape: &dyn Shape, cells: u32) -> Self {
        let bounds = shape.bounds();
        let side = bounds.size().max_element();
        let octree = Octree {
            shape,
            origin: bounds.center(),
            least_half: 0.75 * side / f64::from(cells),
        };
        // 8³ cubes for the threads, summed in order.
        let quarter = |k: i32| f64::from(2 * k - 7) / 16.0 * side;
        let parts: Vec<Self> = (0..512)
            .into_par_iter()
            .map(|k| {
                octree.cube(
                    DVec3::new(quarter(k % 8), quarter(k / 8 % 8), quarter(k / 64)),
                    side / 16.0,
                )
            })
            .collect();
        parts.iter().fold(Self::ZERO, |sum, part| sum.plus(part))
    }

    /// Returns the moments of a box given by its center and half its sides.
    fn cuboid(middle: DVec3, half: DVec3) -> Self {
        let volume = 8.0 * half.element_product();
        Self {
            volume,
            first: volume * middle,
            second: volume * (outer(middle) + DMat3::from_diagonal(half * half / 3.0)),
        }
    }

    /// Extrapolates to zero cell size, for an error that falls with its square, from these and cells twice as large
    /// (Richardson).
    fn extrapolated_from(&self, coarse: &Self) -> Self {
        Self {
            volume: (4.0 * self.volume - coarse.volume) / 3.0,
            first: (4.0 * self.first - coarse.first) / 3.0,
            second: (4.0 * self.second - coarse.second) * (1.0 / 3.0),
        }
    }

    /// Returns the moments of the tetrahedron between the origin and a triangle, of negative volume if the triangle
    /// faces the origin: V = a·(b×c)/6, ∫ x = V/4 (a+b+c), ∫ xxᵀ = V/20 ((a+b+c)(a+b+c)ᵀ + aaᵀ + bbᵀ + ccᵀ).
    pub fn cone([a, b, c]: [DVec3; 3]) -> Self {
        let volume = a.dot(b.cross(c)) / 6.0;
        let sum = a + b + c;
        Self {
            volume,
            first: volume / 4.0 * sum,
            second: (outer(sum) + outer(a) + outer(b) + outer(c)) * (volume / 20.0),
        }
    }

    pub fn plus(&self, other: &Self) -> Self {
        Self {
            volume: self.volume + other.volume,
            first: self.first + other.first,
            second: self.second + other.second,
        }
    }

    /// Converts moments about `origin` [m], which is the center of a solid without volume.
    pub fn properties(&self, origin: DVec3) -> MassProperties {
        let center = if self.volume == 0.0 {
            DVec3::ZERO
        } else {
            self.first / self.volume
        };
        MassProperties {
            volume: self.volume,
            center: origin + center,
            inertia: trace_minus(1.0, self.second - outer(center) * self.volume),
        }
    }
}

fn outer(v: DVec3) -> DMat3 {
    DMat3::from_cols(v * v.x, v * v.y, v * v.z)
}

struct Octree<'a> {
    shape: &'a dyn Shape,
    origin: DVec3,
    /// Cubes with a smaller half side are not divided.
    least_half: f64,
}

impl Octree<'_> {
    /// Returns the moments about the origin of the part inside the cube around `middle`, which is relative to the
    /// origin.
    fn cube(&self, middle: DVec3, half: f64) -> Moments {
        let distance = self.shape.distance(self.origin + middle);
        if distance.abs() >= 3f64.sqrt() * half {
            return if distance < 0.0 {
                Moments::cuboid(middle, DVec3::splat(half))
            } else {
                Moments::ZERO
            };
        }
        if half < self.least_half {
            return below_plane(middle, half, distance, self.shape.normal(self.origin + middle));
        }
        Aabb::new(middle, middle)
            .grown(0.5 * half)
            .corners()
            .iter()
            .fold(Moments::ZERO, |sum, &part| sum.plus(&self.cube(part, 0.5 * half)))
    }
}

/// Returns the moments of the part of a cube behind the plane with `normal` at `distance` before its center: exact
/// along the normal's largest axis, by three-point Gauss quadrature along the others.
fn below_plane(middle: DVec3, half: f64, distance: f64, normal: DVec3) -> Moments {
    const POINTS: [(f64, f64); 3] = [
        (-0.774_596_669_241_483_4, 5.0 / 18.0),
        (0.0, 8.0 / 18.0),
        (0.774_596_669_241_483_4, 5.0 / 18.0),
    ];
    let up = normal.abs().max_position();
    let (u, v) = ((up + 1) % 3, (up + 2) % 3);
    let mut sum = Moments::ZERO;
    for (at_u, weight_u) in POINTS {
        for (at_v, weight_v) in POINTS {
            let across = half * (at_u * normal[u] + at_v * normal[v]);
            let height = (-(distance + across) / normal[up]).clamp(-half, half);
            let (low, high) = if normal[up] > 0.0 {
                (-half, height)
            } else {
                (height, half)
            };
            let mut column = middle;
            column[u] += half * at_u;
            column[v] += half * at_v;
            column[up] += 0.5 * (low + high);
            let mut size = DVec3::ZERO;
            size[up] = 0.5 * (high - low);
            let volume = 4.0 * half * half * (high - low) * weight_u * weight_v;
            sum = sum.plus(&Moments {
                volume,
                first: volume * column,
                second: volume * (outer(column) + DMat3::from_diagonal(size * size / 3.0)),
            });
        }
    }
    sum
}
