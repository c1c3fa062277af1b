//! Estimates the resources of a run before it starts.

use barchan_geometry::sample::{Packing, Radii, SampleError, VolumeSettings, estimate_volume, mean_radius};
use barchan_geometry::text::short;
use barchan_scene::{Fill, FillSource, InheritedGroup, InheritedGuide, Refine, Scene, SceneError};
use barchan_world::{Emitter, SETTLED_FRACTION, World};
use thiserror::Error;

use crate::disk::cache_bytes;

/// Memory limit for the guides and grains of emitters [bytes].
const MEMORY_LIMIT: f64 = 16.0 * GIBIBYTE;
const GIBIBYTE: f64 = (1u64 << 30) as f64;
/// Memory per id ever given to a guide, removed or not [bytes].
const ID_BYTES: f64 = 32.0;
/// Memory per grain of a run, including frames being written [bytes]: 140 to 167 were measured.
const GRAIN_BYTES: f64 = 150.0;
/// Memory of a run without guides and grains [bytes].
const BASE_BYTES: f64 = 16e6;
/// Packing of new guides in an emitter's shape, at most.
const EMITTED_PACKING: Packing = Packing::Dense;

/// Reason why a run is rejected before it starts.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum ForecastError {
    /// A fill cannot be packed.
    #[error(transparent)]
    Scene(#[from] SceneError),
    /// Emitters make more guides than fit into memory.
    #[error(
        "{place}: emitters make about {guides:.3e} guides, {per_frame:.3e} of them per frame here, which need {:.1} GiB of memory; {:.1} GiB may be used: take a larger radius, a lower rate or an earlier end",
        bytes / GIBIBYTE, MEMORY_LIMIT / GIBIBYTE
    )]
    Guides {
        /// Position in the scene, as `scene.toml:3:1`.
        place: String,
        /// Guides of all emitters up to this one.
        guides: f64,
        /// Guides of this emitter per frame.
        per_frame: f64,
        /// Required memory [bytes].
        bytes: f64,
    },
    /// The grains do not fit into memory.
    #[error("{place}: grains: {source}")]
    Grains {
        /// Position in the scene, as `scene.toml:3:1`.
        place: String,
        /// The error.
        source: SampleError,
    },
}

impl ForecastError {
    /// Returns the position in the scene, as `scene.toml:3:1`.
    pub fn place(&self) -> &str {
        match self {
            Self::Scene(error) => error.place(),
            Self::Guides { place, .. } | Self::Grains { place, .. } => place,
        }
    }
}

/// Resources of a run, estimated within a few percent.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Forecast {
    /// Frames after the first.
    pub frames: u64,
    /// Guides at the start.
    pub filled: f64,
    /// Guides that emitters add, if there is room for all.
    pub emitted: f64,
    /// Total number of grains.
    pub grains: f64,
    /// Grains at the start.
    pub seeded: f64,
    /// Memory [bytes].
    pub memory: f64,
    /// Size of the cache without the surfaces of bodies [bytes]; [`mesh_bytes`](crate::mesh_bytes) returns theirs.
    pub cache: u64,
    /// Numbers of guides and grains, averaged over all frames.
    pub mean: [f64; 2],
    /// Mass of the fills [kg], and their mass at the bulk density; `None` where guides are shares of a bulk.
    pub masses: Option<[f64; 2]>,
}

/// Relative deviation from the mass at the bulk density below which no note is made [-].
const MASS_TOLERANCE: f64 = 0.01;

/// Describes a fill that weighs `mass` [kg] instead of `bulk` [kg] at the bulk density; `None` if they agree.
pub fn mass_note(mass: f64, bulk: f64) -> Option<String> {
    let differs = (mass - bulk).abs() > MASS_TOLERANCE * bulk;
    let short = |mass: f64| short(format!("{mass:.3e}").parse().unwrap_or(mass));
    differs.then(|| {
        format!(
            "the fills weigh {} kg, spheres of their `grain_density`; filled at `density`, as with pbd and sph, {} kg",
            short(mass),
            short(bulk)
        )
    })
}

impl Forecast {
    /// Replaces the estimated counts at the start by the actual ones.
    #[must_use]
    pub fn with_start(mut self, scene: &Scene, guides: usize, grains: usize) -> Self {
        let more = [guides as f64 - self.filled, grains as f64 - self.seeded];
        self.mean = [0, 1].map(|k| (self.mean[k] + more[k]).max(0.0));
        self.grains += more[1];
        (self.filled, self.seeded) = (guides as f64, grains as f64);
        self.cache = self.size(scene);
        self
    }

