//! Sources of grains.

use std::sync::Arc;

use barchan_geometry::Shape;
use barchan_geometry::random::Stream;
use barchan_geometry::sample::{Packing, Particles, SampleError, VolumeSettings, sample_periodic};
use barchan_world::{Column, Pose, Table, World, retain};
use glam::{DVec3, Vec3};

use crate::grains::{Grains, rank_of};
use crate::settings::RefineSettings;

/// Random stream of the positions.
const PLACE_STREAM: u64 = 0x706c_6163_6573;
/// Draws for a grain before it is given up: all of them were inside bodies.
const TRIES: u32 = 8;

/// Region that grains are seeded in.
#[derive(Clone, Debug)]
pub enum Source {
    /// A shape that guides fill.
    Shape {
        /// Shape, in the world.
        shape: Arc<dyn Shape>,
        /// Packing of its guides.
        packing: Packing,
        /// Number of the material.
        material: u8,
        /// Initial velocity [m/s].
        velocity: Vec3,
    },
    /// The guides with these ids, which lie as settled material does: what they cover is filled.
    Guides(std::ops::Range<u32>),
    /// The guides with these ids, wherever they are: each gets grains of its own.
    Points(std::ops::Range<u32>),
    /// Grains of another run, which keep their ids, from which their radii follow, and come before all others.
    Grains {
        /// Columns of [`Refiner::table`](barchan_world::Refiner::table).
        table: Table,
        /// Ids of the guides that have these grains.
        guides: std::ops::Range<u32>,
    },
}

/// Takes the grains of `table` over.
pub(crate) fn take(grains: &mut Grains, next_id: &mut u32, world: &World, table: &Table) {
    let (
        Some(Column::U32(ids)),
        Some(Column::Vec3(positions)),
        Some(Column::Vec3(velocities)),
        Some(Column::U8(materials)),
    ) = (
        table.column("id"),
        table.column("position"),
        table.column("velocity"),
        table.column("material"),
    )
    else {
        return;
    };
    for (i, &id) in ids.iter().enumerate() {
        let place = (positions[i].as_dvec3() - world.origin).as_vec3();
        grains.push(place, velocities[i], id, materials[i]);
        *next_id = (*next_id).max(id.saturating_add(1));
    }
}

/// Fills `shape` with grains; `progress` gets the share done, 0 to 1.
pub(crate) fn fill(
    grains: &mut Grains,
    next_id: &mut u32,
    world: &World,
    settings: &RefineSettings,
    source: (&dyn Shape, Packing, u8, Vec3),
    progress: &(dyn Fn(f64) + Sync),
) -> Result<(), SampleError> {
    let (shape, packing, material, velocity) = source;
    let volume = VolumeSettings {
        packing: settings.packing.unwrap_or(packing),
        radii: settings.radii.clone(),
        seed: settings.seed.wrapping_add(u64::from(*next_id)),
        memory_limit: VolumeSettings::MEMORY_LIMIT,
    };
    let mut particles = sample_periodic(shape, &volume, world.periodic, progress)?;
    let solids = Solids::of(world);
    let keep: Vec<bool> = (0..particles.len())
        .map(|k| !solids.touch(particles.positions[k], particles.radii[k]))
        .collect();
    retain(&mut particles.positions, &keep);
    retain(&mut particles.radii, &keep);
    for (k, id) in ids_by_radius(&particles, *next_id, settings) {
        grains.push(
            (particles.positions[k] - world.origin).as_vec3(),
            velocity,
            id,
            material,
        );
    }
    *next_id += particles.len() as u32;
    Ok(())
}

/// Places and their ids: a radius follows from the id, so the larger particles get the ids of the larger radii.
fn ids_by_radius(particles: &Particles, first: u32, settings: &RefineSettings) -> Vec<(usize, u32)> {
    let mut ids: Vec<u32> = (first..).take(particles.len()).collect();
    let mut places: Vec<usize> = (0..particles.len()).collect();
    if settings.radii.min() < settings.radii.max() {
        ids.sort_by(|&a, &b| rank_of(settings.seed, a).total_cmp(&rank_of(settings.seed, b)));
        places.sort_by(|&a, &b| particles.radii[a].total_cmp(&particles.radii[b]));
    }
    places.into_iter().zip(ids).collect()
}

/// A guide that gets grains of its own.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Parent {
    /// Position [m].
    pub place: DVec3,
    pub velocity: Vec3,
    pub radius: f64,
    pub material: u8,
    pub id: u32,
}

/// Seeds grains about the seven support points of a guide: its center and the centers of the faces of its bounding cube, with
/// as many grains in a cube of side 2 r about each [Ihmsen13]. Those inside bodies are drawn anew, and given up at last.
pub(crate) fn about(
    grains: &mut Grains,
    next_id: &mut u32,
    world: &World,
    solids: &Solids,
    settings: &RefineSettings,
    parent: Parent,
) {
    let mut stream = Stream::new(settings.seed ^ PLACE_STREAM, u64::from(parent.id));
    // What the guide's volume holds of grains if both are packed alike.
    let volume = 4.0 / 3.0 * std::f64::consts::PI * parent.radius.powi(3);
    let fitting = volume / settings.radii.mean_volume();
    let count = match settings.per_guide {
        Some(count) => count,
        None => (fitting + stream.unit()) as u32,
    };
    let first = (7.0 * stream.unit()) as u32;
    for k in 0..count {
        let support = support_point((first + k) % 7);
        let id = *next_id;
        let radius = crate::radius_of(&settings.radii, settings.seed, id);
        let mut draw = || {
            let cube = 2.0 * stream.unit_cube() - 1.0;
            parent.place + parent.radius * (support + cube)
        };
        let free = (0..TRIES).map(|_| draw()).find(|place| !solids.touch(*place, radius));
        if let Some(place) = free {
            grains.push((place - world.origin).as_vec3(), parent.velocity, id, parent.material);
            *next_id += 1;
        }
    }
}

/// The center of a cube of side 2, and those of its faces.
fn support_point(k: u32) -> DVec3 {
    let sign = if k.is_multiple_of(2) { -1.0 } else { 1.0 };
    match k {
        1 | 2 => DVec3::X * sign,
        3 | 4 => DVec3::Y * sign,
        5 | 6 => DVec3::Z * sign,
        _ => DVec3::ZERO,
    }
}

/// The bodies that are there.
pub(crate) struct Solids<'a> {
    all: Vec<(&'a dyn Shape, Pose)>,
}

impl<'a> Solids<'a> {
    pub fn of(world: &'a World) -> Self {
        let present = world.bodies.iter().filter(|body| body.is_present(world.time));
        Self {
            all: present.map(|body| (&*body.shape, body.pose)).collect(),
        }
    }

    /// Returns true if a ball at `place` [m] reaches into a body.
    pub fn touch(&self, place: DVec3, radius: f64) -> bool {
        self.all.iter().any(|(shape, pose)| {
            let local = pose.local(place);
            shape.bounds().grown(radius).contains(local) && shape.distance(local) < radius
        })
    }
}
