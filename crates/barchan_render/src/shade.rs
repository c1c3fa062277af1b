//! Shades the visible surfaces.

use crate::lens::Lens;
use crate::normals::corner_normals;
use crate::picture::{Colors, Sun};
use crate::raster::Samples;
use crate::scene::{GROUND, SKY, Scene, Surface};
use crate::sky::SkyGrid;
use crate::sun::SunMap;
use crate::triangle::Triangle;
use crate::{hash, tone};
use glam::{Quat, Vec2, Vec3, Vec3Swizzles};

/// Radiance of the sky as a light source, linear RGB [-].
pub(crate) const SKY_LIGHT: Vec3 = Vec3::new(0.43, 0.48, 0.57);
/// The background at the horizon and straight up, linear RGB [-].
pub(crate) const HORIZON: Vec3 = Vec3::new(0.76, 0.80, 0.84);
pub(crate) const ZENITH: Vec3 = Vec3::new(0.26, 0.36, 0.50);
/// Linear RGB color of the ground [-].
pub(crate) const GROUND_COLOR: Vec3 = Vec3::new(0.30, 0.31, 0.33);
/// Distances from the scene's center at which the ground begins to fade into the background, and has vanished [radii of
/// the scene].
pub(crate) const FADE: [f32; 2] = [1.5, 5.0];
/// Radius of screen-space occlusion [radii of the sphere].
pub(crate) const CREVICE: f32 = 2.0;
/// Number of samples of screen-space occlusion.
pub(crate) const CREVICE_TAPS: usize = 8;

/// Mean openness of crevices of less than a few pixels, which the samples do not resolve: that of a packing [-].
pub(crate) const UNRESOLVED: f32 = 0.8;

/// Brightness of a color that encodes a number in full light, relative to the same color on a screen [-]: near to it,
/// but within the range of the film curve.
pub(crate) const EVEN_WHITE: f32 = 0.82;
/// Brightness of such colors in the deepest shadow relative to the sun [-]: enough to tell them apart.
pub(crate) const EVEN_SHADOW: f32 = 0.75;
/// White light that such colors add in the sun [-]: dark ones would otherwise show no shape.
pub(crate) const EVEN_COAT: f32 = 0.03;
/// Brightness of a surface that counts as full light [-].
pub(crate) const EVEN_LIGHT: f32 = 2.4;
/// Albedo assumed around such colors, so that all are lit alike [-].
pub(crate) const EVEN_ALBEDO: f32 = 0.5;
/// Luminance of red, green and blue light [-], ITU-R BT.709.
pub(crate) const BRIGHTNESS: Vec3 = Vec3::new(0.2126, 0.7152, 0.0722);

/// Share of a block in the shape of a grain [-].
pub(crate) const WORN: f32 = 0.6;

/// A point on a surface.
struct Point {
    position: Vec3,
    normal: Vec3,
    /// Linear RGB [-].
    albedo: Vec3,
    /// Reach of crevices [m].
    crevice: f32,
    /// The color encodes a number: shadows must not hide it.
    even: bool,
}

/// Everything that shading depends on.
pub(crate) struct Shader<'a> {
    pub scene: &'a Scene<'a>,
    pub lens: &'a Lens,
    pub samples: &'a Samples,
    pub towards_sun: Vec3,
    pub sun_color: Vec3,
    sun: Option<SunMap>,
    sky: Option<SkyGrid>,
    /// Per mesh, per triangle.
    normals: Vec<Vec<[Vec3; 3]>>,
    /// Light that is displayed as the color of an sRGB byte.
    exposed: [f32; 256],
    /// Center and radius of the scene [m].
    middle: Vec3,
    radius: f32,
}

impl<'a> Shader<'a> {
    /// Creates a shader. `towards_sun`: unit vector.
    pub fn new(scene: &'a Scene, lens: &'a Lens, samples: &'a Samples, sun: &Sun, towards_sun: Vec3) -> Self {
        let (sun_map, sky) = rayon::join(
            || SunMap::new(scene, towards_sun, sun.angular_radius),
            || SkyGrid::new(scene),
        );
        let (middle, radius) = extent(scene);
        Self {
            scene,
            lens,
            samples,
            towards_sun,
            sun_color: Vec3::from_array(sun.color),
            sun: sun_map,
            sky,
            normals: scene.meshes.iter().map(corner_normals).collect(),
            exposed: std::array::from_fn(|k| tone::exposure(EVEN_WHITE * tone::decode(k as f32 / 255.0))),
            middle,
            radius,
        }
    }

