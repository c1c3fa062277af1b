//! Shadows: a depth map seen from the sun, filtered with the width of the penumbra, [Fernando05].

use crate::blocks::Blocks;
use crate::lens::Lens;
use crate::raster::Samples;
use crate::scene::Scene;
use glam::{Vec2, Vec3};

/// Texels across the radius of a typical sphere: enough for grains to shade each other.
const TEXELS_PER_RADIUS: f32 = 3.0;
/// Range of texels per side.
const SIDE: std::ops::RangeInclusive<f32> = 256.0..=2048.0;
/// Radius of the blocker search [texel].
pub(crate) const SEARCH: f32 = 10.0;
/// Widest filter [texel].
pub(crate) const MAX_FILTER: f32 = 24.0;
/// Samples of the blocker search, of a narrow and of a wide filter.
pub(crate) const TAPS: [usize; 3] = [6, 6, 16];
/// Radius up to which a filter is narrow [texel]: more samples would find the same texels.
pub(crate) const NARROW: f32 = 3.0;

/// A point on a surface, seen from the sun.
struct Place {
    /// Position in the map [texel].
    at: Vec2,
    /// Depth [m].
    depth: f32,
    /// Slope of the surface against the light, bounded [-].
    slope: f32,
}

/// Depth map of the sun.
pub(crate) struct SunMap {
    lens: Lens,
    samples: Samples,
    /// Smallest depth within reach of the search, per block.
    nearest: Blocks<f32>,
    /// Largest depth within reach of the widest filter, per block.
    farthest: Blocks<f32>,
    /// Side of a texel [m].
    texel: f32,
    /// Tangent of the sun's angular radius [-].
    softness: f32,
}

impl SunMap {
    /// Returns `None` if nothing can cast a shadow. `towards`: unit vector to the sun.
    pub fn new(scene: &Scene, towards: Vec3, angular_radius: f32) -> Option<Self> {
        let (lens, texel) = lens(scene, towards)?;
        let samples = Samples::draw_depths(&lens, scene);
        // A pixel has 2 x 2 texels.
        let (least, most) = (
            |pixel: usize| samples.depth[pixel].min_element(),
            |pixel: usize| samples.depth[pixel].max_element(),
        );
        let nearest = Blocks::new(&samples, lens.size, f32::INFINITY, least, f32::min);
        let farthest = Blocks::new(&samples, lens.size, f32::NEG_INFINITY, most, f32::max);
        let nearest = nearest.spread(0.5 * SEARCH, f32::INFINITY, f32::min);
        let farthest = farthest.spread(0.5 * MAX_FILTER, f32::NEG_INFINITY, f32::max);
        Some(Self {
            lens,
            samples,
            nearest,
            farthest,
            texel,
            softness: softness(angular_radius),
        })
    }

    /// Returns the share of the sun that a surface at `point` with this `normal` sees, 0 to 1 [-]. `turn` rotates the
    /// filter's pattern [rad].
    pub fn light(&self, point: Vec3, normal: Vec3, turn: f32) -> f32 {
        let place = self.place(point, normal);
        let pixel = 0.5 * place.at;
        let is_lit = |nearest: f32| nearest >= place.depth - self.bias(&place, 0.0);
        if self.nearest.at(pixel).is_none_or(is_lit) {
            return 1.0;
        }
        let is_hidden = |farthest: f32| farthest < place.depth - self.bias(&place, MAX_FILTER);
        if self.contains(place.at, MAX_FILTER) && self.farthest.at(pixel).is_some_and(is_hidden) {
            return 0.0;
        }
        self.filtered(&place, turn)
    }

    /// Returns the place of a point on a surface in the map.
    fn place(&self, point: Vec3, normal: Vec3) -> Place {
        let cosine = -normal.dot(self.lens.forward);
        let local = self.lens.local(point + 0.75 * self.texel * normal);
        Place {
            at: 2.0 * self.lens.project(local),
            depth: local.z,
            slope: ((1.0 - cosine * cosine).max(0.0).sqrt() / cosine.max(0.2)).min(3.0),
        }
    }

    /// Returns the depth by which a surface lies in front of what hides it, at a distance of `taps` [texel]: a tilted
    /// one is deeper at one side of a texel than at the other [m].
    fn bias(&self, place: &Place, taps: f32) -> f32 {
        self.texel * (0.25 + place.slope * (0.35 + 0.5 * taps.min(2.0)))
    }

    /// Returns the share of the sun from the samples of the filter [-].
    fn filtered(&self, place: &Place, turn: f32) -> f32 {
        let (mut hiding, mut depth) = (0.0, 0.0);
        for offset in disc(TAPS[0], SEARCH, turn) {
            let found = self.depth(place.at + offset);
            if found < place.depth - self.bias(place, offset.length()) {
                hiding += 1.0;
                depth += found;
            }
        }
        let penumbra = if hiding > 0.0 {
            (place.depth - depth / hiding) * self.softness / self.texel
        } else {
            0.0
        };
        let radius = penumbra.clamp(1.2, MAX_FILTER);
        let taps = TAPS[if radius > NARROW { 2 } else { 1 }];
        let lit = disc(taps, radius, turn)
            .filter(|&offset| self.depth(place.at + offset) >= place.depth - self.bias(place, offset.length()))
            .count();
        lit as f32 / taps as f32
    }

