//! Covers surfaces of solids with particles that no particle of their size can pass.
//!
//! Three stages: Poisson disk samples on the triangles, floaters that spread them evenly over the level, and a search
//! for holes that fills them. The last stage guarantees [`SurfaceSettings::limit`].

mod cells;
mod cover;
mod floaters;
mod poisson;
mod settle;
#[cfg(test)]
mod tests;

use glam::DVec3;
use rayon::prelude::*;

use super::gibibytes;
use crate::text::short;
use crate::{Shape, TriMesh};
pub use poisson::geodesic_distance;
use poisson::{Areas, SATURATION};
use settle::{Level, Spot};

/// Settings of a surface sample.
#[derive(Clone, Debug, PartialEq)]
pub struct SurfaceSettings {
    /// Particle radius [m].
    pub radius: f64,
    /// Smallest distance of the Poisson samples relative to the radius [-], in (0, 2). Floaters end up about 1.29 times
    /// as far apart.
    pub spacing: f64,
    /// Distance of the particles' centers from the surface [m], negative inside. With minus the radius the particles
    /// touch the surface from within.
    pub offset: f64,
    /// Random seed.
    pub seed: u64,
    /// Spreads the Poisson samples evenly by floaters.
    pub relax: bool,
    /// Memory limit [bytes].
    pub memory_limit: u64,
}

impl SurfaceSettings {
    /// Creates settings for particles of `radius` [m] on the surface itself.
    pub fn new(radius: f64) -> Self {
        Self {
            radius,
            spacing: 1.6,
            offset: 0.0,
            seed: 0,
            relax: true,
            memory_limit: 4 << 30,
        }
    }

    /// Returns the largest distance [m] of a point of the covered surface from a sample. It is below two radii, so a
    /// particle cannot pass.
    pub fn limit(&self) -> f64 {
        (LIMIT_OVER_SPACING * self.spacing).min(LIMIT) * self.radius
    }

    /// Checks that `surface` can be covered within the memory limit; cheap.
    pub fn check(&self, surface: &TriMesh) -> Result<(), SurfaceError> {
        self.check_areas(surface, &Areas::new(surface))
    }

    fn check_areas(&self, surface: &TriMesh, areas: &Areas) -> Result<(), SurfaceError> {
        let &Self {
            radius,
            spacing,
            offset,
            memory_limit: limit,
            ..
        } = self;
        if !(radius > 0.0 && radius.is_finite()) {
            return Err(SurfaceError::Radius { radius });
        }
        if !(spacing > 0.0 && spacing < 2.0) {
            return Err(SurfaceError::Spacing { spacing });
        }
        if !offset.is_finite() {
            return Err(SurfaceError::Offset { offset });
        }
        let area = areas.total();
        if !(area > 0.0 && area.is_finite()) {
            let triangles = surface.triangles.len();
            return Err(SurfaceError::NoArea { triangles, area });
        }
        // Outward the surface grows about as that of its box does.
        let sides = |s: DVec3| s.x * s.y + s.y * s.z + s.z * s.x;
        let size = surface.bounds().size();
        let growth = (sides(size + 2.0 * offset.max(0.0)) / sides(size)).max(1.0);
        let particles = (SATURATION * area * growth / (spacing * radius).powi(2)).ceil();
        let bytes = (particles * BYTES_PER_PARTICLE) as u64;
        if bytes > limit || particles >= f64::from(u32::MAX) {
            let count = particles as u64;
            return Err(SurfaceError::TooMany {
                radius,
                count,
                bytes,
                limit,
            });
        }
        Ok(())
    }
}

/// A cover of particles.
#[derive(Clone, Debug, PartialEq)]
pub struct SurfaceSample {
    /// Centers [m].
    pub positions: Vec<DVec3>,
    /// Outward unit normals [-].
    pub normals: Vec<DVec3>,
    /// Largest distance [m] found from a point of the covered surface to its nearest sample, not below 0.65 limits.
    pub gap: f64,
}

/// Reason why a surface cannot be covered.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SurfaceError {
    /// The radius is not a positive length.
    #[error("particle radius must be a finite length > 0 m, got {} m", short(*.radius))]
    Radius {
        /// Given radius [m].
        radius: f64,
    },
    /// The cover would have holes.
    #[error("spacing of surface particles must lie between 0 and 2 radii, got {}", short(*.spacing))]
    Spacing {
        /// Given spacing [-].
        spacing: f64,
    },
    /// The offset is not finite.
    #[error("offset of surface particles must be finite, got {} m", short(*.offset))]
    Offset {
        /// Given offset [m].
        offset: f64,
    },
    /// The surface has no area.
    #[error("surface of {triangles} triangles has no finite area > 0 m² (got {} m²)", short(*.area))]
    NoArea {
        /// Number of triangles.
        triangles: usize,
        /// Their area [m²].
        area: f64,
    },
    /// The particles would exceed the memory limit.
    #[error(
        "a radius of {} m makes about {:.3e} surface particles, which need {:.1} GiB of memory; {:.1} GiB may be used: take a larger radius",
        short(*.radius), *.count as f64, gibibytes(*.bytes as f64), gibibytes(*.limit as f64)
    )]
    TooMany {
        /// Particle radius [m].
        radius: f64,
        /// Expected number of particles.
        count: u64,
        /// Expected memory [bytes].
        bytes: u64,
        /// Memory limit [bytes].
        limit: u64,
    },
}

/// Largest distance from a covered point to its nearest sample relative to the radius [-].
const LIMIT: f64 = 1.7;
/// The same for close spacings relative to the spacing [-]: a little above that of saturated Poisson samples.
const LIMIT_OVER_SPACING: f64 = LIMIT / 1.6;
/// Peak memory per particle [bytes]; measured: 490 without an offset, up to 930 with one.
const BYTES_PER_PARTICLE: f64 = 1000.0;

/// Covers the surface of `shape`, whose triangles are `surface`, with particles.
///
/// The covered surface lies at `settings.offset` from that of the shape. Where the solid is too thin for it, it is the
/// solid's middle. `progress` receives the completed share, 0 to 1.
pub fn sample_surface(
    surface: &TriMesh,
    shape: &dyn Shape,
    settings: &SurfaceSettings,
    progress: &(dyn Fn(f64) + Sync),
) -> Result<SurfaceSample, SurfaceError> {
    let areas = Areas::new(surface);
    settings.check_areas(surface, &areas)?;
    let spacing = settings.spacing * settings.radius;
    let level = Level {
        shape,
        level: settings.offset,
        radius: settings.radius,
    };
    let found = poisson::poisson(&areas, &level, spacing, settings.seed, &|done| progress(0.3 * done));
    let mut spots = found.spots;
    if settings.offset == 0.0 {
        // The triangles may be coarser than the shape.
        spots
            .par_iter_mut()
            .for_each(|spot| *spot = level.settle(spot.position));
    }
    let fill = |spots: &mut Vec<Spot>| cover::fill(spots, &level, surface.bounds(), settings.limit(), found.thin);
    let mut gap = fill(&mut spots);
    progress(0.4);
    if settings.relax {
        floaters::relax(&mut spots, &level, spacing, &|done| progress(0.4 + 0.5 * done));
        gap = fill(&mut spots);
    }
    progress(1.0);
    Ok(SurfaceSample {
        positions: spots.iter().map(|s| s.position).collect(),
        normals: spots.iter().map(|s| s.normal).collect(),
        gap,
    })
}
