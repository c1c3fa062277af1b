//! `barchan info`: shows what a cache holds.

use std::path::PathBuf;

use barchan::geometry::Aabb;
use barchan::io::{Cache, CacheError, FrameStats};
use barchan::refine::measures::{Dispersal, Quality};
use barchan::refining::{dispersal, quality};
use barchan::world::{BodyState, Column};
use clap::Args;
use serde_json::json;

use crate::failure::Failure;

/// Show the contents of a cache.
#[derive(Args)]
pub struct InfoArguments {
    /// Folder of the cache
    dir: PathBuf,

    /// Frame to show [default: the last one]
    #[arg(long, value_name = "N")]
    frame: Option<u64>,

    /// Print one JSON object per frame
    #[arg(long)]
    json: bool,
}

pub fn info(arguments: &InfoArguments) -> Result<(), Failure> {
    let cache = Cache::open(&arguments.dir).map_err(wrong_cache)?;
    let stats = cache.stats().map_err(wrong_cache)?;
    let run = &cache.manifest().run;
    if let Some(frame) = arguments.frame
        && stats.iter().all(|line| line.frame != frame)
    {
        let held = stats.first().zip(stats.last());
        let held = held.map_or("none".to_owned(), |(a, b)| format!("{} to {}", a.frame, b.frame));
        return Err(Failure::input(format!("there is no frame {frame}; available: {held}")));
    }
    let shown = |line: &FrameStats| arguments.frame.is_none_or(|frame| frame == line.frame);
    if arguments.json {
        for line in stats.iter().filter(|line| shown(line)) {
            let s = &line.stats;
            let bodies = bodies(&cache, line.frame)?;
            let bodies: Vec<_> = bodies.iter().map(body_row).collect();
            let is_last = Some(line.frame) == stats.last().map(|last| last.frame) && s.grains > 0;
            let quality = is_last.then(|| quality(&cache, line.frame)).transpose();
            let quality = quality.map_err(|error| Failure::input(error.to_string()))?.flatten();
            let dispersal = is_last.then(|| dispersal(&cache, line.frame)).transpose();
            let dispersal = dispersal.map_err(|error| Failure::input(error.to_string()))?.flatten();
            let row = json!({
                "frame": line.frame, "time": line.time, "steps": s.steps, "guides": s.guides, "grains": s.grains,
                "mass": s.mass, "kinetic_energy": s.kinetic_energy, "potential_energy": s.potential_energy,
                "momentum": s.momentum.to_array(), "max_speed": s.max_speed, "max_overlap": s.max_overlap,
                "guide_ms": s.guide_ms, "grain_ms": s.grain_ms, "removed_mass": s.removed_mass, "bodies": bodies,
                "grain_quality": quality.as_ref().map(quality_fields),
                "grains_in_flight": dispersal.map(dispersal_fields),
            });
            say!("{row}");
        }
        return Ok(());
    }
    let name = run.scene.get("name").and_then(|n| n.as_str()).unwrap_or("?");
    say!(
        "scene {name}, solver {}, {} frames per second, version {}",
        run.solver,
        run.frame_rate,
        run.version
    );
    let Some(last) = stats.iter().rfind(|line| shown(line)) else {
        say!("no frames yet");
        return Ok(());
    };
    let (first, end, s) = (&stats[0], &stats[stats.len() - 1], &last.stats);
    say!(
        "frames {} to {}, times {:.3} to {:.3} s",
        first.frame,
        end.frame,
        first.time,
        end.time
    );
    if last.frame != end.frame {
        say!("frame {}, time {:.3} s", last.frame, last.time);
    }
    say!(
        "guides {}, grains {}, mass {} kg (removed {} kg)",
        s.guides,
        s.grains,
        format_number(s.mass),
        format_number(s.removed_mass)
    );
    say!(
        "kinetic energy {:.4e} J, potential energy {:.4e} J",
        s.kinetic_energy,
        s.potential_energy
    );
    let of_all = stats.iter().map(|line| line.stats.max_overlap).fold(0.0, f32::max);
    say!(
        "fastest guide {} m/s, largest overlap {:.4} radii, {of_all:.4} in all frames",
        format_number(s.max_speed),
        s.max_overlap
    );
    let mean = |value: &dyn Fn(&barchan::world::Stats) -> f64| {
        stats.iter().skip(1).map(|l| value(&l.stats)).sum::<f64>() / (stats.len().max(2) - 1) as f64
    };
    say!(
        "per frame: {:.2} ms guides, {:.2} ms grains, {:.1} steps",
        mean(&|s| s.guide_ms),
        mean(&|s| s.grain_ms),
        mean(&|s| f64::from(s.steps))
    );
    if s.grains > 0
        && let Some(quality) = quality(&cache, last.frame).map_err(|error| Failure::input(error.to_string()))?
    {
        print_quality(&quality);
        if let Some(found) = dispersal(&cache, last.frame).map_err(|error| Failure::input(error.to_string()))? {
            say!(
                "{} grains in flight: {:.3} of them within two radii of a guide, {:.2} times as many pairs within one radius as at three, \
                 Fano factor {:.2} of that of the guides",
                found.grains,
                found.near,
                found.pairs,
                found.fano
            );
        }
    }
    if let Ok(guides) = cache.read_guides(last.frame)
        && let Some(Column::Vec3(positions)) = guides.column("position")
    {
        let bounds = Aabb::of_points(positions.iter().map(|p| p.as_dvec3()));
        let digits = decimals((bounds.max - bounds.min).max_element());
        say!("bounds {:.digits$} to {:.digits$}", bounds.min, bounds.max);
    }
    let bodies = bodies(&cache, last.frame)?;
    if !bodies.is_empty() {
        say!("bodies: position [m], force [N] and torque [N m] of the guides, averaged over the frame");
    }
    let digits = |of: fn(&BodyState) -> f64| decimals(bodies.iter().map(of).fold(0.0, f64::max));
    let places = digits(|body| body.position.length());
    let (forces, torques) = (digits(|body| body.force.length()), digits(|body| body.torque.length()));
    let width = bodies.iter().map(|body| body.name.chars().count()).max().unwrap_or(0);
    for body in &bodies {
        let BodyState { name, position, .. } = body;
        say!(
            "  {name:width$}  at {position:.places$}, force {:.forces$}, torque {:.torques$}",
            body.force,
            body.torque
        );
    }
    Ok(())
}

