//! Grains that follow guides: whether they rest, keep apart, go the same way and stay out of bodies.

use barchan::refine::measures::{Creep, Flow, Quality, creep, flow, inside_bodies, share_below, sticking, strays};
use barchan::refine::{GrainRefiner, Grains};
use barchan::world::World;
use glam::DVec3;

use super::Broken;
use crate::stage::{Observation, Stage, values};

/// Frames from look to look.
const LOOK: u64 = 10;
/// Share of a radius that a grain at rest may move [-].
const STILL: f64 = 0.05;
/// Radii of a guide that a grain may be beyond all places where guides were [-].
const LOST: f64 = 6.0;

/// Lets a scene run for `run` [s]; with `watch` [s] above zero it then waits for the guides to rest, no longer than until `limit` [s],
/// and a second more, and watches for as long. Tells of the grains what [`Quality`] tells at the end, and the worst of all looks on the way.
/// The flow is that through z = `outlet` [m].
pub(super) fn grains(stage: &mut Stage) -> Result<Observation, Broken> {
    let (run, watch, limit) = (stage.value("run")?, stage.value("watch")?, stage.value("limit")?);
    let outlet = stage.value("outlet")?;
    let mut looks = Looks::new(outlet);
    let first = quality(stage);
    let mut frame = 0;
    while stage.time() < run - 1e-9 {
        let before = frame % LOOK == LOOK - 1;
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
        let Creep { moved, .. } = creep(&before, refiner(stage).grains(), STILL * radius(stage));
        seen.values.push(("still".into(), 100.0 * (1.0 - moved)));
    }
    // Guides that were still on their way have gone on since the last look.
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

/// The worst that was seen.
struct Looks {
    inside: f64,
    strays: f64,
    sticking: f64,
    outlet: f64,
    /// What went through the outlet, whenever someone looked.
    flows: Vec<Flow>,
    /// Where guides were [m].
    low: DVec3,
    high: DVec3,
}

impl Looks {
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

    /// Takes note of where guides are.
    fn reach(&mut self, stage: &Stage) {
        for place in stage.places() {
            (self.low, self.high) = (self.low.min(place), self.high.max(place));
        }
    }

    /// By how much the grains' flow differs from that of the guides, of the latter [%], between the looks at a tenth and at the
    /// most that went through.
    fn flow_difference(&self) -> Option<f64> {
        let first = self.flows.iter().find(|flow| flow.guides > 0.1)?;
        let last = self.flows.last()?;
        let guides = last.guides - first.guides;
        (guides > 0.1 && guides < 0.9).then(|| 100.0 * ((last.grains - first.grains) / guides - 1.0))
    }

    /// Grains that are gone, or beyond all places where guides were.
    fn lost(&self, stage: &Stage) -> f64 {
        let world = stage.simulation().world();
        let grains = refiner(stage).grains();
        let room = LOST * largest_radius(world);
        let given = grains.id.iter().max().map_or(0, |id| *id as usize + 1);
        let is_out = |i: &usize| {
            let place = stage.told(world.origin + grains.place(*i).as_dvec3());
            !(place.cmpge(self.low - room).all() && place.cmple(self.high + room).all())
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

fn quality(stage: &Stage) -> Quality {
    Quality::of(stage.simulation().world(), refiner(stage).grains(), radius(stage))
}

/// # Panics
/// If the experiment's scene has no grains.
fn refiner(stage: &Stage) -> &GrainRefiner {
    let refiner = stage.simulation().refiner();
    refiner.expect("the experiment's scene has grains")
}

/// Radius of the smallest grain [m].
fn radius(stage: &Stage) -> f64 {
    refiner(stage).settings().radii.min()
}

fn largest_radius(world: &World) -> f64 {
    f64::from(world.guides.radius.iter().copied().fold(0.0, f32::max))
}
