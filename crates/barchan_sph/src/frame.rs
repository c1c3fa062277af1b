//! Work once per frame, and the length of steps.

use barchan_geometry::Aabb;
use barchan_geometry::text::short;
use barchan_neighbors::Grid;
use barchan_world::{AdvanceError, AdvanceReport, Body, Guides, World, extent};
use glam::{DVec3, Vec3};
use rayon::prelude::*;

use crate::cpu::bodies::{self, SeenBody};
use crate::cpu::friction::Bound;
use crate::cpu::pairs::Space;
use crate::cpu::pressure;
use crate::cpu::surface::WallField;
use crate::laws::{cohesion, repose, stress};
use crate::settings::STEP;
use crate::{Correction, SphSolver, Yield};

/// Step if neither the settings nor gravity give one [s].
const LONGEST_STEP: f64 = 1.0 / 480.0;
/// Most steps of a frame [-]; a scene that needs more is broken.
const MAX_STEPS: f64 = 100_000.0;
/// Most steps of a frame that `step` and the guides' size may require [-].
const MAX_SET_STEPS: f64 = 1e6;
/// Steps shorter than this share of the default step [-] undo compression in proportion to their length.
const SHORT_STEP: f64 = 0.25;
/// Largest ratio of two kernel radii [-]; the sums over neighbors are meaningless beyond.
pub const MAX_SUPPORT_RATIO: f32 = 2.05;

/// Names of what a frame reports besides its steps and overlap.
pub(crate) const REPORTED: [&str; 3] = ["max_compression", "mean_compression", "pressure_iterations"];

impl SphSolver {
    /// Sorts guides, and prepares what stays the same over a frame.
    pub(crate) fn begin_frame(&mut self, world: &mut World) -> Result<(), AdvanceError> {
        self.clock.enter("sort");
        self.make_grid(world)?;
        world.wrap_guides();
        world.wrap_bodies();
        self.columns.reset(world, self.settings.support);
        self.measure_supports()?;
        self.sort(world);
        self.columns.reset(world, self.settings.support);
        self.near.forget();
        self.soak(world);
        self.make_surfaces(world);
        let guides = world.guides.position.iter();
        let (low, high) = guides.fold((Vec3::MAX, Vec3::MIN), |(low, high), &p| (low.min(p), high.max(p)));
        self.center = if low.x <= high.x {
            (0.5 * (low + high)).round()
        } else {
            Vec3::ZERO
        };
        self.bounds.clear();
        let convention = self.settings.convention;
        let all = world.materials.all.iter().enumerate();
        self.bounds.extend(all.map(|(k, material)| {
            let cohesion = self.settings.cohesion.get(k).copied().unwrap_or_default();
            let friction = match (convention, material.angle_of_repose) {
                (Yield::Repose, Some(angle)) => repose::friction_of(angle as f32),
                (_, Some(angle)) => angle.tan() as f32,
                (_, None) => material.friction.r#static,
            };
            Bound {
                slope: convention.slope(friction),
                intercept: cohesion::intercept(cohesion, friction),
                gain: stress::gain(convention, friction, self.settings.flow_friction),
            }
        }));
        self.columns.mirror = match self.is_smooth() || self.settings.correction == Correction::Velocity {
            true => pressure::MIRROR_LIQUID,
            false => pressure::MIRROR_SAND,
        };
        self.prepare_forces(world);
        self.impulses.begin_frame(world);
        self.passes = 0;
        Ok(())
    }

    fn make_grid(&mut self, world: &World) -> Result<(), AdvanceError> {
        let wanted = (world.periodic, world.origin);
        if self.periodic == Some(wanted) {
            return Ok(());
        }
        let local = |axis: usize| {
            let range = world.periodic[axis]?;
            let at = |x: f64| (x - world.origin[axis]) as f32;
            Some(at(range[0])..at(range[1]))
        };
        self.near.grid = Grid::periodic([local(0), local(1), local(2)]).map_err(search_error)?;
        let mut space = Space::default();
        for (axis, range) in world.periodic.iter().enumerate() {
            if let Some([low, high]) = range {
                space.length[axis] = (high - low) as f32;
                space.per_length[axis] = 1.0 / (high - low) as f32;
            }
        }
        self.space = space;
        self.periodic = Some(wanted);
        Ok(())
    }

