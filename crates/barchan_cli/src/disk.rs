//! Disk space: needed by a run, and available.

use std::path::Path;

use barchan::geometry::text::counted;
use barchan::io::folder_bytes;
use barchan::running::Progress as Now;
use barchan::scene::Scene;
use barchan::{forecast_frames, free_bytes, surface_bytes};

use crate::progress::Progress;

/// Prints the estimated size of a run's cache, as `check` does, and warns if the disk has no room for it.
pub fn report(progress: &Progress, scene: &Scene, dir: &Path, now: &Now) {
    let needs = |frames| forecast_frames(scene, frames).unwrap_or_default();
    let left = now.frames.saturating_sub(now.frame);
    // The surfaces of bodies are already written, and so are the frames of a resumed run.
    let (needed, written) = match now.frame {
        0 => {
            let needs = needs(now.frames).with_start(scene, now.guides, now.grains);
            (
                needs.cache,
                surface_bytes(folder_bytes(&dir.join("meshes")).unwrap_or(0)),
            )
        }
        done => (needs(now.frames).cache.saturating_sub(needs(done).cache), 0),
    };
    progress.say(&format!(
        "cache: about {} per frame, {} for {}",
        size(needed / left.max(1)),
        size(needed + written),
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

/// Formats a number of bytes: `3.4 MB`.
pub fn size(bytes: u64) -> String {
    let bytes = bytes as f64;
    let units = [(1e12, "TB"), (1e9, "GB"), (1e6, "MB")];
    let (unit, name) = units
        .into_iter()
        .find(|(unit, _)| bytes >= *unit)
        .unwrap_or((1e3, "kB"));
    format!("{:.1} {name}", bytes / unit)
}
