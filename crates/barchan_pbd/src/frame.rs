//! Work once per frame.

use barchan_geometry::text::short;
use barchan_neighbors::Curve;
use barchan_world::{
    AdvanceError, AdvanceReport, Bodies, Friction, Guides, Motion, Placement, Spare, World, displace, geometric_mean,
};
use glam::{DVec3, Vec3};
use rayon::prelude::*;

use crate::cpu::CHUNK;
use crate::cpu::contacts::longest_way;
use crate::cpu::walls::ChunkWalls;
use crate::laws::{depth, mass, repose};
use crate::settings::natural_step;
use crate::{FrictionMode, PbdSolver};

/// Most steps of a frame [-]; a scene that needs more is broken.
const MAX_STEPS: f64 = 10_000.0;
/// Most steps of a frame that `step` and the guides' size may require [-].
const MAX_SET_STEPS: f64 = 1e6;
/// Most layers that a dynamic body counts as [-]: beyond it, shorter steps cost more than they reduce the sinking of
/// bodies.
const MAX_BODY_LAYERS: f32 = 16.0;
/// Overlap from which on guides count as crushed, as a fraction of a radius [-], as in DEM: with a body, the center
/// lies inside it; with another guide, on its surface.
const CRUSH_OVERLAP: f32 = 1.0;

/// Sand is at rest if no body moves and less than this share of guides [-] is faster than this speed, in units of √(g
/// d) [-].
const REST_SHARE: f32 = 0.02;
const REST_SPEED: f32 = 0.2;
/// Factor on the number of passes over sand at rest [-]. A heap of 17,000 guides that never sleep then keeps 99.9 % of
/// them within a tenth of their radius; without it, 97 %: impulses that have not yet converged let it sink.
const REST_PASSES: u32 = 4;
/// Factor on the number of passes over sand that settles before time 0 [-]: its load appears all at once, and few
/// passes would compress deep beds. With as many passes as at rest, beds stay so loose that shaking packs them.
const SETTLING_PASSES: u32 = 2;
/// A guide of sand at rest does not move unless a step moves it by more than this fraction [-] of the free fall in a
/// step, g Δt²: passes that have not converged let guides creep by a thousandth of their radius per second, until one
/// slips, and others with it. A guide pulled by less than a fiftieth of its weight does not start to move; that is one
/// degree of a slope. After the particle sleeping of [Macklin14]. Two heaps of 17,500 guides that never sleep keep all
/// but 11 and 3 of them within a tenth of a radius for 30 s.
const MIN_DISPLACEMENT: f64 = 0.02;

/// Memory to sort guides with.
#[derive(Debug, Default)]
pub(crate) struct Sorter {
    spare: Spare,
    curve: Curve,
}

/// Facts that hold for a frame.
#[derive(Debug)]
pub(crate) struct FrameFacts {
    /// Largest radius of a guide [m].
    pub largest: f32,
    /// √(d/g) of the guides [s].
    pub fall_time: f64,
    /// Set if hardly any guide moves.
    is_at_rest: bool,
    is_settling: bool,
    /// Gravity of the last frame [m/s²].
    pub gravity: Option<DVec3>,
}

impl Default for FrameFacts {
    fn default() -> Self {
        Self {
            largest: 0.0,
            fall_time: f64::INFINITY,
            is_at_rest: false,
            is_settling: false,
            gravity: None,
        }
    }
}

/// State at the end of the last frame.
#[derive(Debug, Default)]
pub(crate) struct LastFrame {
    /// Time step [s].
    pub step: f64,
    /// Layers of guides on the most loaded guides [-].
    pub layers: f32,
    /// Deepest overlap, as a fraction of a radius [-].
    pub overlap: f32,
}

