//! Walls near guides.
//!
//! A guide's kernel may reach behind a wall: into a body, or through a thin one. What it gives to nodes there, and takes from them, is kept
//! apart from the sand on the other side: each side of a wall has nodes of its own, whose velocities the wall bounds.

use barchan_world::{BodyDistance, Friction, Wrench};
use glam::{Vec3, Vec4};

use super::bodies::SeenBody;
use super::lattice::Lattice;
use super::particles::Particle;
use super::{Node, PATCH};
use crate::laws::contact;

/// Farthest that a kernel reaches from its guide, in spacings of nodes [-]: one and a half along each axis.
pub(crate) const REACH: f64 = 2.6;
/// Nodes nearer to a wall than this, in spacings of nodes [-], are held by it too. A free node carries what lies on it only if there is material between
/// it and the wall.
pub(crate) const TOUCH: f32 = 0.5;
/// Distance of the farthest guide of a block from its middle, in spacings of nodes [-].
const BLOCK_RADIUS: f64 = 5.2;
/// Middle of a block's guides from its lowest corner, in spacings of nodes [-].
const MIDDLE: f64 = 2.5;
/// Most planes near a guide [-].
const MAX_PLANES: usize = 6;
/// Surfaces that slide faster than this [m/s] are held by kinetic friction.
const SLIDING: f32 = 5e-3;
/// Distance of a guide's center from a wall that it keeps, in spacings of nodes [-], and the part of what is missing that a step gives back.
const MIN_GAP: f32 = 0.05;
const RECOVERY: f32 = 0.2;
/// Direction that separates both sides of a wall [-], along no axis.
const DIVIDE: Vec3 = Vec3::new(0.36, 0.48, 0.8);
/// No body.
pub(crate) const NOBODY: u32 = u32::MAX;

/// Sides of a wall [-].
pub(crate) const SIDES: usize = 2;

/// A wall near a guide, taken as plane.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plane {
    /// Number among the seen bodies.
    pub body: u32,
    /// Outward unit normal [-].
    pub normal: Vec3,
    /// Distance of the guide's center [m].
    pub gap: f32,
    /// From the body's center of mass to the nearest point [m].
    pub arm: Vec3,
    /// Coulomb friction [-].
    pub friction: f32,
}

/// Nodes on one side of walls.
#[derive(Clone, Debug)]
pub(crate) struct SidePatch {
    pub nodes: [Node; PATCH],
    /// Σ w m n [kg] and Σ w m μ [kg].
    pub lean: [Vec4; PATCH],
    pub owner: [u32; PATCH],
}

impl SidePatch {
    fn clear(&mut self) {
        self.nodes.fill(Vec4::ZERO);
        self.lean.fill(Vec4::ZERO);
        self.owner.fill(NOBODY);
    }
}

/// A block of guides near walls.
#[derive(Debug)]
pub(crate) struct WallBlock {
    /// Number of the block.
    pub block: u32,
    /// Bodies near it, among the seen ones.
    near: Vec<u32>,
    ends: Vec<u32>,
    planes: Vec<Plane>,
    pub sides: Box<[SidePatch; SIDES]>,
    /// Impulse of each body on guides that touch it [N s], and its moment about the body's center of mass [N m s].
    pub loads: Vec<Wrench>,
    /// Largest depth of a guide's center in a body [m].
    pub deepest: f32,
}

/// Distances of all bodies, and frictions.
pub(crate) struct Scene<'a> {
    pub bodies: &'a [SeenBody],
    pub distances: &'a [BodyDistance],
    /// Friction of each body with each material.
    pub frictions: &'a [Friction],
    pub materials: usize,
    /// The world's origin [m].
    pub origin: glam::DVec3,
    pub lattice: &'a Lattice,
}

impl Scene<'_> {
    /// Finds the bodies near the guides of a block, and returns whether there are any.
    pub(crate) fn near(&self, corner: glam::DVec3, near: &mut Vec<u32>) -> bool {
        near.clear();
        let spacing = self.lattice.spacing.as_dvec3();
        let middle = self.origin + corner + MIDDLE * spacing;
        let reach = (BLOCK_RADIUS + REACH) * spacing.max_element();
        for (k, body) in (0..).zip(self.bodies) {
            if body.is_present
                && body.at.clearance(middle) < reach
                && self.distances[body.of as usize].clearance(body.at.local(middle)) < reach
            {
                near.push(k);
            }
        }
        !near.is_empty()
    }

    /// Plane of body `k` near `place` [m] from the world's origin, if it lies within `reach` [m].
    fn plane(&self, k: u32, place: glam::DVec3, reach: f64) -> Option<Plane> {
        let body = &self.bodies[k as usize];
        let distance = &self.distances[body.of as usize];
        let place = self.origin + place;
        let local = body.at.local(place);
        if distance.to_bounds(local) >= reach {
            return None;
        }
        let (gap, normal) = distance.distance_and_normal(local);
        (gap < reach).then(|| {
            let normal = body.at.axes() * normal;
            Plane {
                body: k,
                normal: normal.as_vec3(),
                gap: gap as f32,
                arm: (place - gap * normal - body.at.center).as_vec3(),
                friction: 0.0,
            }
        })
    }

    /// Distance of a node at `place` [m] from body `k`, and the outward normal there.
    pub(crate) fn distance(&self, k: u32, place: glam::DVec3) -> (f32, Vec3) {
        let body = &self.bodies[k as usize];
        let local = body.at.local(self.origin + place);
        let (gap, normal) = self.distances[body.of as usize].distance_and_normal(local);
        (gap as f32, (body.at.axes() * normal).as_vec3())
    }
}