/// Formats a number of any magnitude with at least five digits.
fn format_number(x: f64) -> String {
    match x == 0.0 || x.abs() >= 0.1 {
        true => format!("{x:.4}"),
        false => format!("{x:.4e}"),
    }
}

/// Returns the number of decimals that leaves four digits of numbers up to `largest`; at least two.
fn decimals(largest: f64) -> usize {
    match largest > 0.0 && largest.is_finite() {
        true => (3.0 - largest.log10().floor()).clamp(2.0, 12.0) as usize,
        false => 2,
    }
}

/// Returns the bodies of a frame; an empty list if the cache keeps none.
fn bodies(cache: &Cache, frame: u64) -> Result<Vec<BodyState>, Failure> {
    match cache.read_bodies(frame) {
        Err(CacheError::NoFrame { .. }) => Ok(Vec::new()),
        read => read.map_err(wrong_cache),
    }
}

fn body_row(body: &BodyState) -> serde_json::Value {
    json!({
        "name": body.name, "position": body.position.to_array(), "rotation": body.rotation,
        "linear_velocity": body.linear_velocity.to_array(), "angular_velocity": body.angular_velocity.to_array(),
        "force": body.force.to_array(), "torque": body.torque.to_array(), "max_force": body.max_force,
        "max_torque": body.max_torque,
    })
}

/// Prints the quality of the last frame's grains.
fn print_quality(quality: &Quality) {
    if let Some(found) = quality.clumping {
        let [two, three, five] = found.fano;
        say!(
            "grain spacing: {:.3} of that of random points; Fano factors {two:.2}, {three:.2}, {five:.2} (random: 1)",
            found.ratio
        );
    }
    if let Some(error) = quality.mass {
        say!(
            "mass error against the guides: {:.3} in the bulk, {:.3} at the surface, {:.3} at edges",
            error.bulk,
            error.surface,
            error.edge
        );
    }
    if let Some(fano) = quality.edge_fano {
        say!("Fano factor of the grains at edges: {fano:.2} of that of the guides");
    }
    say!(
        "mean distance to the nearest grain: {} m; inside bodies: {:.1} of 100,000",
        format_number(quality.mean_nearest()),
        1e5 * quality.inside
    );
}

/// Returns the dispersal as fields of a row.
fn dispersal_fields(found: Dispersal) -> serde_json::Value {
    json!({
        "guides": found.guides, "grains": found.grains, "near": found.near, "pairs": found.pairs, "fano_ratio": found.fano,
    })
}

/// Returns the quality as fields of a row.
fn quality_fields(quality: &Quality) -> serde_json::Value {
    json!({
        "spacing": quality.clumping.map(|c| c.ratio), "fano": quality.clumping.map(|c| c.fano),
        "bulk_error": quality.mass.map(|m| m.bulk), "surface_error": quality.mass.map(|m| m.surface),
        "edge_error": quality.mass.map(|m| m.edge), "mean_nearest": quality.mean_nearest(), "inside": quality.inside,
        "edge_fano_ratio": quality.edge_fano,
    })
}

pub fn wrong_cache(error: CacheError) -> Failure {
    match error {
        CacheError::Write(_) | CacheError::Stopped => Failure::run(error.to_string()),
        error => Failure::input(error.to_string()),
    }
}