impl PbdSolver {
    /// Returns the number of steps for `duration` [s]: as set, and short enough for the fastest guide and body.
    pub(crate) fn plan(&self, world: &World, duration: f64) -> Result<u32, AdvanceError> {
        let velocity = &world.guides.velocity;
        let fastest = velocity
            .par_iter()
            .map(|v| v.length_squared())
            .reduce(|| 0.0, f32::max)
            .sqrt();
        if !fastest.is_finite() || velocity.iter().any(|v| !v.is_finite()) {
            return Err(self.not_finite(world));
        }
        let asked = (duration / self.step_length() * (1.0 - 1e-9)).ceil().max(1.0);
        let smallest = world.guides.radius.iter().copied().fold(f32::INFINITY, f32::min);
        let speed_of = |k: usize| body_speed(world, k, duration, self.bodies.extents[k], asked);
        let body = (0..world.bodies.len()).map(speed_of).fold(0.0, f64::max);
        // A guide and a body that meet head on come no nearer than twice that: less than a diameter, so that a guide's center stays
        // on its side of the middle of a wall as thick as its radius.
        let speed = body.max(f64::from(fastest) + world.gravity.length() * duration / asked);
        let allowed =
            (f64::from(self.settings.cfl) * 2.0 * f64::from(smallest)).min(longest_way(world, self.frame.largest));
        let needed = (speed * duration / allowed).ceil();
        if asked > MAX_SET_STEPS {
            return Err(AdvanceError::Scene {
                what: format!("a frame of {duration} s takes {asked:.3e} steps"),
                advice: "lengthen `step`, or raise `frame_rate`".to_owned(),
            });
        }
        // Not even a number where speeds are beyond single precision.
        if needed.is_nan() || needed > MAX_STEPS {
            let guide = (0..velocity.len())
                .find(|&i| velocity[i].length() == fastest)
                .unwrap_or_default();
            return Err(AdvanceError::Unstable {
                time: world.time,
                guide: world.guides.id.get(guide).copied().unwrap_or_default(),
                what: format!(
                    "moves at {} m/s, gravity adds {} m/s per step, bodies move at {} m/s: that takes {} steps per frame",
                    short(f64::from(fastest)),
                    short(world.gravity.length() * duration / asked),
                    short(body),
                    short(needed)
                ),
                advice: "raise `frame_rate`, or lower gravity and the speed of bodies and emitters".to_owned(),
            });
        }
        Ok((asked.max(needed) as u32).saturating_mul(self.settings.step_divisor))
    }

    /// A guide that a step of `step` [s] would move no farther than this [m] stays.
    pub(crate) fn still_way(&self, world: &World, step: f64) -> f32 {
        let share = if self.frame.is_at_rest { MIN_DISPLACEMENT } else { 0.0 };
        (share * world.gravity.length() * step * step) as f32
    }

    /// Factor on the passes over contacts in this frame [-]: more where there is little else to do, so that what came to rest stays.
    pub(crate) fn diligence(&self) -> u32 {
        match (self.frame.is_at_rest, self.frame.is_settling) {
            (true, _) => REST_PASSES,
            (false, true) => SETTLING_PASSES,
            (false, false) => 1,
        }
    }

    /// Returns the longest time step [s]: as set but not too long for the guides' size, or derived from their size and load.
    fn step_length(&self) -> f64 {
        let natural = natural_step(self.frame.fall_time) * f64::from(depth::shortening(self.last.layers));
        let longest = repose::MAX_STEP * self.frame.fall_time;
        let own = self.settings.step.unwrap_or(natural);
        if longest.is_normal() { own.min(longest) } else { own }
    }

    /// Sorts guides unless candidates can be kept, and prepares what stays the same over a frame.
    pub(crate) fn begin_frame(&mut self, world: &mut World, duration: f64) -> Result<(), AdvanceError> {
        self.clock.enter("sort");
        world.wrap_guides();
        world.wrap_bodies();
        self.frame.largest = world.guides.radius.iter().copied().fold(0.0, f32::max);
        self.frame.fall_time = fall_time(world);
        let has_new_bodies = self.bodies.begin_frame(world, self.frame.largest);
        let keeps = self.store.keeps(world, duration);
        if !keeps {
            self.sort(world);
        }
        self.store
            .begin_frame(world, self.frame.largest, keeps, has_new_bodies)?;
        self.columns.resize(world.guides.len());
        self.weigh_masses(world);
        let was = self.frame.gravity.replace(world.gravity);
        let is_tilted = was.is_some_and(|g| g != world.gravity);
        self.sleep.sort(self.store.old());
        self.sleep.watch_bodies(world, duration);
        if !self.sleeps() || is_tilted {
            self.sleep.wake_all();
        }
        self.sleep.hold_fixed(world);
        let is_left_alone = !is_tilted && !self.sleep.has_moving();
        self.frame.is_at_rest = self.settings.remembers() && is_left_alone && is_at_rest(world, self.frame.fall_time);
        self.frame.is_settling = world.time < 0.0;
        Ok(())
    }

