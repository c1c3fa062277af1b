//! Slack between guides and grains: grains rest on guides that only jitter.

use barchan_world::{Archive, ArchiveError, FARTHEST, World};
use glam::{DVec3, IVec3, Vec3};
use rayon::prelude::*;

use crate::domain::Domain;
use crate::field::Mover;
use crate::periodic::wrapped;

/// A guide is slow up to this speed, in its radii a second [1/s].
const SLOW: f32 = 0.5;
/// It is fast from this speed on, in its radii a second [1/s].
const FAST: f32 = 3.0;
/// Slack of the rope of a fast guide, of its radius [-].
const SHORT: f32 = 0.02;
/// An anchor catches up with its guide at no more than this, of the guide's own speed [-].
const CATCH_UP: f32 = 1.5;
/// Slack of the rope of a slow guide, of its radius [-].
const LONG: f32 = 1.0;
/// Lag at which an anchor follows whatever the guides around do, of the radius [-].
const LAST: f32 = 2.5;
/// Room that a guide has in its cage, of the radius [-]: one that goes fast and farther is not caged.
const CAGE: f32 = 0.6;
/// Share of the guides around one that must go, too, if its anchor is to go [-].
const COMPANY: f32 = 0.4;

/// Guides of a task [-], at least.
const TASK: usize = 512;

/// Positions of guides as seen by grains: each guide has an anchor that follows it on a slack rope.
///
/// Settled guides never rest completely: contacts let them jitter and creep, and a few rattle in their cages. An anchor
/// stays while its guide is within the slack, so grains see that as rest. A guide that moves farther pulls its anchor
/// along, unless the guides around it stay and it has not moved far. The faster it moves the shorter the rope: in a
/// flow, anchors are at the guides.
#[derive(Debug, Default)]
pub(crate) struct Play {
    /// By the guides' ids [m], relative to the world's origin; no number for those that are not known yet.
    anchors: Vec<DVec3>,
    /// True for anchors that did not move in the last frame, by the guides' ids. Only serves to skip work.
    stayed: Vec<bool>,
    pulls: Vec<Pull>,
    /// Of each cell and its neighbors along x: [`ONE`] for each guide, and one more for each whose anchor is to go.
    counts: Vec<u64>,
}

/// A guide in a count, above those that go.
const ONE: u64 = 1 << 32;

/// Pull on an anchor.
#[derive(Clone, Copy, Debug)]
struct Pull {
    /// Position of the anchor [m].
    from: DVec3,
    /// To the guide [m], and how far that is.
    way: Vec3,
    length: f32,
    /// Displacement that the pull asks for [m].
    wanted: f32,
    /// True if the anchor moves regardless of the others.
    alone: bool,
}

impl Pull {
    fn needs_company(&self) -> bool {
        self.wanted > 0.0 && !self.alone
    }

    /// Returns true if the guides around it stay, by the `counts` of `cells`, so that the anchor does, too.
    fn is_lonely(&self, cells: &Domain, counts: &[u64]) -> bool {
        if !self.needs_company() {
            return false;
        }
        let cell = cells.cell(self.from.as_vec3());
        let (first, last) = ((cell - 1).max(IVec3::ZERO), (cell + 1).min(cells.size() - 1));
        let mut found = 0;
        for z in first.z..=last.z {
            for y in first.y..=last.y {
                found += counts[cells.index(IVec3::new(cell.x, y, z))];
            }
        }
        let (all, going) = (found / ONE, found % ONE);
        (going as f32) < COMPANY * all as f32
    }

    /// Returns the displacement of the anchor [m].
    fn moved(&self) -> Vec3 {
        match self.wanted > 0.0 {
            true => self.way * (self.wanted / self.length),
            false => Vec3::ZERO,
        }
    }
}

