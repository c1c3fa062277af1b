//! Rigid groups of spheres that move as one.

use glam::{DMat3, DVec3};
use thiserror::Error;

use crate::sample::surface::{SurfaceError, SurfaceSettings, sample_surface};
use crate::text::short;
use crate::{MassProperties, Shape, TriMesh};

/// Columns along each axis when the union of spheres is measured [-].
const COLUMNS: u32 = 256;

/// Largest number of spheres of a cover: those of one clump stay in one chunk of work.
const MAX_COVER_SPHERES: usize = 1000;
/// Largest number of spheres in a list [-]: solvers count those of one chunk of work in sixteen bits.
const MAX_LISTED_SPHERES: usize = 10_000;

/// Relative difference of moments of inertia below which they count as equal [-].
const INERTIA_TOLERANCE: f64 = 1e-3;

/// Reason why a group of spheres is not a clump.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum ClumpError {
    /// There are no spheres, or they have no volume.
    #[error("a clump must have spheres and a volume above 0, got {spheres} with {} m³", short(*.volume))]
    Empty {
        /// Number of spheres.
        spheres: usize,
        /// Volume [m³].
        volume: f64,
    },
    /// A sphere is invalid.
    #[error("sphere {index} of a clump must have a finite position and a radius above 0, got {radius} m at {place}")]
    Sphere {
        /// Index of the sphere.
        index: usize,
        /// Radius [m].
        radius: f64,
        /// Position [m].
        place: DVec3,
    },
    /// The cover has too many spheres.
    #[error("{spheres} spheres of {} m would cover it; a clump may have {MAX_COVER_SPHERES}: make them larger", short(*.radius))]
    TooMany {
        /// Radius of the spheres [m].
        radius: f64,
        /// Number of spheres.
        spheres: usize,
    },
    /// The list is too long.
    #[error("a clump may have {MAX_LISTED_SPHERES} spheres, got {spheres}")]
    TooLong {
        /// Number of spheres.
        spheres: usize,
    },
    /// The surface cannot be covered.
    #[error(transparent)]
    Cover(#[from] SurfaceError),
}

/// A sphere of a clump.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Member {
    /// Offset from the center of mass [m].
    pub offset: DVec3,
    /// Radius [m].
    pub radius: f64,
}

/// Several spheres that move as one, with the volume of a sphere of radius 1 m: scaled to each guide's radius.
#[derive(Clone, Debug, PartialEq)]
pub struct Clump {
    members: Vec<Member>,
    /// Inertia about the center of mass per mass [m²], and its inverse.
    inertia: DMat3,
    inverse: DMat3,
    is_round: bool,
    extent: f64,
}

impl Clump {
    /// Creates four spheres at the corners of a tetrahedron whose edge is `edge` radii [-].
    pub fn tetrahedron(edge: f64) -> Result<Self, ClumpError> {
        let corner = edge / 8f64.sqrt();
        let signs = [[1.0, 1.0, 1.0], [1.0, -1.0, -1.0], [-1.0, 1.0, -1.0], [-1.0, -1.0, 1.0]];
        Self::of_spheres(&signs.map(|sign| (corner * DVec3::from_array(sign), 1.0)))
    }

    /// Creates eight spheres at the corners of a cube whose edge is `edge` radii [-].
    pub fn cube(edge: f64) -> Result<Self, ClumpError> {
        let sign = |k: usize, bit: usize| if k >> bit & 1 == 1 { 0.5 } else { -0.5 };
        let corner = |k: usize| (edge * DVec3::new(sign(k, 0), sign(k, 1), sign(k, 2)), 1.0);
        Self::of_spheres(&std::array::from_fn::<_, 8, _>(corner))
    }

    /// Covers the surface of a solid with spheres of `radius` [m] that touch it from within, [Bell05] section 3.4.
    pub fn of_surface(
        solid: &dyn Shape,
        surface: &TriMesh,
        whole: &MassProperties,
        radius: f64,
    ) -> Result<Self, ClumpError> {
        let settings = SurfaceSettings {
            offset: -radius,
            ..SurfaceSettings::new(radius)
        };
        let cover = sample_surface(surface, solid, &settings, &|_| {})?;
        if cover.positions.len() > MAX_COVER_SPHERES {
            return Err(ClumpError::TooMany {
                radius,
                spheres: cover.positions.len(),
            });
        }
        let spheres: Vec<(DVec3, f64)> = cover.positions.iter().map(|&place| (place, radius)).collect();
        Self::of_solid(whole, &spheres)
    }

    /// Creates a clump of spheres at these positions [m] with these radii [m]. Mass and inertia are those of their
    /// union, of one density.
    pub fn of_spheres(spheres: &[(DVec3, f64)]) -> Result<Self, ClumpError> {
        let broken = spheres
            .iter()
            .position(|s| !(s.0.is_finite() && s.1 > 0.0 && s.1.is_finite()));
        if let Some(index) = broken {
            let (place, radius) = spheres[index];
            return Err(ClumpError::Sphere { index, radius, place });
        }
        Self::of_solid(&union(spheres), spheres)
    }

