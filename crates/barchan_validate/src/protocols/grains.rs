//! Grains that follow guides: rest, spacing, flow, and distance from bodies.

use barchan::refine::measures::{Creep, Flow, Quality, creep, flow, inside_bodies, share_below, sticking, strays};
use barchan::refine::{GrainRefiner, Grains};
use barchan::world::World;
use glam::DVec3;

use super::Broken;
use crate::stage::{Observation, Stage, values};

/// Frames between observations.
const INTERVAL: u64 = 10;
/// Largest displacement of a grain at rest, in radii [-].
const REST_DISPLACEMENT: f64 = 0.05;
/// Distance from the region visited by guides beyond which a grain is lost, in radii of a guide [-].
const LOST_DISTANCE: f64 = 6.0;

/// Runs a scene for `run` [s]; with `watch` [s] above zero it then waits for the guides to rest, until `limit` [s] at
/// most, and a second more, and observes for as long. Measures the [`Quality`] of the grains at the end, and the worst
/// of all observations before. The flow is that through z = `outlet` [m].
pub(super) fn grains(stage: &mut Stage) -> Result<Observation, Broken> {
    let (run, watch, limit) = (stage.value("run")?, stage.value("watch")?, stage.value("limit")?);
    let outlet = stage.value("outlet")?;
    let mut looks = Worst::new(outlet);
    let first = quality(stage);
    let mut frame = 0;
    while stage.time() < run - 1e-9 {
        let before = frame % INTERVAL == INTERVAL - 1;
        let before = before.then(|| refiner(stage).grains().clone());
        stage.advance()?;
        frame += 1;
        if let Some(before) = before {
            looks.look(stage, &before);
        }
    }
    let mut seen = Observation::default();
    if watch > 0.0 {
        let diameter = 2.0 * largest_radius(stage.simulation().world());
        if stage.until_rest(diameter, limit)?.is_none() {
            seen.notes.push("never at rest".to_owned());
        }
        go_on(stage, 1.0)?;
        let before = refiner(stage).grains().clone();
        go_on(stage, watch)?;
        let Creep { moved, .. } = creep(&before, refiner(stage).grains(), REST_DISPLACEMENT * radius(stage));
        seen.values.push(("still".into(), 100.0 * (1.0 - moved)));
    }
    // Guides in motion have moved on since the last observation.
    looks.reach(stage);
    let last = quality(stage);
    let grains = refiner(stage).grains();
    seen.guides = stage.guides();
    seen.notes.push(format!("{} grains", grains.len()));
    if let Some(clumping) = last.clumping {
        let worst = clumping.fano.into_iter().fold(0.0, f64::max);
        seen.values
            .extend(values([("spacing", clumping.ratio), ("Fano factor", worst)]));
    }
    if let Some(mass) = last.mass {
        seen.values
            .extend(values([("bulk error", mass.bulk), ("surface error", mass.surface)]));
        seen.notes.push(format!("error at edges {:.3}", mass.edge));
    }
    let tight = share_below(&last.nearest, 0.5 * first.mean_nearest());
    seen.values.push(("tight".into(), 100.0 * tight));
    if let Some(difference) = looks.flow_difference() {
        seen.values.push(("flow".into(), difference));
    }
    seen.values.extend(values([
        ("inside", 1e5 * looks.inside.max(last.inside)),
        ("strays", 100.0 * looks.strays),
        ("sticking", 100.0 * looks.sticking),
        ("lost", looks.lost(stage)),
    ]));
    Ok(seen)
}

/// The worst of all observations.
struct Worst {
    inside: f64,
    strays: f64,
    sticking: f64,
    outlet: f64,
    /// Flow through the outlet at each observation.
    flows: Vec<Flow>,
    /// Bounds of the guides' positions so far [m].
    low: DVec3,
    high: DVec3,
}

impl Worst {
    fn new(outlet: f64) -> Self {
        Self {
            inside: 0.0,
            strays: 0.0,
            sticking: 0.0,
            outlet,
            flows: Vec::new(),
            low: DVec3::INFINITY,
            high: DVec3::NEG_INFINITY,
        }
    }

    fn look(&mut self, stage: &Stage, before: &Grains) {
        let (world, grains) = (stage.simulation().world(), refiner(stage).grains());
        let radius = radius(stage);
        self.inside = self.inside.max(inside_bodies(world, grains, 0.5 * radius));
        self.strays = self.strays.max(strays(world, grains, before, stage.frame_duration()));
        self.sticking = self.sticking.max(sticking(world, grains, radius));
        self.flows.push(flow(world, grains, self.outlet));
        self.reach(stage);
    }

    /// Extends the bounds by the positions of the guides.
    fn reach(&mut self, stage: &Stage) {
        for position in stage.positions() {
            (self.low, self.high) = (self.low.min(position), self.high.max(position));
        }
    }

    /// Returns the relative difference between the flow of grains and of guides [%], between the observations at a
    /// tenth of the largest flow and at the largest.
    fn flow_difference(&self) -> Option<f64> {
        let first = self.flows.iter().find(|flow| flow.guides > 0.1)?;
        let last = self.flows.last()?;
        let guides = last.guides - first.guides;
        (guides > 0.1 && guides < 0.9).then(|| 100.0 * ((last.grains - first.grains) / guides - 1.0))
    }

    /// Counts grains that disappeared, or are beyond the region visited by guides.
    fn lost(&self, stage: &Stage) -> f64 {
        let world = stage.simulation().world();
        let grains = refiner(stage).grains();
        let room = LOST_DISTANCE * largest_radius(world);
        let given = grains.id.iter().max().map_or(0, |id| *id as usize + 1);
        let is_out = |i: &usize| {
            let position = stage.to_scene_frame(world.origin + grains.place(*i).as_dvec3());
            !(position.cmpge(self.low - room).all() && position.cmple(self.high + room).all())
        };
        (given - grains.len() + (0..grains.len()).filter(is_out).count()) as f64
    }
}

fn go_on(stage: &mut Stage, duration: f64) -> Result<(), Broken> {
    let end = stage.time() + duration;
    while stage.time() < end - 1e-9 {
        stage.advance()?;
    }
    Ok(())
}

pub(super) fn quality(stage: &Stage) -> Quality {
    Quality::of(stage.simulation().world(), refiner(stage).grains(), radius(stage))
}

/// # Panics
/// If the experiment's scene has no grains.
pub(super) fn refiner(stage: &Stage) -> &GrainRefiner {
    let refiner = stage.simulation().refiner();
    refiner.expect("the experiment's scene has grains")
}

/// Returns the radius of the smallest grain [m].
fn radius(stage: &Stage) -> f64 {
    refiner(stage).settings().radii.min()
}

pub(super) fn largest_radius(world: &World) -> f64 {
    f64::from(world.guides.radius.iter().copied().fold(0.0, f32::max))
}