impl WallBlock {
    pub(crate) fn new() -> Self {
        let side = SidePatch {
            nodes: [Vec4::ZERO; PATCH],
            lean: [Vec4::ZERO; PATCH],
            owner: [NOBODY; PATCH],
        };
        Self {
            block: 0,
            near: Vec::new(),
            ends: Vec::new(),
            planes: Vec::new(),
            sides: Box::new([side.clone(), side]),
            loads: Vec::new(),
            deepest: 0.0,
        }
    }

    /// Takes block `block`, near the bodies `near`.
    pub(crate) fn take(&mut self, block: u32, near: &[u32]) {
        self.block = block;
        self.near.clear();
        self.near.extend_from_slice(near);
    }

    /// Bodies near the block.
    pub(crate) fn near(&self) -> &[u32] {
        &self.near
    }

    /// Finds the planes near each guide of the block.
    pub(crate) fn find(&mut self, particles: &[Particle], scene: &Scene<'_>) {
        self.sides.iter_mut().for_each(SidePatch::clear);
        self.ends.clear();
        self.planes.clear();
        self.deepest = 0.0;
        let reach = REACH * f64::from(scene.lattice.spacing.max_element());
        for particle in particles {
            let place = particle.place(scene.lattice);
            let first = self.planes.len();
            for &k in &self.near {
                if self.planes.len() - first == MAX_PLANES {
                    break;
                }
                let Some(mut plane) = scene.plane(k, place, reach) else {
                    continue;
                };
                let body = &scene.bodies[k as usize];
                let friction = scene.frictions[body.of as usize * scene.materials + usize::from(particle.material)];
                let relative = particle.velocity - body.velocity(plane.arm);
                let sliding = relative - relative.dot(plane.normal) * plane.normal;
                plane.friction = if sliding.length() > SLIDING {
                    friction.kinetic
                } else {
                    friction.r#static
                };
                self.deepest = self.deepest.max(-plane.gap);
                self.planes.push(plane);
            }
            self.ends.push(self.planes.len() as u32);
        }
    }

    /// Planes near guide `k` of the block.
    #[inline]
    pub(crate) fn planes(&self, k: usize) -> std::ops::Range<usize> {
        let start = k.checked_sub(1).map_or(0, |before| self.ends[before] as usize);
        start..self.ends[k] as usize
    }

    /// Returns the plane behind which a node lies, or no more than `touch` [m] in front of it, that is `way` [m] from the guide of the
    /// planes `range`, and the side of the plane.
    #[inline]
    pub(crate) fn behind(&self, range: std::ops::Range<usize>, way: Vec3, touch: f32) -> Option<(usize, &Plane)> {
        let mut deepest = touch;
        let mut found = None;
        for plane in &self.planes[range] {
            let height = plane.gap + plane.normal.dot(way);
            if height < deepest {
                deepest = height;
                found = Some((usize::from(plane.normal.dot(DIVIDE) < 0.0), plane));
            }
        }
        found
    }

    /// Keeps guide `k`, which moves on by `step` [s], out of its walls. Nodes held it back already, but a lone fast guide may be between them.
    pub(crate) fn keep_out(&mut self, k: usize, particle: &mut Particle, bodies: &[SeenBody], spacing: f32, step: f32) {
        let contact = MIN_GAP * spacing;
        let mut shift = Vec3::ZERO;
        for index in self.planes(k) {
            let plane = self.planes[index];
            let body = &bodies[plane.body as usize];
            let room = (plane.gap - contact).max(0.0) / step;
            let relative = particle.velocity - body.velocity(plane.arm);
            let change = contact::held(relative, plane.normal, plane.friction, room);
            if change != Vec3::ZERO {
                particle.velocity += change;
                let impulse = f64::from(particle.mass) * change.as_dvec3();
                self.loads[body.of as usize] += Wrench {
                    force: impulse,
                    torque: plane.arm.as_dvec3().cross(impulse),
                };
            }
            let missing = contact - plane.gap - shift.dot(plane.normal);
            shift += (RECOVERY * missing).clamp(0.0, contact) * plane.normal;
        }
        particle.local += shift;
        particle.moved += shift;
    }
}
