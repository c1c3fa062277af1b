//! Refines existing guides, of a cache or of files that another program wrote.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use crate::scene::{Diagnostics, Document, Scene, SceneError, parse_scene};
use barchan_geometry::sample::{Radii, SampleError};
use barchan_geometry::sdf_grid::SdfGrid;
use barchan_io::{
    Cache, CacheError, CacheFolder, CacheSettings, CacheWriter, GrainsWriter, PointTable, READABLE, ReadPointsError,
    Run, read_points,
};
use barchan_refine::measures::Quality;
use barchan_refine::{GrainRefiner, Grains, RefineError, RefineSettings, Source};
use barchan_world::{
    BodyState, Boundary, Column, Frame, Guides, Ledger, Motion, Pose, Refiner, Stats, Table, Twist, World,
};
use glam::{DQuat, DVec3, Vec3};
use serde_json::{Value, json};
use thiserror::Error;

use crate::registry;
use crate::stage::Stage;

/// Input and options of a refinement.
#[derive(Clone, Debug)]
pub struct RefineOptions {
    /// A cache, or a folder of particle files.
    pub dir: PathBuf,
    /// Radius of the grains [m]; by default that of the scene, or a third of the guides'.
    pub radius: Option<f64>,
    /// Cache to write. By default files go to `DIR-grains`, and a cache receives its grains in place.
    pub output: Option<PathBuf>,
    /// Radius [m] of guides whose files have none.
    pub guide_radius: Option<f64>,
    /// Files per second [1/s].
    pub frame_rate: f64,
    /// Replaces the output cache, or the grains of a cache refined in place.
    pub force: bool,
    /// Scene of the guides, for its bodies, materials and periodic axes; by default that of the cache.
    pub scene: Option<Document>,
    /// Height of a level ground below the guides [m].
    pub floor: Option<f64>,
    /// Mesh files of additional fixed bodies.
    pub bodies: Vec<PathBuf>,
}

impl RefineOptions {
    /// Refines a cache with the options of its scene.
    pub fn of_cache(dir: &Path) -> Self {
        Self {
            dir: dir.to_owned(),
            radius: None,
            output: None,
            guide_radius: None,
            frame_rate: 60.0,
            force: false,
            scene: None,
            floor: None,
            bodies: Vec::new(),
        }
    }
}

/// Memory limit for a body's distance grid [bytes].
const GRID_MEMORY: usize = 256 << 20;

