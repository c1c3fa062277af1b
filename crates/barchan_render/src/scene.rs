//! A checked picture with numbered surfaces: spheres first, then the triangles of all meshes.

use crate::grain::Palette;
use crate::lens::Ball;
use crate::picture::{Colors, Grains, Mesh, Radii, Spheres};
use crate::{Error, Picture};
use glam::Vec3;

/// Id of a sample that sees the sky.
pub(crate) const SKY: u32 = u32::MAX;
/// Id of a sample that sees the ground.
pub(crate) const GROUND: u32 = u32::MAX - 1;

/// Distance from the camera's target, in distances of the camera from it, beyond which bounds are ignored [-]: one
/// stray sphere must not cost the others their shadows.
const FOCUS: f32 = 8.0;

pub(crate) struct Scene<'a> {
    pub spheres: Spheres<'a>,
    pub meshes: &'a [Mesh<'a>],
    pub ground: Option<f32>,
    /// Id of the first triangle of each mesh, and the end.
    firsts: Vec<usize>,
    /// Bounds that light and shadow cover: smallest and largest corner [m]; `None` if there is nothing.
    pub focus: Option<(Vec3, Vec3)>,
    /// Radius of a typical sphere [m]; 0 without spheres.
    pub typical_radius: f32,
    /// One per material of grains.
    pub palettes: Vec<Palette>,
}

/// Surface of an id.
pub(crate) enum Surface {
    Sphere(usize),
    /// Mesh, triangle.
    Triangle(usize, usize),
}

impl<'a> Scene<'a> {
    pub fn new(picture: &'a Picture<'a>) -> Result<Self, Error> {
        let spheres = picture.spheres;
        check_counts(&spheres)?;
        check_vertices(&picture.meshes)?;
        let mut firsts = vec![spheres.positions.len()];
        for mesh in &picture.meshes {
            firsts.push(firsts[firsts.len() - 1] + mesh.triangles.len());
        }
        let (count, limit) = (firsts[firsts.len() - 1], GROUND as usize);
        if count > limit {
            return Err(Error::TooMany { count, limit });
        }
        Ok(Self {
            spheres,
            meshes: &picture.meshes,
            ground: picture.ground.filter(|height| height.is_finite()),
            firsts,
            focus: focus(picture),
            typical_radius: median_radius(&spheres),
            palettes: match spheres.colors {
                Colors::Grains(grains) => grains.materials.iter().map(Palette::new).collect(),
                Colors::One(_) | Colors::Each(_) => Vec::new(),
            },
        })
    }

    /// Returns the number of spheres and triangles.
    pub fn surfaces(&self) -> usize {
        self.firsts[self.firsts.len() - 1]
    }

    pub fn surface(&self, id: u32) -> Surface {
        let id = id as usize;
        if id < self.firsts[0] {
            return Surface::Sphere(id);
        }
        let mesh = self.firsts.partition_point(|&first| first <= id) - 1;
        Surface::Triangle(mesh, id - self.firsts[mesh])
    }

    /// Returns a sphere, if it can be drawn.
    pub fn ball(&self, index: usize) -> Option<Ball> {
        let (center, radius) = self.spheres.get(index)?;
        Some(Ball {
            center,
            radius,
            id: self.spheres.id(index),
            stretch: match self.spheres.colors {
                Colors::Grains(grains) if grains.shaped => self.palettes[grains.kind(index)].shape.stretch,
                _ => 1.0,
            },
        })
    }

    /// Returns the corners of a triangle [m], if they are finite.
    pub fn corners(&self, mesh: usize, triangle: usize) -> Option<[Vec3; 3]> {
        let mesh = &self.meshes[mesh];
        let corners = mesh.triangles[triangle].map(|v| mesh.vertex(v));
        corners.iter().all(|c| c.is_finite()).then_some(corners)
    }
}

fn check_counts(spheres: &Spheres) -> Result<(), Error> {
    let radii = match spheres.radii {
        Radii::One(_) => None,
        Radii::Each(radii) => Some(radii.len()),
    };
    let mut counts = vec![("radii", radii), ("ids", spheres.ids.map(<[u32]>::len))];
    match spheres.colors {
        Colors::One(_) => {}
        Colors::Each(colors) => counts.push(("colors", Some(colors.len()))),
        Colors::Grains(Grains { materials: [], .. }) => return Err(Error::NoColor),
        Colors::Grains(grains) => counts.extend([
            ("kinds", grains.kinds.map(<[u8]>::len)),
            ("wetness", grains.wetness.map(<[f32]>::len)),
        ]),
    }
    let spheres = spheres.positions.len();
    for (what, count) in counts {
        if let Some(count) = count.filter(|&count| count != spheres) {
            return Err(Error::Count { what, spheres, count });
        }
    }
    Ok(())
}

fn check_vertices(meshes: &[Mesh]) -> Result<(), Error> {
    for (mesh, m) in meshes.iter().enumerate() {
        let vertices = m.vertices.len();
        for (triangle, corners) in m.triangles.iter().enumerate() {
            if let Some(&vertex) = corners.iter().find(|&&v| v as usize >= vertices) {
                return Err(Error::Vertex {
                    mesh,
                    triangle,
                    vertex,
                    vertices,
                });
            }
        }
    }
    Ok(())
}

fn focus(picture: &Picture) -> Option<(Vec3, Vec3)> {
    let bounds = picture.bounds();
    let camera = &picture.camera;
    let reach = FOCUS * camera.position.distance(camera.target);
    let low = bounds.min.as_vec3().max(camera.target - reach);
    let high = bounds.max.as_vec3().min(camera.target + reach);
    low.cmple(high).all().then_some((low, high))
}

/// Returns the median of about a thousand radii.
fn median_radius(spheres: &Spheres) -> f32 {
    let count = spheres.positions.len();
    let some = (0..count).step_by((count / 1000).max(1)).filter_map(|i| spheres.get(i));
    let mut radii: Vec<f32> = some.map(|(_, radius)| radius).collect();
    radii.sort_unstable_by(f32::total_cmp);
    radii.get(radii.len() / 2).copied().unwrap_or(0.0)
}
