//! Building a world from a scene.

mod bodies;

pub(crate) use bodies::solid_of;

use std::sync::Arc;

use barchan_geometry::clump::Clump;
use barchan_geometry::isosurface::IsosurfaceError;
use barchan_geometry::mass::{self, MassError};
use barchan_geometry::random::Stream;
use barchan_geometry::sample::surface::SurfaceError;
use barchan_geometry::sample::{
    Packing, Particles, Radii, SampleError, VolumeSettings, estimate_volume, fill_clumps, reached, sample_periodic,
};
use barchan_geometry::sdf_grid::SdfGridError;
use barchan_geometry::shapes::{Cuboid, Intersect, Transformed};
use barchan_geometry::text::short;
use barchan_geometry::{Aabb, Shape};
use barchan_world::spec::Weight;
use barchan_world::{Mass, Periodic, SETTLED_FRACTION, World};
use glam::{DQuat, DVec3};
use thiserror::Error;

use crate::scene::{Fill, FillSource, Scene};
use crate::start::Inherited;

/// Why there is no world.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum SceneError {
    /// A fill cannot be sampled.
    #[error("{place}: fill: {source}")]
    Fill {
        /// Position in the scene file.
        place: String,
        /// Cause of the error.
        source: SampleError,
    },
    /// A solid has no volume.
    #[error("{place}: {source}")]
    Volume {
        /// Position in the scene file.
        place: String,
        /// Cause of the error.
        source: MassError,
    },
    /// A body has no surface.
    #[error("{place}: body `{body}`: {source}")]
    Surface {
        /// Position in the scene file.
        place: String,
        /// The body.
        body: String,
        /// Cause of the error.
        source: IsosurfaceError,
    },
    /// A body cannot be covered with particles.
    #[error("{place}: body `{body}`: {source}")]
    Cover {
        /// Position in the scene file.
        place: String,
        /// The body.
        body: String,
        /// Cause of the error.
        source: SurfaceError,
    },
    /// A body has no distance field.
    #[error("{place}: body `{body}`: {source}")]
    Field {
        /// Position in the scene file.
        place: String,
        /// The body.
        body: String,
        /// Cause of the error.
        source: SdfGridError,
    },
    /// Guides too light or too heavy for an exact ledger.
    #[error(
        "{place}: the guides of this fill weigh from {} kg to {} kg in all; allowed are {LIGHTEST:e} kg to {HEAVIEST:e} kg",
        short(*.lightest),
        short(*.all)
    )]
    Weight {
        /// Position in the scene file.
        place: String,
        /// The lightest of them [kg].
        lightest: f64,
        /// All of them together [kg].
        all: f64,
    },
    /// More guides than there are numbers for them.
    #[error("{place}: the fills make {count} guides, more than there are numbers for")]
    TooMany {
        /// Position in the scene file.
        place: String,
        /// Number so far [-].
        count: usize,
    },
}

/// Part of building a world that is in progress.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum BuildStep {
    /// Guides are packed into a fill.
    Packing {
        /// Number of the fill, from 0.
        fill: usize,
        /// Number of fills.
        fills: usize,
        /// Share of this fill that is done, 0 to 1.
        share: f64,
    },
    /// The surface and distance field of a body are computed.
    Bodies {
        /// Number of the body, from 0.
        body: usize,
        /// Number of bodies.
        bodies: usize,
    },
}

/// Observer of the build, called from any thread.
pub type BuildWatch<'a> = dyn Fn(BuildStep) + Sync + 'a;

impl SceneError {
    /// Returns the position in the scene file, as `scene.toml:3:1`.
    pub fn place(&self) -> &str {
        match self {
            Self::Fill { place, .. }
            | Self::Volume { place, .. }
            | Self::Surface { place, .. }
            | Self::Cover { place, .. }
            | Self::Field { place, .. }
            | Self::Weight { place, .. }
            | Self::TooMany { place, .. } => place,
        }
    }
}

/// Most guides there can be [-]: their ids are 32 bits.
pub(crate) const MOST_GUIDES: usize = u32::MAX as usize;

/// Radii of the balls in whose place tight clumps are first put, of those around them [-].
const TIGHT: f64 = 0.84;

/// Excess over a periodic range from which on a shape leaves it, of the range [-].
const LEAVING: f64 = 1e-6;

/// Relative error accepted in the volume of what is filled [-].
const VOLUME_TOLERANCE: f64 = 1e-3;

/// Lightest guide [kg] and heaviest fill [kg] that masses are exact for.
pub(crate) const LIGHTEST: f64 = 1e-16;
const HEAVIEST: f64 = 1e12;

