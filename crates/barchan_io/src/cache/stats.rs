//! `stats.jsonl`: one line of statistics per frame.
//!
//! Lines are appended. A crash can tear the last one; readers skip it, and a resumed run rewrites the file without it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use barchan_world::{Frame, Stats};
use glam::DVec3;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{CacheError, jsonl};
use crate::WriteError;

/// Statistics of a frame.
#[derive(Clone, Debug, PartialEq)]
pub struct FrameStats {
    /// Frame number.
    pub frame: u64,
    /// Time [s].
    pub time: f64,
    /// The statistics; extras are sorted by name.
    pub stats: Stats,
}

/// A line in the file. A number that is not finite is `null`.
#[derive(Serialize, Deserialize)]
struct Line {
    frame: u64,
    time: Option<f64>,
    steps: u32,
    guides: usize,
    grains: usize,
    mass: Option<f64>,
    kinetic_energy: Option<f64>,
    potential_energy: Option<f64>,
    momentum: [Option<f64>; 3],
    max_speed: Option<f64>,
    max_overlap: Option<f32>,
    guide_ms: Option<f64>,
    grain_ms: Option<f64>,
    removed_mass: Option<f64>,
    emitted_mass: Option<f64>,
    ledger_closes: bool,
    #[serde(flatten)]
    extras: BTreeMap<String, Value>,
}

impl From<FrameStats> for Line {
    fn from(of: FrameStats) -> Self {
        let stats = of.stats;
        Self {
            frame: of.frame,
            time: Some(of.time),
            steps: stats.steps,
            guides: stats.guides,
            grains: stats.grains,
            mass: Some(stats.mass),
            kinetic_energy: Some(stats.kinetic_energy),
            potential_energy: Some(stats.potential_energy),
            momentum: stats.momentum.to_array().map(Some),
            max_speed: Some(stats.max_speed),
            max_overlap: Some(stats.max_overlap),
            guide_ms: Some(stats.guide_ms),
            grain_ms: Some(stats.grain_ms),
            removed_mass: Some(stats.removed_mass),
            emitted_mass: Some(stats.emitted_mass),
            ledger_closes: stats.ledger_closes,
            extras: stats
                .extras
                .into_iter()
                .map(|(name, value)| (name, value.into()))
                .collect(),
        }
    }
}

impl From<Line> for FrameStats {
    fn from(line: Line) -> Self {
        let number = |value: Option<f64>| value.unwrap_or(f64::NAN);
        Self {
            frame: line.frame,
            time: number(line.time),
            stats: Stats {
                steps: line.steps,
                guides: line.guides,
                grains: line.grains,
                mass: number(line.mass),
                removed_mass: number(line.removed_mass),
                emitted_mass: number(line.emitted_mass),
                ledger_closes: line.ledger_closes,
                kinetic_energy: number(line.kinetic_energy),
                potential_energy: number(line.potential_energy),
                momentum: DVec3::from_array(line.momentum.map(number)),
                max_speed: number(line.max_speed),
                max_overlap: line.max_overlap.unwrap_or(f32::NAN),
                guide_ms: number(line.guide_ms),
                grain_ms: number(line.grain_ms),
                extras: line
                    .extras
                    .into_iter()
                    .map(|(name, value)| (name, number(value.as_f64())))
                    .collect(),
            },
        }
    }
}

impl From<&Frame> for FrameStats {
    fn from(frame: &Frame) -> Self {
        Self {
            frame: frame.number,
            time: frame.time,
            stats: frame.stats.clone(),
        }
    }
}

fn file(dir: &Path) -> PathBuf {
    dir.join("stats.jsonl")
}

/// Appends a line and returns its length [bytes].
pub(super) fn append(dir: &Path, stats: FrameStats) -> Result<u64, WriteError> {
    jsonl::append(&file(dir), &Line::from(stats))
}

/// Reads all lines except a torn last one.
pub(super) fn read(dir: &Path) -> Result<Vec<FrameStats>, CacheError> {
    let lines: Vec<Line> = jsonl::read(&file(dir))?;
    Ok(lines.into_iter().map(FrameStats::from).collect())
}

/// Replaces the contents of the file by these lines.
pub(super) fn replace(dir: &Path, lines: Vec<FrameStats>) -> Result<(), WriteError> {
    jsonl::replace(&file(dir), lines.into_iter().map(Line::from))
}
