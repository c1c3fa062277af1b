//! Samples shapes with particles: volumes and surfaces.

mod clumps;
mod dense;
mod lattice;
mod measure;
mod octree;
mod radii;
mod random;
mod seam;
pub mod surface;

pub use clumps::fill_clumps;
pub use measure::min_distance;
pub use radii::Radii;
pub use seam::Periods;

use glam::DVec3;
use thiserror::Error;

use self::seam::Seamless;
use crate::Shape;
use crate::text::{short, short_vector};

/// Arrangement of particles in a volume.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Packing {
    /// An amorphous packing at the density of settled sand, about 0.6.
    #[default]
    Dense,
    /// Sommer's randomized grid, about 0.33.
    Random,
    /// Jittered close packing, about 0.59.
    Lattice,
}

impl Packing {
    /// Every packing, by its name in scene files and on the command line.
    pub const ALL: [(&'static str, Self); 3] = [
        ("dense", Self::Dense),
        ("random", Self::Random),
        ("lattice", Self::Lattice),
    ];
}

/// Settings of a volume sample.
#[derive(Clone, Debug, PartialEq)]
pub struct VolumeSettings {
    /// Arrangement of the particles.
    pub packing: Packing,
    /// Radii of the particles.
    pub radii: Radii,
    /// Random seed.
    pub seed: u64,
    /// Memory limit of sampling [bytes].
    pub memory_limit: u64,
}

impl VolumeSettings {
    /// Default memory limit of sampling [bytes].
    pub const MEMORY_LIMIT: u64 = 4 << 30;

    /// Creates the default packing of one `radius` [m].
    pub fn new(radius: f64) -> Result<Self, SampleError> {
        Ok(Self {
            packing: Packing::default(),
            radii: Radii::one(radius)?,
            seed: 1,
            memory_limit: Self::MEMORY_LIMIT,
        })
    }
}

/// Particles inside a shape.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Particles {
    /// Centers [m].
    pub positions: Vec<DVec3>,
    /// Radii [m].
    pub radii: Vec<f64>,
}

impl Particles {
    /// Returns the number of particles.
    pub fn len(&self) -> usize {
        self.positions.len()
    }

    /// Returns true if there are no particles.
    pub fn is_empty(&self) -> bool {
        self.positions.is_empty()
    }

    /// Returns the sum of the particles' volumes [m³], overlaps counted twice.
    pub fn volume(&self) -> f64 {
        4.0 / 3.0 * std::f64::consts::PI * self.radii.iter().map(|r| r.powi(3)).sum::<f64>()
    }

    fn append(&mut self, mut other: Self) {
        self.positions.append(&mut other.positions);
        self.radii.append(&mut other.radii);
    }

    fn push(&mut self, position: DVec3, radius: f64) {
        self.positions.push(position);
        self.radii.push(radius);
    }
}

/// Reason why a shape cannot be sampled.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum SampleError {
    /// A radius is invalid.
    #[error("the particle radius must be a number above 0 m and up to 1e15 m, got {}", short(*.radius))]
    Radius {
        /// Given radius [m].
        radius: f64,
    },
    /// The smallest radius exceeds the largest.
    #[error("the smallest radius ({} m) exceeds the largest ({} m)", short(*.min), short(*.max))]
    RadiusRange {
        /// Smallest radius [m].
        min: f64,
        /// Largest radius [m].
        max: f64,
    },
    /// A weight is invalid.
    #[error("the weight of radius {} m must be a finite number, 0 or more, got {}", short(*.radius), short(*.weight))]
    Weight {
        /// Its radius [m].
        radius: f64,
        /// Given weight.
        weight: f64,
    },
    /// No radius has a positive weight.
    #[error("the list of radii has no entry with a weight above 0")]
    NoWeight,
    /// The solid is unbounded.
    #[error("the shape has no end (a half-space?): intersect it with a box to bound it")]
    Unbounded,
    /// No particle fits inside.
    #[error("no particle of radius {} m fits inside the shape (bounds {} m)", short(*.radius), short_vector(*.size))]
    NoRoom {
        /// Smallest radius [m].
        radius: f64,
        /// Side lengths of the shape's bounds [m].
        size: DVec3,
    },
    /// The particles are too small relative to the shape to be counted.
    #[error(
        "a radius of {radius} m is too small for a shape of {size} m, which may be {MAX_LENGTH:e} radii long: take a larger radius"
    )]
    TooSmall {
        /// Smallest radius [m].
        radius: f64,
        /// Longest side of the shape's bounds [m].
        size: f64,
    },
    /// The particles would exceed the memory limit.
    #[error(
        "a radius of {} m makes about {count:.3e} particles, which need {:.1} GiB of memory; {:.1} GiB may be used: take a larger radius",
        short(*.radius), gibibytes(*.bytes), gibibytes(*.limit as f64)
    )]
    TooMany {
        /// Mean radius [m].
        radius: f64,
        /// Estimated number of particles.
        count: f64,
        /// Peak memory needed [bytes].
        bytes: f64,
        /// Memory limit [bytes].
        limit: u64,
    },
}

fn gibibytes(bytes: f64) -> f64 {
    bytes / f64::from(1u32 << 30)
}

/// Largest ratio of a shape's longest side to the smallest radius [-]: cells are counted in 32 bits.
const MAX_LENGTH: f64 = 1e8;

/// Estimated size of a sample.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// Number of particles, as if the surface left no gaps.
    pub count: f64,
    /// Peak memory of sampling [bytes].
    pub bytes: f64,
}