    fn measure_supports(&mut self) -> Result<(), AdvanceError> {
        let halves = self.columns.half_support.iter();
        let (least, most) = halves.fold((f32::INFINITY, 0.0f32), |(a, b), &h| (a.min(h), b.max(h)));
        self.supports = [2.0 * most, 2.0 * least.min(most)];
        if most > MAX_SUPPORT_RATIO * least {
            return Err(AdvanceError::Scene {
                what: format!("guides differ in size by a factor of {:.2}", most / least),
                advice: "sph sums over guides of like size: keep radii within a factor of 2".to_owned(),
            });
        }
        Ok(())
    }

    /// Puts guides in the order of cells, and what is remembered with them.
    fn sort(&mut self, world: &mut World) {
        self.spare
            .sort(&mut world.guides, self.supports[0].max(f32::MIN_POSITIVE));
        self.spare.numbers.find(&world.guides.id, &self.ids, &mut self.old);
        self.past.sort(&self.old, &mut self.spare.past);
        self.ids.clear();
        self.ids.extend_from_slice(&world.guides.id);
    }

    fn make_surfaces(&mut self, world: &World) {
        let fits = self.surfaces.len() == world.bodies.len()
            && self.surfaces.iter().zip(&world.bodies).all(|(s, body)| s.is_of(body));
        if !fits && self.supports[0] > 0.0 {
            // Kept in checkpoints: the largest guide may be gone when a run goes on.
            let support = *self.map_support.get_or_insert(self.supports[0]);
            let surface = |body: &Body| WallField::new(body, self.settings.walls, f64::from(support));
            self.surfaces = world.bodies.iter().map(surface).collect();
        }
        let (low, high) = (0..world.guides.len())
            .map(|i| world.place(i))
            .fold((DVec3::MAX, DVec3::MIN), |(low, high), p| (low.min(p), high.max(p)));
        self.extents.clear();
        self.extents.extend(world.bodies.iter().enumerate().map(|(k, body)| {
            // Where there are no guides there are no surfaces, and nothing is near.
            let Some(surface) = self.surfaces.get(k) else {
                return 0.0;
            };
            // No farther than guides are.
            let here = body.center();
            let own = surface.extent(body.mass_properties.center);
            own.min(extent(&Aabb::new(low, high), here))
        }));
        self.body_friction.clear();
        for (k, body) in world.bodies.iter().enumerate() {
            self.body_friction.extend(world.materials.frictions_on(k, body));
        }
    }

    /// Fastest that a wall moves in this step [m/s].
    pub(crate) fn body_speed(&self, world: &World) -> f64 {
        let speed = |(body, extent): (&SeenBody, &f64)| body.speed(*extent);
        let own = self.bodies.iter().take(world.bodies.len());
        own.zip(&self.extents).map(speed).fold(0.0, f64::max)
    }

    /// Steps that the `left` [s] of a frame take if nothing changes: Δt ≤ step, Δt ≤ cfl h/(v + g Δt) with the speed of walls added. Each of these steps is made in
    /// `step_divisor` parts, of which `parts` that lasted `done` [s] are behind.
    pub(crate) fn plan(&mut self, world: &World, left: f64, parts: u32, done: f64) -> Result<u32, AdvanceError> {
        let velocity = &world.guides.velocity;
        let fastest = velocity
            .par_iter()
            .with_min_len(4096)
            .map(|v| v.length_squared())
            .reduce(|| 0.0, |a, b| if a > b || a.is_nan() { a } else { b });
        if !fastest.is_finite() {
            return Err(self.not_finite(world));
        }
        self.fastest = fastest.sqrt();
        let whole = left + done;
        let asked = (whole / self.step_length(world) * (1.0 - 1e-9)).ceil().max(1.0);
        if asked > MAX_SET_STEPS {
            return Err(AdvanceError::Scene {
                what: format!("a frame of {whole} s takes {asked:.3e} steps"),
                advice: "lengthen `step`, or raise `frame_rate`".to_owned(),
            });
        }
        let step = whole / asked;
        let lead = f64::from(self.settings.integration.lead());
        bodies::place(&mut self.bodies, world, step, lead);
        let speed = f64::from(fastest.sqrt()) + world.gravity.length() * step + self.body_speed(world);
        let allowed = f64::from(self.settings.cfl * self.supports[1]);
        // Without guides nothing limits the step.
        let needed = if allowed > 0.0 {
            (speed * whole / allowed).ceil()
        } else {
            0.0
        };
        if needed > MAX_STEPS {
            let guide = (0..velocity.len()).find(|&i| velocity[i].length_squared() == fastest);
            return Err(AdvanceError::Unstable {
                time: world.time,
                guide: guide.map_or(0, |i| world.guides.id[i]),
                what: format!(
                    "moves at {} m/s, gravity adds {} m/s per step, bodies move at {} m/s: that takes {} steps per frame",
                    short(f64::from(fastest.sqrt())),
                    short(world.gravity.length() * step),
                    short(self.body_speed(world)),
                    short(needed)
                ),
                advice: "raise `frame_rate`, or lower gravity and the speed of bodies and emitters".to_owned(),
            });
        }
        let count = asked.max(if needed.is_finite() { needed } else { 1.0 }) as u32;
        let count = count.saturating_mul(self.settings.step_divisor) - parts;
        if f64::from(count) != asked {
            bodies::place(&mut self.bodies, world, left / f64::from(count), lead);
        }
        Ok(count)
    }

