//! Settings of refinement.

use barchan_geometry::sample::{Packing, Radii};

/// Motion of a grain between guides and beside them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// The rule of [Ihmsen13] where guides are sparse; dense regions follow, and rest when their guides rest.
    #[default]
    Gated,
    /// The rule as [Ihmsen13] and [Sommer22] print it.
    Ihmsen,
    /// The rule of [Alduan09]: a grain that at most one guide reaches falls freely, all others follow.
    Alduan,
}

impl Mode {
    /// Every mode, by the name used in scene files.
    pub const ALL: [(&'static str, Self); 3] = [
        ("gated", Self::Gated),
        ("ihmsen", Self::Ihmsen),
        ("alduan", Self::Alduan),
    ];
}

/// Source of the first grains.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Seeding {
    /// Fills are sampled again with the grains' radius.
    #[default]
    Volume,
    /// So many around each guide, about its seven support points.
    Support,
}

/// Settings of the seeding and motion of grains.
#[derive(Clone, Debug, PartialEq)]
pub struct RefineSettings {
    /// Radii of the grains.
    pub radii: Radii,
    /// Motion of the grains.
    pub mode: Mode,
    /// Longest step [s].
    pub step: f64,
    /// Source of the first grains.
    pub seeding: Seeding,
    /// Packing in fills; that of the fill's guides if none is given.
    pub packing: Option<Packing>,
    /// Grains for each guide that is seeded by its support points; as many as fill its share of space if none is given.
    pub per_guide: Option<u32>,
    /// Lets flowing grains spread from regions that are too dense; in mode `gated`.
    pub spread: bool,
    /// Lets flowing grains push each other apart: more expensive than everything else.
    pub repel: bool,
    /// Decides what is random.
    pub seed: u64,
}

impl RefineSettings {
    /// The defaults for grains of `radii`.
    pub fn new(radii: Radii) -> Self {
        Self {
            radii,
            mode: Mode::default(),
            step: crate::laws::REFERENCE_STEP,
            seeding: Seeding::default(),
            packing: None,
            per_guide: None,
            spread: true,
            repel: false,
            seed: 1,
        }
    }
}