impl Play {
    /// Moves the anchors over the frame that ends now, and writes the guides as seen by grains to `movers`, in the
    /// world's order: position at the start, and velocity.
    pub fn advance(&mut self, world: &World, velocities: &[Vec3], duration: f64, movers: &mut Vec<Mover>) {
        self.anchors.resize(world.next_id as usize, DVec3::NAN);
        self.stayed.resize(world.next_id as usize, false);
        let anchors = &self.anchors;
        velocities
            .par_iter()
            .enumerate()
            .with_min_len(TASK)
            .map(|(i, velocity)| {
                let now = world.place(i) - world.origin;
                let anchor = anchors[world.guides.id[i] as usize];
                let moved = *velocity * duration as f32;
                let from = if anchor.is_nan() {
                    now - moved.as_dvec3()
                } else {
                    anchor
                };
                let way = way(world, from, now, moved).as_vec3();
                pull(from, way, moved.length(), duration as f32, world.guides.radius[i])
            })
            .collect_into_vec(&mut self.pulls);
        let cells = self.count(world);
        let (stayed, counts) = (&self.stayed, &self.counts);
        self.pulls
            .par_iter_mut()
            .enumerate()
            .with_min_len(TASK)
            .map(|(i, pull)| {
                if cells.is_some_and(|cells| pull.is_lonely(&cells, counts)) {
                    pull.wanted = 0.0;
                }
                let stays = pull.wanted == 0.0 && stayed[world.guides.id[i] as usize];
                let (from, moved) = (pull.from, pull.moved());
                pull.from = wrapped(world, from + moved.as_dvec3());
                let rate = moved * (1.0 / duration) as f32;
                Mover::new(from.as_vec3(), rate, world.guides.radius[i], stays)
            })
            .collect_into_vec(movers);
        for (pull, &id) in self.pulls.iter().zip(&world.guides.id) {
            self.stayed[id as usize] = pull.wanted == 0.0;
            self.anchors[id as usize] = pull.from;
        }
    }

    /// Counts guides in cells if there are any whose neighbors must go, too.
    fn count(&mut self, world: &World) -> Option<Domain> {
        if !self.pulls.iter().any(Pull::needs_company) {
            return None;
        }
        let side = 2.0 * world.guides.radius.iter().copied().fold(f32::MIN_POSITIVE, f32::max);
        let place = |i: usize| self.pulls[i].from.as_vec3();
        let cells = Domain::over(self.pulls.len(), place, side, 8 * self.pulls.len() + 4096);
        self.counts.clear();
        self.counts.resize(cells.len(), 0);
        for pull in &self.pulls {
            self.counts[cells.index(cells.cell(pull.from.as_vec3()))] += ONE + u64::from(pull.wanted > 0.0);
        }
        let rows = self.counts.chunks_mut(cells.size().x as usize);
        rows.for_each(add_neighbours);
        Some(cells)
    }

    pub fn save(&self, archive: &mut Archive) {
        archive.put("grains.anchors", &self.anchors);
    }

    pub fn load(&mut self, archive: &Archive) -> Result<(), ArchiveError> {
        let far = f64::from(FARTHEST);
        self.anchors = archive.get_fit("grains.anchors", |anchor: &DVec3| anchor.abs().max_element() <= far)?;
        self.stayed.clear();
        Ok(())
    }
}

/// Adds to each number of a row what its neighbors were.
fn add_neighbours(row: &mut [u64]) {
    let mut before = 0;
    for k in 0..row.len() {
        let (own, after) = (row[k], row.get(k + 1).copied().unwrap_or(0));
        row[k] = before + own + after;
        before = own;
    }
}

/// The way [m] from an anchor to its guide, which is at `now` and `moved` by that much in this frame [m]. The anchor lagged behind by less than
/// half a period; the guide may have crossed many.
fn way(world: &World, from: DVec3, now: DVec3, moved: Vec3) -> DVec3 {
    if world.periodic.iter().all(Option::is_none) {
        return now - from;
    }
    let moved = moved.as_dvec3();
    moved + world.shortest_way(now - from - moved)
}

/// Computes the pull on the anchor at `from` toward its guide of `radius` [m], which is `way` [m] away and moved by
/// `moved` [m] in `duration` [s].
fn pull(from: DVec3, way: Vec3, moved: f32, duration: f32, radius: f32) -> Pull {
    let speed = moved / (duration * radius);
    let fast = ((speed - SLOW) / (FAST - SLOW)).clamp(0.0, 1.0);
    let slack = radius * (LONG + fast * (SHORT - LONG));
    let length = way.length();
    let due = (length - slack).max(0.0).min(CATCH_UP * moved);
    // However it came about, no rope is longer than the longest.
    let wanted = due.max(length - LONG * radius);
    Pull {
        from,
        way,
        length,
        wanted: wanted.max(0.0),
        alone: length > LAST * radius || (fast > 0.0 && length > CAGE * radius),
    }
}
