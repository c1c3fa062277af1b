//! Error-controlled step size.

use barchan_world::{AdvanceError, World, Wrench};
use rayon::prelude::*;

use crate::DemSolver;
use crate::cpu::particles::{Particle, Parts};
use crate::cpu::rkf45::{self, Rate, STAGE_TIMES, STAGES, STEP_WEIGHTS};
use crate::cpu::surface::Placed;
use crate::state::State;

/// Fewest steps in the shortest contact [-]: no step jumps over a contact.
pub(crate) const MIN_STEPS: f64 = 10.0;
/// Shortest step, as a fraction of the longest [-]; a state that needs a shorter one is broken.
const MIN_STEP: f64 = 1e-6;
/// Safety factor on the next step [-], and bounds of its ratio to the previous one [-].
const SAFETY: f64 = 0.9;
const STEP_RATIO: [f64; 2] = [0.2, 4.0];
/// Largest ratio of a particle's displacement in a step to that at its initial speed [-].
const MAX_SPEEDUP: f64 = 1.5;

/// State of the adaptive integrator.
#[derive(Debug, Default)]
pub(crate) struct Adaptive {
    /// Length of the next step to try [s]; 0 before the first.
    pub next: f64,
    /// Rates of each particle at every stage.
    rates: Vec<[Rate; STAGES]>,
    /// Particles at the start of the step.
    start: Vec<Particle>,
    /// Loads of each stage on bodies [N, N m].
    loads: Vec<Vec<Wrench>>,
}

/// Treatment of the contacts' springs.
#[derive(Clone, Copy)]
enum Memory {
    /// Springs are stretched over the step of this length [s] that just ended.
    Kept(f64),
    /// A stage at this time of the step [s]: springs are stretched, and forgotten.
    Tried(f64),
}

impl DemSolver {
    /// Goes on by `duration` [s] in steps of at most `longest` [s], whose number is given.
    pub(crate) fn advance_adaptive(
        &mut self,
        world: &mut World,
        duration: f64,
        longest: f64,
    ) -> Result<u32, AdvanceError> {
        let start = world.time;
        let (mut gone, mut steps) = (0.0, 0);
        self.rules.step = longest;
        let mut next = if self.adaptive.next > 0.0 {
            self.adaptive.next
        } else {
            longest
        };
        self.search_and_rate(world, longest)?;
        while gone < duration {
            let left = duration - gone;
            let mut step = next.min(longest);
            // No sliver is left for the last step.
            if step > 0.999 * left {
                step = left;
            } else if step > 0.5 * left {
                step = 0.5 * left;
            }
            world.time = start + gone;
            if !self.reaches(step) {
                self.search_and_rate(world, step)?;
            }
            let error = self.try_step(world, step);
            let factor = (SAFETY * error.powf(-0.2)).clamp(STEP_RATIO[0], STEP_RATIO[1]);
            next = step * factor;
            if error <= 1.0 {
                self.accept(world, step)?;
                gone = if step == left { duration } else { gone + step };
                steps += 1;
            } else if next < MIN_STEP * longest {
                return Err(self.not_finite(world));
            }
        }
        self.adaptive.next = next;
        Ok(steps)
    }

    /// Searches pairs again, and computes the current rates.
    fn search_and_rate(&mut self, world: &World, step: f64) -> Result<(), AdvanceError> {
        self.clock.enter("search");
        self.place(&|_, particle| *particle);
        self.place_bodies(world, 0.0);
        self.search(world, step)?;
        self.clock.enter("forces");
        self.state.ways.fill(0.0);
        self.adaptive
            .rates
            .resize(self.state.particles.len(), Default::default());
        self.adaptive.loads.resize(STAGES, Vec::new());
        self.rate(world, 0, Memory::Kept(0.0));
        Ok(())
    }

    /// Returns true if the pairs found hold for a step of `step` [s].
    fn reaches(&self, step: f64) -> bool {
        let clumps = &self.settings.clumps;
        let State {
            particles, rows, first, ..
        } = &self.state;
        let holds = (0..particles.len()).into_par_iter().all(|g| {
            let (particle, rate) = (&particles[g], &self.adaptive.rates[g][0]);
            let (own, spin) = (first[g] as usize..first[g + 1] as usize, particle.spin(clumps));
            own.into_iter().all(|k| {
                let arm = rows[k].place() - particle.position;
                let speed = (particle.velocity + spin.cross(arm)).length() + step * rate.acceleration.length();
                MAX_SPEEDUP * speed * step <= f64::from(rows[k].left)
            })
        });
        let farthest = (self.bodies.iter().zip(&self.extents))
            .map(|(body, extent)| {
                let spin = body.twist.angular.length();
                body.twist.linear.length() + if spin > 0.0 { spin * extent } else { 0.0 }
            })
            .fold(0.0, f64::max);
        holds && self.body_travel + MAX_SPEEDUP * farthest * step <= self.body_margin.max(f64::MIN_POSITIVE)
    }

