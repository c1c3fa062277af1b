//! The look of grains: shape, tints and reflectance, all computed from the grain's id.

use crate::hash;
use crate::picture::Grains;
use glam::{Quat, Vec3};

/// Tints per material: each grain has one of them.
pub(crate) const TINTS: usize = 16;
/// Refractive index of water [-].
pub(crate) const WATER: f32 = 1.33;
/// Roughness of dry and of wet grains in the diffuse law [-].
pub(crate) const ROUGHNESS: [f32; 2] = [0.8, 0.3];
/// Reflectance of a film of water at normal incidence [-].
pub(crate) const FILM: f32 = 0.02;
/// Exponent of the highlight of wet grains [-].
pub(crate) const GLOSS: f32 = 24.0;

/// Kind of a granular material: it decides shape and tints of the grains.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum GrainKind {
    /// Rounded grains of quartz, feldspar and ore.
    #[default]
    Sand,
    /// Angular stones of many rocks.
    Gravel,
    /// Dark crumbs.
    Soil,
    /// Bright, nearly round grains of ice.
    Snow,
    /// Smooth balls of one color.
    Plain,
}

/// Properties of a kind.
struct Kind {
    name: &'static str,
    /// Mean linear RGB color when dry [-].
    color: [f32; 3],
    shape: Shape,
    /// Largest relative change of brightness beside the tint [-].
    spread: f32,
    /// Linear RGB relative to the mean; as frequent as each other.
    tints: [[f32; 3]; TINTS],
}

/// Statistics of the grains' shapes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Shape {
    /// Largest half axis relative to the radius [-]; 1 for balls.
    pub stretch: f32,
    /// Facets along a radius [-].
    pub facets: f32,
    /// Share of the facets in the normals [-].
    pub edge: f32,
}

static KINDS: [Kind; 5] = [
    Kind {
        name: "sand",
        color: SAND,
        shape: Shape {
            stretch: 1.22,
            facets: 1.5,
            edge: 0.4,
        },
        spread: 0.15,
        tints: [
            [1.45, 1.55, 1.80], // milky quartz
            [1.25, 1.32, 1.50],
            [1.20, 1.20, 1.25], // clear quartz
            [1.10, 1.10, 1.10],
            [1.15, 1.10, 0.95], // honey
            [1.10, 1.02, 0.85],
            [1.05, 0.98, 0.80],
            [1.10, 0.90, 0.60], // amber
            [1.00, 1.00, 1.00],
            [0.95, 0.95, 0.90],
            [0.90, 0.88, 0.85],
            [1.15, 0.90, 0.85], // feldspar
            [0.85, 0.65, 0.45], // iron
            [0.70, 0.62, 0.55],
            [0.60, 0.65, 0.80], // slate
            [0.22, 0.25, 0.35], // ore
        ],
    },
    Kind {
        name: "gravel",
        color: [0.27, 0.25, 0.22],
        shape: Shape {
            stretch: 1.35,
            facets: 1.3,
            edge: 0.85,
        },
        spread: 0.2,
        tints: [
            [1.70, 1.70, 1.70], // quartzite
            [1.60, 1.55, 1.40], // limestone
            [1.35, 1.32, 1.25],
            [1.40, 1.15, 0.85], // sandstone
            [1.20, 1.05, 0.85],
            [1.20, 0.85, 0.72], // porphyry
            [1.05, 1.05, 1.05], // granite
            [0.95, 0.98, 1.02],
            [0.90, 0.90, 0.90],
            [0.85, 0.80, 0.70],
            [0.80, 0.88, 0.78], // greenstone
            [0.75, 0.80, 0.90], // slate
            [0.65, 0.62, 0.58],
            [0.60, 0.63, 0.70],
            [0.42, 0.43, 0.46], // basalt
            [0.34, 0.34, 0.36],
        ],
    },
    Kind {
        name: "soil",
        color: [0.105, 0.065, 0.040],
        shape: Shape {
            stretch: 1.35,
            facets: 2.2,
            edge: 0.7,
        },
        spread: 0.25,
        tints: [
            [1.90, 1.75, 1.60], // sand
            [1.50, 1.45, 1.40],
            [1.30, 1.25, 1.15],
            [1.25, 1.15, 1.00],
            [1.15, 1.05, 0.95],
            [1.10, 1.10, 1.10],
            [1.05, 1.00, 0.95],
            [1.00, 1.00, 1.00],
            [0.95, 0.95, 0.95],
            [0.95, 0.85, 0.75],
            [0.85, 0.85, 0.85],
            [0.80, 0.75, 0.70],
            [0.70, 0.70, 0.75],
            [0.60, 0.58, 0.60],
            [0.45, 0.45, 0.50], // humus
            [0.35, 0.36, 0.42],
        ],
    },
    Kind {
        name: "snow",
        color: [0.80, 0.84, 0.90],
        shape: Shape {
            stretch: 1.15,
            facets: 2.0,
            edge: 0.4,
        },
        spread: 0.04,
        tints: [
            [1.06, 1.05, 1.03],
            [1.05, 1.05, 1.04],
            [1.04, 1.04, 1.04],
            [1.03, 1.03, 1.03],
            [1.02, 1.02, 1.02],
            [1.02, 1.01, 1.00],
            [1.01, 1.01, 1.01],
            [1.00, 1.00, 1.00],
            [1.00, 1.00, 1.00],
            [0.99, 1.00, 1.01],
            [0.98, 0.99, 1.00],
            [0.97, 0.98, 0.99],
            [0.96, 0.97, 0.99],
            [0.95, 0.96, 0.98],
            [0.93, 0.95, 0.98],
            [0.91, 0.94, 0.97],
        ],
    },
    Kind {
        name: "plain",
        color: SAND,
        shape: Shape {
            stretch: 1.0,
            facets: 1.0,
            edge: 0.0,
        },
        spread: 0.0,
        tints: [[1.0; 3]; TINTS],
    },
];

