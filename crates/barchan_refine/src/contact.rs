//! Contacts of grains with bodies: grains inside are pushed out, with friction.
#![allow(clippy::needless_range_loop, reason = "lanes of several arrays at once")]

mod columns;

use std::sync::Arc;

use barchan_geometry::sdf_grid::{LANES, Lane, SdfGrid};
use barchan_simd::{Simd, vectorized};
use barchan_world::{BodyDistance, BodyId, Friction, Placement, Pose, World};
use glam::{DMat3, DVec3, Mat3, Vec3};
use rayon::prelude::*;

use self::columns::{gathered, range, used_up};
use crate::advect::{CHUNK, GROUP, UNKNOWN};
use crate::clearance::Clearance;
use crate::grains::Grains;
use crate::touch::{self, Touching};

/// Faces of a body that a grain is pushed out of, one after the other.
const MAX_FACES: usize = 3;
/// A grain that is no deeper in a body than this, of its radius [-], need not be pushed out of another face at once.
const SHALLOW_DEPTH: f64 = 0.5;
/// Bodies that a chunk can be near at a time.
const MAX_NEAR_BODIES: usize = 8;
/// Points of a fast grain's way that are looked at.
const MARCHES: usize = 24;

/// A body over one grain step.
#[derive(Clone, Debug)]
pub(crate) struct Obstacle {
    distance: BodyDistance,
    clearance: Arc<Clearance>,
    from: Placement,
    to: Placement,
    /// Farthest that a point of it moves in the step [m].
    travel: f64,
    /// Motion over the step: a point p moves by `turn` p + `shift`.
    turn: DMat3,
    shift: DVec3,
    /// Transform from a position p relative to the world's origin to one relative to the field's corner: `to_field` p +
    /// `field_shift`.
    to_field: Mat3,
    field_shift: Vec3,
    /// By material.
    friction: Vec<Friction>,
}

impl Obstacle {
    /// Creates the obstacle that body `k` is on its way from one pose to another, with its distance and its clearance; points farther than
    /// `reach` [m] from its center do not matter.
    pub fn new(
        world: &World,
        k: BodyId,
        (distance, clearance): (&BodyDistance, &Arc<Clearance>),
        [from, to]: [Pose; 2],
        reach: f64,
    ) -> Self {
        let body = &world.bodies[k];
        let turn = (from.rotation.inverse() * to.rotation).normalize();
        let angle = 2.0 * turn.xyz().length().min(1.0).asin();
        let extent = distance.extent(body.mass_properties.center);
        let corner = distance.field().map_or(DVec3::ZERO, SdfGrid::corner);
        let [start, end] = [from, to].map(|pose| Placement::new(body, pose));
        Self {
            to_field: DMat3::from_quat(to.rotation.inverse()).as_mat3(),
            field_shift: (to.local(world.origin) - corner).as_vec3(),
            distance: distance.clone(),
            clearance: clearance.clone(),
            travel: start.center.distance(end.center) + angle * extent.min(reach),
            turn: DMat3::from_quat(to.rotation * from.rotation.inverse()) - DMat3::IDENTITY,
            shift: to.position - to.rotation * (from.rotation.inverse() * from.position),
            from: start,
            to: end,
            friction: world.materials.frictions_on(k, body).collect(),
        }
    }

    /// Signed distances [m] of sixteen positions relative to the world's origin, as columns; exact to single precision.
    fn distances(&self, places: &[Lane; 3], origin: DVec3) -> Lane {
        let mut out = [0.0; LANES];
        match self.distance.field() {
            Some(grid) => grid.distances(&self.in_field(places), &mut out),
            None => {
                for l in 0..LANES {
                    let place = origin + Vec3::new(places[0][l], places[1][l], places[2][l]).as_dvec3();
                    out[l] = self.distance.distance(self.to.local(place)) as f32;
                }
            }
        }
        out
    }

    /// Places relative to the world's origin, from the field's corner on.
    #[inline(always)]
    fn in_field(&self, [x, y, z]: &[Lane; 3]) -> [Lane; 3] {
        let mut local = [[0.0; LANES]; 3];
        for (axis, local) in local.iter_mut().enumerate() {
            let (row, shift) = (self.to_field.row(axis), self.field_shift[axis]);
            for l in 0..LANES {
                local[l] = row.x * x[l] + row.y * y[l] + row.z * z[l] + shift;
            }
        }
        local
    }