    /// Does all stages of a step of `step` [s], and gives its error, of what is tolerated [-].
    fn try_step(&mut self, world: &World, step: f64) -> f64 {
        let mut start = std::mem::take(&mut self.adaptive.start);
        start.clone_from(&self.state.particles);
        for (stage, when) in STAGE_TIMES.iter().enumerate().skip(1) {
            let rates = std::mem::take(&mut self.adaptive.rates);
            self.place(&|g, _| rkf45::at_stage(&start[g], &rates[g], stage, step));
            self.adaptive.rates = rates;
            self.place_bodies(world, step * when);
            self.rate(world, stage, Memory::Tried(step * when));
        }
        let contact = MIN_STEPS * self.rules.step;
        let tolerance = self.settings.tolerance;
        let of = |(particle, rates): (&Particle, &[Rate; STAGES])| {
            let error = rkf45::error(particle, rates, step, tolerance, contact);
            if error.is_nan() { f64::INFINITY } else { error }
        };
        let error = start
            .par_iter()
            .zip(&self.adaptive.rates)
            .map(of)
            .reduce(|| 0.0, f64::max);
        self.state.particles.clone_from(&start);
        self.adaptive.start = start;
        error
    }

    /// Puts particles and bodies at the end of a step of `step` [s] that was tried.
    fn accept(&mut self, world: &mut World, step: f64) -> Result<(), AdvanceError> {
        let rates = std::mem::take(&mut self.adaptive.rates);
        self.place(&|g, particle| rkf45::at_end(particle, &rates[g], step));
        self.adaptive.rates = rates;
        let State {
            particles, rows, first, ..
        } = &mut self.state;
        for (g, (particle, before)) in particles.iter().zip(&self.adaptive.start).enumerate() {
            let turn = particle.rotation.angle_between(before.rotation);
            let clump = self.settings.clumps.get(particle.kind as usize);
            let reach = clump.map_or(0.0, |clump| clump.extent() * particle.size);
            let way = (particle.position.distance(before.position) + turn * reach) * (1.0 + 1e-6);
            let own = first[g] as usize..first[g + 1] as usize;
            rows[own].iter_mut().for_each(|row| row.left -= way as f32);
        }
        self.clock.enter("bodies");
        for (b, load) in self.loads.iter_mut().enumerate() {
            let stages = self.adaptive.loads.iter().zip(STEP_WEIGHTS);
            *load = stages.fold(Wrench::default(), |mut sum, (loads, weight)| {
                sum += loads[b] * weight;
                sum
            });
        }
        self.load_bodies(step);
        let holds = self.move_bodies(world, step)?;
        self.clock.enter("forces");
        self.rate(world, 0, Memory::Kept(step));
        if holds {
            return Ok(());
        }
        world.time += step;
        self.search_and_rate(world, step)
    }

    /// Puts each particle where `whither` says, by its number and what it is now, and its spheres with it.
    fn place(&mut self, whither: &(impl Fn(usize, &Particle) -> Particle + Sync)) {
        let clumps = &self.settings.clumps;
        let count = self.state.spheres();
        let parts = Parts {
            chunks: &mut self.chunks,
            particles: &mut self.state.particles,
            rows: &mut self.state.rows[..count],
            ways: &mut self.state.ways,
        };
        parts.each(&|parts| {
            let mut first = 0;
            let begin = parts.chunks[0].first_particle;
            for (g, particle) in (begin..).zip(parts.particles) {
                *particle = whither(g, particle);
                let own = first..first + particle.count(clumps);
                first = own.end;
                let (rows, ways) = (&mut parts.rows[own.clone()], &mut parts.ways[own]);
                particle.place(clumps, rows, ways, particle.velocity, particle.spin(clumps));
            }
        });
    }

    /// Puts bodies where they are `after` [s] the start of the step.
    fn place_bodies(&mut self, world: &World, after: f64) {
        self.travels.clear();
        for (k, placed) in self.bodies.iter_mut().enumerate() {
            let now = Placed::ahead(world, k, after);
            let turn = now.at.pose.rotation.angle_between(placed.at.pose.rotation);
            let turned = if turn > 1e-12 { turn * self.extents[k] } else { 0.0 };
            self.travels.push(now.at.center.distance(placed.at.center) + turned);
            *placed = now;
        }
    }

    /// Finds the rates of all particles where they are now, as those of a stage.
    fn rate(&mut self, world: &World, stage: usize, memory: Memory) {
        (self.rules.is_trial, self.rules.before) = match memory {
            Memory::Kept(step) => (false, 0.5 * step),
            Memory::Tried(time) => (true, 0.5 * time),
        };
        self.rules.after = 0.0;
        self.rules.keeps_contacts = self.keeps_contacts && !self.rules.is_trial;
        self.push_particles(world, 0.0);
        let clumps = &self.settings.clumps;
        let particles = &self.state.particles;
        (self.adaptive.rates.par_iter_mut().zip(particles)).for_each(|(rates, particle)| {
            rates[stage] = Rate::of(particle, particle.spin(clumps));
        });
        self.sum_loads();
        self.adaptive.loads[stage].clone_from(&self.loads);
    }
}
