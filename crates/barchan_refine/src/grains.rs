//! Grains at rest in memory.

use barchan_geometry::random::Stream;
use barchan_geometry::sample::Radii;
use barchan_world::{Archive, ArchiveError, retain};
use glam::Vec3;

/// Random stream of the radii.
const RADIUS_STREAM: u64 = 0x7261_6469_7573;

/// The particles that follow guides: 29 bytes each. Their order in memory changes; ids identify them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Grains {
    /// Coordinates relative to the world's origin [m].
    pub position: [Vec<f32>; 3],
    /// Velocity [m/s].
    pub velocity: [Vec<f32>; 3],
    /// Stable number [-].
    pub id: Vec<u32>,
    /// Number of the material [-].
    pub material: Vec<u8>,
}

impl Grains {
    /// Memory per grain [bytes].
    pub const BYTES: usize = 6 * size_of::<f32>() + size_of::<u32>() + size_of::<u8>();

    /// Returns the number of grains.
    pub fn len(&self) -> usize {
        self.id.len()
    }

    /// Returns true if there are no grains.
    pub fn is_empty(&self) -> bool {
        self.id.is_empty()
    }

    /// Returns the position of grain `i` relative to the world's origin [m].
    pub fn place(&self, i: usize) -> Vec3 {
        Vec3::new(self.position[0][i], self.position[1][i], self.position[2][i])
    }

    /// Returns the velocity of grain `i` [m/s].
    pub fn rate(&self, i: usize) -> Vec3 {
        Vec3::new(self.velocity[0][i], self.velocity[1][i], self.velocity[2][i])
    }

    /// Appends a grain.
    pub fn push(&mut self, position: Vec3, velocity: Vec3, id: u32, material: u8) {
        for axis in 0..3 {
            self.position[axis].push(position[axis]);
            self.velocity[axis].push(velocity[axis]);
        }
        self.id.push(id);
        self.material.push(material);
    }

    /// Keeps the grains for which `keep` is true, in their order.
    pub fn retain(&mut self, keep: &[bool]) {
        for column in self.position.iter_mut().chain(&mut self.velocity) {
            retain(column, keep);
        }
        retain(&mut self.id, keep);
        retain(&mut self.material, keep);
    }

    /// Stores everything.
    pub fn save(&self, archive: &mut Archive) {
        for (k, column) in self.position.iter().chain(&self.velocity).enumerate() {
            archive.put(&format!("grains.{k}"), column);
        }
        archive.put("grains.id", &self.id);
        archive.put("grains.material", &self.material);
    }

    /// Restores the state of [`save`](Self::save): grains with ids below `next_id`, of so many `materials`.
    pub fn load(archive: &Archive, next_id: u32, materials: usize) -> Result<Self, ArchiveError> {
        let column = |k: usize| archive.get_near(&format!("grains.{k}"));
        let grains = Self {
            position: [column(0)?, column(1)?, column(2)?],
            velocity: [column(3)?, column(4)?, column(5)?],
            id: archive.get_ids("grains.id", next_id)?,
            material: archive.get_fit("grains.material", |&m: &u8| usize::from(m) < materials)?,
        };
        let lengths = grains.position.iter().chain(&grains.velocity).map(Vec::len);
        match lengths.chain([grains.material.len()]).all(|n| n == grains.id.len()) {
            true => Ok(grains),
            false => Err(ArchiveError::Ragged {
                prefix: "grains".to_owned(),
            }),
        }
    }
}

/// Returns the radius [m] of the grain `id`. It is drawn again at every call, so that it takes no memory.
pub fn radius_of(radii: &Radii, seed: u64, id: u32) -> f64 {
    if radii.min() == radii.max() {
        return radii.min();
    }
    radii.quantile(rank_of(seed, id))
}

/// Radius [m] of a grain of mean volume.
pub(crate) fn typical_radius(radii: &Radii) -> f64 {
    (radii.mean_volume() * 0.75 / std::f64::consts::PI).cbrt()
}

/// The share of grains that are no larger than the grain `id` [-].
pub(crate) fn rank_of(seed: u64, id: u32) -> f64 {
    Stream::new(seed ^ RADIUS_STREAM, u64::from(id)).unit()
}