    /// Creates a solid whose surface is covered from within by spheres at these positions [m] with these radii [m]:
    /// contacts are those of the spheres, mass and inertia those of the solid, for a density of 1.
    pub fn of_solid(whole: &MassProperties, spheres: &[(DVec3, f64)]) -> Result<Self, ClumpError> {
        if spheres.len() > MAX_LISTED_SPHERES {
            let spheres = spheres.len();
            return Err(ClumpError::TooLong { spheres });
        }
        if spheres.is_empty() || whole.volume.is_nan() || whole.volume <= 0.0 {
            return Err(ClumpError::Empty {
                spheres: spheres.len(),
                volume: whole.volume,
            });
        }
        let scale = (4.0 / 3.0 * std::f64::consts::PI / whole.volume).cbrt();
        let member = |&(place, radius): &(DVec3, f64)| Member {
            offset: scale * (place - whole.center),
            radius: scale * radius,
        };
        let members: Vec<Member> = spheres.iter().map(member).collect();
        let extent = members.iter().map(|m| m.offset.length() + m.radius).fold(0.0, f64::max);
        let measured = whole.inertia * (scale * scale / whole.volume);
        let mean = (measured.x_axis.x + measured.y_axis.y + measured.z_axis.z) / 3.0;
        let uneven = (measured - DMat3::IDENTITY * mean).to_cols_array();
        let is_round = uneven.iter().all(|part| part.abs() < INERTIA_TOLERANCE * mean);
        let inertia = if is_round { DMat3::IDENTITY * mean } else { measured };
        Ok(Self {
            members,
            inertia,
            inverse: inertia.inverse(),
            is_round,
            extent,
        })
    }

    /// Returns its spheres, for a volume of 4/3 π m³.
    pub fn members(&self) -> &[Member] {
        &self.members
    }

    /// Returns the inertia about the center of mass per mass [m²], for a volume of 4/3 π m³.
    pub fn inertia(&self) -> DMat3 {
        self.inertia
    }

    /// Returns the inverse of [`inertia`](Self::inertia) [1/m²].
    pub fn inverse_inertia(&self) -> DMat3 {
        self.inverse
    }

    /// Returns true if the inertia is the same about every axis, as for tetrahedra and cubes: rotation is then free of
    /// tumbling.
    pub fn is_round(&self) -> bool {
        self.is_round
    }

    /// Returns the radius of the bounding sphere about the center of mass [m], for a volume of 4/3 π m³.
    pub fn extent(&self) -> f64 {
        self.extent
    }
}

