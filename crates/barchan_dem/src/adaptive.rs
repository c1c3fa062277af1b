//! Steps as long as their error allows.

use barchan_world::{AdvanceError, World, Wrench};
use rayon::prelude::*;

use crate::DemSolver;
use crate::cpu::grains::{Grain, Parts};
use crate::cpu::rkf45::{self, FIFTH, Rate, STAGES, WHEN};
use crate::cpu::surface::Placed;
use crate::state::State;

/// Steps in the shortest contact that a step may not exceed [-]: none jumps over a contact (methods 6.6).
pub(crate) const LEAST_STEPS: f64 = 10.0;
/// Least step, of the longest [-]; a state that asks for less has gone wrong.
const SHORTEST: f64 = 1e-6;
/// How a step follows from the error of the last one: a factor [-], and its bounds.
const SAFETY: f64 = 0.9;
const CHANGE: [f64; 2] = [0.2, 4.0];
/// How much farther than its start speed takes it a grain may go within a step [-].
const HASTE: f64 = 1.5;

/// What an adaptive step is made of.
#[derive(Debug, Default)]
pub(crate) struct Adaptive {
    /// Step that the next one tries [s]; 0 before the first.
    pub next: f64,
    /// Rates of each grain at every stage.
    rates: Vec<[Rate; STAGES]>,
    /// Grains at the start of the step.
    start: Vec<Grain>,
    /// What each stage gives bodies [N, N m].
    loads: Vec<Vec<Wrench>>,
}