    /// Directions of the body's frame, as columns, in the world.
    #[inline(always)]
    fn out_of_field(&self, [x, y, z]: &[Lane; 3]) -> [Lane; 3] {
        let mut world = [[0.0; LANES]; 3];
        for (axis, world) in world.iter_mut().enumerate() {
            let column = self.to_field.col(axis);
            for l in 0..LANES {
                world[l] = column.x * x[l] + column.y * y[l] + column.z * z[l];
            }
        }
        world
    }

    /// Returns the push [m] and the outward normal [-] for a grain of `radius` [m] that moved from `start` to `end` [m]
    /// and hit the body, in the body's frame, or else its gap [m].
    fn hit(&self, start: DVec3, end: DVec3, radius: f64) -> Result<(f64, DVec3), f64> {
        let (distance, normal) = self.distance.distance_and_normal(end);
        if distance >= radius {
            return match start.distance(end) <= distance {
                true => Err(distance - radius),
                false => self.crossing(start, end, radius).ok_or(0.0),
            };
        }
        if distance < 0.0 {
            // The far face of a thin wall may be the nearest by now; a grain is kept on the side that it came from.
            let (before, side) = self.distance.distance_and_normal(start);
            if side.dot(normal) < 0.0 && before > -radius {
                let depth = before + side.dot(end - start);
                return Ok((radius - depth, side));
            }
        }
        Ok((radius - distance, normal))
    }

    /// The same for a grain that is outside at both ends of its way: it may have gone through.
    fn crossing(&self, start: DVec3, end: DVec3, radius: f64) -> Option<(f64, DVec3)> {
        let way = end - start;
        let length = way.length();
        let mut gone = 0.0;
        for _ in 0..MARCHES {
            let (distance, normal) = self.distance.distance_and_normal(start + way * (gone / length));
            if distance < 0.5 * radius && normal.dot(way) < 0.0 {
                let depth = distance + normal.dot(way) * (1.0 - gone / length);
                return Some((radius - depth, normal));
            }
            gone += distance.max(0.5 * radius);
            if gone >= length {
                break;
            }
        }
        None
    }
}

/// A grain that is pushed.
struct Moving {
    start: DVec3,
    end: DVec3,
    velocity: DVec3,
    radius: f64,
    material: u8,
}

impl Moving {
    /// Pushes it out of `obstacle` and gives its gap [m], 0 if it was inside.
    fn push_out(&mut self, obstacle: &Obstacle, step: f64) -> f64 {
        let mut end = obstacle.to.local(self.end);
        let start = obstacle.from.local(self.start);
        let mut touched = false;
        for _ in 0..MAX_FACES {
            let (push, normal) = match obstacle.hit(start, end, self.radius) {
                Ok(hit) => hit,
                Err(gap) if !touched => return gap,
                Err(_) => break,
            };
            touched = true;
            let friction = obstacle.friction[usize::from(self.material)];
            end += normal * push - rubbed(end - start, normal, push, friction);
            self.slow_down(obstacle, end, normal, friction, step);
            // A corner's other face has its turn in the next step; only what is deep inside must be out now.
            if push < SHALLOW_DEPTH * self.radius {
                break;
            }
        }
        self.end = obstacle.to.point(end);
        0.0
    }

    /// Takes away what speed leads into the body, and as much of the rest as friction can.
    fn slow_down(&mut self, obstacle: &Obstacle, local: DVec3, normal: DVec3, friction: Friction, step: f64) {
        let of_body = match obstacle.travel > 0.0 {
            true => (obstacle.to.point(local) - obstacle.from.point(local)) / step,
            false => DVec3::ZERO,
        };
        let relative = self.velocity - of_body;
        let normal = obstacle.to.axes() * normal;
        let inward = -normal.dot(relative);
        if inward > 0.0 {
            let along = relative + normal * inward;
            self.velocity = of_body + along - rubbed(along, normal, inward, friction);
        }
    }
}

