//! Contents of a picture.

use crate::Camera;
use crate::grain::{GrainKind, GrainMaterial, SAND};
use barchan_geometry::Aabb;
use glam::{Affine3A, Vec3};
use rayon::prelude::*;

/// Scene and camera. Positions are relative to a local origin that the caller has subtracted; z is up.
#[derive(Clone, Debug)]
pub struct Picture<'a> {
    /// Grains, guides or any other spheres.
    pub spheres: Spheres<'a>,
    /// Bodies and containers.
    pub meshes: Vec<Mesh<'a>>,
    /// Height of a ground plane [m]; visible from above only.
    pub ground: Option<f32>,
    /// Camera.
    pub camera: Camera,
    /// Light source.
    pub sun: Sun,
}

impl<'a> Picture<'a> {
    /// Creates a picture of the spheres alone, framed for an image of 16:9.
    pub fn new(spheres: Spheres<'a>) -> Self {
        let mut picture = Self {
            spheres,
            meshes: Vec::new(),
            ground: None,
            camera: Camera::default(),
            sun: Sun::default(),
        };
        picture.camera = Camera::framing(&picture.bounds(), 16.0 / 9.0);
        picture
    }

    /// Returns the box around all spheres and meshes that can be drawn [m].
    pub fn bounds(&self) -> Aabb {
        let meshes = self.meshes.iter().map(Mesh::bounds);
        meshes.fold(self.spheres.bounds(), |bounds, mesh| bounds.union(&mesh))
    }
}

/// Spheres. One without a finite position or a finite radius above zero is not drawn.
#[derive(Clone, Copy, Debug)]
pub struct Spheres<'a> {
    /// Centers [m].
    pub positions: &'a [Vec3],
    /// Radii [m].
    pub radii: Radii<'a>,
    /// Colors.
    pub colors: Colors<'a>,
    /// Stable ids, from which grains get their shapes and tints; by default their index.
    pub ids: Option<&'a [u32]>,
}

impl<'a> Spheres<'a> {
    /// No spheres.
    pub const NONE: Self = Self {
        positions: &[],
        radii: Radii::One(1.0),
        colors: Colors::One(SAND),
        ids: None,
    };

    /// Creates grains of dry sand.
    pub fn sand(positions: &'a [Vec3], radii: Radii<'a>) -> Self {
        const DRY_SAND: [GrainMaterial; 1] = [GrainMaterial {
            kind: GrainKind::Sand,
            color: SAND,
            wetness: 0.0,
        }];
        Self {
            positions,
            radii,
            colors: Colors::Grains(Grains {
                materials: &DRY_SAND,
                kinds: None,
                wetness: None,
                shaped: true,
            }),
            ids: None,
        }
    }

    /// Returns the stable id of a sphere.
    pub(crate) fn id(&self, index: usize) -> u32 {
        self.ids.map_or(index as u32, |ids| ids[index])
    }

    /// Returns center [m] and radius [m] of a sphere, if it can be drawn.
    pub(crate) fn get(&self, index: usize) -> Option<(Vec3, f32)> {
        let (position, radius) = (self.positions[index], self.radii.of(index));
        (position.is_finite() && radius > 0.0 && radius.is_finite()).then_some((position, radius))
    }

    fn bounds(&self) -> Aabb {
        let nothing = || (Vec3::INFINITY, Vec3::NEG_INFINITY);
        let all = (0..self.positions.len()).into_par_iter().with_min_len(1 << 14);
        let boxes = all
            .filter_map(|i| self.get(i))
            .map(|(center, radius)| (center - radius, center + radius));
        let bounds = boxes.reduce(nothing, |a, b| (a.0.min(b.0), a.1.max(b.1)));
        Aabb::new(bounds.0.as_dvec3(), bounds.1.as_dvec3())
    }
}

/// Radii [m].
#[derive(Clone, Copy, Debug)]
pub enum Radii<'a> {
    /// The same for all.
    One(f32),
    /// One per sphere.
    Each(&'a [f32]),
}

impl Radii<'_> {
    pub(crate) fn of(&self, index: usize) -> f32 {
        match self {
            Self::One(radius) => *radius,
            Self::Each(radii) => radii[index],
        }
    }
}

/// Colors of spheres.
#[derive(Clone, Copy, Debug)]
pub enum Colors<'a> {
    /// The same for all, linear RGB [-].
    One([f32; 3]),
    /// One sRGB color per sphere. They encode data, so they are drawn as given, a little darker in shadow.
    Each(&'a [[u8; 3]]),
    /// Those of granular materials.
    Grains(Grains<'a>),
}

/// Materials of spheres that are grains.
#[derive(Clone, Copy, Debug)]
pub struct Grains<'a> {
    /// Materials; at least one.
    pub materials: &'a [GrainMaterial],
    /// Material of each sphere; clamped to the last. By default the first.
    pub kinds: Option<&'a [u8]>,
    /// Wetness of each sphere, 0 to 1 [-]; by default that of its material.
    pub wetness: Option<&'a [f32]>,
    /// Draws the grains' own shapes, of equal volume, instead of balls.
    pub shaped: bool,
}

impl Grains<'_> {
    /// Returns the index of the material of a sphere.
    pub(crate) fn kind(&self, index: usize) -> usize {
        self.kinds
            .map_or(0, |kinds| usize::from(kinds[index]).min(self.materials.len() - 1))
    }

    /// Returns the wetness of a sphere, 0 to 1 [-].
    pub(crate) fn wetness(&self, index: usize) -> f32 {
        let own = self.wetness.map(|wetness| wetness[index]).filter(|w| w.is_finite());
        own.unwrap_or(self.materials[self.kind(index)].wetness).clamp(0.0, 1.0)
    }
}

/// A triangle mesh; both sides of a triangle are visible. A triangle with a vertex that is not finite is not drawn.
#[derive(Clone, Copy, Debug)]
pub struct Mesh<'a> {
    /// Vertices in the mesh's own frame [m].
    pub vertices: &'a [Vec3],
    /// Indices into the vertices.
    pub triangles: &'a [[u32; 3]],
    /// Transform from the mesh's own frame to that of the picture.
    pub pose: Affine3A,
    /// Linear RGB color [-].
    pub color: [f32; 3],
    /// Share of the light behind it that is absorbed [-]: 1 is opaque, less is glass.
    pub opacity: f32,
}

impl Mesh<'_> {
    pub(crate) fn is_solid(&self) -> bool {
        self.opacity >= 1.0
    }

    /// Returns a vertex in the frame of the picture [m].
    pub(crate) fn vertex(&self, index: u32) -> Vec3 {
        self.pose.transform_point3(self.vertices[index as usize])
    }

    pub(crate) fn bounds(&self) -> Aabb {
        let placed = self.vertices.iter().map(|&v| self.pose.transform_point3(v));
        Aabb::of_points(placed.filter(|v| v.is_finite()).map(Vec3::as_dvec3))
    }
}

/// The sun.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sun {
    /// Direction toward it, of any length [-].
    pub direction: Vec3,
    /// Linear RGB light reflected by a white surface facing it [-].
    pub color: [f32; 3],
    /// Angular radius [rad]: softness of the shadows. The real sun has 0.005.
    pub angular_radius: f32,
}

impl Default for Sun {
    /// An afternoon sun, to the left of a framing camera, large enough for soft shadows.
    fn default() -> Self {
        Self {
            direction: Vec3::new(-0.80, -0.22, 0.50),
            color: [2.8, 2.35, 1.75],
            angular_radius: 0.025,
        }
    }
}