/// Guides within this distance [m] of zero need no origin of their own: single precision resolves 2 µm there.
const ORIGIN_RANGE: f64 = 30.0;

impl Scene {
    /// Builds the world at the start: at time 0, or earlier by the time of settling. The same scene gives the same
    /// bits.
    ///
    /// A shape that reaches both faces of a periodic range is cut to it and packed through its faces.
    ///
    /// Guides get the ids 0, 1, ... fill by fill. A fill of density ρ into a shape of volume V weighs ρ V, with any
    /// packing, shared among its guides by r³: m = ρ V r³ / Σr³ [Sommer22]. So the bulk density is right at the start
    /// in a `dense` or `lattice` packing, which settle by little, and rises by a factor of about 1.7 when a `random`
    /// one settles. Guides from a file, and those of emitters, have the mass of settled material: m = ρ 4/3 π r³ / 0.6.
    /// With solvers of particles every guide has the mass of its own volume, at the particle density: settled material
    /// then has the bulk density whatever its source, and a fill, which is looser near its surface than in the middle,
    /// weighs less than ρ V.
    ///
    /// A body's frame is given by the outermost `at` and `rotate` of its shape; for scripted bodies it is given by the
    /// keys, and the shape's own `at` stays inside.
    pub fn build(&self) -> Result<World, SceneError> {
        self.build_watched(&|_| ())
    }

    /// Builds the same world and reports its progress to `watch`.
    pub fn build_watched(&self, watch: &BuildWatch) -> Result<World, SceneError> {
        let mut world = self.empty_world();
        self.add_fills(&mut world, watch)?;
        self.furnish(&mut world, watch)?;
        Ok(world)
    }

    /// Builds the same world without guides, for those of a checkpoint: fills can take long to pack.
    pub fn build_unfilled(&self) -> Result<World, SceneError> {
        self.build_unfilled_watched(&|_| ())
    }

    /// Builds the same world without guides and reports its progress to `watch`.
    pub fn build_unfilled_watched(&self, watch: &BuildWatch) -> Result<World, SceneError> {
        let mut world = self.empty_world();
        self.furnish(&mut world, watch)?;
        Ok(world)
    }

    fn add_fills(&self, world: &mut World, watch: &BuildWatch) -> Result<(), SceneError> {
        for (k, fill) in self.fills.iter().enumerate() {
            let packed = |share| {
                watch(BuildStep::Packing {
                    fill: k,
                    fills: self.fills.len(),
                    share,
                });
            };
            packed(0.0);
            let particles = match &fill.source {
                FillSource::Points(particles) => particles.clone(),
                FillSource::Shape {
                    shape, packing, radii, ..
                } => {
                    // Clumps lie at random: apart as the balls around them are.
                    let clump = self.clump_of(fill);
                    let room = clump.map_or(1.0, Clump::extent);
                    let settings = self.volume_settings(k, *packing, radii.clone());
                    let fail = |source| SceneError::Fill {
                        place: fill.place.clone(),
                        source,
                    };
                    if let (Some(clump), true) = (clump, fill.is_tight) {
                        let first = u64::from(world.next_id);
                        // As the solver turns them.
                        let turn = |i: usize| Stream::new(self.seed, first + i as u64).rotation();
                        let packed = fill_clumps(&**shape, clump, &settings, &turn).map_err(fail)?;
                        add_fill(world, fill, &packed, true)?;
                        world.fill_ends.push(world.next_id);
                        continue;
                    }
                    let spaced = VolumeSettings {
                        radii: radii.scaled(room),
                        ..settings
                    };
                    let mut sampled = sample_periodic(&**shape, &spaced, self.periodic, &packed).map_err(fail)?;
                    sampled.radii.iter_mut().for_each(|radius| *radius /= room);
                    sampled
                }
            };
            add_fill(world, fill, &particles, self.has_particles())?;
            world.fill_ends.push(world.next_id);
        }
        self.add_inherited(world)?;
        world.ledger.filled = Mass::sum(world.guides.mass.iter().copied());
        Ok(())
    }

