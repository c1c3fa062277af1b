//! The frame of another run that a scene begins with, read from its cache.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;

use barchan_geometry::clump::Clump;
use barchan_io::{Cache, CacheError, FrameEntry};
use barchan_scene::{Diagnostics, Inherited, InheritedGroup, InheritedGuide, Scene};
use barchan_world::spec::Weight;
use barchan_world::{Column, MaterialId, SETTLED_FRACTION, Table, World};

use crate::stage::Stage;

/// Keys of a scene that errors point to.
const CACHE: &[&str] = &["start", "cache"];
const FRAME: &[&str] = &["start", "frame"];

/// Columns of guides that are the world's, not the solver's.
const OWN_COLUMNS: [&str; 5] = ["id", "position", "velocity", "radius", "material"];

/// Largest id of `guides` guides that is accepted [-]: arrays by id are as long as that.
fn most_ids(guides: usize) -> u64 {
    (1 << 26) + 64 * guides as u64
}

/// Relative difference at which radii of grains count as equal [-].
const RADIUS_ROUNDING: f64 = 1e-3;

/// Reads the frame that `scene` begins with, if it begins with one.
pub(crate) fn resolve(scene: &mut Scene) -> Result<(), Diagnostics> {
    let Some(start) = scene.start.clone() else {
        return Ok(());
    };
    let unreadable = |error: CacheError| scene.error(CACHE, error.to_string(), "");
    let cache = Cache::open(&start.cache).map_err(unreadable)?;
    let frames = cache.frames();
    let number = match start.frame.or(frames.last().map(|entry| entry.frame)) {
        Some(number) => number,
        None => return Err(scene.error(CACHE, format!("{} holds no frames", start.cache.display()), "")),
    };
    let entry = frames.iter().find(|entry| entry.frame == number);
    // The cache's own error lists the frames that it has.
    let guides = cache
        .read_guides(number)
        .map_err(|error| scene.error(FRAME, error.to_string(), ""))?;
    let made_by = &cache.manifest().run.solver;
    if made_by != scene.solver.name {
        let message = format!(
            "the run in {} was made by the solver {made_by}, this scene has {}",
            start.cache.display(),
            scene.solver.name
        );
        let help = format!("set solver.kind = \"{made_by}\"");
        return Err(scene.error(CACHE, message, &help));
    }
    let stage = Stage::load(&start.cache).map_err(|error| scene.error(CACHE, error.to_string(), ""))?;
    let refuse = |message: String| scene.error(CACHE, format!("frame {number}: {message}"), "");
    let materials = material_ids(scene, &stage).map_err(refuse)?;
    let grains = match (&scene.refine, entry.and_then(|entry| entry.grains)) {
        (Some(_), Some(_)) => Some(cache.read_grains(number).map_err(unreadable)?),
        _ => None,
    };
    let bodies = match entry.and_then(|entry| entry.bodies) {
        Some(_) => cache.read_bodies(number).map_err(unreadable)?,
        None => Vec::new(),
    };
    let contents = Inherited {
        guides: guides_of(&guides, &materials)
            .and_then(|guides| weigh(scene, &cache, entry, guides))
            .map_err(refuse)?,
        groups: Vec::new(),
        columns: solver_columns(&guides),
        grains: grains
            .map(|grains| grains_of(scene, &grains, &materials))
            .transpose()
            .map_err(refuse)?,
        bodies,
    };
    let end = contents
        .guides
        .iter()
        .map(|guide| guide.id + 1)
        .max()
        .unwrap_or_default();
    let contents = Inherited {
        groups: groups(&stage, end).map_err(refuse)?,
        ..contents
    };
    let sum = format!("{:08x}", checksum(&contents));
    let name = format!("{} frame {number}", start.cache.display());
    scene.files.insert(name, sum);
    if let Some(start) = &mut scene.start {
        start.contents = Some(Arc::new(contents));
    }
    Ok(())
}

/// Returns the number in `scene` of each material of the cache with the given stage.
fn material_ids(scene: &Scene, stage: &Stage) -> Result<Vec<Option<MaterialId>>, String> {
    let own = &scene.materials.all;
    let number = |name: &String| own.iter().position(|material| material.name == *name);
    let ids = stage
        .plan
        .names
        .iter()
        .map(|name| number(name).map(|m| m as MaterialId));
    match stage.plan.names.is_empty() {
        // Written before stages had names.
        true => Ok((0..own.len()).map(|m| Some(m as MaterialId)).collect()),
        false => Ok(ids.collect()),
    }
}

/// Returns the number in the scene of the material that is number `material` in the cache.
fn material_id(materials: &[Option<MaterialId>], material: u8) -> Result<MaterialId, String> {
    let known = materials.get(usize::from(material)).copied().flatten();
    known.ok_or_else(|| format!("the scene has no material like number {material} of the run"))
}

/// Returns the guides of `table`, without masses.
fn guides_of(table: &Table, materials: &[Option<MaterialId>]) -> Result<Vec<InheritedGuide>, String> {
    let (ids, positions) = (numbers(table, "id")?, vectors(table, "position")?);
    let (velocities, radii) = (vectors(table, "velocity")?, floats(table, "radius")?);
    let material = bytes(table, "material")?;
    if let Some(&id) = ids.iter().find(|&&id| u64::from(id) > most_ids(ids.len())) {
        return Err(format!("the id {id} is too large for {} guides", ids.len()));
    }
    if ids.iter().collect::<BTreeSet<_>>().len() < ids.len() {
        return Err("two guides have the same id".to_owned());
    }
    let guide = |i: usize| {
        let (position, velocity, radius) = (positions[i], velocities[i], radii[i]);
        match position.is_finite() && velocity.is_finite() && radius.is_finite() && radius > 0.0 {
            true => Ok(InheritedGuide {
                id: ids[i],
                position: position.as_dvec3(),
                velocity,
                radius,
                mass: 0.0,
                material: material_id(materials, material[i])?,
            }),
            false => Err(format!("guide {} has the radius {radius} m at {position}", ids[i])),
        }
    };
    (0..ids.len()).map(guide).collect()
}