/// Returns volume, center and inertia about it, for a density of 1, of a union of spheres: exact along columns in z,
/// midpoint rule across.
fn union(spheres: &[(DVec3, f64)]) -> MassProperties {
    let low = spheres.iter().map(|s| s.0 - s.1).fold(DVec3::MAX, DVec3::min);
    let high = spheres.iter().map(|s| s.0 + s.1).fold(DVec3::MIN, DVec3::max);
    let middle = 0.5 * (low + high);
    let cell = (high - low) / f64::from(COLUMNS);
    // Integrals of 1, x, xx over the union, relative to the center: mass, first and second moments.
    let (mut volume, mut first, mut second) = (0.0, DVec3::ZERO, DMat3::ZERO);
    let mut spans: Vec<(f64, f64)> = Vec::new();
    for i in 0..COLUMNS {
        for j in 0..COLUMNS {
            let (x, y) = (
                low.x + (f64::from(i) + 0.5) * cell.x,
                low.y + (f64::from(j) + 0.5) * cell.y,
            );
            spans.clear();
            spans.extend(spheres.iter().filter_map(|&(place, radius)| {
                let half = radius * radius - (x - place.x).powi(2) - (y - place.y).powi(2);
                (half > 0.0).then(|| (place.z - half.sqrt() - middle.z, place.z + half.sqrt() - middle.z))
            }));
            spans.sort_by(|a, b| a.0.total_cmp(&b.0));
            let mut from = f64::NEG_INFINITY;
            let (x, y) = (x - middle.x, y - middle.y);
            for &(start, end) in &spans {
                let start = start.max(from);
                if end <= start {
                    continue;
                }
                from = end;
                let area = cell.x * cell.y;
                let length = area * (end - start);
                let z = area * 0.5 * (end * end - start * start);
                let zz = area * (end.powi(3) - start.powi(3)) / 3.0;
                volume += length;
                first += DVec3::new(x * length, y * length, z);
                second += DMat3::from_cols(
                    DVec3::new(x * x * length, x * y * length, x * z),
                    DVec3::new(x * y * length, y * y * length, y * z),
                    DVec3::new(x * z, y * z, zz),
                );
            }
        }
    }
    let center = first / volume;
    let outer = DMat3::from_cols(center * center.x, center * center.y, center * center.z) * volume;
    let covariance = second - outer;
    let trace = covariance.x_axis.x + covariance.y_axis.y + covariance.z_axis.z;
    MassProperties {
        volume,
        center: middle + center,
        inertia: DMat3::IDENTITY * trace - covariance,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::primitives;
    use crate::shapes::Cuboid;

    /// Edge, then volume and moment of inertia per volume of the tetrahedron, then of the cube, for a radius of 1. In the last row
    /// spheres just touch: the moment is 2/5 plus two thirds of the squared distance of a center from the middle.
    const TABLE: [(f64, f64, f64, f64, f64); 4] = [
        (1.0, 11.16, 0.806, 19.29, 1.143),
        (1.4, 14.11, 0.998, 27.40, 1.515),
        (1.6, 15.39, 1.105, 30.70, 1.750),
        (2.0, 16.76, 1.400, 33.51, 2.400),
    ];

    #[test]
    fn a_list_of_more_spheres_than_can_be_counted_is_refused() {
        let list = |count: usize| vec![(DVec3::ZERO, 1.0); count];
        let whole = union(&list(1));
        let refused = Clump::of_solid(&whole, &list(MAX_LISTED_SPHERES + 1)).unwrap_err();
        assert!(matches!(refused, ClumpError::TooLong { spheres: 10_001 }), "{refused}");
        assert!(Clump::of_solid(&whole, &list(MAX_LISTED_SPHERES)).is_ok());
    }

    #[test]
    fn clumps_have_the_volume_and_the_inertia_of_the_table() {
        for (edge, tetrahedron, of_tetrahedron, cube, of_cube) in TABLE {
            for (clump, volume, moment) in [
                (Clump::tetrahedron(edge).unwrap(), tetrahedron, of_tetrahedron),
                (Clump::cube(edge).unwrap(), cube, of_cube),
            ] {
                let scale = clump.members()[0].radius;
                let found = 4.0 / 3.0 * std::f64::consts::PI / scale.powi(3);
                assert!((found / volume - 1.0).abs() < 1e-3, "{edge}: {found} {volume}");
                for axis in 0..3 {
                    let found = clump.inertia().col(axis)[axis] / (scale * scale);
                    assert!((found / moment - 1.0).abs() < 2e-3, "{edge}: {found} {moment}");
                    let off = clump.inertia().col(axis)[(axis + 1) % 3];
                    assert!(off.abs() < 1e-4 * moment, "{off}");
                }
            }
        }
    }

    #[test]
    fn one_sphere_is_a_sphere_wherever_it_was_said_to_be() {
        let clump = Clump::of_spheres(&[(DVec3::new(3.0, -2.0, 7.0), 0.5)]).unwrap();
        assert!(clump.members()[0].offset.length() < 1e-9);
        assert!((clump.members()[0].radius - 1.0).abs() < 1e-4);
        assert!((clump.inertia().x_axis.x - 0.4).abs() < 1e-4);
    }

    #[test]
    fn a_solid_that_is_covered_has_its_own_mass_and_the_reach_of_its_surface() {
        let radius = 0.15;
        let shape = Cuboid::new(DVec3::new(1.0, 0.6, 0.5)).unwrap();
        let surface = primitives::cuboid(DVec3::new(1.0, 0.6, 0.5));
        let whole = crate::mesh::mass_properties(&surface);
        let clump = Clump::of_surface(&shape, &surface, &whole, radius).unwrap();
        let scale = (4.0 / 3.0 * std::f64::consts::PI / 0.3f64).cbrt();
        for axis in 0..3 {
            let far = |m: &Member| m.offset[axis].abs() + m.radius;
            let reach = clump.members().iter().map(far).fold(0.0, f64::max);
            let half = [0.5, 0.3, 0.25][axis] * scale;
            assert!((reach / half - 1.0).abs() < 0.02, "{axis}: {reach} {half}");
        }
        // m/12 (b² + c²) about the long axis.
        let expected = (0.36 + 0.25) / 12.0 * scale * scale;
        assert!((clump.inertia().x_axis.x / expected - 1.0).abs() < 1e-3);
        assert!(!clump.is_round());
    }

    #[test]
    fn what_has_no_volume_is_refused() {
        assert!(matches!(Clump::of_spheres(&[]), Err(ClumpError::Empty { .. })));
        let flat = Clump::of_spheres(&[(DVec3::ZERO, 1.0), (DVec3::X, 0.0)]);
        assert!(matches!(flat, Err(ClumpError::Sphere { index: 1, .. })));
    }
}
