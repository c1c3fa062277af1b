//! Walls near guides: their share of densities, and their effect on velocities.

use barchan_world::{Friction, Motion, World, Wrench};
use glam::{Mat3, Vec3, Vec4, Vec4Swizzles};
use rayon::prelude::*;

use super::CHUNK;
use super::bodies::SeenBody;
use super::columns::Columns;
use super::surface::WallField;
use crate::Walls;
use crate::laws::wall;

/// Smallest distance of a guide's center from a wall, as a fraction of its spacing [-]. In settled sand guides stay at
/// 0.58; a lone guide has no density that could hold it off.
const MIN_GAP: f32 = 0.45;
/// Share of a penetration that a step undoes [-], and the most it undoes, as a fraction of the spacing [-].
const RECOVERY: f32 = 0.2;
const MAX_RECOVERY: f32 = 0.05;
/// Displacement of a guide, as a fraction of its kernel radius [-], over which a fixed wall is taken as plane.
const PLANE_DISTANCE: f32 = 0.02;
/// Cosine of the angle between the directions away from two walls [-] below which a guide is between them.
const OPPOSITE_COSINE: f32 = -0.7;
/// Largest number of planes near a guide [-], of all bodies.
const MAX_PLANES: usize = 8;

/// Friction of walls by stress and viscosity, [Ihmsen13] eqs. (18)-(21).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Drag {
    /// True if the larger of both counts, else the stress.
    pub is_greatest: bool,
    /// σ [-]; the wall's friction if none is given.
    pub viscosity: Option<f32>,
    /// Speed of sound [m/s].
    pub sound: f32,
}

/// A wall near a guide, taken as plane.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Plane {
    pub body: u32,
    /// Outward normal, against the wall's pressure [-].
    pub normal: Vec3,
    /// λ, what it holds of the kernel [-], and the length of its gradient [1/m], if it were alone.
    held: f32,
    steepness: f32,
    /// Outward, from the nearest point [-].
    away: Vec3,
    /// Distance of the guide's center [m].
    gap: f32,
    /// Least such distance [m].
    contact: f32,
    /// Velocity of the wall there [m/s].
    velocity: Vec3,
    /// From the body's center of mass [m].
    arm: Vec3,
    friction: Friction2,
    /// dλ/dgap [1/m], below 0.
    pub slope: f32,
    /// Velocity change of the guide by this wall in the step [m/s].
    given: Vec3,
    /// Last query of the body's distance field, and its result.
    asked: Asked,
}

/// Result of a query: its position [m], λ there [-], the distance [m], and the arm to the nearest point [m].
#[derive(Clone, Copy, Debug, Default)]
struct Asked {
    place: Vec3,
    held: f32,
    gap: f32,
    arm: Vec3,
}

/// Friction of a plane, static and kinetic [-].
#[derive(Clone, Copy, Debug, Default)]
struct Friction2 {
    r#static: f32,
    kinetic: f32,
}

