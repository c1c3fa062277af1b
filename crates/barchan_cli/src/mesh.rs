//! `barchan mesh`: makes a surface of the sand of a cache, frame by frame.

use std::ops::RangeInclusive;
use std::path::PathBuf;

use barchan::geometry::text::counted;
use barchan::io::MESH_KINDS;
use barchan::surfacing::{MeshOptions, Surfacing, SurfacingError, mesh_cache};
use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};

use crate::cache::wrong_cache;
use crate::export::{Axis, export_failure, parse_frames};
use crate::failure::Failure;
use crate::progress::Progress;
use crate::use_threads;

/// Make a surface of the sand, frame by frame: of the grains, or of the guides if there are none.
#[derive(Args)]
pub struct Arguments {
    /// Folder of the cache
    dir: PathBuf,

    /// File format: one .obj or .ply file per frame, or one animated .usdc file
    #[arg(long, value_name = "KIND", value_parser = PossibleValuesParser::new(MESH_KINDS))]
    to: String,

    /// Folder for the files [default: DIR/mesh]
    #[arg(long, short, value_name = "DIR")]
    output: Option<PathBuf>,

    /// Frames to mesh, both included: 10..20, 10.., ..20 or 10 [default: all]
    #[arg(long, value_name = "A..B", value_parser = parse_frames)]
    frames: Option<RangeInclusive<u64>>,

    /// Mesh every n-th of those frames
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    every: u32,

    /// Mesh the guides even if there are grains
    #[arg(long)]
    guides: bool,

    /// Radius of the particles [m]; a larger one closes gaps [default: their mean]
    #[arg(long, value_name = "R")]
    radius: Option<f64>,

    /// Edge of a cell of the grid, in radii
    #[arg(long, value_name = "X", default_value_t = Surfacing::default().cell)]
    cell: f64,

    /// Rounds of smoothing
    #[arg(long, value_name = "N", default_value_t = Surfacing::default().smoothing, value_parser = clap::value_parser!(u16).range(..=1000).map(usize::from))]
    smooth: usize,

    /// Factor of all lengths
    #[arg(long, value_name = "S", default_value_t = 1.0)]
    scale: f64,

    /// Axis that points upwards in the files
    #[arg(long, value_name = "AXIS", default_value = "z")]
    up: Axis,

    /// Number of threads [default: all cores]
    #[arg(long, value_name = "N")]
    threads: Option<usize>,
}

pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    use_threads(arguments.threads)?;
    let out = arguments.output.clone().unwrap_or_else(|| arguments.dir.join("mesh"));
    let options = MeshOptions {
        kind: &arguments.to,
        frames: arguments.frames.clone().unwrap_or(0..=u64::MAX),
        every: arguments.every as usize,
        guides: arguments.guides,
        scale: arguments.scale,
        up: arguments.up.into(),
        surfacing: Surfacing {
            radius: arguments.radius,
            cell: arguments.cell,
            smoothing: arguments.smooth,
        },
    };
    let progress = Progress::new("meshing");
    let done = mesh_cache(&arguments.dir, &out, &options, &mut |done, of| {
        progress.show_frames(done as u64, of as u64);
    });
    drop(progress);
    let frames = done.map_err(|error| match error {
        SurfacingError::Cache(error) => wrong_cache(error),
        SurfacingError::Export(error) => export_failure(error),
        error => Failure::input(error.to_string()),
    })?;
    say!("{} in {}", counted(frames, "frame"), out.display());
    Ok(())
}