/// Linear RGB color of dry quartz sand [-].
pub const SAND: [f32; 3] = [0.55, 0.40, 0.24];

impl GrainKind {
    /// Returns every name.
    pub fn names() -> impl Iterator<Item = &'static str> {
        KINDS.iter().map(|kind| kind.name)
    }

    /// Returns the kind of that name.
    pub fn of_name(name: &str) -> Option<Self> {
        use GrainKind::{Gravel, Plain, Sand, Snow, Soil};
        [Sand, Gravel, Soil, Snow, Plain]
            .into_iter()
            .find(|&kind| kind.name() == name)
    }

    /// Returns its name.
    pub fn name(self) -> &'static str {
        KINDS[self as usize].name
    }

    /// Returns its usual mean linear RGB color when dry [-].
    pub fn color(self) -> [f32; 3] {
        KINDS[self as usize].color
    }
}

/// A material of grains.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GrainMaterial {
    /// Kind, for shape and tints.
    pub kind: GrainKind,
    /// Mean linear RGB color when dry [-].
    pub color: [f32; 3],
    /// Wetness of spheres that have none of their own, 0 to 1 [-]. It darkens.
    pub wetness: f32,
}

impl GrainMaterial {
    /// Creates a dry material of the kind's usual color.
    pub fn new(kind: GrainKind) -> Self {
        Self {
            kind,
            color: kind.color(),
            wetness: 0.0,
        }
    }
}

/// The tints and shapes of a material, ready to draw.
pub(crate) struct Palette {
    pub tints: [Vec3; TINTS],
    pub spread: f32,
    pub shape: Shape,
}

impl Palette {
    pub fn new(material: &GrainMaterial) -> Self {
        let kind = &KINDS[material.kind as usize];
        let mean = kind.tints.iter().map(|&t| Vec3::from_array(t)).sum::<Vec3>() / TINTS as f32;
        Self {
            tints: kind
                .tints
                .map(|tint| Vec3::from_array(material.color) * Vec3::from_array(tint) / mean),
            spread: kind.spread,
            shape: kind.shape,
        }
    }