impl Plane {
    /// Holds a guide of `velocity` [m/s] back: it does not come nearer than it may, and its sliding is slowed by Coulomb's law, where
    /// `pressed` [m/s] is what pressure against the wall gave it. Returns the part by friction [m/s].
    #[inline]
    pub(crate) fn hold(&mut self, velocity: &mut Vec3, pressed: f32, step: f32) -> Vec3 {
        let relative = *velocity - self.velocity;
        let depth = self.contact - self.gap;
        // How deep it is already is not undone by speed.
        let stopped = (depth.min(0.0) / step - relative.dot(self.away)).max(0.0) * self.away;
        let normal = (pressed * self.normal + stopped).length();
        let relative = relative + stopped;
        let sliding = relative - relative.dot(self.normal) * self.normal;
        let speed = sliding.length();
        let slowed = if speed <= self.friction.r#static * normal {
            -sliding
        } else {
            -sliding * (self.friction.kinetic * normal / speed)
        };
        *velocity += stopped + slowed;
        self.given = pressed * self.normal + stopped + slowed;
        slowed
    }

    /// Holds a guide of `velocity` [m/s] back as [`hold`](Self::hold) does, with the friction of [Ihmsen13] eqs. (19)-(21) instead of Coulomb's: the
    /// stress of the guide gives it `rubbed` [m/s²]. Returns the part by friction [m/s].
    pub(crate) fn drag(
        &mut self,
        velocity: &mut Vec3,
        pressed: f32,
        rubbed: Vec3,
        drag: &Drag,
        support: f32,
        step: f32,
    ) -> Vec3 {
        let gap = self.gap.max(0.0);
        let approach = gap * (*velocity - self.velocity).dot(self.away);
        let sigma = drag.viscosity.unwrap_or(self.friction.r#static);
        let viscous = wall::viscosity(sigma, drag.sound, support, approach, gap) * self.slope * self.normal;
        let slowed = step
            * match drag.is_greatest {
                true => wall::larger(viscous, rubbed),
                false => rubbed,
            };
        *velocity += slowed;
        let relative = *velocity - self.velocity;
        let depth = self.contact - self.gap;
        let stopped = (depth.min(0.0) / step - relative.dot(self.away)).max(0.0) * self.away;
        *velocity += stopped;
        self.given = pressed * self.normal + stopped + slowed;
        slowed
    }

    /// The same plane for its guide at `place` [m], which is near.
    #[inline]
    fn at(self, place: Vec3) -> Self {
        let way = place - self.asked.place;
        let along = way.dot(self.away);
        Self {
            held: self.asked.held - self.steepness * way.dot(self.normal),
            gap: self.asked.gap + along,
            arm: self.asked.arm + way - along * self.away,
            slope: 0.0,
            given: Vec3::ZERO,
            ..self
        }
    }

    /// Keeps the way of a guide that is not part of its velocity, `shift` [m], out of the wall, and takes it out where it is in it.
    #[inline]
    pub(crate) fn keep_out(&self, shift: &mut Vec3, velocity: Vec3, step: f32) {
        let along = shift.dot(self.away);
        let gap = self.gap + step * (velocity - self.velocity).dot(self.away) - self.contact;
        let least = if gap > 0.0 {
            -gap
        } else {
            (-RECOVERY * gap).min(MAX_RECOVERY * self.contact)
        };
        *shift += (least - along).max(0.0) * self.away;
    }
}

/// Walls near some consecutive guides.
#[derive(Debug, Default)]
pub(crate) struct ChunkWalls {
    ends: Vec<u32>,
    planes: Vec<Plane>,
    /// Those of the step before.
    old_ends: Vec<u32>,
    old_planes: Vec<Plane>,
    /// Impulse [N s] of each body on the guides of the chunk, and its moment about the body's center of mass [N m s].
    pub loads: Vec<Wrench>,
    /// Largest depth of a guide's center in a wall [m].
    pub deepest: f32,
}

impl ChunkWalls {
    /// No walls near any of `guides` guides.
    #[cfg(test)]
    pub(crate) fn none(guides: usize) -> Self {
        Self {
            ends: vec![0; guides],
            ..Self::default()
        }
    }

    /// Planes near guide `k` of the chunk.
    #[inline(always)]
    pub(crate) fn of_mut(&mut self, k: usize) -> &mut [Plane] {
        let start = if k == 0 { 0 } else { self.ends[k - 1] as usize };
        &mut self.planes[start..self.ends[k] as usize]
    }

    fn of(&self, k: usize) -> &[Plane] {
        let start = if k == 0 { 0 } else { self.ends[k - 1] as usize };
        &self.planes[start..self.ends[k] as usize]
    }

    /// Makes room for the planes of another step.
    fn turn_over(&mut self) {
        std::mem::swap(&mut self.ends, &mut self.old_ends);
        std::mem::swap(&mut self.planes, &mut self.old_planes);
        self.ends.clear();
        self.planes.clear();
        self.deepest = 0.0;
    }

    /// Takes the planes of guide `k` over from the step before; false if it went farther than `most` [m] since walls were asked.
    fn keep(&mut self, k: usize, place: Vec3, most: f32) -> bool {
        let start = if k == 0 { 0 } else { self.old_ends[k - 1] as usize };
        let old = &self.old_planes[start..self.old_ends[k] as usize];
        let is_near = old.first().is_none_or(|plane| plane.asked.place.distance(place) < most);
        if is_near {
            self.planes.extend(old.iter().map(|plane| plane.at(place)));
        }
        is_near
    }