    /// Returns the linear RGB light of the four samples of a pixel. Each surface is shaded once, at the center of its
    /// samples.
    pub fn pixel(&self, x: usize, y: usize) -> [Vec3; 4] {
        let ids = self.samples.ids[self.samples.index(x, y)];
        let corner = Vec2::new(x as f32, y as f32);
        let mut light = [Vec3::ZERO; 4];
        let mut left = 0b1111u32;
        while left != 0 {
            let id = ids[left.trailing_zeros() as usize];
            let (mut place, mut lanes) = (Vec2::ZERO, 0u32);
            for lane in (0..4).filter(|&lane| ids[lane] == id) {
                place += Vec2::new(self.lens.lanes[0][lane], self.lens.lanes[1][lane]);
                lanes |= 1 << lane;
            }
            let shade = self.surface(id, corner + place / lanes.count_ones() as f32);
            for (lane, light) in light.iter_mut().enumerate() {
                if lanes >> lane & 1 == 1 {
                    *light = shade;
                }
            }
            left &= !lanes;
        }
        light
    }

    /// Returns the light from a surface toward the camera at a point of the image [px].
    fn surface(&self, id: u32, place: Vec2) -> Vec3 {
        let ray = self.lens.ray(place);
        match id {
            SKY => background(ray.normalize()),
            GROUND => self.ground(ray, place),
            _ => {
                let point = match self.scene.surface(id) {
                    Surface::Sphere(index) => self.on_sphere(index, id, ray, place),
                    Surface::Triangle(mesh, triangle) => self.on_triangle(mesh, triangle, ray, place),
                };
                point.map_or_else(|| background(ray.normalize()), |point| self.matt(&point, place))
            }
        }
    }

    fn on_sphere(&self, index: usize, id: u32, ray: Vec3, place: Vec2) -> Option<Point> {
        let (center, radius) = self.scene.spheres.get(index)?;
        let depth = self.lens.see(center, radius, id)?.front(place);
        let position = self.lens.origin + depth * ray;
        let toward_camera = -ray.normalize();
        let mut normal = (position - center).try_normalize().unwrap_or(toward_camera);
        if let Colors::Grains { ids, .. } = self.scene.spheres.colors {
            normal = worn(normal, ids.map_or(id, |ids| ids[index]));
        }
        // A sphere smaller than a pixel has one normal, whichever point of it a sample hits: otherwise it would
        // flicker.
        let detail = smooth_step(0.3, 1.2, radius / (depth * self.lens.scale));
        if detail < 1.0 {
            let heap = self
                .sky
                .as_ref()
                .and_then(|grid| grid.outward(center))
                .unwrap_or(toward_camera);
            normal = heap.lerp(normal, detail).normalize_or(heap);
        }
        Some(Point {
            position,
            normal,
            albedo: self.sphere_color(index),
            crevice: CREVICE * radius,
            even: matches!(self.scene.spheres.colors, Colors::Each(_)),
        })
    }

    fn sphere_color(&self, index: usize) -> Vec3 {
        match self.scene.spheres.colors {
            Colors::One(color) => Vec3::from_array(color),
            Colors::Each(colors) => Vec3::from_array(colors[index].map(|c| self.exposed[usize::from(c)])),
            Colors::Grains { bases, kinds, ids } => {
                let kind = kinds.map_or(0, |kinds| usize::from(kinds[index]).min(bases.len() - 1));
                grain(
                    Vec3::from_array(bases[kind]),
                    ids.map_or(index as u32, |ids| ids[index]),
                )
            }
        }
    }