    /// Returns the linear RGB color of a grain [-].
    pub fn color(&self, id: u32, wetness: f32) -> Vec3 {
        let noise = hash::bits(id);
        let tint = self.tints[(noise >> 16) as usize % TINTS];
        wet(tint * (1.0 + self.spread * (2.0 * hash::byte(noise, 0) - 1.0)), wetness)
    }
}

/// Returns the linear RGB colors of grains before any light [-], by their ids.
pub fn grain_colors(grains: &Grains, ids: &[u32]) -> Vec<Vec3> {
    let palettes: Vec<Palette> = grains.materials.iter().map(Palette::new).collect();
    let color = |(row, &id): (usize, &u32)| palettes[grains.kind(row)].color(id, grains.wetness(row));
    ids.iter().enumerate().map(color).collect()
}

/// Returns the albedo of a grain under a film of water: light that leaves the grain is reflected back at the film's
/// surface and absorbed in part, A / (A + n² (1 - A)), [Angstrom25]. `wetness` is the covered share [-].
pub(crate) fn wet(albedo: Vec3, wetness: f32) -> Vec3 {
    let albedo = albedo.min(Vec3::ONE);
    let covered = albedo / (albedo + WATER * WATER * (1.0 - albedo));
    albedo.lerp(covered, wetness)
}

/// Returns the light that a rough matte surface reflects relative to a smooth one, [Fujii12], in the form of
/// [Portsmouth25] eq. (5) to (7): 1 for roughness 0. Vectors are units, away from the surface.
pub(crate) fn rough(normal: Vec3, light: Vec3, view: Vec3, roughness: f32) -> f32 {
    let (facing, seen) = (normal.dot(light).max(0.0), normal.dot(view).max(0.0));
    let s = light.dot(view) - facing * seen;
    let s = if s > 0.0 { s / facing.max(seen).max(1e-4) } else { s };
    (1.0 + roughness * s) / (1.0 + ROUGH_LOSS * roughness)
}

/// 1/2 - 2/(3π), the constant of [`rough`].
pub(crate) const ROUGH_LOSS: f32 = 0.5 - 2.0 / (3.0 * std::f32::consts::PI);

/// Returns the highlight of a film of water [-]: a Blinn lobe with Schlick's reflectance, to be multiplied with the
/// light of a white surface.
pub(crate) fn gloss(normal: Vec3, light: Vec3, view: Vec3) -> f32 {
    let half = (light + view).normalize_or(normal);
    let reflected = FILM + (1.0 - FILM) * (1.0 - half.dot(view).max(0.0)).powi(5);
    reflected * (GLOSS + 8.0) / 8.0 * half.dot(normal).max(0.0).powf(GLOSS)
}

/// An ellipsoid with the volume of its sphere.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ellipsoid {
    /// Half axes relative to the radius of the sphere [-].
    pub axes: Vec3,
    /// Turns directions into the ellipsoid's own frame.
    pub turn: Quat,
}

impl Ellipsoid {
    pub const BALL: Self = Self {
        axes: Vec3::ONE,
        turn: Quat::IDENTITY,
    };

    /// Returns the shape of grain `id`: half axes up to `stretch` and a random orientation.
    pub fn of_grain(id: u32, stretch: f32) -> Self {
        let noise = hash::bits(id ^ 0x0E11);
        let share = |k: u32| 0.4 + 0.6 * hash::byte(noise, k);
        let [long, short] = [0, 1].map(|k| 1.0 + (stretch - 1.0) * share(k));
        let short = short.recip();
        Self {
            axes: Vec3::new(long, 1.0 / (long * short), short),
            turn: orientation(id),
        }
    }

    /// Returns a direction in coordinates in which the ellipsoid is a ball.
    pub fn flatten(&self, direction: Vec3) -> Vec3 {
        (self.turn * direction) / self.axes
    }

    /// Returns the vector whose length is the half width along a unit `direction`, relative to the radius.
    pub fn support(&self, direction: Vec3) -> Vec3 {
        (self.turn * direction) * self.axes
    }