/// The part of `way` that friction takes away, with `pressed` the way taken away along `normal` by the contact:
/// all that is tangential if it is no more than μ_s `pressed`, else μ_k `pressed` of it; Coulomb's law in positions.
fn rubbed(way: DVec3, normal: DVec3, pressed: f64, friction: Friction) -> DVec3 {
    let along = way - normal * normal.dot(way);
    let length = along.length();
    if length <= f64::from(friction.r#static) * pressed {
        return along;
    }
    along * (f64::from(friction.kinetic) * pressed / length)
}

/// Lower bounds of the distance to the nearest body, so that steps need not query it again.
#[derive(Clone, Debug, Default)]
pub(crate) struct Contacts {
    /// Distance that each chunk may move before it can touch each body [m], chunk by chunk.
    clear: Vec<f32>,
    /// The same for each grain of the chunks that can, in units of [`UNIT`] of the largest radius; 0 where it is not known.
    grain_clear: Vec<u8>,
    /// Bodies that there were.
    bodies: usize,
}

/// Safety factor on a gap [-]: distances interpolated on a grid may change by more than the displacement.
const GAP_SAFETY: f64 = 0.7;

/// Safety factor on a distance in single precision [-].
const DISTANCE_SAFETY: f32 = 1.0 - 1e-5;

/// Unit of a grain's gap, of the largest radius [-].
const UNIT: f64 = 1.0 / 32.0;

/// A step against bodies.
pub(crate) struct Pushing<'a> {
    pub obstacles: &'a [Obstacle],
    pub origin: DVec3,
    pub step: f64,
    /// Radius [m] of a grain by its id.
    pub radius: &'a (dyn Fn(u32) -> f64 + Sync),
    pub largest_radius: f64,
    /// Additional displacement that a moving grain may have had [m].
    pub nudge: f64,
}

impl Contacts {
    /// Discards everything: grains were sorted again, or bodies appeared or disappeared.
    pub fn forget(&mut self) {
        self.forget_from(0);
    }

    /// Discards the bounds of the chunks from that of grain `first` on.
    pub fn forget_from(&mut self, first: usize) {
        self.clear.truncate(first / CHUNK * self.bodies);
        self.grain_clear.truncate(first / CHUNK * CHUNK);
    }

    /// Pushes grains out of bodies. `fastest` is the squared speed of the fastest grain of each chunk [m²/s²]; those of chunks in
    /// which a grain was pushed are no longer known.
    pub fn resolve(&mut self, grains: &mut Grains, fastest: &mut [f32], pushing: &Pushing) {
        let count = pushing.obstacles.len();
        if count != self.bodies {
            self.forget();
            self.bodies = count;
        }
        if count == 0 {
            return;
        }
        self.clear
            .resize(grains.len().div_ceil(CHUNK) * count, f32::NEG_INFINITY);
        self.grain_clear.resize(grains.len(), 0);
        let [x, y, z] = &mut grains.position;
        let [u, v, w] = &mut grains.velocity;
        x.par_chunks_mut(GROUP)
            .zip(y.par_chunks_mut(GROUP))
            .zip(z.par_chunks_mut(GROUP))
            .zip(u.par_chunks_mut(GROUP))
            .zip(v.par_chunks_mut(GROUP))
            .zip(w.par_chunks_mut(GROUP))
            .zip(grains.id.par_chunks(GROUP).zip(grains.material.par_chunks(GROUP)))
            .zip(
                self.clear
                    .par_chunks_mut(GROUP / CHUNK * count)
                    .zip(self.grain_clear.par_chunks_mut(GROUP)),
            )
            .zip(fastest.par_chunks_mut(GROUP / CHUNK))
            .with_min_len(2)
            .for_each(
                |((((((((x, y), z), u), v), w), (id, material)), (clear, gaps)), fastest)| {
                    let group = Chunk {
                        position: [x, y, z],
                        velocity: [u, v, w],
                        id,
                        material,
                        gaps,
                    };
                    push_group_out(group, clear, fastest, pushing);
                },
            );
    }
}

vectorized! {
    /// Pushes the chunks of a group out of bodies, `clear` and `fastest` are as in [`Contacts::resolve`].
    fn push_group_out(group: Chunk<'_>, clear: &mut [f32], fastest: &mut [f32], pushing: &Pushing<'_>) = push_chunks_out
}