    /// Returns the size of the cache [bytes].
    fn size(&self, scene: &Scene) -> u64 {
        let [guides, grains] = self.mean.map(|count| count as u64);
        let bodies = scene.bodies.len() as u64;
        cache_bytes(self.frames + 1, guides, grains, bodies, &scene.output)
    }
}

/// Estimates the resources of a run of `scene`, or rejects it with the number that is too large. Nothing is packed.
pub fn forecast(scene: &Scene) -> Result<Forecast, ForecastError> {
    forecast_until(scene, scene.frames(), scene.duration)
}

/// Estimates the resources of the first `frames` frames of a run of `scene`.
pub fn forecast_frames(scene: &Scene, frames: u64) -> Result<Forecast, ForecastError> {
    match frames == scene.frames() {
        true => forecast(scene),
        false => forecast_until(scene, frames, frames.max(1) as f64 / scene.frame_rate),
    }
}

fn forecast_until(scene: &Scene, frames: u64, duration: f64) -> Result<Forecast, ForecastError> {
    let mut forecast = Forecast {
        frames,
        ..Forecast::default()
    };
    // Adds guides, their grains, and the share of all frames in which they exist.
    let mut add = |guides: f64, grains: f64, part: f64| {
        forecast.grains += grains;
        forecast.mean[0] += guides * part;
        forecast.mean[1] += grains * part;
    };
    let (mut filled, mut spheres) = (0.0, 0.0);
    let mut mass = None;
    for (k, fill) in scene.fills.iter().enumerate() {
        let guides = scene.count_fill(k)?;
        filled += guides;
        if let Some(weighs) = scene.particle_mass(k, guides) {
            *mass.get_or_insert(0.0) += weighs;
        }
        spheres += guides * scene.spheres_per_guide(k) as f64;
        let grains = match &scene.refine {
            Some(refine) => grains_of_fill(scene, refine, fill, guides)?,
            None => 0.0,
        };
        add(guides, grains, 1.0);
    }
    if let Some(inherited) = scene.inherited() {
        let guides = inherited.guides.len() as f64;
        let spheres_of = |group: &InheritedGroup| group.clump.as_ref().map_or(1, |clump| clump.members().len());
        let most_spheres = inherited.groups.iter().map(spheres_of).max().unwrap_or(1);
        filled += guides;
        spheres += guides * most_spheres as f64;
        // The scene's own masses say nothing of those of another run.
        mass = None;
        let grains = match (&scene.refine, &inherited.grains) {
            (Some(_), Some(grains)) => grains.len() as f64,
            (Some(refine), None) => {
                let volume =
                    |guide: &InheritedGuide| 4.0 / 3.0 * std::f64::consts::PI * f64::from(guide.radius).powi(3);
                inherited
                    .guides
                    .iter()
                    .map(|guide| per_guide(refine, volume(guide)))
                    .sum()
            }
            (None, _) => 0.0,
        };
        add(guides, grains, 1.0);
    }
    let world = scene.sample();
    let mut emitted = 0.0;
    let mut poured = 0.0;
    for (k, emitter) in scene.emitters.iter().enumerate() {
        let [guides, per_frame] = guides_of_emitter(scene, &world, emitter, duration);
        emitted += guides;
        let bytes = match scene.sinks.is_empty() {
            true => (spheres + emitted) * scene.facts().guide_bytes,
            false => (filled + emitted) * ID_BYTES,
        };
        if bytes > MEMORY_LIMIT || filled + emitted >= f64::from(u32::MAX) {
            return Err(ForecastError::Guides {
                place: scene.place(&["emitter", &k.to_string()]),
                guides: emitted,
                per_frame,
                bytes,
            });
        }
        let grains = match &scene.refine {
            Some(refine) => guides * grains_per_guide(refine, &emitter.radii),
            None => 0.0,
        };
        poured += grains;
        let end = emitter.end.min(duration);
        add(guides, grains, 1.0 - 0.5 * (emitter.start.min(end) + end) / duration);
    }
    if let Some(refine) = &scene.refine {
        let limit = if scene.sinks.is_empty() {
            MEMORY_LIMIT
        } else {
            f64::INFINITY
        };
        refuse_grains(scene, refine, poured, GRAIN_BYTES, limit)?;
    }
    (forecast.filled, forecast.emitted) = (filled, emitted);
    forecast.seeded = forecast.grains - poured;
    // A volume that cannot be measured does not reject a run that does not need it.
    forecast.masses = mass.and_then(|mass| Some([mass, scene.bulk_mass().ok()?]));
    forecast.memory = BASE_BYTES + (spheres + emitted) * scene.facts().guide_bytes + forecast.grains * GRAIN_BYTES;
    forecast.cache = forecast.size(scene);
    Ok(forecast)
}