    /// Returns the longest time step [s]: as set, or by the guides' size.
    fn step_length(&self, world: &World) -> f64 {
        let own = self.settings.step.unwrap_or_else(|| self.natural_step(world));
        own.min(self.calm_step())
    }

    /// Time step by the guides' size [s].
    fn natural_step(&self, world: &World) -> f64 {
        let spacing = f64::from(self.supports[1] / self.settings.support);
        let own = STEP * (spacing / world.gravity.length()).sqrt();
        if own.is_normal() { own } else { LONGEST_STEP }
    }

    /// Part of the displacements out of compression [-] that a step of `step` [s] makes: all in steps of the usual length. Shorter steps would else
    /// undo compression at any speed.
    pub(crate) fn undone(&self, world: &World, step: f64) -> f32 {
        (step / (SHORT_STEP * self.natural_step(world))).min(1.0) as f32
    }

    /// Says how the frame went.
    pub(crate) fn end_frame(
        &mut self,
        world: &mut World,
        duration: f64,
        steps: u32,
    ) -> Result<AdvanceReport, AdvanceError> {
        self.clock.enter("report");
        self.impulses.end_frame(world, duration);
        let Guides { velocity, radius, .. } = &world.guides;
        if velocity.iter().any(|v| !v.is_finite()) {
            return Err(self.not_finite(world));
        }
        let smallest = radius.iter().copied().fold(f32::INFINITY, f32::min);
        let deepest = self.walls.iter().map(|walls| walls.deepest).fold(0.0, f32::max);
        let densest = self.columns.compression.iter().copied().fold(0.0, f32::max);
        let squeezed = self.columns.compression.iter().map(|&d| f64::from((d - 1.0).max(0.0)));
        let mean = squeezed.sum::<f64>() / velocity.len().max(1) as f64;
        let report = AdvanceReport {
            steps,
            max_overlap: if deepest > 0.0 { deepest / smallest } else { 0.0 },
            extras: (REPORTED.into_iter())
                .zip([
                    f64::from((densest - 1.0).max(0.0)),
                    mean,
                    self.passes as f64 / f64::from(steps.max(1)),
                ])
                .collect(),
            stages: self.clock.take(),
        };
        self.last_report.max_overlap = report.max_overlap;
        self.last_report.extras.clone_from(&report.extras);
        Ok(report)
    }

    fn not_finite(&self, world: &World) -> AdvanceError {
        let Guides {
            velocity, position, id, ..
        } = &world.guides;
        let guide = (0..id.len()).find(|&i| !velocity[i].is_finite() || !position[i].is_finite());
        AdvanceError::Unstable {
            time: world.time,
            guide: guide.map_or(0, |i| id[i]),
            what: "has no finite position or velocity".to_owned(),
            advice: "shorten `step`".to_owned(),
        }
    }
}

pub(crate) fn search_error(error: barchan_neighbors::Error) -> AdvanceError {
    AdvanceError::Scene {
        what: format!("guides cannot be searched: {error}"),
        advice: "check periodic ranges, radii and positions".to_owned(),
    }
}