#[inline(always)]
fn push_chunks_out(_: impl Simd, group: Chunk, clear: &mut [f32], fastest: &mut [f32], pushing: &Pushing) {
    let ([x, y, z], [u, v, w]) = (group.position, group.velocity);
    let chunks = clear.chunks_mut(pushing.obstacles.len()).zip(fastest);
    for (k, (clear, fastest)) in chunks.enumerate() {
        let part = k * CHUNK..((k + 1) * CHUNK).min(group.id.len());
        let chunk = Chunk {
            position: [&mut x[part.clone()], &mut y[part.clone()], &mut z[part.clone()]],
            velocity: [&mut u[part.clone()], &mut v[part.clone()], &mut w[part.clone()]],
            id: &group.id[part.clone()],
            material: &group.material[part.clone()],
            gaps: &mut group.gaps[part],
        };
        let nudge = if *fastest > 0.0 { pushing.nudge } else { 0.0 };
        let farthest = f64::from(fastest.sqrt()) * pushing.step + nudge;
        if chunk.push_out(pushing, clear, farthest) {
            *fastest = UNKNOWN;
        }
    }
}

/// Grains that are looked at together.
struct Chunk<'a> {
    position: [&'a mut [f32]; 3],
    velocity: [&'a mut [f32]; 3],
    id: &'a [u32],
    material: &'a [u8],
    gaps: &'a mut [u8],
}

/// Bounding sphere of a chunk: the center of its box, and half the diagonal [m].
#[derive(Clone, Copy)]
struct About {
    center: DVec3,
    half: f64,
}

impl About {
    /// Returns the distance that the chunk, whose grains moved no farther than `travel` [m], may move before it can
    /// touch `obstacle` [m].
    fn clear_of(&self, obstacle: &Obstacle, travel: f64, pushing: &Pushing) -> f32 {
        // Between its poses the body swept over more than where it is now.
        let wanted = self.half + pushing.largest_radius + travel;
        let gap = obstacle.clearance.bound(obstacle.to.local(self.center), wanted) - wanted;
        gap.min(f64::from(f32::MAX)) as f32
    }
}

/// Motion of a chunk.
#[derive(Clone, Copy)]
struct ChunkMotion {
    /// Of one of its grains [m/s].
    velocity: DVec3,
    /// Largest difference from it [m/s].
    spread: f64,
}

impl ChunkMotion {
    /// Farthest that a grain of the chunk went relative to `obstacle` [m], or more.
    fn travel(&self, about: About, obstacle: &Obstacle, step: f64) -> f64 {
        let way = self.velocity * step;
        let of_body = obstacle.turn * (about.center - way) + obstacle.shift;
        let turn = obstacle.turn.x_axis.length() + obstacle.turn.y_axis.length() + obstacle.turn.z_axis.length();
        (way - of_body).length() + self.spread * step + turn * (about.half + self.spread * step)
    }
}

impl Chunk<'_> {
    /// Pushes its grains, the fastest of which went `farthest` [m], out of bodies, and tells whether one was inside. `clear` is how
    /// far they may go before they can touch each body [m].
    #[inline(always)]
    fn push_out(mut self, pushing: &Pushing, clear: &mut [f32], farthest: f64) -> bool {
        let is_known = clear[0] > f32::NEG_INFINITY;
        let (mut about, mut motion) = (None, None);
        let mut is_new = !is_known;
        let mut near = [0; MAX_NEAR_BODIES];
        let (mut count, mut longest) = (0, 0.0f64);
        for (k, (obstacle, clear)) in pushing.obstacles.iter().zip(&mut *clear).enumerate() {
            let travel = match obstacle.travel > 0.0 {
                true => {
                    let about = *about.get_or_insert_with(|| self.about(pushing));
                    let motion = motion.get_or_insert_with(|| self.motion());
                    motion.travel(about, obstacle, pushing.step) + pushing.nudge
                }
                false => farthest,
            };
            let was_near = *clear <= 0.0 && is_known;
            *clear -= travel as f32;
            // What did not move is as near as it was.
            if *clear > 0.0 || (travel == 0.0 && is_known) {
                continue;
            }
            if !was_near {
                let about = *about.get_or_insert_with(|| self.about(pushing));
                *clear = about.clear_of(obstacle, travel, pushing);
                // Gaps are those to the bodies that were near.
                is_new |= *clear <= 0.0;
            }
            if *clear <= 0.0 && count < MAX_NEAR_BODIES {
                near[count] = k;
                count += 1;
                longest = longest.max(travel);
            }
        }
        if count == 0 {
            return false;
        }
        let unit = UNIT * pushing.largest_radius;
        let gone = match is_new {
            true => u8::MAX,
            false => ((longest / unit) as u8).saturating_add(1),
        };
        let (due, found) = used_up(self.gaps, gone);
        if found == 0 {
            return false;
        }
        // Bodies that it has left are told from others only where grains are looked at anyway.
        let about = match about {
            Some(about) => about,
            None => self.about(pushing),
        };
        let mut left = 0;
        for n in 0..count {
            let k = near[n];
            clear[k] = about.clear_of(&pushing.obstacles[k], longest, pushing);
            near[left] = k;
            left += usize::from(clear[k] <= 0.0);
        }
        match left {
            0 => false,
            _ => self.push_grains_out(&near[..left], &due[..found], longest, pushing),
        }
    }

    /// Pushes the grains `due`, which moved no farther than `travel` [m], out of the bodies `near`, and returns true if one was inside.
    #[inline(always)]
    fn push_grains_out(&mut self, near: &[usize], due: &[u8], travel: f64, pushing: &Pushing) -> bool {
        let unit = UNIT * pushing.largest_radius;
        let bodies_stay = near.iter().all(|&k| pushing.obstacles[k].travel == 0.0);
        let lone = match near {
            [k] if bodies_stay => pushing.obstacles[*k]
                .distance
                .field()
                .map(|field| (&pushing.obstacles[*k], field)),
            _ => None,
        };
        let mut pushed = false;
        for part in due.chunks(LANES) {
            let place = gathered(&self.position, part);
            let velocity = gathered(&self.velocity, part);
            let (mut distance, mut normal) = ([0.0; LANES], [[0.0; LANES]; 3]);
            match lone {
                Some((obstacle, field)) => {
                    field.distances_and_gradients(&obstacle.in_field(&place), &mut distance, &mut normal);
                }
                None => distance = distances(&place, near, pushing),
            }
            let mut way = [travel as f32; LANES];
            if bodies_stay {
                let [u, v, w] = &velocity;
                for l in 0..LANES {
                    let speed = (u[l] * u[l] + v[l] * v[l] + w[l] * w[l]).sqrt();
                    way[l] = speed * pushing.step as f32 + pushing.nudge as f32;
                }
            }
            let (is_at, units) = judged(&distance, &way, pushing);
            for (&i, units) in part.iter().zip(units) {
                self.gaps[usize::from(i)] = units;
            }
            if !is_at[..part.len()].contains(&true) {
                continue;
            }
            let mut is_out = [false; LANES];
            if let Some((obstacle, _)) = lone {
                let grains = self.touching(part, obstacle, pushing, [place, velocity, normal], distance);
                is_out = self.push_touching_out(part, grains, &is_at, pushing);
            }
            for (l, i) in part
                .iter()
                .map(|&i| usize::from(i))
                .enumerate()
                .filter(|(l, _)| is_at[*l])
            {
                let gap = match is_out[l] {
                    true => 0.0,
                    false => self.push_grain_out(i, near, pushing),
                };
                pushed |= gap <= 0.0;
                self.gaps[i] = (GAP_SAFETY * gap / unit) as u8;
            }
        }
        pushed
    }

    /// The grains `part`, `distance` [m] from `obstacle`, with places, velocities and gradients in the body's frame.
    #[inline(always)]
    fn touching(
        &self,
        part: &[u8],
        obstacle: &Obstacle,
        pushing: &Pushing,
        [place, velocity, local]: [[Lane; 3]; 3],
        distance: Lane,
    ) -> Touching {
        let mut grains = Touching {
            place,
            velocity,
            radius: [0.0; LANES],
            distance,
            normal: obstacle.out_of_field(&local),
            friction: [[0.0; LANES]; 2],
        };
        for (l, i) in part.iter().map(|&i| usize::from(i)).enumerate() {
            let friction = obstacle.friction[usize::from(self.material[i])];
            grains.radius[l] = (pushing.radius)(self.id[i]) as f32;
            (grains.friction[0][l], grains.friction[1][l]) = (friction.r#static, friction.kinetic);
        }
        grains
    }

    /// Pushes out the grains that touch a fixed body and are not deep in it, and returns which.
    #[inline(always)]
    fn push_touching_out(
        &mut self,
        part: &[u8],
        mut grains: Touching,
        is_at: &[bool; LANES],
        pushing: &Pushing,
    ) -> [bool; LANES] {
        touch::push_out(&mut grains, pushing.step as f32);
        let mut is_out = [false; LANES];
        for (l, i) in part.iter().map(|&i| usize::from(i)).enumerate() {
            let (radius, distance) = (grains.radius[l], grains.distance[l]);
            is_out[l] = is_at[l] && distance < radius && distance > (1.0 - SHALLOW_DEPTH) as f32 * radius;
            if is_out[l] {
                for axis in 0..3 {
                    self.position[axis][i] = grains.place[axis][l];
                    self.velocity[axis][i] = grains.velocity[axis][l];
                }
            }
        }
        is_out
    }

    /// Returns the bounding sphere.
    #[inline(always)]
    fn about(&self, pushing: &Pushing) -> About {
        let [x, y, z] = &self.position;
        let (x, y, z) = (range(x), range(y), range(z));
        let (low, high) = (Vec3::new(x.0, y.0, z.0), Vec3::new(x.1, y.1, z.1));
        About {
            center: pushing.origin + (0.5 * (low + high)).as_dvec3(),
            half: 0.5 * f64::from((high - low).length()),
        }
    }

    /// Returns the motion.
    fn motion(&self) -> ChunkMotion {
        let first = self.velocity(0);
        let differs = |i: usize| self.velocity(i).distance(first);
        ChunkMotion {
            velocity: first.as_dvec3(),
            spread: f64::from((0..self.id.len()).map(differs).fold(0.0, f32::max)),
        }
    }

    fn velocity(&self, i: usize) -> Vec3 {
        Vec3::new(self.velocity[0][i], self.velocity[1][i], self.velocity[2][i])
    }

    /// Pushes a grain out of bodies, and gives its gap [m].
    fn push_grain_out(&mut self, i: usize, near: &[usize], pushing: &Pushing) -> f64 {
        let end = Vec3::new(self.position[0][i], self.position[1][i], self.position[2][i]).as_dvec3() + pushing.origin;
        let velocity = self.velocity(i).as_dvec3();
        let mut grain = Moving {
            start: end - velocity * pushing.step,
            end,
            velocity,
            radius: (pushing.radius)(self.id[i]),
            material: self.material[i],
        };
        let mut least = f64::INFINITY;
        // Twice: the second body may push into the first.
        for _ in 0..2 {
            for &k in near {
                least = least.min(grain.push_out(&pushing.obstacles[k], pushing.step));
            }
            if least > 0.0 || near.len() == 1 {
                break;
            }
        }
        if least <= 0.0 {
            let (end, velocity) = ((grain.end - pushing.origin).as_vec3(), grain.velocity.as_vec3());
            for axis in 0..3 {
                self.position[axis][i] = end[axis];
                self.velocity[axis][i] = velocity[axis];
            }
        }
        least.max(0.0)
    }
}

/// Returns which of sixteen grains may touch a body at `distance` [m] after a displacement of `way` [m], and the
/// distance that the others may move, in units of [`UNIT`].
#[inline(always)]
fn judged(distance: &Lane, way: &Lane, pushing: &Pushing) -> ([bool; LANES], [u8; LANES]) {
    let radius = pushing.largest_radius as f32;
    let per_unit = (GAP_SAFETY / (UNIT * pushing.largest_radius)) as f32;
    let (mut is_at, mut units) = ([false; LANES], [0; LANES]);
    for l in 0..LANES {
        // In single precision, nearly there is there.
        let gap = distance[l] * DISTANCE_SAFETY;
        is_at[l] = gap <= radius.max(way[l]);
        units[l] = (((gap - radius).max(0.0) * per_unit) as i32).min(255) as u8;
    }
    (is_at, units)
}

/// Returns the distances of sixteen positions from the nearest of the bodies `near` [m].
fn distances(places: &[Lane; 3], near: &[usize], pushing: &Pushing) -> Lane {
    let mut least = [f32::INFINITY; LANES];
    for &k in near {
        let distances = pushing.obstacles[k].distances(places, pushing.origin);
        for l in 0..LANES {
            least[l] = least[l].min(distances[l]);
        }
    }
    least
}
