//! Guides as a group of grains sums over them.
//!
//! A guide at g that reaches R weighs a grain at x by the cube of ρ = 1 - |x - g|² / R². Seen from the middle c of a group, with
//! X = x - c and G = g - c,
//!
//! ρ = (1 - G²/R²) + 2 G·X/R² - X²/R²,
//!
//! of which the first two parts are the same for all grains and the last for all guides: four operations a pair instead of seven. It
//! costs digits, the more the wider the group; wide groups, and guides of different reach, are summed as they stand.

use glam::Vec3;

use crate::field::{Bounds, Field, Mover};

/// Widest group that is seen from its middle: from there to its corners, in reaches [-]. ρ is then off by less than 1e-5.
const MAX_GROUP_EXTENT: f32 = 3.0;

/// A guide in a sum.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C, align(32))]
pub(crate) struct Term {
    /// 2 G/R² [1/m] seen from the middle, else g [m].
    pub place: [f32; 3],
    /// Velocity [m/s].
    pub velocity: [f32; 3],
    /// 1 - G²/R² [-] seen from the middle, else 1/R² [1/m²].
    pub reach: f32,
    /// Its share of what moves [-].
    pub going: f32,
}

impl Term {
    fn of(mover: &Mover) -> Self {
        Self {
            place: mover.position,
            velocity: mover.velocity,
            reach: mover.inverse,
            going: mover.going(),
        }
    }

    fn seen_from(mover: &Mover, Middle { place, inverse }: Middle) -> Self {
        let away = mover.place() - place;
        Self {
            place: (2.0 * inverse * away).to_array(),
            reach: 1.0 - inverse * away.length_squared(),
            ..Self::of(mover)
        }
    }
}

/// Origin of a group's coordinates.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Middle {
    /// c [m].
    pub place: Vec3,
    /// 1/R² [1/m²].
    pub inverse: f32,
}

/// Freedom of a guide's grains.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Freedom {
    /// Share of their own velocity that they keep [-].
    pub free: f32,
    /// Fluctuation that they get [m/s].
    pub kick: f32,
    /// Velocity that they get [m/s].
    pub shift: [f32; 3],
}

/// The guides of a group.
#[derive(Debug, Default)]
pub(crate) struct Terms {
    all: Vec<Term>,
    freedoms: Vec<Freedom>,
    /// True if a guide of the group lets its grains go.
    are_free: bool,
}

impl Terms {
    /// Takes the guides `indices` of `field` for a group within `bounds`, and returns its center if coordinates are relative to it.
    #[inline(always)]
    pub fn take(&mut self, field: &Field, indices: &[u32], bounds: &Bounds) -> Option<Middle> {
        if self.all.len() < indices.len() {
            self.all.resize(indices.len().next_power_of_two(), Term::default());
        }
        self.are_free = indices.iter().any(|&k| field.movers[k as usize].free() > 0.0);
        if self.are_free {
            self.freedoms.clear();
            self.freedoms.extend(indices.iter().map(|&k| {
                let mover = &field.movers[k as usize];
                Freedom {
                    free: mover.free(),
                    kick: mover.kick(),
                    shift: mover.shift(),
                }
            }));
        }
        let middle = middle(field, bounds);
        let pairs = self.all.iter_mut().zip(indices);
        match middle {
            Some(middle) => {
                for (term, &k) in pairs {
                    *term = Term::seen_from(&field.movers[k as usize], middle);
                }
            }
            None => {
                for (term, &k) in pairs {
                    *term = Term::of(&field.movers[k as usize]);
                }
            }
        }
        middle
    }

    /// The guides, by their places among those that were taken; some that are no longer may follow.
    #[inline(always)]
    pub fn all(&self) -> &[Term] {
        &self.all
    }

    /// The freedoms of their grains, if one of them lets its grains go.
    #[inline(always)]
    pub fn freedoms(&self) -> Option<&[Freedom]> {
        self.are_free.then_some(&self.freedoms)
    }
}

fn middle(field: &Field, bounds: &Bounds) -> Option<Middle> {
    let half = 0.5 * (bounds.high - bounds.low);
    (field.is_uniform && half.length() <= MAX_GROUP_EXTENT * field.reach).then(|| Middle {
        place: bounds.low + half,
        inverse: 1.0 / (field.reach * field.reach),
    })
}

#[cfg(test)]
mod tests {
    use barchan_geometry::random::Stream;

    use super::*;

    /// ρ of a grain at `x` and the only guide that was taken.
    fn rho(terms: &Terms, middle: Option<Middle>, x: Vec3) -> f32 {
        let term = terms.all()[0];
        match middle {
            Some(Middle { place, inverse }) => {
                let away = x - place;
                term.reach + Vec3::from_array(term.place).dot(away) - inverse * away.length_squared()
            }
            None => 1.0 - term.reach * x.distance_squared(Vec3::from_array(term.place)),
        }
    }

    #[test]
    fn a_guide_weighs_what_it_would_alone_whether_its_group_is_narrow_or_wide() {
        let mut stream = Stream::new(3, 0);
        let (mut from_middle, mut as_they_stand) = (0, 0);
        for _ in 0..2000 {
            let radius = 0.01 + 0.02 * stream.unit() as f32;
            let corner = 5.0 * (stream.unit_cube().as_vec3() - 0.5);
            let side = radius * 20.0 * stream.unit() as f32;
            let x = corner + side * stream.unit_cube().as_vec3();
            let g = x + 3.0 * radius * (2.0 * stream.unit_cube().as_vec3() - 1.0);
            let mut field = Field::default();
            field.build(&[Mover::new(g, Vec3::X, radius, false)]);
            let bounds = Bounds {
                low: corner,
                high: corner + side,
            };
            let mut terms = Terms::default();
            let middle = terms.take(&field, &[0], &bounds);
            let squared = f64::from(field.reach).powi(2);
            let expected = 1.0 - x.as_dvec3().distance_squared(g.as_dvec3()) / squared;
            let found = f64::from(rho(&terms, middle, x));
            assert!((found - expected).abs() < 1e-5, "{found}, not {expected}: {middle:?}");
            from_middle += u32::from(middle.is_some());
            as_they_stand += u32::from(middle.is_none());
        }
        assert!(
            from_middle > 500 && as_they_stand > 500,
            "{from_middle} {as_they_stand}"
        );
    }

    #[test]
    fn guides_of_different_reach_are_summed_as_they_stand() {
        let mut field = Field::default();
        let guide = |radius: f32| Mover::new(Vec3::ZERO, Vec3::X, radius, false);
        let bounds = Bounds {
            low: Vec3::splat(-0.01),
            high: Vec3::splat(0.01),
        };
        field.build(&[guide(0.02), guide(0.02)]);
        assert!(Terms::default().take(&field, &[0, 1], &bounds).is_some());
        field.build(&[guide(0.02), guide(0.021)]);
        assert!(Terms::default().take(&field, &[0, 1], &bounds).is_none());
    }
}
