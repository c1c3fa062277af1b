//! Disk space: what a run will take, and what there is.

use std::path::Path;

use barchan::geometry::text::counted;
use barchan::running::Progress as Now;
use barchan::scene::Scene;
use barchan::{cache_bytes, cache_bytes_per_frame, free_bytes};

use crate::progress::Progress;

/// Prints how large the cache of a run will be, and warns if the disk has no room for it.
pub fn report(progress: &Progress, scene: &Scene, dir: &Path, now: &Now) {
    let (guides, grains, bodies) = (now.guides as u64, now.grains as u64, scene.bodies.len() as u64);
    let frame = cache_bytes_per_frame(guides, grains, bodies, &scene.output);
    let left = now.frames.saturating_sub(now.frame);
    let needed = cache_bytes(left, guides, grains, bodies, &scene.output);
    progress.say(&format!(
        "cache: about {} per frame, {} for {}",
        size(frame),
        size(needed),
        counted(left, "frame")
    ));
    if let Some(free) = free_bytes(dir).filter(|free| *free < needed) {
        progress.say(&format!(
            "warning: the disk of {} has {} free, the run needs about {}: keep grains in every n-th frame \
             (--set output.grains_every=N), shorten positions (--set output.compact=true), or simulate fewer frames",
            dir.display(),
            size(free),
            size(needed)
        ));
    }
}

/// Bytes for people: `3.4 MB`.
pub fn size(bytes: u64) -> String {
    let bytes = bytes as f64;
    let units = [(1e12, "TB"), (1e9, "GB"), (1e6, "MB")];
    let (unit, name) = units
        .into_iter()
        .find(|(unit, _)| bytes >= *unit)
        .unwrap_or((1e3, "kB"));
    format!("{:.1} {name}", bytes / unit)
}
