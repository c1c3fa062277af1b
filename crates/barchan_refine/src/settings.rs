//! Settings of refinement.

use barchan_geometry::sample::{Packing, Radii};

/// Motion of a grain between guides and beside them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// The rule of [Ihmsen13] where guides are sparse; dense regions follow, and rest when their guides rest.
    #[default]
    Gated,
    /// Equations 23 to 26 of [Ihmsen13] as printed: guides and particles of bodies move grains.
    Ihmsen,
    /// Section 4 of [Sommer22] as printed: the same, but particles of bodies count only where a guide is in reach.
    Sommer,
    /// The rule of [Alduan09]: a grain that at most one guide reaches falls freely, all others follow.
    Alduan,
}

impl Mode {
    /// Every mode, by the name used in scene files.
    pub const ALL: [(&'static str, Self); 4] = [
        ("gated", Self::Gated),
        ("ihmsen", Self::Ihmsen),
        ("sommer", Self::Sommer),
        ("alduan", Self::Alduan),
    ];

    /// Returns true if bodies move grains as particles among the guides, and do not push them out.
    pub(crate) fn has_boundary_particles(self) -> bool {
        matches!(self, Self::Ihmsen | Self::Sommer)
    }
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
    /// Lets the grains of guides in free flight fly on their own; in mode `gated`.
    pub flight: bool,
    /// Lets flowing grains part that lie inside each other; in mode `gated`.
    pub separate: bool,
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
            flight: true,
            separate: true,
            repel: false,
            seed: 1,
        }
    }
}