    fn on_triangle(&self, mesh: usize, triangle: usize, ray: Vec3, place: Vec2) -> Option<Point> {
        let corners = self.scene.corners(mesh, triangle)?;
        let weights = Triangle::new(self.lens, corners)?.weights(place);
        Some(Point {
            position: blend(corners, weights),
            normal: self.triangle_normal(mesh, triangle, weights, ray),
            albedo: Vec3::from_array(self.scene.meshes[mesh].color),
            crevice: self.usual_crevice(),
            even: false,
        })
    }

    /// Returns the normal on the side that the ray comes from.
    pub fn triangle_normal(&self, mesh: usize, triangle: usize, weights: Vec3, ray: Vec3) -> Vec3 {
        let normal = blend(self.normals[mesh][triangle], weights).normalize_or(-ray.normalize());
        if normal.dot(ray) > 0.0 { -normal } else { normal }
    }

    fn usual_crevice(&self) -> f32 {
        if self.scene.typical_radius > 0.0 {
            CREVICE * self.scene.typical_radius
        } else {
            0.02 * self.radius
        }
    }

    fn ground(&self, ray: Vec3, place: Vec2) -> Vec3 {
        let behind = background(ray.normalize());
        let Some(height) = self.scene.ground.filter(|_| ray.z < 0.0) else {
            return behind;
        };
        let position = self.lens.origin + ray * ((self.lens.origin.z - height) / -ray.z);
        let distance = (position.xy() - self.middle.xy()).length() / self.radius;
        let shown = 1.0 - smooth_step(FADE[0], FADE[1], distance);
        if shown <= 0.0 {
            return behind;
        }
        let point = Point {
            position: position.with_z(height),
            normal: Vec3::Z,
            albedo: GROUND_COLOR,
            crevice: self.usual_crevice(),
            even: false,
        };
        behind.lerp(self.matt(&point, place), shown)
    }

    /// Returns the light that a matte surface reflects: from the sun, the sky, and the ground.
    fn matt(&self, point: &Point, place: Vec2) -> Vec3 {
        let turn = std::f32::consts::TAU * hash::gradient_noise(place.x as u32, place.y as u32);
        let facing = point.normal.dot(self.towards_sun);
        let seen = |map: &SunMap| map.light(point.position, point.normal, turn);
        let sun = if facing > 0.0 {
            facing * self.sun.as_ref().map_or(1.0, seen)
        } else {
            0.0
        };

        let open = 0.5 + 0.5 * point.normal.z;
        let (sky, clear) = self
            .sky
            .as_ref()
            .map_or((open, 1.0), |grid| grid.see(point.position, point.normal));
        let crevice = self.crevice(point, place, turn);
        let visible = (sky / open.max(0.05)).min(1.0) * crevice;
        let around = if point.even {
            Vec3::splat(EVEN_ALBEDO)
        } else {
            point.albedo
        };
        let sky = open * many_bounces(visible, around) * SKY_LIGHT;

        let below = if self.scene.ground.is_some() {
            GROUND_COLOR
        } else {
            Vec3::splat(0.3)
        };
        let ground_light = below * (self.towards_sun.z.max(0.0) * self.sun_color + SKY_LIGHT);
        let bounce = (0.6 * (1.0 - open) * clear * crevice) * ground_light;
        let light = sun * self.sun_color + sky + bounce;
        if point.even {
            let lit = (light.dot(BRIGHTNESS) / EVEN_LIGHT).min(1.0);
            point.albedo * (EVEN_SHADOW + (1.0 - EVEN_SHADOW) * lit) + EVEN_COAT * lit
        } else {
            point.albedo * light
        }
    }

