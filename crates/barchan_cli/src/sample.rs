//! `barchan sample`: samples a mesh file or a shape with particles.

use std::path::PathBuf;
use std::time::Duration;

use barchan::geometry::mesh::MeshReport;
use barchan::geometry::sample::{Packing, Radii, VolumeSettings};
use barchan::geometry::text::{counted, short};
use barchan::io::{self, PointFileError, Points, Values};
use barchan::sampling::{Cover, Fill, Solid, cover, fill};
use clap::Args;
use clap::builder::PossibleValuesParser;
use serde_json::{Value, json};

use crate::failure::Failure;
use crate::progress::Progress;
use crate::{memory, use_threads};

const EXAMPLES: &str = "\
Examples:
  barchan sample castle.obj --radius 0.01 -o points.ply
  barchan sample '{ cylinder = { radius = 0.2, height = 0.5 } }' --radius 0.01 -o column.vtp
  barchan sample '{ subtract = [ { box = { size = [1, 1, 1] } }, { sphere = { radius = 0.6 } } ] }' --radius 0.02 -o points.csv
  barchan sample bucket.stl --surface --radius 0.005 --offset -0.005 -o cover.ply";

/// Sample a mesh file or a shape with particles.
#[derive(Args)]
#[command(after_help = EXAMPLES, after_long_help = long_help())]
pub struct Arguments {
    /// A mesh file (.obj, .stl, .ply, .gltf, .glb), a shape file (.toml), or a shape's text as in scene files
    #[arg(value_name = "SHAPE|MESH")]
    source: String,

    /// Particle radius [m]; MIN..MAX draws from a range, R1:W1,R2:W2 from a list with weights
    #[arg(long, short, value_name = "R", allow_hyphen_values = true)]
    radius: String,

    /// Packing of the particles: dense as settled sand, random, or on a jittered lattice
    #[arg(long, default_value = "dense", value_parser = PossibleValuesParser::new(Packing::ALL.map(|p| p.0)))]
    packing: String,

    /// Cover the surface instead of filling the volume
    #[arg(long)]
    surface: bool,

    /// With --surface: distance of the particles' centers from the surface [m], negative inside
    #[arg(
        long,
        value_name = "M",
        default_value_t = 0.0,
        allow_negative_numbers = true,
        requires = "surface"
    )]
    offset: f64,

    /// Random seed; the same seed gives the same particles on any machine and number of threads
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,

    /// File to write: .ply, .vtp (ParaView), .csv or .xyz
    #[arg(long, short, value_name = "FILE")]
    output: PathBuf,

    /// Number of threads [default: all cores]
    #[arg(long, value_name = "N")]
    threads: Option<usize>,

    /// Print the result as one JSON object
    #[arg(long)]
    json: bool,
}

fn long_help() -> String {
    format!("{}\n\n{EXAMPLES}", barchan::scene::shape_help())
}

pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    use_threads(arguments.threads)?;
    let radii = parse_radii(&arguments.radius)?;
    let memory_limit = memory::available().map_or(VolumeSettings::MEMORY_LIMIT, |bytes| bytes / 10 * 9);
    // Checked before the work, which may take hours.
    io::check_writable(&arguments.output).map_err(write_failure)?;
    let solid = Solid::open(&arguments.source)?;
    for warning in &solid.warnings {
        tell!("{}", as_warning(warning));
    }
    if arguments.surface {
        run_cover(arguments, &solid, &radii, memory_limit)
    } else {
        run_fill(arguments, &solid, radii, memory_limit)
    }
}

fn run_fill(arguments: &Arguments, solid: &Solid, radii: Radii, memory_limit: u64) -> Result<(), Failure> {
    let packing = Packing::ALL.iter().find(|p| p.0 == arguments.packing);
    let settings = Fill {
        packing: packing.expect("clap let only these pass").1,
        radii,
        seed: arguments.seed,
        memory_limit,
    };
    let progress = Progress::new("filling");
    let filled = fill(solid, &settings, &|share| progress.show_share(share))?;
    drop(progress);
    let particles = &filled.particles;
    write(arguments, &Points::new(&particles.positions, &particles.radii))?;
    let found = Found {
        solid,
        volume: filled.volume,
        count: particles.len(),
        kind: &arguments.packing,
        min_distance: filled.min_distance,
        time: filled.time,
    };
    let packing = filled.packing.map(|p| format!("{p:.4}"));
    found.print(
        arguments,
        ("packing", json!(filled.packing)),
        ("packing fraction", packing),
    );
    Ok(())
}

fn run_cover(arguments: &Arguments, solid: &Solid, radii: &Radii, memory_limit: u64) -> Result<(), Failure> {
    if !(-MAX_LENGTH..=MAX_LENGTH).contains(&arguments.offset) {
        let offset = short(arguments.offset);
        return Err(Failure::input(format!(
            "--offset must be from -1e9 to 1e9 m, got {offset}"
        )));
    }
    if radii.min() != radii.max() {
        return Err(Failure::input("--surface takes one --radius, not a range or a list"));
    }
    let settings = Cover {
        offset: arguments.offset,
        seed: arguments.seed,
        memory_limit,
        ..Cover::new(radii.min())
    };
    let progress = Progress::new("covering");
    let covered = cover(solid, &settings, &|share| progress.show_share(share))?;
    drop(progress);
    let sample = &covered.sample;
    let radii = vec![covered.radius; sample.positions.len()];
    write(
        arguments,
        &Points::new(&sample.positions, &radii).with("normal", Values::Vector(&sample.normals)),
    )?;
    let gap = sample.gap / covered.radius;
    let found = Found {
        solid,
        volume: None,
        count: sample.positions.len(),
        kind: "surface",
        min_distance: covered.min_distance,
        time: covered.time,
    };
    let in_words = format!("{gap:.3} radii to the nearest center (2 would let a particle pass)");
    found.print(arguments, ("gap", json!(gap)), ("largest gap", Some(in_words)));
    Ok(())
}