    /// Sums what bodies gave, for guides of `mass` [kg].
    pub(crate) fn sum_loads(&mut self, mass: &[f32], bodies: usize) {
        let mut loads = std::mem::take(&mut self.loads);
        loads.clear();
        loads.resize(bodies, Wrench::default());
        for (k, &mass) in mass.iter().enumerate() {
            for plane in self.of(k) {
                let impulse = (mass * plane.given).as_dvec3();
                loads[plane.body as usize] += Wrench {
                    force: impulse,
                    torque: plane.arm.as_dvec3().cross(impulse),
                };
            }
        }
        self.loads = loads;
    }
}

/// Finds Σ ∇λ vᵀ of the walls near each guide.
pub(crate) fn carry(walls: &[ChunkWalls], columns: &mut Columns) {
    columns.carried.clear();
    columns.carried.resize(columns.place.len(), Mat3::ZERO);
    let chunks = columns.carried.par_chunks_mut(CHUNK).zip(walls);
    chunks.for_each(|(carried, walls)| {
        for (k, carried) in carried.iter_mut().enumerate() {
            for plane in walls.of(k) {
                let gradient = plane.slope * plane.normal;
                let v = plane.velocity;
                *carried += Mat3::from_cols(gradient * v.x, gradient * v.y, gradient * v.z);
            }
        }
    });
}

/// Inputs of the wall search.
#[derive(Clone, Copy)]
pub(crate) struct WallSearch<'a> {
    pub world: &'a World,
    pub bodies: &'a [SeenBody],
    pub surfaces: &'a [WallField],
    /// Friction of each body with each material.
    pub friction: &'a [Friction],
    /// Largest speed of any wall [m/s].
    pub speed: f32,
    pub support: f32,
    /// Time that guides have moved since the wall search [s].
    pub moved: f32,
    pub kind: Walls,
}

