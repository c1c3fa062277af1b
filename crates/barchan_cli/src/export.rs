//! `barchan export`: writes a cache to files for other programs.

use std::ops::RangeInclusive;
use std::path::PathBuf;

use barchan::export;
use barchan::io::{EXPORTERS, ExportError, ExportOptions, Part, PointFileError, Up};
use clap::builder::PossibleValuesParser;
use clap::{Args, ValueEnum};

use crate::cache::wrong_cache;
use crate::failure::Failure;
use crate::progress::Progress;

/// Export a cache to files of another format.
#[derive(Args)]
pub struct Arguments {
    /// Folder of the cache
    dir: PathBuf,

    /// File format; rows are written in the order of their ids
    #[arg(long, value_name = "KIND", value_parser = PossibleValuesParser::new(EXPORTERS.iter().map(|e| e.name)))]
    to: String,

    /// Folder for the files [default: DIR/KIND]
    #[arg(long, short, value_name = "DIR")]
    output: Option<PathBuf>,

    /// Frames to export, both included: 10..20, 10.., ..20 or 10 [default: all]
    #[arg(long, value_name = "A..B", value_parser = parse_frames)]
    frames: Option<RangeInclusive<u64>>,

    /// Export every n-th of those frames
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    every: u32,

    /// Export only this part
    #[arg(long, value_name = "PART", value_parser = PossibleValuesParser::new(Part::USUAL.map(Part::name)))]
    only: Option<String>,

    /// Factor of all lengths and velocities
    #[arg(long, value_name = "S", default_value_t = 1.0)]
    scale: f64,

    /// Axis that points upwards in the files [default: y for alembic and gltf, z for the others]
    #[arg(long, value_name = "AXIS")]
    up: Option<Axis>,

    /// Write particles as instances of a sphere (usd)
    #[arg(long)]
    instances: bool,

    /// Edge of a voxel before `--scale` [m] (vdb) [default: four mean radii]
    #[arg(long, value_name = "H")]
    voxel: Option<f64>,
}

/// Names of axes.
#[derive(Clone, Copy, ValueEnum)]
pub enum Axis {
    /// (x, y, z) becomes (x, z, -y)
    Y,
    /// As in the cache
    Z,
}

impl From<Axis> for Up {
    fn from(axis: Axis) -> Self {
        match axis {
            Axis::Y => Self::Y,
            Axis::Z => Self::Z,
        }
    }
}

/// Reads a range of frames, both ends included.
pub fn parse_frames(text: &str) -> Result<RangeInclusive<u64>, String> {
    let number = |text: &str, default| match text.trim() {
        "" => Ok(default),
        digits => digits
            .parse()
            .map_err(|_| format!("`{digits}` is no frame number; write 10..20, 10.., ..20 or 10")),
    };
    let range = match text.split_once("..") {
        Some((first, last)) => number(first, 0)?..=number(last, u64::MAX)?,
        None if text.trim().is_empty() => return Err("write 10..20, 10.., ..20 or 10".to_owned()),
        None => number(text, 0)?..=number(text, 0)?,
    };
    match range.is_empty() {
        true => Err(format!("{} is after {}", range.start(), range.end())),
        false => Ok(range),
    }
}

pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let to = arguments
        .output
        .clone()
        .unwrap_or_else(|| arguments.dir.join(&arguments.to));
    if arguments.instances && arguments.to != "usd" {
        return Err(Failure::input("--instances is for usd only"));
    }
    if arguments.voxel.is_some() && arguments.to != "vdb" {
        return Err(Failure::input("--voxel is for vdb only"));
    }
    let options = ExportOptions {
        frames: arguments.frames.clone().unwrap_or(0..=u64::MAX),
        every: arguments.every as usize,
        only: arguments.only.as_deref().and_then(Part::of_name),
        scale: arguments.scale,
        up: arguments.up.map(Into::into),
        instances: arguments.instances,
        voxel: arguments.voxel,
        palette: None,
    };
    let progress = Progress::new("exporting");
    export(&arguments.dir, &arguments.to, &to, &options, &mut |done, of| {
        progress.show_share(done as f64 / of.max(1) as f64);
    })
    .map_err(export_failure)?;
    drop(progress);
    say!("{}", to.display());
    Ok(())
}

/// Maps a failed export to its exit code: files that cannot be written are a failure of the work.
pub fn export_failure(error: ExportError) -> Failure {
    match error {
        ExportError::Cache(error) => wrong_cache(error),
        ExportError::Write(_) | ExportError::Points(PointFileError::Write(_)) => Failure::run(error.to_string()),
        error => Failure::input(error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_of_frames_include_both_ends() {
        assert_eq!(parse_frames("10..20"), Ok(10..=20));
        assert_eq!(parse_frames("10.."), Ok(10..=u64::MAX));
        assert_eq!(parse_frames("..7"), Ok(0..=7));
        assert_eq!(parse_frames("3"), Ok(3..=3));
        for wrong in ["", "a..3", "5..4", "-1", "1..2..3"] {
            assert!(parse_frames(wrong).is_err(), "{wrong}");
        }
    }
}