/// Measures that both kinds of sampling report.
struct Found<'a> {
    solid: &'a Solid,
    /// Volume of the solid [m³] if it was needed; otherwise the mesh's own is shown.
    volume: Option<f64>,
    count: usize,
    kind: &'a str,
    min_distance: Option<f64>,
    time: Duration,
}

impl Found<'_> {
    /// Prints the measures, and one that is specific to the kind of sampling: its JSON entry and its line of text.
    fn print(&self, arguments: &Arguments, entry: (&str, Value), line: (&str, Option<String>)) {
        let seconds = self.time.as_secs_f64();
        let report = self.solid.mesh.as_ref().map(|mesh| &mesh.report);
        if arguments.json {
            let mut row = json!({
                "count": self.count,
                "packing": null,
                "min_distance": self.min_distance,
                "seconds": seconds,
                "kind": self.kind,
                "seed": arguments.seed,
                "file": arguments.output,
                "mesh": report.map(|report| report_as_json(report, self.volume)),
            });
            row[entry.0] = entry.1;
            say!("{row}");
            return;
        }
        if let Some(report) = report {
            let watertight = if report.is_watertight() {
                "watertight"
            } else {
                "not watertight"
            };
            let (size, triangles) = (report.bounds.size(), report.triangles);
            let volume = self.volume.unwrap_or(report.volume);
            say!(
                "{}: {}, {watertight}, {:.4} x {:.4} x {:.4} m, {volume:.4e} m³",
                arguments.source,
                counted(triangles, "triangle"),
                size.x,
                size.y,
                size.z
            );
        }
        say!("{} in {}", counted(self.count, "particle"), arguments.output.display());
        let distance = self.min_distance.map(|d| format!("{d:.4} diameters"));
        for (name, value) in [
            line,
            ("smallest distance", distance),
            ("time", Some(format!("{seconds:.2} s"))),
        ] {
            if let Some(value) = value {
                say!("  {name:<18} {value}");
            }
        }
    }
}

fn report_as_json(report: &MeshReport, volume: Option<f64>) -> Value {
    json!({
        "triangles": report.triangles,
        "volume": volume.unwrap_or(report.volume),
        "overlap": report.overlap,
        "bounds": [report.bounds.min.to_array(), report.bounds.max.to_array()],
        "watertight": report.is_watertight(),
        "open_edges": report.open_edges,
        "non_manifold_edges": report.non_manifold_edges,
        "inconsistent_edges": report.inconsistent_edges,
        "degenerate": report.degenerate,
        "duplicate": report.duplicate,
    })
}

fn write(arguments: &Arguments, points: &Points) -> Result<(), Failure> {
    io::write_points(&arguments.output, points).map_err(write_failure)
}

/// Maps a write error to an exit code: a folder in place of a file is invalid input, anything else failed work.
fn write_failure(error: PointFileError) -> Failure {
    match &error {
        PointFileError::Write(refused) if refused.reason.kind() != std::io::ErrorKind::IsADirectory => {
            Failure::run(error.to_string())
        }
        _ => Failure::input(error.to_string()),
    }
}

/// Smallest radius of a particle [m]: its volume is still representable.
const MIN_RADIUS: f64 = 1e-12;
/// Largest radius and offset [m].
const MAX_LENGTH: f64 = 1e9;

/// Parses `0.01`, `0.01..0.02` or `0.01:3,0.02:1`.
fn parse_radii(text: &str) -> Result<Radii, Failure> {
    let number = |part: &str| {
        part.trim().parse::<f64>().map_err(|_| {
            Failure::input(format!(
                "--radius: `{part}` is not a number; allowed: 0.01, 0.01..0.02 or 0.01:3,0.02:1"
            ))
        })
    };
    let bounded = |radii: Radii| match radii.min() >= MIN_RADIUS && radii.max() <= MAX_LENGTH {
        true => Ok(radii),
        false => Err(Failure::input("--radius must be from 1e-12 to 1e9 m")),
    };
    let radii = if let Some((min, max)) = text.split_once("..") {
        Radii::range(number(min)?, number(max)?)
    } else if text.contains([':', ',']) {
        let entry = |part: &str| {
            let (radius, weight) = part.split_once(':').unwrap_or((part, "1"));
            Ok((number(radius)?, number(weight)?))
        };
        Radii::list(&text.split(',').map(entry).collect::<Result<Vec<_>, Failure>>()?)
    } else {
        Radii::one(number(text)?)
    };
    bounded(radii.map_err(|error| Failure::input(format!("--radius: {error}")))?)
}

fn as_warning(text: &str) -> String {
    if text.starts_with("warning:") {
        text.to_owned()
    } else {
        format!("warning: {text}")
    }
}
