//! Checkpoints of long runs.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use barchan::Simulation;
use barchan::io::{read_checkpoint, write_checkpoint};
use barchan::scene::Scene;

/// Time between two checkpoints.
const EVERY: Duration = Duration::from_secs(30);

/// Checkpoint of an unfinished run. A checkpoint that cannot be written or read only costs the time to repeat the run.
pub struct Pause {
    folder: PathBuf,
    build: String,
    start: Instant,
    saved: Instant,
    every: Duration,
    /// Time that its earlier parts took [s].
    before: f64,
}

impl Pause {
    /// Creates the checkpoint of a run of `build` in its own folder.
    pub fn new(folder: PathBuf, build: &str) -> Self {
        let now = Instant::now();
        Self {
            folder,
            build: build.to_owned(),
            start: now,
            saved: now,
            every: EVERY,
            before: 0.0,
        }
    }

    /// Restores the simulation of `scene` as the same build left it.
    pub fn resume(&mut self, scene: &Scene) -> Option<Simulation> {
        let (_, archive) = read_checkpoint(&self.folder).ok()?;
        let build: Vec<u8> = archive.get("pause.build").ok()?;
        if build != self.build.as_bytes() {
            return None;
        }
        self.before = archive.get_one("pause.seconds").ok()?;
        Simulation::resume(scene, &archive).ok()
    }

    /// Saves `simulation` if that was not done for a while.
    pub fn keep(&mut self, simulation: &Simulation) {
        if self.saved.elapsed() < self.every {
            return;
        }
        let mut archive = simulation.save();
        archive.put("pause.build", self.build.as_bytes());
        archive.put("pause.seconds", &[self.seconds()]);
        let made = std::fs::create_dir_all(&self.folder);
        made.ok()
            .and_then(|()| write_checkpoint(&self.folder, &archive, simulation.frame_number()).ok());
        self.saved = Instant::now();
    }

    /// Returns the time that the run has taken, its earlier parts included [s].
    pub fn seconds(&self) -> f64 {
        self.before + self.start.elapsed().as_secs_f64()
    }

    /// Removes the checkpoint.
    pub fn forget(&self) {
        std::fs::remove_dir_all(&self.folder).ok();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use barchan::scene::{Document, parse_scene};

    #[test]
    fn a_run_broken_off_goes_on_bit_for_bit_and_only_with_the_same_build() {
        let folder = std::env::temp_dir().join(format!("barchan_pause_{}", std::process::id()));
        let scene = "duration = 1\n[materials.sand]\ndensity = 1600\n[[fill]]\nmaterial = \"sand\"\nradius = 0.1\n\
            shape = { box = { size = [1, 1, 1] }, at = [0, 0, 0.5] }\n\
            [[body]]\nname = \"ground\"\nshape = { half_space = { normal = [0, 0, 1] } }";
        let (scene, _) = parse_scene(&Document::new("scene", scene)).unwrap();
        let mut simulation = Simulation::new(&scene).unwrap();
        let mut pause = Pause::new(folder.clone(), "a");
        (pause.every, pause.before) = (Duration::ZERO, 7.0);
        for frame in 0..6 {
            simulation.advance().unwrap();
            if frame < 3 {
                pause.keep(&simulation);
            }
        }
        assert!(Pause::new(folder.clone(), "b").resume(&scene).is_none());
        let mut again = Pause::new(folder, "a");
        let mut resumed = again.resume(&scene).unwrap();
        assert_eq!(resumed.frame_number(), 3);
        assert!(again.seconds() >= 7.0);
        (0..3).for_each(|_| resumed.advance().unwrap());
        assert_eq!(resumed.world().guides.position, simulation.world().guides.position);
        again.forget();
        assert!(again.resume(&scene).is_none());
    }
}