    /// The clump that each guide of `fill` is.
    fn clump_of<'a>(&self, fill: &'a Fill) -> Option<&'a Clump> {
        fill.clump.as_deref().filter(|_| self.has_particles())
    }

    /// Returns the sampling settings of fill `k`.
    fn volume_settings(&self, k: usize, packing: Packing, radii: Radii) -> VolumeSettings {
        VolumeSettings {
            packing,
            radii,
            seed: self.seed.wrapping_add(k as u64),
            memory_limit: VolumeSettings::MEMORY_LIMIT,
        }
    }

    /// Estimates the number of guides of fill `k` without packing them. Fails if [`build`](Self::build) would reject
    /// that number.
    pub fn count_fill(&self, k: usize) -> Result<f64, SceneError> {
        let fill = &self.fills[k];
        let FillSource::Shape {
            shape, packing, radii, ..
        } = &fill.source
        else {
            return Ok(fill.source.len() as f64);
        };
        let room = match self.clump_of(fill) {
            Some(clump) if fill.is_tight => TIGHT * clump.extent(),
            Some(clump) => clump.extent(),
            None => 1.0,
        };
        let settings = self.volume_settings(k, *packing, radii.scaled(room));
        let fail = |source| SceneError::Fill {
            place: fill.place.clone(),
            source,
        };
        let mut count = estimate_volume(&**shape, &settings).map_err(fail)?.count;
        // Only there the number decides about the mass.
        if self.has_particles() {
            count *= reached(&**shape, &settings.radii);
        }
        let world = self.empty_world();
        let lightest = f64::from(world.settled_mass(fill.material, radii.min()));
        let density = world.materials.all[usize::from(fill.material)].density;
        let all = count * density * radii.mean_volume() / SETTLED_FRACTION;
        // The packing decides about a factor of two.
        if 2.0 * lightest < LIGHTEST || 0.5 * all > HEAVIEST {
            return Err(SceneError::Weight {
                place: fill.place.clone(),
                lightest,
                all,
            });
        }
        Ok(count)
    }

    /// Returns the mass [kg] of all fills at the bulk density of their materials: their mass with solvers whose guides
    /// are shares of a bulk.
    pub fn bulk_mass(&self) -> Result<f64, SceneError> {
        let mass = |fill: &Fill| {
            let density = self.materials.all[usize::from(fill.material)].density;
            Ok(density
                * match &fill.source {
                    FillSource::Shape { shape, volume, .. } => fill_volume(fill, shape, *volume, &self.periodic)?,
                    FillSource::Points(particles) => particles.volume() / SETTLED_FRACTION,
                })
        };
        self.fills.iter().map(mass).sum()
    }

    /// Estimates the mass [kg] of fill `k`, of `guides` guides, if guides of the scene's solver have the mass of their
    /// own volume; none if they are shares of a bulk.
    pub fn particle_mass(&self, k: usize, guides: f64) -> Option<f64> {
        let fill = &self.fills[k];
        let volume = match &fill.source {
            FillSource::Shape { radii, .. } => guides * radii.mean_volume(),
            FillSource::Points(particles) => particles.volume(),
        };
        let density = self.materials.all[usize::from(fill.material)].particle_density;
        self.has_particles().then_some(density * volume)
    }

    /// Returns the number of spheres of each guide of fill `k`.
    pub fn spheres_per_guide(&self, k: usize) -> usize {
        self.clump_of(&self.fills[k]).map_or(1, |clump| clump.members().len())
    }

    /// Adds what guides come from, go to and meet.
    fn furnish(&self, world: &mut World, watch: &BuildWatch) -> Result<(), SceneError> {
        world.emitters.clone_from(&self.emitters);
        world.sinks.clone_from(&self.sinks);
        self.add_bodies(world, watch)?;
        self.place_inherited(world);
        Ok(())
    }

    /// The world at the start without guides and bodies.
    fn empty_world(&self) -> World {
        let mut world = World::new(self.gravity, self.materials.clone(), self.seed);
        world.periodic = self.periodic;
        world.time = -self.settle();
        world.origin = self.origin();
        let inherited = self.inherited().map_or(&[][..], |inherited| &inherited.groups);
        let fills = self.fills.iter().map(|fill| fill.is_fixed);
        world.fixed_fills = fills.chain(inherited.iter().map(|group| group.is_fixed)).collect();
        if self.has_particles() {
            for material in &mut world.materials.all {
                material.density = material.particle_density * SETTLED_FRACTION;
            }
        }
        world
    }

    /// Returns a world with only the smallest and the largest guide of each fill and emitter, all at one position:
    /// enough to check settings against, however large the scene is.
    pub fn sample(&self) -> World {
        let mut world = self.empty_world();
        for (radii, material) in self.radii() {
            for radius in radii.into_iter().filter(|radius| radius.is_finite()) {
                let mass = world.settled_mass(material, radius);
                world.add_guide(DVec3::ZERO, DVec3::ZERO, radius, mass, material);
            }
        }
        world
    }

    /// Returns whether guides are particles that weigh as their volume, not shares of a bulk.
    fn has_particles(&self) -> bool {
        self.facts().weight == Weight::Particle
    }

    /// Returns the origin of guides' positions [m]: zero if they are near it, else their center, in whole meters.
    fn origin(&self) -> DVec3 {
        let bounds = self.guide_bounds();
        let farthest = bounds.min.abs().max(bounds.max.abs()).max_element();
        if bounds.is_empty() || farthest <= ORIGIN_RANGE {
            return DVec3::ZERO;
        }
        bounds.center().round()
    }

    /// A box [m] around all places where guides start.
    fn guide_bounds(&self) -> Aabb {
        let fills = self.fills.iter().map(|fill| match &fill.source {
            FillSource::Shape { shape, .. } => shape.bounds(),
            FillSource::Points(particles) => Aabb::of_points(particles.positions.iter().copied()),
        });
        let emitters = self.emitters.iter().map(|emitter| emitter.shape.bounds());
        let inherited = self.inherited().map(Inherited::bounds);
        fills
            .chain(emitters)
            .chain(inherited)
            .fold(Aabb::EMPTY, |all, one| all.union(&one))
    }
}