/// Gives guides their masses: those of their volumes at the density of their material. Where guides are shares of a bulk,
/// all are scaled so that they weigh together what the frame weighs.
fn weigh(
    scene: &Scene,
    cache: &Cache,
    entry: Option<&FrameEntry>,
    mut guides: Vec<InheritedGuide>,
) -> Result<Vec<InheritedGuide>, String> {
    let is_bulk = scene.facts().weight == Weight::Bulk;
    let mut world = World::new(scene.gravity, scene.materials.clone(), scene.seed);
    for material in world.materials.all.iter_mut().filter(|_| !is_bulk) {
        material.density = material.particle_density * SETTLED_FRACTION;
    }
    for guide in &mut guides {
        guide.mass = world.settled_mass(guide.material, guide.radius.into());
    }
    if is_bulk {
        let stats = cache.stats().map_err(|error| error.to_string())?;
        let frame = entry.and_then(|entry| stats.iter().find(|stats| stats.frame == entry.frame));
        let all: f64 = guides.iter().map(|guide| f64::from(guide.mass)).sum();
        let scale = frame.map_or(1.0, |frame| frame.stats.mass / all);
        if scale.is_finite() && scale > 0.0 {
            guides
                .iter_mut()
                .for_each(|guide| guide.mass = (f64::from(guide.mass) * scale) as f32);
        }
    }
    Ok(guides)
}

fn solver_columns(table: &Table) -> Table {
    let mut own = Table::default();
    for (name, column) in table
        .columns
        .iter()
        .filter(|(name, _)| !OWN_COLUMNS.contains(&name.as_str()))
    {
        own.push(name, column.clone());
    }
    own
}

/// Returns the grains of `table` with the materials of `scene`. Radii follow from ids, so they must be those of the scene.
fn grains_of(scene: &Scene, table: &Table, materials: &[Option<MaterialId>]) -> Result<Table, String> {
    let (ids, radii) = (numbers(table, "id")?, floats(table, "radius")?);
    if let Some(refine) = &scene.refine {
        let range = [
            refine.radii.min() * (1.0 - RADIUS_ROUNDING),
            refine.radii.max() * (1.0 + RADIUS_ROUNDING),
        ];
        if let Some(radius) = radii.iter().find(|&&r| !(range[0]..=range[1]).contains(&f64::from(r))) {
            return Err(format!(
                "a grain has the radius {radius} m; set refine.radius as in the run, or leave its grains out of that cache"
            ));
        }
    }
    let material = bytes(table, "material")?.iter().map(|&m| material_id(materials, m));
    let mut grains = Table::default();
    grains.push("id", Column::U32(ids.to_vec()));
    grains.push("position", Column::Vec3(vectors(table, "position")?.to_vec()));
    grains.push("velocity", Column::Vec3(vectors(table, "velocity")?.to_vec()));
    grains.push("material", Column::U8(material.collect::<Result<_, String>>()?));
    Ok(grains)
}

/// Ids that are clumps or fixed: which ones, whether they are fixed, and their clump.
type Special = (Range<u32>, bool, Option<Arc<Clump>>);

/// Divides the ids up to `end` into groups that are alike: clumps, fixed guides, and all others.
fn groups(stage: &Stage, end: u32) -> Result<Vec<InheritedGroup>, String> {
    let mut special: BTreeMap<u32, Special> = BTreeMap::new();
    for plan in &stage.plan.clumps {
        let clump = plan.clump().map_err(|error| error.to_string())?;
        special.insert(plan.ids().start, (plan.ids(), false, Some(Arc::new(clump))));
    }
    for ids in &stage.plan.fixed {
        special.insert(ids.start, (ids.clone(), true, None));
    }
    let mut groups = Vec::new();
    let mut next = 0;
    let mut add = |next: &mut u32, until: u32, is_fixed: bool, clump: Option<Arc<Clump>>| {
        if until > *next {
            groups.push(InheritedGroup {
                end: until,
                is_fixed,
                clump,
            });
            *next = until;
        }
    };
    for (ids, is_fixed, clump) in special.into_values() {
        add(&mut next, ids.start.min(end), false, None);
        add(&mut next, ids.end.min(end), is_fixed, clump);
    }
    add(&mut next, end, false, None);
    Ok(groups)
}

fn checksum(contents: &Inherited) -> u32 {
    let mut sum = crc32fast::Hasher::new();
    for guide in &contents.guides {
        sum.update(&guide.id.to_le_bytes());
        for x in guide.position.to_array() {
            sum.update(&x.to_le_bytes());
        }
        for x in guide.velocity.to_array() {
            sum.update(&x.to_le_bytes());
        }
    }
    sum.finalize()
}

macro_rules! columns {
    ($($name:ident: $variant:ident => $type:ty;)*) => {
        $(fn $name<'a>(table: &'a Table, name: &str) -> Result<&'a [$type], String> {
            match table.column(name) {
                Some(Column::$variant(values)) => Ok(values),
                _ => Err(format!("there is no column `{name}` of the expected type")),
            }
        })*
    };
}

columns! {
    numbers: U32 => u32;
    vectors: Vec3 => glam::Vec3;
    floats: F32 => f32;
    bytes: U8 => u8;
}