    /// Puts guides in the order of a curve through space.
    fn sort(&mut self, world: &mut World) {
        let sorter = &mut self.sorter;
        let places = world.guides.position.par_iter().map(|p| p.as_dvec3());
        let order = sorter
            .curve
            .sort(places, f64::from(2.0 * self.frame.largest).max(f64::MIN_POSITIVE));
        world.guides.gather(order, &mut sorter.spare);
        // Halves of a last digit go to the even neighbor, so that a position has one form whatever way it was reached.
        for (position, offset) in world.guides.position.iter_mut().zip(&mut world.guides.offset) {
            displace(position, offset, Vec3::ZERO);
        }
    }

    fn weigh_masses(&mut self, world: &World) {
        let rate = self.settings.mass_scaling;
        if rate == 0.0 {
            let masses = self.columns.inverse_mass.iter_mut().zip(&world.guides.mass);
            masses.for_each(|(inverse, mass)| *inverse = 1.0 / mass);
            return;
        }
        let up = -world.gravity.try_normalize().unwrap_or(DVec3::ZERO).as_vec3();
        let Guides { position, mass, .. } = &world.guides;
        let lowest = position.iter().map(|p| p.dot(up)).fold(f32::INFINITY, f32::min);
        for ((inverse, mass), position) in self.columns.inverse_mass.iter_mut().zip(mass).zip(position) {
            *inverse = mass::scaled(1.0 / mass, rate, position.dot(up) - lowest);
        }
    }

