//! Shades the visible surfaces.

use crate::blocks::Blocks;
use crate::grain::{self, ROUGHNESS};
use crate::lens::Lens;
use crate::normals::corner_normals;
use crate::picture::{Colors, Sun};
use crate::raster::Samples;
use crate::scene::{GROUND, SKY, Scene, Surface};
use crate::sky::SkyGrid;
use crate::sun::SunMap;
use crate::triangle::Triangle;
use crate::{hash, tone};
use glam::{Vec2, Vec3, Vec3Swizzles, Vec4};

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
/// Largest reach of screen-space occlusion [px].
const MAX_REACH: f32 = 48.0;
/// Number of samples of screen-space occlusion.
pub(crate) const CREVICE_TAPS: usize = 6;

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

/// A point on a surface.
struct Point {
    position: Vec3,
    normal: Vec3,
    /// Linear RGB [-].
    albedo: Vec3,
    /// Reach of crevices [m].
    crevice: f32,
    matter: Matter,
    /// Lies in the plane of the ground, which hides none of itself.
    level: bool,
}

/// Light that reaches a point.
struct Exposure {
    /// Of the sun, relative to a surface that faces it [-].
    sun: f32,
    /// Irradiance / π under the visible part of a sky of radiance 1 [-].
    sky: f32,
    /// Share of the directions that are open [-].
    clear: f32,
    /// Share of the close surroundings that are open [-].
    crevice: f32,
}

/// Law of reflection of a surface.
#[derive(Clone, Copy, PartialEq)]
enum Matter {
    /// Smooth and matte.
    Body,
    /// The color encodes a number: shadows must not hide it.
    Number,
    /// Grains of this wetness [-].
    Grain(f32),
}

/// Surroundings of a picture.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Backdrop {
    /// The sky and the ground.
    #[default]
    Sky,
    /// Transparent, but for the shadows on the ground.
    Nothing,
}

