//! Contacts of guides with bodies.

use barchan_world::{Friction, Wrench};
use glam::{DVec3, Vec3};

use super::CHUNK;
use super::bodies::{Load, PushedBody};
use super::rules::Rules;
use super::surface::Touch;
use crate::FrictionMode;
use crate::laws::mass::Weight;
use crate::laws::{contact, friction};

/// Cosine of two normals above which contacts of a guide with a body in consecutive steps are the same [-].
const SAME_CONTACT_COSINE: f32 = 0.7;

/// Cosine of two normals above which contacts of a guide at two points of a body are the same [-].
const SAME_FACE_COSINE: f32 = 0.9;

/// A plane of a body that a guide must not cross in this step.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wall {
    pub guide: u32,
    pub body: u32,
    /// Outward normal [-].
    pub normal: Vec3,
    /// Vector from the body's center of mass to the contact [m].
    pub arm: Vec3,
    /// Displacement of the body at the contact in this step [m].
    carried: Vec3,
    /// Gap to close if the guide did not move in this step and the body did not exist before [m].
    gap: f32,
    /// Gap at the start of the step [m].
    pub start: f32,
    friction: Friction,
    /// Sum of the radii that the printed friction goes by [m].
    reach: f32,
    /// Inverse mass of the body along and across the normal [1/kg].
    inverse_masses: [f32; 2],
    /// Impulse on the guide [kg m].
    pub impulse: Vec3,
    /// Displacement impulse of the stabilization on the guide [kg m], along the normal.
    pub push: f32,
}

/// The walls of a chunk of guides.
#[derive(Debug, Default)]
pub(crate) struct ChunkWalls {
    pub all: Vec<Wall>,
    /// Those of the chunk's `k`-th guide are `first[k]..first[k + 1]`.
    pub first: Vec<u32>,
    /// Guides that may touch a body in this step.
    pub due: Vec<Due>,
}

/// A guide that may touch a body.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Due {
    /// Number of the pair among the nearby ones.
    pub near: u32,
    /// Position at the start and at the end of the step [m], in the body's frame.
    pub from: DVec3,
    pub to: DVec3,
}

impl ChunkWalls {
    pub(crate) fn clear(&mut self) {
        self.all.clear();
        self.first.clear();
        self.first.push(0);
    }

    /// Walls of the chunk's `k`-th guide.
    pub(crate) fn of(&self, k: usize) -> &[Wall] {
        match self.first.get(k..k + 2) {
            Some(&[start, end]) => &self.all[start as usize..end as usize],
            _ => &[],
        }
    }
}

/// The walls that guide number `i` of `chunks` has.
pub(crate) fn walls_of(chunks: &[ChunkWalls], i: u32) -> &[Wall] {
    chunks
        .get(i as usize / CHUNK)
        .map_or(&[], |chunk| chunk.of(i as usize % CHUNK))
}

/// The guide of a wall: what is needed to make one.
pub(crate) struct Toucher {
    pub guide: u32,
    pub radius: f32,
    /// Displacement in this step without contacts [m].
    pub free: Vec3,
    pub friction: Friction,
}

impl Wall {
    pub(crate) fn new(touch: &Touch, toucher: &Toucher, k: u32, body: &PushedBody, rules: Rules) -> Self {
        let over = &body.step;
        let normal = (over.to.pose.rotation * touch.normal).as_vec3();
        let point = over.to.pose.point(touch.point);
        let carried = match over.is_fixed {
            true => Vec3::ZERO,
            false => (point - over.from.pose.point(touch.point)).as_vec3(),
        };
        let arm = (point - over.to.center).as_vec3();
        let inherited = rules.left * touch.start.min(0.0) as f32;
        Self {
            guide: toucher.guide,
            body: k,
            normal,
            arm,
            carried,
            gap: touch.gap as f32 - normal.dot(toucher.free - carried) - inherited,
            start: touch.start as f32,
            friction: toucher.friction,
            reach: 2.0 * toucher.radius,
            inverse_masses: body.inverse_masses(arm, normal),
            impulse: Vec3::ZERO,
            push: 0.0,
        }
    }

