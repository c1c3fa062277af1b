//! Estimates the disk space of a cache before it is written, and reports the free space of a disk.

use std::io::{self, Write};
use std::path::Path;

use barchan_geometry::mesh::write_ply;
use barchan_scene::Output;
use barchan_world::World;

// Measured on built-in scenes with moving sand (`column` with each solver, `hourglass`, `splash`); sand at rest takes
// less.
/// Bytes per guide in a frame. Solvers differ by their columns: 25 (pbd), 29 (sph), 36 (dem).
const GUIDE: f64 = 30.0;
/// Bytes per grain in a frame.
const GRAIN: f64 = 24.0;
/// Bytes per particle that compact positions save.
const COMPACT_SAVES: f64 = 5.0;
/// Bytes of a file of bodies: of the file, and per body.
const BODIES: [f64; 2] = [2950.0, 130.0];
/// Bytes of an Arrow file without rows.
const EMPTY_FILE: f64 = 2000.0;
/// Bytes of a frame's line of statistics and its entry in the manifest.
const LINES: f64 = 600.0;
/// Bytes of a checkpoint per guide, with its neighbors, and per grain.
const CHECKPOINT: [f64; 2] = [500.0, 25.0];
/// Bytes of a checkpoint per byte of a body's file: its surface as rapier keeps it, with the tree of its triangles.
const CHECKPOINT_SURFACE: u64 = 4;

/// Estimates the bytes that a frame takes on disk: the mean over frames with and without grains.
pub fn cache_bytes_per_frame(guides: u64, grains: u64, bodies: u64, output: &Output) -> u64 {
    let saved = if output.compact { COMPACT_SAVES } else { 0.0 };
    let mut bytes = LINES;
    if output.guides {
        bytes += EMPTY_FILE + guides as f64 * (GUIDE - saved);
    }
    if output.grains && grains > 0 {
        bytes += (EMPTY_FILE + grains as f64 * (GRAIN - saved)) / output.grains_every.max(1) as f64;
    }
    if output.bodies {
        bytes += BODIES[0] + bodies as f64 * BODIES[1];
    }
    bytes as u64
}

/// Estimates the bytes that a cache of `frames` frames takes on disk, with its checkpoint.
pub fn cache_bytes(frames: u64, guides: u64, grains: u64, bodies: u64, output: &Output) -> u64 {
    let checkpoint = guides as f64 * CHECKPOINT[0] + grains as f64 * CHECKPOINT[1];
    (frames as f64 * cache_bytes_per_frame(guides, grains, bodies, output) as f64 + checkpoint) as u64
}

/// Returns the bytes of the files of the surfaces of bodies in a cache.
pub fn mesh_bytes(world: &World) -> u64 {
    let mut count = Count(0);
    for body in world.bodies.iter().filter(|body| body.shape.bounds().is_finite()) {
        write_ply(&body.surface, &mut count).expect("counting does not fail");
    }
    count.0
}

/// Estimates the bytes that the surfaces of bodies take in a cache, from those of their files: with their part of the checkpoint.
pub fn surface_bytes(files: u64) -> u64 {
    files.saturating_mul(1 + CHECKPOINT_SURFACE)
}

/// A writer that counts bytes.
struct Count(u64);

impl Write for Count {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Returns the bytes that this process may still write to the disk that holds `path`; `None` where the system does not
/// report it.
pub fn free_bytes(path: &Path) -> Option<u64> {
    #[cfg(unix)]
    {
        use std::os::unix::ffi::OsStrExt;
        let path = std::ffi::CString::new(path.as_os_str().as_bytes()).ok()?;
        // SAFETY: a plain structure of integers, for which zeros are valid.
        let mut disk: libc::statvfs = unsafe { std::mem::zeroed() };
        // SAFETY: the path ends with a zero byte, and the structure outlives the call.
        let failed = unsafe { libc::statvfs(path.as_ptr(), &raw mut disk) } != 0;
        // Types differ between systems.
        #[allow(clippy::unnecessary_cast, clippy::useless_conversion)]
        (!failed).then(|| (disk.f_bavail as u64).saturating_mul(disk.f_frsize as u64))
    }
    #[cfg(not(unix))]
    {
        let _ = path;
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rare_and_compact_grains_take_less() {
        let every = |grains_every, compact| Output {
            grains_every,
            compact,
            ..Output::default()
        };
        let bytes = |output: &Output| cache_bytes_per_frame(1000, 100_000, 1, output);
        let all = bytes(&every(1, false));
        assert!((2_400_000..2_500_000).contains(&all), "{all}");
        assert!(bytes(&every(10, false)) < all / 8);
        assert!(bytes(&every(1, true)) < all * 4 / 5);
        // Large counts saturate instead of overflowing.
        assert!(cache_bytes(u64::MAX, u64::MAX, u64::MAX, u64::MAX, &Output::default()) > all);
    }

    #[test]
    #[cfg(unix)]
    fn a_disk_has_room_and_a_missing_path_has_no_disk() {
        assert!(free_bytes(Path::new("/")).is_some());
        assert!(free_bytes(Path::new("/no/such/folder")).is_none());
    }
}