    /// Returns true if the map has all points around one [texel].
    fn contains(&self, place: Vec2, radius: f32) -> bool {
        let [width, height] = self.lens.size.map(|pixels| 2.0 * pixels as f32);
        (place - radius).cmpge(Vec2::ZERO).all() && (place + radius).cmplt(Vec2::new(width, height)).all()
    }

    /// Returns the depth of the nearest surface at a point [texel].
    #[inline(always)]
    fn depth(&self, place: Vec2) -> f32 {
        let [width, height] = self.lens.size;
        if !(place.x >= 0.0 && place.y >= 0.0) {
            return f32::INFINITY;
        }
        let (x, y) = (place.x as usize, place.y as usize);
        if x / 2 >= width || y / 2 >= height {
            return f32::INFINITY;
        }
        self.samples.depth[self.samples.index(x / 2, y / 2)][y % 2 * 2 + x % 2]
    }
}

/// Returns `count` points spread evenly over a disc: a sunflower pattern.
fn disc(count: usize, radius: f32, turn: f32) -> impl Iterator<Item = Vec2> {
    // Steps of the golden angle by rotation: one sine per step would cost more than the lookup.
    const STEP: Vec2 = Vec2::new(-0.737_368_9, 0.675_490_3);
    let mut direction = Vec2::from_angle(turn);
    (0..count).map(move |k| {
        direction = direction.rotate(STEP);
        direction * (radius * ((k as f32 + 0.5) / count as f32).sqrt())
    })
}

/// Returns the lens of the sun with pixels of 2 x 2 texels, and the side of a texel [m]. `towards`: unit vector to the
/// sun. `None` if nothing can cast a shadow.
pub(crate) fn lens(scene: &Scene, towards: Vec3) -> Option<(Lens, f32)> {
    let (low, high) = scene.focus?;
    let middle = 0.5 * (low + high);
    let frame = Lens::of_light(-towards, middle, 1.0, [1, 1]);
    let half = 0.5 * (high - low);
    let reach = |axis: Vec3| half.dot(axis.abs());
    let (width, height) = (2.0 * reach(frame.right), 2.0 * reach(frame.down));
    let longest = width.max(height).max(f32::MIN_POSITIVE);
    let wished = if scene.typical_radius > 0.0 {
        TEXELS_PER_RADIUS * longest / scene.typical_radius
    } else {
        *SIDE.end()
    };
    let texel = longest / wished.clamp(*SIDE.start(), *SIDE.end());
    let pixels = |length: f32| ((0.5 * length / texel).ceil() as usize + 1).min(*SIDE.end() as usize);
    Some((
        Lens::of_light(-towards, middle, 2.0 * texel, [pixels(width), pixels(height)]),
        texel,
    ))
}

/// Returns the tangent of the sun's angular radius [-].
pub(crate) fn softness(angular_radius: f32) -> f32 {
    angular_radius.clamp(0.0, 0.5).tan()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Picture, Radii, Spheres};

    #[test]
    fn certain_light_and_shadow_are_those_of_the_filter() {
        let positions: Vec<Vec3> = (0..900)
            .map(|k: i32| Vec3::new(0.05 * (k % 30 - 15) as f32, 0.05 * (k / 30 - 15) as f32, 0.6))
            .chain([Vec3::new(1.2, 0.2, 0.05), Vec3::new(-0.9, 1.0, 0.3)])
            .collect();
        let mut picture = Picture::new(Spheres::sand(&positions, Radii::One(0.05)));
        picture.ground = Some(0.0);
        let scene = Scene::new(&picture).unwrap();
        let map = SunMap::new(&scene, Vec3::new(-0.5, -0.3, 0.8).normalize(), 0.025).unwrap();
        let (mut lit, mut dark, mut between) = (0, 0, 0);
        for k in 0..20_000 {
            let part = |step: f64| (f64::from(k) * step).fract() as f32;
            let point = Vec3::new(4.0 * part(0.754_877_666) - 2.0, 4.0 * part(0.569_840_29) - 2.0, 0.0);
            let point = point.with_z(if k % 4 == 0 { 0.6 * part(0.618_033_988) } else { 0.0 });
            let light = map.light(point, Vec3::Z, k as f32);
            assert_eq!(light, map.filtered(&map.place(point, Vec3::Z), k as f32), "{point}");
            *(match light {
                1.0 => &mut lit,
                0.0 => &mut dark,
                _ => &mut between,
            }) += 1;
        }
        assert!(lit > 1000 && dark > 1000 && between > 100, "{lit} {dark} {between}");
    }
}