/// What happens to what contacts remember.
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
            let factor = (SAFETY * error.powf(-0.2)).clamp(CHANGE[0], CHANGE[1]);
            next = step * factor;
            if error <= 1.0 {
                self.accept(world, step)?;
                gone = if step == left { duration } else { gone + step };
                steps += 1;
            } else if next < SHORTEST * longest {
                return Err(self.not_finite(world));
            }
        }
        self.adaptive.next = next;
        Ok(steps)
    }

    /// Finds pairs anew, and the rates of now.
    fn search_and_rate(&mut self, world: &World, step: f64) -> Result<(), AdvanceError> {
        self.clock.enter("search");
        self.place(&|_, grain| *grain);
        self.place_bodies(world, 0.0);
        self.search(world, step)?;
        self.clock.enter("forces");
        self.state.ways.fill(0.0);
        self.adaptive.rates.resize(self.state.grains.len(), Default::default());
        self.adaptive.loads.resize(STAGES, Vec::new());
        self.rate(world, 0, Memory::Kept(0.0));
        Ok(())
    }

    /// Whether pairs that were found hold for a step of `step` [s].
    fn reaches(&self, step: f64) -> bool {
        let clumps = &self.settings.clumps;
        let State {
            grains, rows, first, ..
        } = &self.state;
        let holds = (0..grains.len()).into_par_iter().all(|g| {
            let (grain, rate) = (&grains[g], &self.adaptive.rates[g][0]);
            let (own, spin) = (first[g] as usize..first[g + 1] as usize, grain.spin(clumps));
            own.into_iter().all(|k| {
                let arm = rows[k].place() - grain.position;
                let speed = (grain.velocity + spin.cross(arm)).length() + step * rate.acceleration.length();
                HASTE * speed * step <= f64::from(rows[k].left)
            })
        });
        let farthest = (self.bodies.iter().zip(&self.extents))
            .map(|(body, extent)| {
                let spin = body.twist.angular.length();
                body.twist.linear.length() + if spin > 0.0 { spin * extent } else { 0.0 }
            })
            .fold(0.0, f64::max);
        holds && self.body_travel + HASTE * farthest * step <= self.body_margin.max(f64::MIN_POSITIVE)
    }

    /// Does all stages of a step of `step` [s], and gives its error, of what is tolerated [-].
    fn try_step(&mut self, world: &World, step: f64) -> f64 {
        let mut start = std::mem::take(&mut self.adaptive.start);
        start.clone_from(&self.state.grains);
        for (stage, when) in WHEN.iter().enumerate().skip(1) {
            let rates = std::mem::take(&mut self.adaptive.rates);
            self.place(&|g, _| rkf45::at_stage(&start[g], &rates[g], stage, step));
            self.adaptive.rates = rates;
            self.place_bodies(world, step * when);
            self.rate(world, stage, Memory::Tried(step * when));
        }
        let contact = LEAST_STEPS * self.rules.step;
        let tolerance = self.settings.tolerance;
        let of = |(grain, rates): (&Grain, &[Rate; STAGES])| {
            let error = rkf45::error(grain, rates, step, tolerance, contact);
            if error.is_nan() { f64::INFINITY } else { error }
        };
        let error = start
            .par_iter()
            .zip(&self.adaptive.rates)
            .map(of)
            .reduce(|| 0.0, f64::max);
        self.state.grains.clone_from(&start);
        self.adaptive.start = start;
        error
    }

    /// Puts grains and bodies at the end of a step of `step` [s] that was tried.
    fn accept(&mut self, world: &mut World, step: f64) -> Result<(), AdvanceError> {
        let rates = std::mem::take(&mut self.adaptive.rates);
        self.place(&|g, grain| rkf45::at_end(grain, &rates[g], step));
        self.adaptive.rates = rates;
        let State {
            grains, rows, first, ..
        } = &mut self.state;
        for (g, (grain, before)) in grains.iter().zip(&self.adaptive.start).enumerate() {
            let turn = grain.rotation.angle_between(before.rotation);
            let clump = self.settings.clumps.get(grain.kind as usize);
            let reach = clump.map_or(0.0, |clump| clump.extent() * grain.size);
            let way = (grain.position.distance(before.position) + turn * reach) * (1.0 + 1e-6);
            let own = first[g] as usize..first[g + 1] as usize;
            rows[own].iter_mut().for_each(|row| row.left -= way as f32);
        }
        self.clock.enter("bodies");
        for (b, load) in self.loads.iter_mut().enumerate() {
            let stages = self.adaptive.loads.iter().zip(FIFTH);
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

    /// Puts each grain where `whither` says, by its number and what it is now, and its spheres with it.
    fn place(&mut self, whither: &(impl Fn(usize, &Grain) -> Grain + Sync)) {
        let clumps = &self.settings.clumps;
        let count = self.state.spheres();
        let parts = Parts {
            chunks: &mut self.chunks,
            grains: &mut self.state.grains,
            rows: &mut self.state.rows[..count],
            ways: &mut self.state.ways,
        };
        parts.each(&|parts| {
            let mut first = 0;
            let begin = parts.chunks[0].first_grain;
            for (g, grain) in (begin..).zip(parts.grains) {
                *grain = whither(g, grain);
                let own = first..first + grain.count(clumps);
                first = own.end;
                let (rows, ways) = (&mut parts.rows[own.clone()], &mut parts.ways[own]);
                grain.place(clumps, rows, ways, grain.velocity, grain.spin(clumps));
            }
        });
    }

    /// Puts bodies where they are `after` [s] the start of the step.
    fn place_bodies(&mut self, world: &World, after: f64) {
        self.travels.clear();
        for (k, placed) in self.bodies.iter_mut().enumerate() {
            let now = Placed::ahead(world, k, after);
            let turn = now.pose.rotation.angle_between(placed.pose.rotation);
            let turned = if turn > 1e-12 { turn * self.extents[k] } else { 0.0 };
            self.travels.push(now.center.distance(placed.center) + turned);
            *placed = now;
        }
    }

    /// Finds the rates of all grains where they are now, as those of a stage.
    fn rate(&mut self, world: &World, stage: usize, memory: Memory) {
        (self.rules.is_trial, self.rules.before) = match memory {
            Memory::Kept(step) => (false, 0.5 * step),
            Memory::Tried(time) => (true, 0.5 * time),
        };
        self.rules.after = 0.0;
        self.push_grains(world, 0.0);
        let clumps = &self.settings.clumps;
        let grains = &self.state.grains;
        (self.adaptive.rates.par_iter_mut().zip(grains)).for_each(|(rates, grain)| {
            rates[stage] = Rate::of(grain, grain.spin(clumps));
        });
        self.sum_loads();
        self.adaptive.loads[stage].clone_from(&self.loads);
    }
}