/// Everything that shading depends on.
pub(crate) struct Shader<'a> {
    pub scene: &'a Scene<'a>,
    pub lens: &'a Lens,
    pub samples: &'a Samples,
    pub towards_sun: Vec3,
    pub sun_color: Vec3,
    backdrop: Backdrop,
    /// Blocks with anything but ground and sky within the reach of crevices.
    raised: Blocks<bool>,
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
    pub fn new(
        scene: &'a Scene,
        lens: &'a Lens,
        samples: &'a Samples,
        sun: &Sun,
        towards_sun: Vec3,
        backdrop: Backdrop,
    ) -> Self {
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
            backdrop,
            raised: {
                let raised = |pixel: usize| samples.ids[pixel].iter().any(|&id| id < GROUND);
                let either = |a: bool, b: bool| a | b;
                Blocks::new(samples, lens.size, false, raised, either).spread(MAX_REACH, false, either)
            },
            sun: sun_map,
            sky,
            normals: scene.meshes.iter().map(corner_normals).collect(),
            exposed: std::array::from_fn(|k| tone::exposure(EVEN_WHITE * tone::decode(k as f32 / 255.0))),
            middle,
            radius,
        }
    }

    /// Returns the light of the four samples of a pixel: linear RGB, multiplied by alpha, and alpha. Each surface is shaded once, at the center of its
    /// samples.
    pub fn pixel(&self, x: usize, y: usize) -> [Vec4; 4] {
        let ids = self.samples.ids[self.samples.index(x, y)];
        let corner = Vec2::new(x as f32, y as f32);
        if ids.iter().all(|&id| id == ids[0]) {
            return [self.surface(ids[0], corner + 0.5); 4];
        }
        let mut light = [Vec4::ZERO; 4];
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
    fn surface(&self, id: u32, place: Vec2) -> Vec4 {
        let ray = self.lens.ray(place);
        match id {
            SKY => self.behind(ray),
            GROUND => self.ground(ray, place),
            _ => {
                let point = match self.scene.surface(id) {
                    Surface::Sphere(index) => self.on_sphere(index, ray, place),
                    Surface::Triangle(mesh, triangle) => self.on_triangle(mesh, triangle, ray, place),
                };
                point.map_or_else(
                    || self.behind(ray),
                    |point| self.reflected(&point, ray, &self.exposure(&point, place)).extend(1.0),
                )
            }
        }
    }

    fn on_sphere(&self, index: usize, ray: Vec3, place: Vec2) -> Option<Point> {
        let ball = self.scene.ball(index)?;
        let (center, radius) = (ball.center, ball.radius);
        let (sphere, ellipsoid) = self.lens.see_shape(&ball)?;
        let depth = sphere.front(place);
        let position = self.lens.origin + depth * ray;
        let toward_camera = -ray.normalize();
        let normal = match self.scene.spheres.colors {
            Colors::Grains(grains) => {
                let shape = self.scene.palettes[grains.kind(index)].shape;
                ellipsoid.normal((position - center) / radius, ball.id, shape)
            }
            Colors::One(_) | Colors::Each(_) => (position - center).try_normalize().unwrap_or(toward_camera),
        };
        // A sphere smaller than a pixel has one normal, whichever point of it a sample hits: otherwise it would
        // flicker.
        let detail = smooth_step(0.3, 1.2, radius / (depth * self.lens.scale));
        let normal = if detail < 1.0 {
            let heap = self
                .sky
                .as_ref()
                .and_then(|grid| grid.outward(center))
                .unwrap_or(toward_camera);
            heap.lerp(normal, detail).normalize_or(heap)
        } else {
            normal
        };
        let (albedo, matter) = self.sphere_color(index, ball.id);
        Some(Point {
            position,
            normal,
            albedo,
            crevice: CREVICE * radius,
            matter,
            level: false,
        })
    }

    fn sphere_color(&self, index: usize, id: u32) -> (Vec3, Matter) {
        match self.scene.spheres.colors {
            Colors::One(color) => (Vec3::from_array(color), Matter::Body),
            Colors::Each(colors) => {
                let color = colors[index].map(|c| self.exposed[usize::from(c)]);
                (Vec3::from_array(color), Matter::Number)
            }
            Colors::Grains(grains) => {
                let wetness = grains.wetness(index);
                let palette = &self.scene.palettes[grains.kind(index)];
                (palette.color(id, wetness), Matter::Grain(wetness))
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
            matter: Matter::Body,
            level: false,
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

    /// Returns the light where there is no surface.
    fn behind(&self, ray: Vec3) -> Vec4 {
        match self.backdrop {
            Backdrop::Sky => background(ray.normalize()).extend(1.0),
            Backdrop::Nothing => Vec4::ZERO,
        }
    }

    fn ground(&self, ray: Vec3, place: Vec2) -> Vec4 {
        let behind = self.behind(ray);
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
            matter: Matter::Body,
            level: true,
        };
        let exposure = self.exposure(&point, place);
        let light = self.reflected(&point, ray, &exposure);
        match self.backdrop {
            Backdrop::Sky => behind.lerp(light.extend(1.0), shown),
            Backdrop::Nothing => {
                let open = self.reflected(&point, ray, &self.open(&point));
                let kept = light.dot(BRIGHTNESS) / open.dot(BRIGHTNESS).max(f32::MIN_POSITIVE);
                Vec4::W * (shown * (1.0 - kept).clamp(0.0, 1.0))
            }
        }
    }

    /// Returns the light that reaches a point.
    fn exposure(&self, point: &Point, place: Vec2) -> Exposure {
        let turn = std::f32::consts::TAU * hash::gradient_noise(place.x as u32, place.y as u32);
        let all = self.open(point);
        let sun = match &self.sun {
            Some(map) if all.sun > 0.0 => all.sun * map.light(point.position, point.normal, turn),
            _ => all.sun,
        };
        let grid = self.sky.as_ref();
        let (sky, clear) = grid.map_or((all.sky, 1.0), |grid| grid.see(point.position, point.normal));
        Exposure {
            sun,
            sky,
            clear,
            crevice: self.crevice(point, place, turn),
        }
    }

    /// Returns the light that would reach a point if nothing stood around it.
    fn open(&self, point: &Point) -> Exposure {
        Exposure {
            sun: point.normal.dot(self.towards_sun).max(0.0),
            sky: 0.5 + 0.5 * point.normal.z,
            clear: 1.0,
            crevice: UNRESOLVED + self.resolved(point).0 * (1.0 - UNRESOLVED),
        }
    }

    /// Returns the light that a surface reflects toward the camera: from the sun, the sky, and the ground.
    fn reflected(&self, point: &Point, ray: Vec3, exposure: &Exposure) -> Vec3 {
        let open = 0.5 + 0.5 * point.normal.z;
        let visible = (exposure.sky / open.max(0.05)).min(1.0) * exposure.crevice;
        let around = match point.matter {
            Matter::Number => Vec3::splat(EVEN_ALBEDO),
            Matter::Body | Matter::Grain(_) => point.albedo,
        };
        let sky = open * many_bounces(visible, around) * SKY_LIGHT;

        let below = if self.scene.ground.is_some() {
            GROUND_COLOR
        } else {
            Vec3::splat(0.3)
        };
        let ground_light = below * (self.towards_sun.z.max(0.0) * self.sun_color + SKY_LIGHT);
        let bounce = (0.6 * (1.0 - open) * exposure.clear * exposure.crevice) * ground_light;
        let sun = exposure.sun * self.sun_color;
        match point.matter {
            Matter::Body => point.albedo * (sun + sky + bounce),
            Matter::Number => {
                let lit = ((sun + sky + bounce).dot(BRIGHTNESS) / EVEN_LIGHT).min(1.0);
                point.albedo * (EVEN_SHADOW + (1.0 - EVEN_SHADOW) * lit) + EVEN_COAT * lit
            }
            Matter::Grain(wetness) => {
                let view = -ray.normalize();
                let roughness = ROUGHNESS[0] + wetness * (ROUGHNESS[1] - ROUGHNESS[0]);
                let rough = grain::rough(point.normal, self.towards_sun, view, roughness);
                let gloss = if wetness > 0.0 {
                    wetness * grain::gloss(point.normal, self.towards_sun, view)
                } else {
                    0.0
                };
                point.albedo * (rough * sun + sky + bounce) + gloss * sun
            }
        }
    }

    /// Returns the share of crevices that the pixels resolve [-], and their reach [px].
    fn resolved(&self, point: &Point) -> (f32, f32) {
        let depth = (point.position - self.lens.origin).dot(self.lens.forward);
        let pixels = point.crevice / (depth * self.lens.scale);
        (smooth_step(1.0, 3.0, pixels), pixels.min(MAX_REACH))
    }

    /// Returns the share of a surface's surroundings that nearby surfaces on the image leave open [-].
    fn crevice(&self, point: &Point, place: Vec2, turn: f32) -> f32 {
        let (resolved, pixels) = self.resolved(point);
        if resolved <= 0.0 {
            return UNRESOLVED;
        }
        if point.level && self.raised.at(place) == Some(false) {
            return UNRESOLVED + resolved * (1.0 - UNRESOLVED);
        }
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