/// Returns the number of guides that an emitter adds in `duration` [s] and per frame: its rate, limited by the room in
/// its shape per frame.
fn guides_of_emitter(scene: &Scene, world: &World, emitter: &Emitter, duration: f64) -> [f64; 2] {
    let time = (emitter.end.min(duration) - emitter.start).max(0.0);
    let density = world.materials.all[usize::from(emitter.material)].density;
    let mass = density * emitter.radii.mean_volume() / SETTLED_FRACTION;
    let settings = VolumeSettings {
        packing: EMITTED_PACKING,
        radii: emitter.radii.clone(),
        seed: 1,
        memory_limit: u64::MAX,
    };
    let room = estimate_volume(&*emitter.shape, &settings).map_or(f64::INFINITY, |found| found.count);
    let per_frame = (emitter.rate / (mass * scene.frame_rate)).min(room);
    let frames = (time * scene.frame_rate).ceil();
    [(emitter.rate * time / mass).min(room * frames), per_frame]
}

/// Returns the number of grains that start with the `guides` of a fill.
fn grains_of_fill(scene: &Scene, refine: &Refine, fill: &Fill, guides: f64) -> Result<f64, ForecastError> {
    let is_about_guides = refine.settings.word("seeding") == Some("support");
    match &fill.source {
        FillSource::Shape { shape, packing, .. } if !is_about_guides && scene.settle() <= 0.0 => {
            let settings = VolumeSettings {
                packing: refine.packing.unwrap_or(*packing),
                radii: refine.radii.clone(),
                seed: scene.seed,
                memory_limit: VolumeSettings::MEMORY_LIMIT,
            };
            let fail = |source| ForecastError::Grains {
                place: scene.place(&["refine", "radius"]),
                source,
            };
            Ok(estimate_volume(&**shape, &settings).map_err(fail)?.count)
        }
        FillSource::Shape { radii, .. } => {
            let grains = guides * grains_per_guide(refine, radii);
            let (bytes, limit) = match is_about_guides {
                true => (GRAIN_BYTES, MEMORY_LIMIT),
                false => (SETTLED_BYTES, VolumeSettings::MEMORY_LIMIT as f64),
            };
            refuse_grains(scene, refine, grains, bytes, limit)?;
            Ok(grains)
        }
        FillSource::Points(points) => {
            let mean = points.volume() / points.len().max(1) as f64;
            let grains = guides * per_guide(refine, mean);
            refuse_grains(scene, refine, grains, GRAIN_BYTES, MEMORY_LIMIT)?;
            Ok(grains)
        }
    }
}

/// Memory per grain while grains of settled guides are packed [bytes].
const SETTLED_BYTES: f64 = 300.0;

fn refuse_grains(scene: &Scene, refine: &Refine, count: f64, each: f64, limit: f64) -> Result<(), ForecastError> {
    let bytes = count * each;
    // Ids of grains have 32 bits.
    if bytes <= limit && count < 0.9 * f64::from(u32::MAX) {
        return Ok(());
    }
    Err(ForecastError::Grains {
        place: scene.place(&["refine", "radius"]),
        source: SampleError::TooMany {
            radius: mean_radius(&refine.radii),
            count,
            bytes,
            limit: limit as u64,
        },
    })
}

fn grains_per_guide(refine: &Refine, guides: &Radii) -> f64 {
    per_guide(refine, guides.mean_volume())
}

/// Returns the number of grains that a guide of `volume` [m³] gets.
fn per_guide(refine: &Refine, volume: f64) -> f64 {
    let asked = refine.settings.count("per_guide").map(|count| count as f64);
    asked.unwrap_or(volume / refine.radii.mean_volume())
}
