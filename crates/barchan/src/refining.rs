//! Grains for guides that are there already: of a cache, or of files that another program wrote.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Instant;

use barchan_geometry::sample::{Radii, SampleError};
use barchan_io::{
    Cache, CacheError, CacheFolder, CacheSettings, CacheWriter, GrainsWriter, PointTable, READABLE, ReadPointsError,
    Run, read_points,
};
use barchan_refine::measures::Quality;
use barchan_refine::{GrainRefiner, Grains, RefineError, RefineSettings, Source};
use barchan_scene::{Document, Scene, SceneError, parse_scene};
use barchan_world::{Column, Frame, Friction, Material, Materials, Pose, Refiner, Stats, Table, Twist, World};
use glam::{DQuat, DVec3, Vec3};
use serde_json::json;
use thiserror::Error;

use crate::registry;

/// What is to be refined, and how.
#[derive(Clone, Debug)]
pub struct RefineOptions {
    /// A cache, or a folder of files of particles.
    pub dir: PathBuf,
    /// Radius of the grains [m]; that of the scene, or a third of the guides' if none is given.
    pub radius: Option<f64>,
    /// The cache that is made of files; `DIR-grains` if none is given. A cache gets its grains where it is.
    pub output: Option<PathBuf>,
    /// Radius of guides [m] whose files say none.
    pub guide_radius: Option<f64>,
    /// Files in a second [1/s].
    pub frame_rate: f64,
    /// Replace the cache that is where one is made of files.
    pub force: bool,
}