fn add_fill(world: &mut World, fill: &Fill, particles: &Particles, are_particles: bool) -> Result<(), SceneError> {
    let count = world.guides.len() + particles.len();
    if count >= MOST_GUIDES {
        return Err(SceneError::TooMany {
            place: fill.place.clone(),
            count,
        });
    }
    let per_cube = match &fill.source {
        FillSource::Points(_) => None,
        FillSource::Shape { .. } if are_particles => None,
        FillSource::Shape { shape, volume, .. } => {
            let volume = fill_volume(fill, shape, *volume, &world.periodic)?;
            let density = world.materials.all[usize::from(fill.material)].density;
            let cubes: f64 = particles.radii.iter().map(|r| r.powi(3)).sum();
            Some(density * volume / cubes)
        }
    };
    let mass_of = |world: &World, radius: f64| match per_cube {
        Some(share) => (share * radius.powi(3)) as f32,
        None => world.settled_mass(fill.material, radius),
    };
    let masses = particles.radii.iter().map(|&radius| f64::from(mass_of(world, radius)));
    let (lightest, all) = masses.fold((f64::INFINITY, 0.0), |(least, sum), m| (m.min(least), sum + m));
    if lightest < LIGHTEST || all > HEAVIEST {
        return Err(SceneError::Weight {
            place: fill.place.clone(),
            lightest,
            all,
        });
    }
    for (&place, &radius) in particles.positions.iter().zip(&particles.radii) {
        let mass = mass_of(world, radius);
        world.add_guide(place, fill.velocity, radius, mass, fill.material);
    }
    Ok(())
}

/// Returns the part of `shape` within the periodic ranges that it fills and leaves; none if it leaves none of them.
fn within_ranges(shape: &Arc<dyn Shape>, periodic: &Periodic) -> Option<Intersect> {
    let bounds = shape.bounds();
    let mut within = bounds.grown(1.0);
    let mut is_cut = false;
    for (axis, range) in periodic.iter().enumerate() {
        if let Some([low, high]) = range
            && bounds.min[axis] <= *low
            && bounds.max[axis] >= *high
            && bounds.size()[axis] > (1.0 + LEAVING) * (high - low)
        {
            (within.min[axis], within.max[axis]) = (*low, *high);
            is_cut = true;
        }
    }
    let space = Cuboid::new(within.size()).ok().filter(|_| is_cut)?;
    let space = Transformed::new(Arc::new(space), within.center(), DQuat::IDENTITY, DVec3::ONE).ok()?;
    Intersect::new(vec![shape.clone(), Arc::new(space)], 0.0).ok()
}

/// Volume [m³] of the `shape` of `fill` within periodic ranges: the one that is known, or measured.
fn fill_volume(
    fill: &Fill,
    shape: &Arc<dyn Shape>,
    known: Option<f64>,
    periodic: &Periodic,
) -> Result<f64, SceneError> {
    let volume = match within_ranges(shape, periodic) {
        Some(cut) => volume_of(&cut),
        None => known.map_or_else(|| volume_of(&**shape), Ok),
    };
    volume.map_err(|source| SceneError::Volume {
        place: fill.place.clone(),
        source,
    })
}

/// Volume [m³] to a thousandth, or as near as the finest cells come to it.
fn volume_of(shape: &dyn Shape) -> Result<f64, MassError> {
    match mass::of_shape(shape, VOLUME_TOLERANCE) {
        Err(MassError::Unsettled { change, .. }) => mass::of_shape(shape, 2.0 * change),
        found => found,
    }
    .map(|properties| properties.volume)
}
