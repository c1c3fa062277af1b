//! Progress before the first frame.

use std::fmt;
use std::sync::Mutex;
use std::time::Instant;

use barchan_geometry::text::short;
use barchan_scene::BuildStep;

/// Phase of the work before the first frame. `Display` describes it: "settling 0.4 of 1 s".
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Phase {
    /// Builds the world from the scene: packs guides, computes surfaces and distance fields of bodies.
    Building(BuildStep),
    /// Settles guides before time 0.
    Settling {
        /// Simulated time so far [s].
        time: f64,
        /// Total simulated time [s].
        duration: f64,
    },
    /// Seeds grains.
    Seeding {
        /// Completed share, 0 to 1.
        share: f64,
    },
}

/// Observer of phases, called from any thread.
pub type PhaseWatch<'a> = dyn Fn(Phase) + Sync + 'a;

impl Phase {
    /// Describes the phase without its progress.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Building(BuildStep::Packing { .. }) => "packing guides",
            Self::Building(_) => "building bodies",
            Self::Settling { .. } => "settling",
            Self::Seeding { .. } => "seeding grains",
        }
    }

    /// Returns the completed share of the phase, 0 to 1.
    pub fn share(&self) -> f64 {
        let of = |done: f64, all: usize| done / all.max(1) as f64;
        match *self {
            Self::Building(BuildStep::Packing { fill, fills, share }) => of(fill as f64 + share, fills),
            Self::Building(BuildStep::Bodies { body, bodies }) => of(body as f64, bodies),
            Self::Settling { time, duration } if duration > 0.0 => time / duration,
            Self::Seeding { share } => share,
            _ => 0.0,
        }
    }
}

impl fmt::Display for Phase {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let name = self.name();
        let percent = |share: f64| (100.0 * share).floor();
        match *self {
            Self::Building(BuildStep::Packing { fill, fills, share }) if fills > 1 => {
                write!(f, "{name}, fill {} of {fills}: {} %", fill + 1, percent(share))
            }
            Self::Building(BuildStep::Bodies { body, bodies }) => write!(f, "{name}, {} of {bodies}", body + 1),
            Self::Settling { time, duration } => write!(f, "{name} {time:.2} of {} s", short(duration)),
            _ if self.share() == 0.0 => f.write_str(name),
            _ => write!(f, "{name} {} %", percent(self.share())),
        }
    }
}

/// Wall-clock time of each phase before the first frame [s].
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct BuildTimes {
    /// Packing guides.
    pub packing: f64,
    /// Surfaces and distance fields of bodies.
    pub bodies: f64,
    /// Settling.
    pub settling: f64,
    /// Seeding grains.
    pub seeding: f64,
    /// Total, from the start to the first frame.
    pub total: f64,
}

/// Stopwatch that attributes time to the current phase.
pub(crate) struct BuildClock {
    start: Instant,
    seen: Mutex<(Instant, Option<Phase>, BuildTimes)>,
}

impl BuildClock {
    pub(crate) fn start() -> Self {
        let start = Instant::now();
        Self {
            start,
            seen: Mutex::new((start, None, BuildTimes::default())),
        }
    }

    /// Starts to attribute time to `phase`.
    pub(crate) fn note(&self, phase: Option<Phase>) {
        let mut seen = self.seen.lock().expect("no panic while noting");
        let (since, before, times) = &mut *seen;
        let now = Instant::now();
        let spent = (now - *since).as_secs_f64();
        match before {
            Some(Phase::Building(BuildStep::Packing { .. })) => times.packing += spent,
            Some(Phase::Building(_)) => times.bodies += spent,
            Some(Phase::Settling { .. }) => times.settling += spent,
            Some(Phase::Seeding { .. }) => times.seeding += spent,
            None => {}
        }
        (*since, *before) = (now, phase);
    }

    /// Ends the last phase and returns the times.
    pub(crate) fn stop(&self) -> BuildTimes {
        self.note(None);
        let seen = self.seen.lock().expect("no panic while noting");
        BuildTimes {
            total: self.start.elapsed().as_secs_f64(),
            ..seen.2
        }
    }
}