    /// Returns the friction of each pair of materials for steps of `step` [s]: from the angle of repose if one is given.
    pub(crate) fn rub(&mut self, world: &World, step: f64) {
        let materials = &world.materials;
        let hold = match self.settings.friction {
            FrictionMode::Accumulated => {
                let passes = self.settings.iterations.saturating_mul(self.diligence());
                // Steps that are shorter for the load make up for it, and hold no better.
                let unshortened = match self.settings.step {
                    Some(_) => step,
                    None => step / f64::from(depth::shortening(self.last.layers)),
                };
                repose::hold(passes, (unshortened / self.frame.fall_time) as f32, self.last.layers)
            }
            FrictionMode::Sommer | FrictionMode::Macklin => 1.0,
        };
        let angle_of = |k: u8| materials.all[usize::from(k)].angle_of_repose;
        let internal = |angles: [f32; 2]| {
            let [r#static, kinetic] = angles.map(repose::friction_of);
            Friction { r#static, kinetic }
        };
        let of = |k: u8| match angle_of(k) {
            Some(angle) => internal([angle as f32; 2]),
            None => materials.all[usize::from(k)].friction,
        };
        let between = |a: u8, b: u8| {
            let said = materials.pairs.get(&(a.min(b), a.max(b))).copied();
            // That of a pair means the same as that of its materials.
            let said = match angle_of(a).and(angle_of(b)) {
                Some(_) => said.map(|f| internal([f.r#static.atan(), f.kinetic.atan()])),
                None => said,
            };
            let own = said.unwrap_or_else(|| geometric_mean(of(a), of(b)));
            Friction {
                r#static: hold * own.r#static,
                kinetic: hold * own.kinetic,
            }
        };
        let numbers = 0..materials.all.len() as u8;
        self.friction.clear();
        self.friction.extend(
            numbers
                .clone()
                .flat_map(|a| numbers.clone().map(move |b| (a, b)))
                .map(|(a, b)| between(a, b)),
        );
    }

    /// Leaves the world as it is at the end of the frame, and reports how it went.
    pub(crate) fn end_frame(
        &mut self,
        world: &mut World,
        duration: f64,
        steps: u32,
    ) -> Result<AdvanceReport, AdvanceError> {
        self.clock.enter("report");
        let Guides {
            id, radius, velocity, ..
        } = &world.guides;
        let (overlap, guide) = self.store.deepest(radius);
        if overlap > CRUSH_OVERLAP {
            return Err(AdvanceError::Unstable {
                time: world.time,
                guide: id[guide as usize],
                what: format!("overlaps another or a body by {overlap:.2} of its radius"),
                advice: "raise `iterations`, shorten `step`, and let no body press guides against another, no fill start inside a body"
                    .to_owned(),
            });
        }
        self.store.end_frame(world);
        let ways = self.store.displacement();
        self.sleep.count(ways, radius, duration, self.frame.fall_time);
        self.last.overlap = overlap;
        self.last.layers = depth::steady(self.last.layers, self.layers_carried(world));
        if velocity.iter().any(|v| !v.is_finite()) {
            return Err(self.not_finite(world));
        }
        self.bodies.end_frame(world, duration);
        Ok(AdvanceReport {
            steps,
            max_overlap: overlap,
            extras: Vec::new(),
            stages: self.clock.take(),
        })
    }

    /// Returns the layers of guides, or dynamic bodies as heavy as so many, that lie on the guides of a chunk, in the chunk that carries most [-].
    fn layers_carried(&self, world: &World) -> f32 {
        let weight = (self.last.step.powi(2) * world.gravity.length()) as f32;
        let mass = &world.guides.mass;
        let share = |impulse: f32, mass: f32| if mass > 0.0 { impulse / (weight * mass) } else { 0.0 };
        let pressed = |walls: &ChunkWalls| {
            let of_bodies = walls
                .all
                .iter()
                .filter(|wall| self.bodies.steps[wall.body as usize].is_dynamic);
            let sums = of_bodies.fold((0.0, 0.0), |(impulse, sum), wall| {
                (impulse + wall.impulse.length(), sum + mass[wall.guide as usize])
            });
            share(sums.0, sums.1).min(MAX_BODY_LAYERS)
        };
        let chunks = self.store.chunks().zip(mass.chunks(CHUNK));
        let layers = chunks
            .map(|((impulses, walls), mass)| depth::layers(share(impulses, mass.iter().sum())).max(pressed(walls)));
        layers.fold(0.0, f32::max)
    }

    /// The error of a state that is not finite.
    pub(crate) fn not_finite(&self, world: &World) -> AdvanceError {
        let Guides {
            velocity, position, id, ..
        } = &world.guides;
        let guide = (0..id.len())
            .find(|&i| !velocity[i].is_finite() || !position[i].is_finite())
            .unwrap_or_default();
        AdvanceError::Unstable {
            time: world.time,
            guide: id.get(guide).copied().unwrap_or_default(),
            what: "has no finite position or velocity".to_owned(),
            advice: "shorten `step` or lower `relaxation`".to_owned(),
        }
    }
}

/// Fastest that the surface of body `k` moves [m/s] in the next `duration` [s].
fn body_speed(world: &World, k: usize, duration: f64, extent: f64, steps: f64) -> f64 {
    let body = &world.bodies[k];
    match body.motion {
        Motion::Fixed => 0.0,
        Motion::Scripted { .. } => {
            let mut last = Placement::new(body, body.pose);
            let mut fastest = 0.0f64;
            for n in 1..=steps as u32 {
                let time = world.time + duration * f64::from(n) / steps;
                let next = Placement::new(body, world.bodies.scripted_pose(k, time));
                fastest = fastest.max(last.travel(&next, extent) * steps / duration);
                last = next;
            }
            fastest
        }
        Motion::Driven | Motion::Dynamic => body.twist.linear.length() + body.twist.angular.length() * extent,
    }
}

/// √(d/g) [s] with the mean diameter of guides: about what they take to fall by their own size. Infinite without gravity.
fn fall_time(world: &World) -> f64 {
    let radius = &world.guides.radius;
    let mean = radius.iter().map(|&r| f64::from(r)).sum::<f64>() / radius.len().max(1) as f64;
    (2.0 * mean / world.gravity.length()).sqrt()
}

/// Returns true if hardly any guide moves; `fall_time` is √(d/g) [s].
fn is_at_rest(world: &World, fall_time: f64) -> bool {
    let slow = REST_SPEED * (fall_time * world.gravity.length()) as f32;
    let velocity = &world.guides.velocity;
    let is_fast = |v: &&Vec3| v.length_squared() > slow * slow;
    (velocity.iter().filter(is_fast).count() as f32) < REST_SHARE * velocity.len() as f32
}
