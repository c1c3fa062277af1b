//! Air drag, [Gissler17] without deformation: particles keep their shape.

use std::f32::consts::PI;

use glam::Vec3;

/// Neighbors of a guide in the middle of sand, for a kernel of two spacings [-]: from two thirds of them on it counts as part of a lump.
const FULL_NEIGHBORS: f32 = 38.0;
/// Least Reynolds number [-]: below it drag no longer matters, and its coefficient would grow without bound.
const MIN_REYNOLDS: f32 = 0.2;

/// The air that sand falls through.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Air {
    /// Density [kg/m³]; that of air is 1.2041.
    pub density: f32,
    /// Viscosity [Pa s]; that of air is 1.845e-5.
    pub viscosity: f32,
    /// Wind velocity [m/s].
    pub wind: Vec3,
    /// Diameter of the particles that a guide represents [m]: a guide away from others is slowed as one of them is.
    /// Without it, as a ball of the guide's own size.
    pub particle_diameter: Option<f32>,
}

/// Inputs of a guide's drag, besides the air.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Exposed {
    /// Speed relative to the air [m/s].
    pub speed: f32,
    /// Spacing of settled guides of its size [m].
    pub spacing: f32,
    /// 1/mass [1/kg].
    pub inverse_mass: f32,
    /// Particle density [kg/m³].
    pub particle_density: f32,
    /// Degree to which the guide is part of a lump [-]: 0 alone, 1 among others.
    pub crowded: f32,
}

/// Drag coefficient of a ball [-]: 24/Re (1 + Re^(2/3)/6) up to Re = 1000, 0.424 beyond.
pub(crate) fn coefficient(reynolds: f32) -> f32 {
    if reynolds > 1000.0 {
        return 0.424;
    }
    let reynolds = reynolds.max(MIN_REYNOLDS);
    24.0 / reynolds * (1.0 + reynolds.cbrt().powi(2) / 6.0)
}

/// Returns the degree to which a guide with `neighbors` others within `support` spacings is part of a lump [-]: β =
/// min(1, n/(⅔ n_full)).
pub(crate) fn crowded(neighbors: usize, support: f32) -> f32 {
    let full = FULL_NEIGHBORS * (0.5 * support).powi(3);
    (neighbors as f32 / (2.0 / 3.0 * full)).min(1.0)
}

/// Returns the drag rate of an unshielded guide [1/s]: k of dv/dt = k (v_air - v).
///
/// Alone it is a ball of radius L = d ∛(3/4π) of the guide's volume, k = ½ ρ_a |v| C A/m with A = π L², or a particle
/// of diameter d_g, k = ¾ ρ_a/ρ_g C/d_g |v|. In a lump C tends to 1 and A to d².
pub(crate) fn rate(air: &Air, guide: Exposed) -> f32 {
    let Exposed { speed, crowded, .. } = guide;
    let radius = guide.spacing * (3.0 / (4.0 * PI)).cbrt();
    let per_area = 0.5 * air.density * speed * guide.inverse_mass;
    let reynolds = |diameter: f32| air.density * speed * diameter / air.viscosity;
    let lump = guide.spacing * guide.spacing;
    match air.particle_diameter {
        Some(diameter) => {
            let alone =
                0.75 * air.density / guide.particle_density * coefficient(reynolds(diameter)) / diameter * speed;
            (1.0 - crowded) * alone + crowded * per_area * lump
        }
        None => {
            let drag = (1.0 - crowded) * coefficient(reynolds(2.0 * radius)) + crowded;
            let area = (1.0 - crowded) * PI * radius * radius + crowded * lump;
            per_area * drag * area
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const AIR: Air = Air {
        density: 1.2041,
        viscosity: 1.845e-5,
        wind: Vec3::ZERO,
        particle_diameter: None,
    };

    #[test]
    fn slow_balls_have_the_drag_of_stokes_and_the_pieces_of_the_coefficient_meet() {
        // Stokes: 24/Re; the correction is below 6 % where Re = 0.2.
        assert!((coefficient(0.2) * 0.2 / 24.0 - 1.0).abs() < 0.06);
        assert!((coefficient(1000.0) - 0.424).abs() < 1e-3);
        assert_eq!(coefficient(1e5), 0.424);
    }

    #[test]
    fn a_grain_of_sand_falls_as_fast_as_sand_does() {
        // Quartz sand of 0.2 mm falls at about 1.2 to 1.6 m/s in air.
        let air = Air {
            particle_diameter: Some(2e-4),
            ..AIR
        };
        let slowing = |speed: f32| {
            let guide = Exposed {
                speed,
                spacing: 0.04,
                inverse_mass: 1.0 / (1600.0 * 0.04f32.powi(3)),
                particle_density: 2650.0,
                crowded: 0.0,
            };
            rate(&air, guide) * speed
        };
        assert!(slowing(1.2) < 9.81 && slowing(1.6) > 9.81);
    }

    #[test]
    fn a_lump_is_slowed_by_the_area_that_it_shows() {
        let guide = Exposed {
            speed: 3.0,
            spacing: 0.1,
            inverse_mass: 0.5,
            particle_density: 2650.0,
            crowded: 1.0,
        };
        assert!((rate(&AIR, guide) / (0.5 * 1.2041 * 3.0 * 0.01 * 0.5) - 1.0).abs() < 1e-6);
        assert_eq!(crowded(26, 2.0), 1.0);
        assert_eq!(crowded(0, 2.0), 0.0);
    }
}
