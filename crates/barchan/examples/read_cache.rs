//! Reads a cache: guides, bodies and statistics of every frame. Usage: `read_cache [DIR]`; without a folder, it makes a small cache first.

use std::error::Error;
use std::path::{Path, PathBuf};

use barchan::io::Cache;
use barchan::running::{Go, RunOptions, run};
use barchan::scene::{built_in, parse_scene};
use barchan::world::Column;

/// Simulates some frames of a built-in scene into `dir`.
fn make_cache(dir: &Path) -> Result<(), Box<dyn Error>> {
    let text = built_in("column")
        .expect("a built-in scene")
        .with("fill.0.radius=0.03")
        .with("fill.0.settle=0.2");
    let (scene, _) = parse_scene(&text)?;
    let options = RunOptions {
        dir: dir.to_owned(),
        frames: Some(20),
        start_frame: None,
        resume: false,
        force: true,
        scene: "column".into(),
    };
    run(&scene, &options, &mut |_| Go::On)?;
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    let dir = match std::env::args_os().nth(1) {
        Some(dir) => PathBuf::from(dir),
        None => {
            let dir = std::env::temp_dir().join(format!("barchan_read_cache_{}", std::process::id()));
            make_cache(&dir)?;
            dir
        }
    };
    let cache = Cache::open(&dir)?;
    let stats = cache.stats()?;
    for entry in cache.frames().iter().step_by(5) {
        let guides = cache.read_guides(entry.frame)?;
        let Some(Column::Vec3(positions)) = guides.column("position") else {
            return Err("the cache has no guides".into());
        };
        let top = positions.iter().map(|p| p.z).fold(f32::NEG_INFINITY, f32::max);
        let energy = stats
            .iter()
            .find(|s| s.frame == entry.frame)
            .map(|s| s.stats.kinetic_energy);
        println!(
            "frame {}: {} guides, top at {top:.3} m, kinetic energy {:.3} J",
            entry.frame,
            guides.len(),
            energy.unwrap_or(f64::NAN)
        );
        for body in cache.read_bodies(entry.frame)? {
            println!(
                "  {:<8} force ({:.1}, {:.1}, {:.1}) N",
                body.name, body.force.x, body.force.y, body.force.z
            );
        }
    }
    if std::env::args_os().nth(1).is_none() {
        std::fs::remove_dir_all(&dir)?;
    }
    Ok(())
}
