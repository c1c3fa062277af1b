//! Results of a method.

use barchan::io::FrameStats;
use barchan::world::{Column, Table};
use barchan_validate::measures::Outline;
use glam::{DVec2, DVec3};
use serde_json::{Value, json};

use super::Run;
use crate::failure::Failure;

/// Measures of a run.
pub struct Row {
    /// The method, as on the command line.
    pub method: String,
    /// Frames after the first.
    pub frames: u64,
    /// Guides and grains in the last frame.
    pub guides: usize,
    pub grains: usize,
    /// Outline of the sand at the start and at the end.
    pub outlines: [Outline; 2],
    /// Kinetic energy at the end [J], and the loss of kinetic and potential energy since the start [J].
    pub kinetic_energy: f64,
    pub lost_energy: f64,
    /// Largest overlap in any frame, of a radius [-].
    pub max_overlap: f64,
    /// Mean time of a frame's guides and grains [ms].
    pub guide_ms: f64,
    pub grain_ms: f64,
    /// Reason why the simulation broke off.
    pub broken: Option<String>,
}

/// Guides of a frame: positions [m] and radii [m].
struct Sand {
    positions: Vec<DVec3>,
    radii: Vec<f64>,
}

impl Sand {
    fn of(table: &Table) -> Self {
        let positions = match table.column("position") {
            Some(Column::Vec3(positions)) => positions.iter().map(|p| p.as_dvec3()).collect(),
            _ => Vec::new(),
        };
        let radii = match table.column("radius") {
            Some(Column::F32(radii)) => radii.iter().map(|r| f64::from(*r)).collect(),
            _ => Vec::new(),
        };
        Self { positions, radii }
    }

    fn center(&self) -> DVec2 {
        let sum: DVec2 = self.positions.iter().map(|p| p.truncate()).sum();
        sum / self.positions.len().max(1) as f64
    }

    fn outline(&self, center: DVec2) -> Outline {
        let diameter = 2.0 * self.radii.iter().sum::<f64>() / self.radii.len().max(1) as f64;
        match diameter > 0.0 {
            true => Outline::new(&self.positions, &self.radii, diameter, center),
            false => Outline::default(),
        }
    }
}

impl Row {
    /// Measures the cache of `run`.
    pub fn of(run: &Run) -> Result<Self, Failure> {
        let cache = run.cache()?;
        let failed = |error: barchan::io::CacheError| Failure::run(error.to_string());
        let stats = cache.stats().map_err(failed)?;
        let (Some(first), Some(last)) = (stats.first(), stats.last()) else {
            return Err(Failure::run(format!("{} has no frames", run.dir.display())));
        };
        let sand = |frame: u64| cache.read_guides(frame).map(|table| Sand::of(&table)).map_err(failed);
        let (start, end) = (sand(first.frame)?, sand(last.frame)?);
        let center = start.center();
        let energy = |of: &FrameStats| of.stats.kinetic_energy + of.stats.potential_energy;
        let moved = stats.len().saturating_sub(1).max(1) as f64;
        let mean = |of: fn(&FrameStats) -> f64| stats.iter().skip(1).map(of).sum::<f64>() / moved;
        Ok(Self {
            method: run.method.name(),
            frames: last.frame,
            guides: last.stats.guides,
            grains: last.stats.grains,
            outlines: [start.outline(center), end.outline(center)],
            kinetic_energy: last.stats.kinetic_energy,
            lost_energy: energy(first) - energy(last),
            max_overlap: stats
                .iter()
                .map(|of| f64::from(of.stats.max_overlap))
                .fold(0.0, f64::max),
            guide_ms: mean(|of| of.stats.guide_ms),
            grain_ms: mean(|of| of.stats.grain_ms),
            broken: run.broken.clone(),
        })
    }

    /// Returns the row for scripts.
    pub fn json(&self) -> Value {
        let [_, end] = &self.outlines;
        json!({
            "method": self.method,
            "frames": self.frames,
            "guides": self.guides,
            "grains": self.grains,
            "run_out": end.run_out,
            "height": end.height,
            "angle_deg": end.angle.map(f64::to_degrees),
            "start_run_out": self.outlines[0].run_out,
            "start_height": self.outlines[0].height,
            "kinetic_energy": self.kinetic_energy,
            "lost_energy": self.lost_energy,
            "max_overlap": self.max_overlap,
            "guide_ms": self.guide_ms,
            "grain_ms": self.grain_ms,
            "broken": self.broken,
        })
    }

    /// Returns the cells of the row, as [`HEADS`] names them.
    pub fn cells(&self) -> [String; HEADS.len()] {
        let [_, end] = &self.outlines;
        [
            self.method.clone(),
            self.guides.to_string(),
            self.grains.to_string(),
            format!("{:.3}", end.run_out),
            format!("{:.3}", end.height),
            end.angle
                .map_or("-".to_owned(), |angle| format!("{:.1}", angle.to_degrees())),
            format!("{:.3}", self.max_overlap),
            format!("{:.3e}", self.kinetic_energy),
            format!("{:.3e}", self.lost_energy),
            format!("{:.1}", self.guide_ms),
            format!("{:.1}", self.grain_ms),
        ]
    }
}

/// Names and units of the columns.
pub const HEADS: [&str; 11] = [
    "method",
    "guides",
    "grains",
    "run-out [m]",
    "height [m]",
    "angle [deg]",
    "overlap [r]",
    "kinetic [J]",
    "lost [J]",
    "guides [ms]",
    "grains [ms]",
];

/// Returns the rows as a table of text.
pub fn table(rows: &[Row]) -> String {
    let cells: Vec<_> = rows.iter().map(Row::cells).collect();
    let width = |c: usize| {
        let longest = cells.iter().map(|row| row[c].chars().count()).max().unwrap_or_default();
        longest.max(HEADS[c].chars().count())
    };
    let line = |words: &[String]| {
        let padded = words.iter().enumerate().map(|(c, word)| match c {
            0 => format!("{word:<0$}", width(c)),
            _ => format!("{word:>0$}", width(c)),
        });
        padded.collect::<Vec<_>>().join("  ")
    };
    let mut lines = vec![line(&HEADS.map(str::to_owned))];
    lines.extend(cells.iter().map(|row| line(row)));
    let broken = rows.iter().filter_map(|row| Some((&row.method, row.broken.as_ref()?)));
    lines.extend(broken.map(|(method, reason)| format!("{method} broke off: {reason}")));
    lines.join("\n")
}