/// Why guides could not be refined.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum RefiningError {
    /// The cache could not be read or written.
    #[error(transparent)]
    Cache(#[from] CacheError),
    /// A file could not be read.
    #[error(transparent)]
    Points(#[from] ReadPointsError),
    /// No grain has such a radius.
    #[error(transparent)]
    Radius(#[from] SampleError),
    /// There can be no such grains.
    #[error(transparent)]
    Refine(#[from] RefineError),
    /// The cache's scene cannot be built.
    #[error(transparent)]
    Scene(#[from] SceneError),
    /// A new cache where one is.
    #[error("{} is a cache already: replace it with --force, or choose another folder with -o", path.display())]
    Exists {
        /// The cache.
        path: PathBuf,
    },
    /// Guides of which something must be known is not.
    #[error("{}: {what}", path.display())]
    Unknown {
        /// Which file or folder.
        path: PathBuf,
        /// What is missing, and what to do.
        what: String,
    },
}

/// What was made.
#[derive(Clone, Debug, PartialEq)]
pub struct Refined {
    /// The cache with the grains.
    pub dir: PathBuf,
    /// Frames.
    pub frames: usize,
    /// Grains in the last of them.
    pub grains: usize,
    /// Mean milliseconds a frame, without reading and writing.
    pub grain_ms: f64,
}

/// Makes grains. `progress` is told how many frames are done, of how many.
pub fn refine(options: &RefineOptions, progress: &mut dyn FnMut(usize, usize)) -> Result<Refined, RefiningError> {
    match options.dir.join("manifest.json").exists() {
        true => refine_cache(options, progress),
        false => refine_files(options, progress),
    }
}

fn refine_cache(options: &RefineOptions, progress: &mut dyn FnMut(usize, usize)) -> Result<Refined, RefiningError> {
    let folder = CacheFolder::open(&options.dir)?;
    let cache = Cache::open(&options.dir)?;
    let (scene, mut world) = scene_world(&cache)?;
    let guided: Vec<_> = cache.frames().iter().filter(|f| f.guides.is_some()).cloned().collect();
    let mut writer = GrainsWriter::open(folder, scene.as_ref().is_some_and(|s| s.output.compact))?;
    let mut chain = Chain::new(options.clone(), scene);
    for (done, entry) in guided.iter().enumerate() {
        let points = of_table(&cache.read_guides(entry.frame)?);
        place_bodies(&cache, entry.frame, &mut world)?;
        let table = chain.go_on(&mut world, &points, entry.time)?;
        writer.push(entry.frame, table, chain.milliseconds)?;
        progress(done + 1, guided.len());
    }
    writer.finish()?;
    Ok(chain.done(options.dir.clone(), guided.len()))
}

fn refine_files(options: &RefineOptions, progress: &mut dyn FnMut(usize, usize)) -> Result<Refined, RefiningError> {
    let unknown = |what: String| RefiningError::Unknown {
        path: options.dir.clone(),
        what,
    };
    let entries = std::fs::read_dir(&options.dir).map_err(|error| unknown(error.to_string()))?;
    let readable = |path: &PathBuf| {
        path.extension()
            .is_some_and(|e| READABLE.iter().any(|r| e.eq_ignore_ascii_case(r)))
    };
    let mut files: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).filter(readable).collect();
    files.sort();
    if files.is_empty() {
        let kinds = READABLE.join(", .");
        return Err(unknown(format!(
            "it is no cache, and holds no file that ends in .{kinds}"
        )));
    }
    let dir = options.output.clone().unwrap_or_else(|| {
        let name = options.dir.file_name().unwrap_or_default().to_string_lossy();
        options.dir.with_file_name(format!("{name}-grains"))
    });
    let run = Run {
        scene: json!({ "name": options.dir.file_name().map(|n| n.to_string_lossy()) }),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        solver: "files".to_owned(),
        frame_rate: options.frame_rate,
        first_frame: 0,
        files: BTreeMap::new(),
    };
    let folder = CacheFolder::create(&dir, options.force).map_err(|error| match error {
        CacheError::Exists { path } => RefiningError::Exists { path },
        error => error.into(),
    })?;
    let mut writer = CacheWriter::create_in(folder, run, CacheSettings::default())?;
    let mut world = bare_world();
    let mut chain = Chain::new(options.clone(), None);
    for (number, file) in files.iter().enumerate() {
        let points = read_points(file)?;
        let time = number as f64 / options.frame_rate;
        let table = chain.go_on(&mut world, &points, time)?;
        let grains = table.len();
        let mut stats = Stats::of_guides(&world, &chain.velocities);
        (stats.grains, stats.grain_ms) = (grains, chain.milliseconds);
        writer.push(Frame {
            number: number as u64,
            time,
            guides: guide_table(&world, &chain.velocities),
            grains: Some(table),
            bodies: Vec::new(),
            stats,
        })?;
        progress(number + 1, files.len());
    }
    writer.finish()?;
    Ok(chain.done(dir, files.len()))
}

/// How good the grains of a frame of a cache are; nothing if it has none. Bodies are those of the cache's scene.
pub fn quality(cache: &Cache, frame: u64) -> Result<Option<Quality>, RefiningError> {
    let table = match cache.read_grains(frame) {
        Ok(table) => table,
        Err(CacheError::NoFrame { .. }) => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    let (_, mut world) = scene_world(cache)?;
    if let Some(entry) = cache.frames().iter().find(|entry| entry.frame == frame) {
        world.time = entry.time;
    }
    place_bodies(cache, frame, &mut world)?;
    let guides = of_table(&cache.read_guides(frame)?);
    world.guides = Default::default();
    for (place, radius) in guides.positions.iter().zip(guides.radii.iter().flatten()) {
        let mass = world.settled_mass(0, *radius);
        world.add_guide(*place, DVec3::ZERO, *radius, mass, 0);
    }
    let points = of_table(&table);
    let mut grains = Grains::default();
    for (place, id) in points.positions.iter().zip(0..) {
        grains.push((*place - world.origin).as_vec3(), Vec3::ZERO, id, 0);
    }
    let radii = points.radii.unwrap_or_default();
    let radius = radii.iter().copied().fold(f64::INFINITY, f64::min);
    Ok((!grains.is_empty() && radius > 0.0).then(|| Quality::of(&world, &grains, radius)))
}

/// Grains over a sequence of guides.
struct Chain {
    options: RefineOptions,
    scene: Option<Scene>,
    refiner: Option<GrainRefiner>,
    /// By their own ids: where guides were, and which ids we gave them.
    known: BTreeMap<u32, (DVec3, u32)>,
    velocities: Vec<Vec3>,
    time: f64,
    milliseconds: f64,
    total: f64,
}

impl Chain {
    fn new(options: RefineOptions, scene: Option<Scene>) -> Self {
        Self {
            options,
            scene,
            refiner: None,
            known: BTreeMap::new(),
            velocities: Vec::new(),
            time: 0.0,
            milliseconds: 0.0,
            total: 0.0,
        }
    }

    /// The grains of the next frame.
    fn go_on(&mut self, world: &mut World, points: &PointTable, time: f64) -> Result<Table, RefiningError> {
        let duration = time - self.time;
        self.take(world, points, duration)?;
        (world.time, self.time) = (time, time);
        let start = Instant::now();
        let refiner = match &mut self.refiner {
            None => {
                let refiner = self.seed(world)?;
                self.refiner.insert(refiner)
            }
            Some(refiner) => {
                let velocities = &self.velocities;
                rayon::scope(|_| refiner.advance(world, velocities, duration));
                refiner
            }
        };
        self.milliseconds = 1e3 * start.elapsed().as_secs_f64();
        self.total += self.milliseconds;
        Ok(refiner.table(world))
    }

    /// Puts the guides where `points` says. Velocities are differences of places, or what the file says of new guides.
    fn take(&mut self, world: &mut World, points: &PointTable, duration: f64) -> Result<(), RefiningError> {
        world.guides = Default::default();
        self.velocities.clear();
        let mut known = BTreeMap::new();
        for (i, &place) in points.positions.iter().enumerate() {
            let own = points.ids.as_ref().map_or(i as u32, |ids| ids[i]);
            let before = self.known.get(&own);
            let said = points.velocities.as_ref().map_or(DVec3::ZERO, |v| v[i]);
            let velocity = match before {
                Some((was, _)) if duration > 0.0 => (place - *was) / duration,
                _ => said,
            };
            let radius = points
                .radii
                .as_ref()
                .map(|radii| radii[i])
                .or(self.options.guide_radius);
            let Some(radius) = radius.filter(|r| r.is_finite() && *r > 0.0) else {
                return Err(RefiningError::Unknown {
                    path: self.options.dir.clone(),
                    what: "the guides have no radius; give one with --guide-radius".to_owned(),
                });
            };
            let next = world.next_id;
            let id = before.map_or(next, |(_, id)| *id);
            let mass = world.settled_mass(0, radius);
            world.add_guide(place, velocity, radius, mass, 0);
            *world.guides.id.last_mut().expect("just added") = id;
            world.next_id = if before.is_none() { next + 1 } else { next };
            self.velocities.push(velocity.as_vec3());
            known.insert(own, (place, id));
        }
        self.known = known;
        Ok(())
    }

    fn seed(&self, world: &World) -> Result<GrainRefiner, RefiningError> {
        let refine = self.scene.as_ref().and_then(|scene| scene.refine.as_ref());
        let seed = self.scene.as_ref().map_or(1, |scene| scene.seed);
        let mut settings = match refine {
            Some(refine) => registry::refine_settings(refine, seed),
            None => {
                let largest = world.guides.radius.iter().copied().fold(0.0, f32::max);
                RefineSettings::new(Radii::one(self.options.radius.unwrap_or(f64::from(largest) / 3.0))?)
            }
        };
        if let Some(radius) = self.options.radius {
            settings.radii = Radii::one(radius)?;
        }
        let all = Source::Guides(0..world.next_id);
        Ok(GrainRefiner::new(settings, world, &[all])?)
    }

    fn done(self, dir: PathBuf, frames: usize) -> Refined {
        Refined {
            dir,
            frames,
            grains: self.refiner.as_ref().map_or(0, Refiner::len),
            grain_ms: self.total / frames.max(1) as f64,
        }
    }
}

/// The scene of a cache and its world with its bodies, if the cache says which.
fn scene_world(cache: &Cache) -> Result<(Option<Scene>, World), RefiningError> {
    let text = cache.manifest().run.scene.get("text").and_then(|text| text.as_str());
    let scene = text
        .and_then(|text| parse_scene(&Document::new("scene", text)).ok())
        .map(|(scene, _)| scene);
    let world = match &scene {
        Some(scene) => scene.build()?,
        None => bare_world(),
    };
    let mut world = world;
    world.next_id = 0;
    Ok((scene, world))
}

fn bare_world() -> World {
    let friction = Friction {
        r#static: 0.35,
        kinetic: 0.3,
    };
    let sand = Material {
        name: "sand".to_owned(),
        density: 1600.0,
        grain_density: 2650.0,
        friction,
        angle_of_repose: None,
    };
    let materials = Materials {
        all: vec![sand],
        pairs: BTreeMap::new(),
    };
    World::new(DVec3::new(0.0, 0.0, -9.81), materials, 1)
}

fn place_bodies(cache: &Cache, frame: u64, world: &mut World) -> Result<(), RefiningError> {
    let states = match cache.read_bodies(frame) {
        Ok(states) => states,
        Err(CacheError::NoFrame { .. }) => return Ok(()),
        Err(error) => return Err(error.into()),
    };
    for body in &mut world.bodies {
        if let Some(state) = states.iter().find(|state| state.name == body.name) {
            body.pose = Pose {
                position: state.position,
                rotation: DQuat::from_array(state.rotation),
            };
            body.twist = Twist {
                linear: state.linear_velocity,
                angular: state.angular_velocity,
            };
        }
    }
    Ok(())
}

/// The guides of a cache as points.
fn of_table(table: &Table) -> PointTable {
    let vectors = |name: &str| match table.column(name) {
        Some(Column::Vec3(values)) => Some(values.iter().map(|v| v.as_dvec3()).collect()),
        _ => None,
    };
    PointTable {
        positions: vectors("position").unwrap_or_default(),
        velocities: vectors("velocity"),
        radii: match table.column("radius") {
            Some(Column::F32(values)) => Some(values.iter().map(|r| f64::from(*r)).collect()),
            _ => None,
        },
        ids: match table.column("id") {
            Some(Column::U32(values)) => Some(values.clone()),
            _ => None,
        },
    }
}

fn guide_table(world: &World, velocities: &[Vec3]) -> Table {
    let guides = &world.guides;
    let mut table = Table::default();
    table.push("id", Column::U32(guides.id.clone()));
    let places = (0..guides.len()).map(|i| world.place(i).as_vec3());
    table.push("position", Column::Vec3(places.collect()));
    table.push("velocity", Column::Vec3(velocities.to_vec()));
    table.push("radius", Column::F32(guides.radius.clone()));
    table.push("material", Column::U8(guides.material.clone()));
    table
}