    /// Returns the normal of grain `id` of this shape at `from_center` [radii], with facets.
    pub fn normal(&self, from_center: Vec3, id: u32, shape: Shape) -> Vec3 {
        let turn = orientation(id);
        let on_ball = ((turn * from_center) / self.axes).normalize_or(Vec3::Z);
        let noise = hash::bits(id ^ 0xFACE7);
        let shift = Vec3::new(hash::byte(noise, 0), hash::byte(noise, 1), hash::byte(noise, 2));
        // The cells of a lattice, in the grain's orientation, cut its surface into facets.
        let facet = (on_ball * shape.facets + shift).floor() + 0.5 - shift;
        let own = on_ball.lerp(facet.normalize_or(on_ball), shape.edge) / self.axes;
        (turn.conjugate() * own).normalize_or(Vec3::Z)
    }
}

/// Returns the orientation of grain `id`.
fn orientation(id: u32) -> Quat {
    let noise = hash::bits(id ^ 0x5EED);
    let part = |k: u32| hash::byte(noise, k) - 0.5;
    Quat::from_xyzw(part(0), part(1), part(2), part(3) + 0.01).normalize()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f32::consts::{PI, TAU};

    #[test]
    fn kinds_are_found_by_their_names() {
        for name in GrainKind::names() {
            assert_eq!(GrainKind::of_name(name).map(GrainKind::name), Some(name));
        }
        assert_eq!(GrainKind::of_name("wool"), None);
    }

    #[test]
    fn grains_differ_and_have_the_color_of_their_material_on_the_mean() {
        for name in GrainKind::names() {
            let material = GrainMaterial::new(GrainKind::of_name(name).unwrap());
            let palette = Palette::new(&material);
            let colors: Vec<Vec3> = (0..20_000).map(|id| palette.color(id, 0.0)).collect();
            let mean = colors.iter().sum::<Vec3>() / colors.len() as f32;
            let error = (mean / Vec3::from_array(material.color) - 1.0).abs().max_element();
            assert!(error < 0.02, "{name}: {mean}");
            let differ = colors.iter().any(|c| c.distance(mean) > 0.02 * mean.length());
            assert_eq!(differ, name != "plain", "{name}");
        }
    }

    #[test]
    fn colors_are_those_of_material_and_id_and_darker_when_wet() {
        let materials = [GrainKind::Sand, GrainKind::Soil].map(GrainMaterial::new);
        let grains = Grains {
            materials: &materials,
            kinds: Some(&[0, 1, 0]),
            wetness: Some(&[0.0, 0.0, 1.0]),
            shaped: true,
        };
        let [sand, soil] = [0, 1].map(|kind| Palette::new(&materials[kind]).color(7, 0.0));
        assert_eq!(grain_colors(&grains, &[7; 3]), [sand, soil, wet(sand, 1.0)]);
        assert!(sand != soil && wet(sand, 1.0).cmplt(sand).all());
    }

    #[test]
    fn wet_grains_have_the_albedo_of_a_film_of_water() {
        // [Angstrom25]: 0.55 falls to 0.409, black and white stay.
        let dry = Vec3::new(0.55, 0.0, 1.0);
        assert!(wet(dry, 1.0).distance(Vec3::new(0.408_6, 0.0, 1.0)) < 1e-3);
        assert_eq!(wet(dry, 0.0), dry);
        assert!(wet(dry, 0.5).distance(0.5 * (dry + wet(dry, 1.0))) < 1e-6);
    }

    /// Returns the light that a surface under light from all sides reflects to all sides: the mean over both, weighted
    /// by the cosines.
    fn mean_rough(roughness: f32) -> f32 {
        let steps = 60;
        let direction = |k: usize, turn: f32| {
            let square = (k as f32 + 0.5) / steps as f32;
            let side = (1.0 - square).sqrt();
            Vec3::new(side * turn.cos(), side * turn.sin(), square.sqrt())
        };
        let mut sum = 0.0;
        for (a, b, c) in (0..steps).flat_map(|a| (0..steps).flat_map(move |b| (0..steps).map(move |c| (a, b, c)))) {
            let turn = TAU * (c as f32 + 0.5) / steps as f32;
            sum += rough(Vec3::Z, direction(a, 0.0), direction(b, turn), roughness);
        }
        sum / (steps * steps * steps) as f32
    }

    #[test]
    fn rough_surfaces_reflect_the_light_of_their_closed_form() {
        assert!((mean_rough(0.0) - 1.0).abs() < 1e-4);
        for roughness in [0.3, 0.8, 1.0] {
            // [Portsmouth25]: the mean albedo.
            let expected = (1.0 + (2.0 / 3.0 - 28.0 / (15.0 * PI)) * roughness) / (1.0 + ROUGH_LOSS * roughness);
            let found = mean_rough(roughness);
            assert!((found - expected).abs() < 3e-3, "{found}, not {expected}");
        }
        let (light, view) = (Vec3::new(0.6, 0.0, 0.8), Vec3::new(0.3, -0.5, 0.7).normalize());
        assert_eq!(rough(Vec3::Z, light, view, 0.8), rough(Vec3::Z, view, light, 0.8));
        // Brightest toward the light: no highlight on the other side.
        let mirrored = Vec3::new(-0.6, 0.0, 0.8);
        assert!(rough(Vec3::Z, light, light, 0.8) > 1.3 * rough(Vec3::Z, light, mirrored, 0.8));
    }

    #[test]
    fn a_film_of_water_shines_where_it_mirrors_the_light() {
        let (light, mirrored) = (Vec3::new(0.6, 0.0, 0.8), Vec3::new(-0.6, 0.0, 0.8));
        // The reflectance of water at 37 degrees, times the lobe's peak.
        let reflected = FILM + (1.0 - FILM) * 0.2f32.powi(5);
        let peak = reflected * (GLOSS + 8.0) / 8.0;
        assert!((gloss(Vec3::Z, light, mirrored) - peak).abs() < 1e-5);
        assert!(gloss(Vec3::Z, light, light) < 0.01 * peak);
    }

    #[test]
    fn grains_keep_their_volume_and_lie_within_their_stretch() {
        let shapes: Vec<Ellipsoid> = (0..2000).map(|id| Ellipsoid::of_grain(id, 1.3)).collect();
        for shape in &shapes {
            assert!((shape.axes.element_product() - 1.0).abs() < 1e-4);
            assert!(shape.axes.max_element() <= 1.3001 && shape.axes.min_element() >= 1.0 / 1.3001);
        }
        let widths = shapes.iter().map(|shape| shape.support(Vec3::X).length());
        let (least, most) = widths.fold((f32::INFINITY, 0.0f32), |(l, m), w| (l.min(w), m.max(w)));
        assert!(
            least < 0.85 && most > 1.2,
            "orientations vary: widths from {least} to {most}"
        );
    }

    #[test]
    fn facets_face_outward_and_vary_between_grains() {
        let shape = KINDS[GrainKind::Gravel as usize].shape;
        let directions = [Vec3::X, Vec3::Y, Vec3::Z, Vec3::new(0.6, -0.48, 0.64)];
        let mut sum = Vec3::ZERO;
        for id in 0..4000 {
            for way in directions {
                let ellipsoid = Ellipsoid::of_grain(id, shape.stretch);
                let point = way / ellipsoid.flatten(way).length();
                let normal = ellipsoid.normal(point, id, shape);
                assert!((normal.length() - 1.0).abs() < 1e-4);
                assert!(normal.dot(way) > 0.0, "{id}: {normal} at {way}");
            }
            sum += Ellipsoid::BALL.normal(Vec3::Z, id, shape);
        }
        let mean = sum / 4000.0;
        assert!(mean.length() < 0.98 && mean.normalize().z > 0.99, "{mean}");
        let ball = Shape { edge: 0.0, ..shape };
        assert!(Ellipsoid::BALL.normal(Vec3::X, 7, ball).distance(Vec3::X) < 1e-6);
    }
}