    /// The same contact of a guide that sleeps, now under the number `guide`: it goes on to carry it.
    pub(crate) fn asleep(&self, guide: u32) -> Self {
        Self { guide, ..*self }
    }

    /// A contact of which nothing but the impulse and its arm are known.
    pub(crate) fn remembered([guide, body]: [u32; 2], normal: Vec3, impulse: Vec3, arm: Vec3) -> Self {
        Self {
            guide,
            body,
            normal,
            arm,
            carried: Vec3::ZERO,
            gap: 0.0,
            start: 0.0,
            friction: Friction {
                r#static: 0.0,
                kinetic: 0.0,
            },
            reach: 0.0,
            inverse_masses: [0.0; 2],
            impulse,
            push: 0.0,
        }
    }

    /// Starts from what the same contact had in the last step.
    pub(crate) fn remember(&mut self, before: &[Self]) {
        let same = before
            .iter()
            .find(|w| w.body == self.body && w.normal.dot(self.normal) > SAME_CONTACT_COSINE);
        if let Some(last) = same.filter(|w| w.impulse.dot(self.normal) > 0.0) {
            self.impulse = last.impulse;
        }
    }

    /// Returns true if two contacts with one body lie on the same face.
    pub(crate) fn is_face_of(&self, other: &Self) -> bool {
        self.body != other.body && self.normal.dot(other.normal) > SAME_FACE_COSINE
    }

    /// Becomes `other` if that is nearer.
    pub(crate) fn keep_nearer(&mut self, other: Self) {
        if other.gap < self.gap {
            *self = other;
        }
    }

    /// One pass, with the guide moved by `moved` [m] in this step so far.
    #[inline]
    pub(crate) fn solve(&mut self, moved: Vec3, weight: Weight, body: &PushedBody, rules: Rules) {
        let n = self.normal;
        let mut u = moved - self.carried;
        let mut stiffness = [1.0 / weight.share.max(f32::MIN_POSITIVE); 2];
        if body.is_dynamic {
            u -= body.given(self.arm);
            stiffness = self
                .inverse_masses
                .map(|w| 1.0 / (weight.share + body.contacts * w).max(f32::MIN_POSITIVE));
        }
        let [along, across] = stiffness;
        let un = n.dot(u);
        let gap = self.gap + un;
        let ut = u - un * n;
        if rules.friction == FrictionMode::Accumulated {
            let before = n.dot(self.impulse);
            let normal = contact::accumulated(before, along, gap);
            let t = self.impulse - before * n - across * ut;
            let f = friction::coulomb(
                t.length_squared(),
                normal,
                self.friction.r#static,
                self.friction.kinetic,
            );
            self.impulse = normal * n + f * t;
        } else if gap < 0.0 {
            let length = if rules.friction == FrictionMode::Sommer {
                self.reach
            } else {
                -gap
            };
            let f = friction::of_length(
                ut.length_squared(),
                length,
                self.friction.r#static,
                self.friction.kinetic,
            );
            self.impulse += contact::printed(0.0, along, gap) * n - across * f * ut;
        }
    }

    /// One pass of the stabilization, with the guide pushed by `pushed` [m] so far. The body stays.
    pub(crate) fn stabilize(&mut self, pushed: Vec3, weight: Weight) {
        let stiffness = 1.0 / weight.share.max(f32::MIN_POSITIVE);
        self.push = contact::accumulated(self.push, stiffness, self.start + self.normal.dot(pushed));
    }

    /// Updates the gap by the displacement of the guide by the stabilization [m].
    pub(crate) fn shift(&mut self, pushed: Vec3) {
        self.gap += self.normal.dot(pushed);
    }

    /// Adds what the guide gets, times `factor` [-], to the load of the body.
    pub(crate) fn load(&self, factor: f32, load: &mut Load) {
        let force = (self.impulse * factor).as_dvec3();
        load.sum += Wrench {
            force,
            torque: self.arm.as_dvec3().cross(force),
        };
        load.contacts += 1.0;
    }
}