/// Estimates the number of particles of [`sample_volume`], within a few percent for shapes that are not thin, without
/// packing any. Rejects the same counts.
pub fn estimate_volume(shape: &dyn Shape, settings: &VolumeSettings) -> Result<Estimate, SampleError> {
    let bounds = shape.bounds();
    if !bounds.is_finite() && !bounds.is_empty() {
        return Err(SampleError::Unbounded);
    }
    let room = octree::volume(shape, 0.0);
    if room <= 0.0 {
        return Err(no_room(shape, settings));
    }
    let (count, bytes) = estimate(room, settings);
    if bytes > settings.memory_limit as f64 || count >= f64::from(u32::MAX) {
        return Err(too_many(count, bytes, settings));
    }
    let size = bounds.size().max_element();
    if size > MAX_LENGTH * settings.radii.min() {
        return Err(SampleError::TooSmall {
            radius: settings.radii.min(),
            size,
        });
    }
    Ok(Estimate { count, bytes })
}

/// Fills `shape` with particles that lie entirely inside and do not overlap.
///
/// `progress` receives the completed share, 0 to 1. The result depends on the shape and the settings alone, not on the
/// number of threads.
pub fn sample_volume(
    shape: &dyn Shape,
    settings: &VolumeSettings,
    progress: &(dyn Fn(f64) + Sync),
) -> Result<Particles, SampleError> {
    estimate_volume(shape, settings)?;
    let mut particles = match settings.packing {
        Packing::Random => random::fill(shape, &settings.radii, settings.seed, progress),
        Packing::Lattice => lattice::fill(shape, &settings.radii, settings.seed, progress, [None; 3]),
        Packing::Dense => dense::fill(shape, &settings.radii, settings.seed, progress),
    };
    if particles.is_empty() {
        // A packing may miss the only position in a narrow shape.
        let radius = settings.radii.min();
        let room = octree::room_for(shape, radius).ok_or_else(|| no_room(shape, settings))?;
        particles.push(room, radius);
    }
    progress(1.0);
    Ok(particles)
}

/// Like [`sample_volume`] in a domain with periodic ranges. A shape that reaches both faces of a range is cut to it and
/// packed through its faces: particles there keep their distance from the images of others, and the density does not
/// drop.
pub fn sample_periodic(
    shape: &dyn Shape,
    settings: &VolumeSettings,
    periods: Periods,
    progress: &(dyn Fn(f64) + Sync),
) -> Result<Particles, SampleError> {
    let Some(seamless) = Seamless::new(shape, periods, &settings.radii) else {
        return sample_volume(shape, settings, progress);
    };
    estimate_volume(shape, settings)?;
    let VolumeSettings { radii, seed, .. } = settings;
    let half = |part: f64| progress(0.5 * part);
    let rest = |part: f64| progress(0.5 + 0.5 * part);
    let particles = match settings.packing {
        Packing::Random => {
            // Without particles beyond a face, the packing would be denser there.
            let filled = random::fill(&seamless.beyond(), radii, *seed, &half);
            dense::close(&seamless, filled, radii, &rest)
        }
        Packing::Lattice => {
            let filled = lattice::fill(&seamless, radii, *seed, &half, seamless.periods);
            dense::close(&seamless, filled, radii, &rest)
        }
        Packing::Dense => dense::fill_seamless(&seamless, radii, *seed, progress),
    };
    if particles.is_empty() {
        return Err(no_room(shape, settings));
    }
    progress(1.0);
    Ok(particles)
}

/// Depth of the layer at a surface that particles leave empty, in mean diameters [-]: none of them crosses the surface.
/// Measured for boxes, cylinders and balls 8 to 50 diameters wide, 0.26 to 0.30.
const WALL_GAP: f64 = 0.28;
/// Smallest share of a shape that particles reach [-]: a single layer between two walls.
const MIN_REACHED: f64 = 0.75;

/// Returns the share [-] of a shape that particles fill as densely as far from its surface.
pub fn reached(shape: &dyn Shape, radii: &Radii) -> f64 {
    let inner = octree::volume(shape, 2.0 * WALL_GAP * mean_radius(radii));
    (inner / octree::volume(shape, 0.0)).max(MIN_REACHED)
}

/// Estimates the number of particles that fill `room` [m³], and their peak memory [bytes] (measured with `barchan bench
/// sample`, rounded up).
fn estimate(room: f64, settings: &VolumeSettings) -> (f64, f64) {
    let (fraction, bytes_each) = match settings.packing {
        Packing::Dense => (dense::FRACTION, 300.0),
        Packing::Random => (0.34, 200.0),
        Packing::Lattice => (0.59, 150.0),
    };
    let count = fraction * room / settings.radii.mean_volume();
    (count, count * bytes_each)
}

fn no_room(shape: &dyn Shape, settings: &VolumeSettings) -> SampleError {
    SampleError::NoRoom {
        radius: settings.radii.min(),
        size: shape.bounds().size().max(DVec3::ZERO),
    }
}

/// Returns the radius of the particle of mean volume [m].
pub fn mean_radius(radii: &Radii) -> f64 {
    (radii.mean_volume() * 0.75 / std::f64::consts::PI).cbrt()
}

fn too_many(count: f64, bytes: f64, settings: &VolumeSettings) -> SampleError {
    SampleError::TooMany {
        radius: mean_radius(&settings.radii),
        count,
        bytes,
        limit: settings.memory_limit,
    }
}