impl WallSearch<'_> {
    /// Finds walls, and adds them to the compression.
    pub(crate) fn find(&self, walls: &mut Vec<ChunkWalls>, columns: &mut Columns) {
        walls.resize_with(columns.place.len().div_ceil(CHUNK), ChunkWalls::default);
        let Columns {
            place,
            half_support,
            compression,
            wall,
            inflow,
            held,
            free,
            ..
        } = columns;
        let velocity = &self.world.guides.velocity;
        let chunks = walls
            .par_iter_mut()
            .zip(compression.par_chunks_mut(CHUNK))
            .zip(wall.par_chunks_mut(CHUNK))
            .zip(inflow.par_chunks_mut(CHUNK))
            .zip(held.par_chunks_mut(CHUNK))
            .zip(free.par_chunks_mut(CHUNK))
            .enumerate();
        chunks.for_each(|(c, (((((walls, compression), wall), inflow), held), free))| {
            walls.turn_over();
            for k in 0..free.len() {
                let i = c * CHUNK + k;
                let first = walls.planes.len();
                let support = 2.0 * half_support[i];
                let here = place[i].xyz();
                (wall[k], inflow[k], held[k]) = (Vec4::ZERO, 0.0, 0.0);
                free[k] -= 1.01 * (velocity[i].length() + self.speed) * self.moved;
                if free[k].is_nan() || free[k] <= 0.0 || !walls.keep(k, here, PLANE_DISTANCE * support) {
                    free[k] = self.planes(i, here, support, walls);
                }
                let planes = &mut walls.planes[first..];
                if !planes.is_empty() {
                    part(planes, MIN_GAP * support / self.support);
                    held[k] = match self.kind {
                        Walls::Density => fill(planes),
                        Walls::Volume | Walls::Particles => add(planes),
                    };
                    compression[k] += held[k];
                    for plane in planes {
                        let gradient = plane.slope * plane.normal;
                        wall[k] += gradient.extend(0.0);
                        inflow[k] += gradient.dot(plane.velocity);
                        walls.deepest = walls.deepest.max(-plane.gap);
                    }
                }
                walls.ends.push(walls.planes.len() as u32);
            }
        });
    }

    /// Planes within `support` [m] of guide `i`, `here` [m] among the columns, the firmest last. Gives how far it may go before it must ask
    /// again for others [m].
    fn planes(&self, i: usize, here: Vec3, support: f32, walls: &mut ChunkWalls) -> f32 {
        let place = self.world.place(i);
        let material = usize::from(self.world.guides.material[i]);
        let materials = self.world.materials.all.len();
        let reach = f64::from(support);
        let first = walls.planes.len();
        let mut clearance = f64::INFINITY;
        for body in self.bodies.iter().filter(|body| body.is_present) {
            let k = body.over.of as usize;
            let surface = &self.surfaces[k];
            let local = body.seen.local(place);
            let friction = self.friction[k * materials + material];
            let face = match surface.face(local, reach) {
                Ok(face) => face,
                Err(distance) => {
                    clearance = clearance.min(distance);
                    continue;
                }
            };
            // What moves is asked in every step.
            if !matches!(self.world.bodies[k].motion, Motion::Fixed) {
                clearance = 0.0;
            }
            if walls.planes.len() - first == MAX_PLANES {
                continue;
            }
            let away = (body.seen.pose.rotation * face.normal).as_vec3();
            let gradient = (body.seen.pose.rotation * face.gradient).as_vec3();
            let steepness = gradient.length();
            let (held, gap) = (face.held as f32, face.gap as f32);
            let arm = (body.seen.pose.point(face.point) - body.seen.center).as_vec3();
            walls.planes.push(Plane {
                body: k as u32,
                normal: if steepness > 0.0 { -gradient / steepness } else { away },
                held,
                steepness,
                away,
                gap,
                contact: 0.0,
                velocity: body.velocity(face.point),
                arm,
                friction: Friction2 {
                    r#static: friction.r#static,
                    kinetic: friction.kinetic,
                },
                slope: 0.0,
                given: Vec3::ZERO,
                asked: Asked {
                    place: here,
                    held,
                    gap,
                    arm,
                },
            });
        }
        // What gives way first, so that what stands has the last word over a guide between both; else the nearest last.
        let firmness = |plane: &Plane| (!self.world.bodies[plane.body as usize].is_dynamic(), -plane.gap);
        walls.planes[first..].sort_unstable_by(|a, b| {
            let (a_stands, a_gap) = firmness(a);
            let (b_stands, b_gap) = firmness(b);
            a_stands
                .cmp(&b_stands)
                .then(a_gap.total_cmp(&b_gap))
                .then(a.body.cmp(&b.body))
        });
        (clearance as f32 - support).max(0.0)
    }
}

/// Gives each plane the distance [m] that its guide keeps: `contact` [m], but in the middle between walls that leave less room than that.
fn part(planes: &mut [Plane], contact: f32) {
    for k in 0..planes.len() {
        let own = planes[k];
        let others = planes.iter().filter(|other| other.away.dot(own.away) < OPPOSITE_COSINE);
        let room = others.map(|other| 0.5 * (own.gap + other.gap)).fold(contact, f32::min);
        planes[k].contact = room.max(0.0);
    }
}

/// λ of all planes together [-], and each one's slope.
fn fill(planes: &mut [Plane]) -> f32 {
    let mut filled = 0.0;
    for k in 0..planes.len() {
        let (before, rest) = planes.split_at_mut(k);
        let plane = &mut rest[0];
        let value = plane.held;
        let beyond = before
            .iter()
            .map(|other| wall::beyond(other.normal.dot(plane.normal)))
            .fold(1.0, f32::min);
        plane.slope = -beyond * plane.steepness * (1.0 - filled);
        for other in before {
            other.slope *= 1.0 - beyond * value;
        }
        filled += beyond * value * (1.0 - filled);
    }
    filled
}

/// The same for walls that are counted each for itself, as printed.
fn add(planes: &mut [Plane]) -> f32 {
    planes.iter_mut().for_each(|plane| plane.slope = -plane.steepness);
    planes.iter().map(|plane| plane.held).sum()
}