    /// Returns the share of a surface's surroundings that nearby surfaces on the image leave open [-].
    fn crevice(&self, point: &Point, place: Vec2, turn: f32) -> f32 {
        let depth = (point.position - self.lens.origin).dot(self.lens.forward);
        let pixels = point.crevice / (depth * self.lens.scale);
        let resolved = smooth_step(1.0, 3.0, pixels);
        if resolved <= 0.0 {
            return UNRESOLVED;
        }
        let pixels = pixels.min(48.0);
        let [width, height] = self.lens.size;
        let mut hidden = 0.0;
        let mut direction = Vec2::from_angle(turn);
        for k in 0..CREVICE_TAPS {
            direction = direction.rotate(Vec2::new(-0.737_368_9, 0.675_490_3));
            let at = place + direction * (pixels * (k as f32 + 0.7) / CREVICE_TAPS as f32);
            if !(at.x >= 0.0 && at.y >= 0.0 && at.x < width as f32 && at.y < height as f32) {
                continue;
            }
            let (x, y) = (at.x as usize, at.y as usize);
            let found = self.samples.depth[self.samples.index(x, y)].x;
            if found == f32::INFINITY {
                continue;
            }
            let sample = Vec2::new(x as f32 + self.lens.lanes[0].x, y as f32 + self.lens.lanes[1].x);
            let offset = self.lens.origin + found * self.lens.ray(sample) - point.position;
            let length = offset.length().max(1e-9);
            let fade = (1.0 - length / (1.5 * point.crevice)).max(0.0);
            hidden += (offset.dot(point.normal) / length - 0.1).max(0.0) * fade;
        }
        let open = (1.0 - 2.2 * hidden / CREVICE_TAPS as f32).max(0.0);
        UNRESOLVED + resolved * (open - UNRESOLVED)
    }
}

/// Returns center and radius of a scene, with its ground [m].
pub(crate) fn extent(scene: &Scene) -> (Vec3, f32) {
    let (mut low, high) = scene.focus.unwrap_or((Vec3::splat(-1.0), Vec3::ONE));
    low.z = low.z.min(scene.ground.unwrap_or(low.z));
    (0.5 * (low + high), (0.5 * (high - low).length()).max(f32::MIN_POSITIVE))
}

/// Returns the linear RGB sky behind everything. `ray`: unit vector.
pub(crate) fn background(ray: Vec3) -> Vec3 {
    HORIZON.lerp(ZENITH, smooth_step(-0.05, 0.9, ray.z))
}

/// Returns the linear RGB color of particle `id` of a material of color `base` [-].
pub fn particle_color(base: [f32; 3], id: u32) -> [f32; 3] {
    grain(base.into(), id).to_array()
}

/// Varies brightness and hue of a grain by its id.
fn grain(base: Vec3, id: u32) -> Vec3 {
    let noise = hash::bits(id);
    let [bright, warm, kind] = [0, 1, 2].map(|k| hash::byte(noise, k));
    let hue = (warm - 0.5) * Vec3::new(0.10, 0.0, -0.22) + 1.0;
    let color = base * hue * (0.68 + 0.64 * bright);
    let grey = Vec3::splat(base.element_sum() / 3.0);
    if kind < 0.07 {
        0.42 * base.lerp(grey, 0.5)
    } else if kind > 0.93 {
        1.35 * base.lerp(grey, 0.5)
    } else {
        color
    }
}

/// Returns the normal of a worn grain of sand: of a shape between a ball and a block with a random orientation.
fn worn(normal: Vec3, id: u32) -> Vec3 {
    let noise = hash::bits(id ^ 0x5EED);
    let part = |k: u32| hash::byte(noise, k) - 0.5;
    let turn = Quat::from_xyzw(part(0), part(1), part(2), part(3) + 0.01).normalize();
    let own = turn * normal;
    let block = turn.conjugate() * (own * own.abs());
    normal.lerp(block.normalize_or(normal), WORN)
}

/// Returns the light at a point of which `visible` is open, including reflections between bright surroundings:
/// [Jimenez16] eq. (10).
fn many_bounces(visible: f32, albedo: Vec3) -> Vec3 {
    let albedo = albedo.min(Vec3::splat(0.9));
    let (a, b, c) = (
        2.0404 * albedo - 0.3324,
        -4.7951 * albedo + 0.6417,
        2.7552 * albedo + 0.6903,
    );
    (((visible * a + b) * visible + c) * visible).max(Vec3::splat(visible))
}

fn blend(corners: [Vec3; 3], weights: Vec3) -> Vec3 {
    corners[0] * weights.x + corners[1] * weights.y + corners[2] * weights.z
}

pub(crate) fn smooth_step(from: f32, to: f32, x: f32) -> f32 {
    let t = ((x - from) / (to - from)).clamp(0.0, 1.0);
    t * t * (3.0 - 2.0 * t)
}