/// Reason why guides cannot be refined.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum RefiningError {
    /// The cache could not be read or written.
    #[error(transparent)]
    Cache(#[from] CacheError),
    /// A file could not be read.
    #[error(transparent)]
    Points(#[from] ReadPointsError),
    /// The radius of the grains is invalid.
    #[error(transparent)]
    Radius(#[from] SampleError),
    /// The refinement settings are invalid.
    #[error(transparent)]
    Refine(#[from] RefineError),
    /// The scene cannot be built.
    #[error(transparent)]
    Scene(#[from] SceneError),
    /// The output exists already.
    #[error("{} is a cache already: replace it with --force, or choose another folder with -o", path.display())]
    Exists {
        /// The cache.
        path: PathBuf,
    },
    /// The cache has grains already.
    #[error("{} has grains already: replace them with --force, or make another cache with -o", path.display())]
    HasGrains {
        /// The cache.
        path: PathBuf,
    },
    /// The scene or an option has errors.
    #[error("{0}")]
    Text(Diagnostics),
    /// A required property of the guides is unknown.
    #[error("{}: {what}", path.display())]
    Unknown {
        /// File or folder.
        path: PathBuf,
        /// The missing property, and a remedy.
        what: String,
    },
}

/// Result of a refinement.
#[derive(Clone, Debug, PartialEq)]
pub struct Refined {
    /// The cache with the grains.
    pub dir: PathBuf,
    /// Number of frames.
    pub frames: usize,
    /// Grains in the last frame.
    pub grains: usize,
    /// Mean time per frame without reading and writing [ms].
    pub grain_ms: f64,
    /// Warnings about skipped input.
    pub warnings: Vec<String>,
}

/// Refines guides. `progress` receives the number of finished frames and the total.
pub fn refine(options: &RefineOptions, progress: &mut dyn FnMut(usize, usize)) -> Result<Refined, RefiningError> {
    match options.dir.join("manifest.json").exists() {
        true => refine_cache(options, progress),
        false => refine_files(options, progress),
    }
}

fn refine_cache(options: &RefineOptions, progress: &mut dyn FnMut(usize, usize)) -> Result<Refined, RefiningError> {
    let source = CacheFolder::open(&options.dir)?;
    let cache = Cache::open(&options.dir)?;
    let other = options.output.as_ref().filter(|output| !is_same(output, &options.dir));
    let target = other.map(|output| claim(output, options.force)).transpose()?;
    if target.is_none() && !options.force && cache.frames().iter().any(|entry| entry.grains.is_some()) {
        let path = options.dir.clone();
        return Err(RefiningError::HasGrains { path });
    }
    let Surroundings {
        scene,
        mut world,
        warnings,
        ..
    } = Surroundings::of(options, Some(&cache))?;
    let guided: Vec<_> = cache.frames().iter().filter(|f| f.guides.is_some()).cloned().collect();
    let dir = other.unwrap_or(&options.dir).clone();
    let mut writer = match target {
        Some(target) => GrainsWriter::copy(&cache, target, scene.output.compact)?,
        None => GrainsWriter::open(source, scene.output.compact)?,
    };
    let mut chain = Chain::new(options.clone(), scene);
    for (done, entry) in guided.iter().enumerate() {
        let points = of_table(&cache.read_guides(entry.frame)?);
        world.place_scripted_bodies(entry.time);
        place_bodies(&cache, entry.frame, &mut world)?;
        let table = chain.go_on(&mut world, &points, entry.time, &options.dir)?;
        writer.push(entry.frame, table, chain.milliseconds)?;
        progress(done + 1, guided.len());
    }
    writer.finish()?;
    Ok(chain.done(dir, guided.len(), warnings))
}

/// Locks the folder of the output cache.
fn claim(dir: &Path, force: bool) -> Result<CacheFolder, RefiningError> {
    CacheFolder::create(dir, force).map_err(|error| match error {
        CacheError::Exists { path } => RefiningError::Exists { path },
        error => error.into(),
    })
}

/// Checks whether two paths lead to the same folder.
fn is_same(a: &Path, b: &Path) -> bool {
    match (a.canonicalize(), b.canonicalize()) {
        (Ok(a), Ok(b)) => a == b,
        _ => false,
    }
}

fn refine_files(options: &RefineOptions, progress: &mut dyn FnMut(usize, usize)) -> Result<Refined, RefiningError> {
    let files = series(&options.dir)?;
    let dir = match &options.output {
        Some(dir) => dir.clone(),
        None => {
            let dir = std::path::absolute(&options.dir).unwrap_or_else(|_| options.dir.clone());
            let name = dir.file_name().unwrap_or_default().to_string_lossy().into_owned();
            match options.dir.file_name() {
                Some(_) => options.dir.with_file_name(format!("{name}-grains")),
                None => dir.with_file_name(format!("{name}-grains")),
            }
        }
    };
    let Surroundings {
        mut scene,
        source,
        mut world,
        mut warnings,
    } = Surroundings::of(options, None)?;
    for body in &mut world.bodies {
        if matches!(body.motion, Motion::Dynamic | Motion::Driven) {
            body.until = f64::NEG_INFINITY;
            warnings.push(format!(
                "the body `{}` is left out: only fixed and scripted bodies have a known path",
                body.name
            ));
        }
    }
    // The scene's own guides are not simulated.
    (scene.fills, scene.emitters) = (Vec::new(), Vec::new());
    (world.fill_ends, world.emitters) = (Vec::new(), Vec::new());
    let run = Run {
        scene: source,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        solver: "files".to_owned(),
        frame_rate: options.frame_rate,
        first_frame: 0,
        files: BTreeMap::new(),
    };
    let folder = claim(&dir, options.force)?;
    // Staged: an invalid series leaves nothing behind and replaces nothing.
    let staging = folder.stage()?;
    let mut writer = CacheWriter::create(staging.dir(), run, CacheSettings::default())?;
    let mut chain = Chain::new(options.clone(), scene.clone());
    for (number, file) in files.iter().enumerate() {
        let points = read_points(file)?;
        let time = number as f64 / options.frame_rate;
        move_bodies(&mut world, time);
        if number == 0 {
            resolve_bodies(&mut world, &points, options.guide_radius, &mut warnings);
        }
        let table = chain.go_on(&mut world, &points, time, file)?;
        if number == 0 {
            Stage::new(&scene, &world)
                .save(staging.dir())
                .map_err(CacheError::from)?;
        }
        let grains = table.len();
        let mut stats = Stats::of_guides(&world, &chain.velocities);
        (stats.grains, stats.grain_ms) = (grains, chain.milliseconds);
        let present = world.bodies.iter().filter(|body| body.is_present(time));
        writer.push(Frame {
            number: number as u64,
            time,
            guides: guide_table(&world, &chain.velocities),
            grains: Some(table),
            bodies: present.map(BodyState::of).collect(),
            stats,
            ..Frame::default()
        })?;
        progress(number + 1, files.len());
    }
    writer.finish()?;
    folder.adopt(&staging)?;
    Ok(chain.done(dir, files.len(), warnings))
}

/// Returns the files of a series, in the order of the numbers in their names.
fn series(dir: &Path) -> Result<Vec<PathBuf>, RefiningError> {
    let unknown = |what: String| RefiningError::Unknown {
        path: dir.to_owned(),
        what,
    };
    let ending = |path: &PathBuf| path.extension().unwrap_or_default().to_string_lossy().to_lowercase();
    let entries = std::fs::read_dir(dir).map_err(|error| unknown(error.to_string()))?;
    let readable = |path: &PathBuf| READABLE.contains(&ending(path).as_str()) && path.is_file();
    let mut files: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).filter(readable).collect();
    files.sort_by_cached_key(|file| natural_key(&file.file_stem().unwrap_or_default().to_string_lossy()));
    let Some(first) = files.first() else {
        let kinds = READABLE.join(", .");
        return Err(unknown(format!(
            "it is no cache, and holds no file that ends in .{kinds}"
        )));
    };
    if let Some(other) = files.iter().find(|file| ending(file) != ending(first)) {
        let (first, other) = (ending(first), ending(other));
        return Err(unknown(format!(
            "it holds .{first} and .{other} files; a series has one kind"
        )));
    }
    Ok(files)
}

/// Returns a sort key that compares numbers by value, not digits: f2 before f10, f010 before f11.
fn natural_key(name: &str) -> (Vec<(bool, usize, String)>, String) {
    let mut parts = Vec::new();
    let mut rest = name;
    while let Some(first) = rest.chars().next() {
        let is_number = first.is_ascii_digit();
        let end = rest
            .find(|c: char| c.is_ascii_digit() != is_number)
            .unwrap_or(rest.len());
        let part = &rest[..end];
        parts.push(match is_number {
            true => {
                let digits = part.trim_start_matches('0');
                (false, digits.len(), digits.to_owned())
            }
            false => (true, 0, part.to_owned()),
        });
        rest = &rest[end..];
    }
    (parts, name.to_owned())
}

/// Surroundings of guides and grains.
struct Surroundings {
    scene: Scene,
    /// The scene's text, for the manifest.
    source: Value,
    /// World with bodies but without guides.
    world: World,
    warnings: Vec<String>,
}

/// Default scene for guides of unknown origin.
const BARE: &str = "duration = 1\n[materials.sand]\ndensity = 1600\nfriction = { static = 0.35, kinetic = 0.3 }\n";

impl Surroundings {
    /// Builds the surroundings from the given scene, from that of the cache, or without bodies; the options add to it.
    fn of(options: &RefineOptions, cache: Option<&Cache>) -> Result<Self, RefiningError> {
        let bare = || Document::new("the options of refine", BARE);
        let mut warnings = Vec::new();
        let document = match (&options.scene, cache.and_then(document_of)) {
            (Some(given), _) => given.clone(),
            (None, Some(kept)) => match parse_scene(&kept) {
                Ok(_) => kept,
                Err(_) => {
                    let what = "the cache's scene cannot be read alone, so there are no bodies: give it with --scene";
                    warnings.push(what.to_owned());
                    bare()
                }
            },
            (None, None) => bare(),
        };
        let document = with_bodies(document, options);
        let (scene, _) = parse_scene(&document).map_err(RefiningError::Text)?;
        let mut world = scene.build()?;
        (world.guides, world.next_id, world.ledger) = (Guides::default(), 0, Ledger::default());
        warnings.append(&mut world.warnings);
        let name = match options.scene {
            Some(_) => scene.name.clone(),
            None => options
                .dir
                .file_name()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned(),
        };
        let source = json!({ "name": name, "text": document.text, "set": document.overrides });
        Ok(Self {
            scene,
            source,
            world,
            warnings,
        })
    }
}

/// Returns the scene's text stored in a cache.
fn document_of(cache: &Cache) -> Option<Document> {
    let scene = &cache.manifest().run.scene;
    let document = Document::new("scene", scene.get("text")?.as_str()?);
    let set = scene.get("set").and_then(Value::as_array).into_iter().flatten();
    Some(set.filter_map(Value::as_str).fold(document, Document::with))
}

/// Adds the floor and the bodies of `options`.
fn with_bodies(mut document: Document, options: &RefineOptions) -> Document {
    let mut add = |name: &str, shape: String| {
        // A JSON string is a valid TOML string.
        let name = Value::from(name);
        document
            .text
            .push_str(&format!("\n[[body]]\nname = {name}\nshape = {{ {shape} }}\n"));
    };
    if let Some(height) = options.floor {
        add(
            "floor",
            format!("half_space = {{ normal = [0, 0, 1], offset = {height:?} }}"),
        );
    }
    for (number, path) in options.bodies.iter().enumerate() {
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        let path = std::path::absolute(path).unwrap_or_else(|_| path.clone());
        add(
            &format!("{stem} {}", number + 1),
            format!("mesh = {}", Value::from(path.to_string_lossy())),
        );
    }
    document
}

/// Moves scripted bodies to `time` [s], with the velocities of their motion.
fn move_bodies(world: &mut World, time: f64) {
    let before: Vec<(Pose, DVec3)> = world.bodies.iter().map(|body| (body.pose, body.center())).collect();
    let duration = time - world.time;
    world.place_scripted_bodies(time);
    for (body, (pose, center)) in world.bodies.iter_mut().zip(before) {
        if matches!(body.motion, Motion::Scripted { .. }) && duration > 0.0 {
            let turn = (body.pose.rotation * pose.rotation.inverse()).to_scaled_axis();
            body.twist = Twist {
                linear: (body.center() - center) / duration,
                angular: turn / duration,
            };
        }
    }
}

/// Gives bodies distance grids that resolve the guides of `points`, as scenes do for their own.
fn resolve_bodies(world: &mut World, points: &PointTable, default_radius: Option<f64>, warnings: &mut Vec<String>) {
    let radii = points.radii.iter().flatten().copied().chain(default_radius);
    let (smallest, largest) = radii.fold((f64::INFINITY, 0.0), |(low, high), r| (r.min(low), r.max(high)));
    if largest == 0.0 {
        return;
    }
    for body in &mut world.bodies {
        if let Boundary::Field(_) = body.boundary {
            let grid = SdfGrid::build(&*body.shape, 0.5 * smallest, 2.0 * largest, GRID_MEMORY);
            body.boundary = match grid {
                Ok(grid) => Boundary::Field(Arc::new(grid)),
                Err(reason) => {
                    warnings.push(format!(
                        "the body `{}`: {reason}; its solid is asked for distances instead, which takes longer",
                        body.name
                    ));
                    Boundary::Exact(body.shape.clone())
                }
            };
        }
    }
}

/// Measures the quality of the grains in a frame of a cache; `None` if it has none. Bodies are those of the cache's
/// scene.
pub fn quality(cache: &Cache, frame: u64) -> Result<Option<Quality>, RefiningError> {
    let table = match cache.read_grains(frame) {
        Ok(table) => table,
        Err(CacheError::NoFrame { .. }) => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    let options = RefineOptions::of_cache(cache.dir());
    let mut world = Surroundings::of(&options, Some(cache))?.world;
    if let Some(entry) = cache.frames().iter().find(|entry| entry.frame == frame) {
        world.time = entry.time;
    }
    place_bodies(cache, frame, &mut world)?;
    let guides = of_table(&cache.read_guides(frame)?);
    for (position, radius) in guides.positions.iter().zip(guides.radii.iter().flatten()) {
        let mass = world.settled_mass(0, *radius);
        world.add_guide(*position, DVec3::ZERO, *radius, mass, 0);
    }
    let points = of_table(&table);
    let mut grains = Grains::default();
    for (position, id) in points.positions.iter().zip(0..) {
        grains.push((*position - world.origin).as_vec3(), Vec3::ZERO, id, 0);
    }
    let radii = points.radii.unwrap_or_default();
    let radius = radii.iter().copied().fold(f64::INFINITY, f64::min);
    Ok((!grains.is_empty() && radius > 0.0).then(|| Quality::of(&world, &grains, radius)))
}

/// Grains over a sequence of guide frames.
struct Chain {
    options: RefineOptions,
    scene: Scene,
    refiner: Option<GrainRefiner>,
    /// Previous position and assigned id of each guide, by the id in the file.
    known: BTreeMap<u32, (DVec3, u32)>,
    velocities: Vec<Vec3>,
    time: f64,
    milliseconds: f64,
    total: f64,
}

impl Chain {
    fn new(options: RefineOptions, scene: Scene) -> Self {
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

    /// Returns the grains of the next frame, whose guides were read from `path`.
    fn go_on(
        &mut self,
        world: &mut World,
        points: &PointTable,
        time: f64,
        path: &Path,
    ) -> Result<Table, RefiningError> {
        let duration = time - self.time;
        self.take(world, points, duration, path)?;
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

    /// Sets the guides from `points`. Velocities are differences of positions; new guides take those of the file.
    fn take(
        &mut self,
        world: &mut World,
        points: &PointTable,
        duration: f64,
        path: &Path,
    ) -> Result<(), RefiningError> {
        world.guides = Default::default();
        self.velocities.clear();
        let mut known = BTreeMap::new();
        for (i, &position) in points.positions.iter().enumerate() {
            let own = points.ids.as_ref().map_or(i as u32, |ids| ids[i]);
            let before = self.known.get(&own);
            let said = points.velocities.as_ref().map_or(DVec3::ZERO, |v| v[i]);
            let velocity = match before {
                Some((was, _)) if duration > 0.0 => (world.nearest_image(position, *was) - *was) / duration,
                _ => said,
            };
            let radius = points
                .radii
                .as_ref()
                .map(|radii| radii[i])
                .or(self.options.guide_radius);
            let unknown = |what: &str| RefiningError::Unknown {
                path: path.to_owned(),
                what: what.to_owned(),
            };
            let radius = radius.ok_or_else(|| unknown("it has no column `radius`; give one with --guide-radius"))?;
            if !(radius.is_finite() && radius > 0.0) {
                return Err(unknown(&format!("guide {own} has the radius {radius}")));
            }
            let next = world.next_id;
            let id = before.map_or(next, |(_, id)| *id);
            let mass = world.settled_mass(0, radius);
            world.add_guide(position, velocity, radius, mass, 0);
            *world.guides.id.last_mut().expect("just added") = id;
            world.next_id = if before.is_none() { next + 1 } else { next };
            self.velocities.push(velocity.as_vec3());
            known.insert(own, (position, id));
        }
        self.known = known;
        Ok(())
    }

    fn seed(&self, world: &World) -> Result<GrainRefiner, RefiningError> {
        let mut settings = match &self.scene.refine {
            Some(refine) => registry::refine_settings(refine, self.scene.seed),
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

    fn done(self, dir: PathBuf, frames: usize, mut warnings: Vec<String>) -> Refined {
        let grains = self.refiner.as_ref().map_or(0, Refiner::len);
        if grains == 0 {
            let what = "there are no grains: none of this radius has room in the sand and outside of bodies";
            warnings.push(what.to_owned());
        }
        Refined {
            dir,
            frames,
            grains,
            grain_ms: self.total / frames.max(1) as f64,
            warnings,
        }
    }
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

/// Converts the guides of a cache to points.
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
    let positions = (0..guides.len()).map(|i| world.place(i).as_vec3());
    table.push("position", Column::Vec3(positions.collect()));
    table.push("velocity", Column::Vec3(velocities.to_vec()));
    table.push("radius", Column::F32(guides.radius.clone()));
    table.push("material", Column::U8(guides.material.clone()));
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_ordered_by_their_numbers() {
        let ordered = [
            ["f0", "f1", "f2", "f10", "f11", "f100"].as_slice(),
            &["f0", "f01", "f2", "f010", "f11", "f0100"],
            &["a1_b9", "a1_b10", "a2_b1", "a10_b0"],
            &["9", "10", "99999999999999999999", "100000000000000000000"],
            &["sand", "sand0", "sand1", "sand.1"],
        ];
        for names in ordered {
            let mut sorted = names.to_vec();
            sorted.reverse();
            sorted.sort_by_cached_key(|name| natural_key(name));
            assert_eq!(sorted, names);
        }
    }
}
