//! The simulation, driven from Python.

use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, TryLockError};

use barchan::running::{Go, Progress, RunOptions, record};
use barchan::scene::{Document, Scene, source};
use barchan::world::Frame as WorldFrame;
use barchan::{Stage, file_name};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::bodies::Bodies;
use crate::errors::{failed, input, of_run, of_simulation};
use crate::frame::{Frame, stats_json, to_python};
use crate::scene;
use crate::table::Table;
use crate::work::{Ending, interruptible, quiet};

/// A scene being simulated, frame by frame.
///
/// The scene is the name of a built-in one, a path, a TOML text or a dictionary; `set` changes its values, as `--set` of
/// the program does. Ctrl-C stops the construction at once, and `advance` after the current frame.
#[pyclass(frozen, module = "barchan")]
pub struct Simulation {
    core: Mutex<Core>,
}

/// State that the interpreter's objects share.
pub struct Core {
    /// The simulation.
    pub simulation: barchan::Simulation,
    scene: Scene,
    document: Document,
    /// Tables of the current frame, made when they are first used.
    guides: Option<Table>,
    grains: Option<Table>,
}

impl Core {
    /// Returns the data that pictures need, and the current frame.
    pub fn picture(&self) -> (Stage, WorldFrame) {
        (
            Stage::new(&self.scene, self.simulation.world()),
            self.simulation.frame(),
        )
    }

    fn advance(&mut self) -> PyResult<()> {
        (self.guides, self.grains) = (None, None);
        self.simulation.advance().map_err(of_simulation)
    }
}

impl Simulation {
    /// Gives access to the state, unless another thread is advancing it.
    pub fn lock(&self) -> PyResult<MutexGuard<'_, Core>> {
        self.core.try_lock().map_err(|error| match error {
            TryLockError::WouldBlock => failed("the simulation is being advanced by another thread"),
            TryLockError::Poisoned(_) => failed("the simulation has failed by an internal error"),
        })
    }

    fn build(
        py: Python<'_>,
        document: Document,
        make: impl FnOnce(&Scene) -> Result<barchan::Simulation, barchan::SimulationError> + Send + 'static,
    ) -> PyResult<Self> {
        let scene = scene::parse(py, &document)?;
        let (scene, made) = interruptible(py, Ending::Abandoned, &mut quiet, move |_| {
            let made = make(&scene);
            (scene, made)
        })?;
        let simulation = made.map_err(of_simulation)?;
        for warning in &simulation.world().warnings {
            scene::warn(py, warning)?;
        }
        let core = Core {
            simulation,
            scene,
            document,
            guides: None,
            grains: None,
        };
        Ok(Self { core: core.into() })
    }
}

#[pymethods]
impl Simulation {
    #[new]
    #[pyo3(signature = (scene, *, set = None))]
    fn new(py: Python<'_>, scene: &Bound<'_, PyAny>, set: Option<&Bound<'_, PyDict>>) -> PyResult<Self> {
        let document = scene::document(scene, set)?;
        Self::build(py, document, barchan::Simulation::new)
    }

    /// Continues from the folder of `save`, or of a cache with a checkpoint, bit-identically.
    #[staticmethod]
    fn resume(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        let (document, archive) = py.detach(|| barchan::read_saved(&path)).map_err(input)?;
        Self::build(py, document, move |scene| barchan::Simulation::resume(scene, &archive))
    }

    /// Advances by a number of frames. Other Python threads run meanwhile.
    #[pyo3(signature = (frames = 1))]
    fn advance(&self, py: Python<'_>, frames: u64) -> PyResult<()> {
        for _ in 0..frames {
            let mut core = self.lock()?;
            let core = &mut *core;
            py.detach(move || core.advance())?;
            py.check_signals()?;
        }
        Ok(())
    }

    /// Time [s].
    #[getter]
    fn time(&self) -> PyResult<f64> {
        Ok(self.lock()?.simulation.world().time)
    }

    /// Number of frames since the start.
    #[getter]
    fn frame_number(&self) -> PyResult<u64> {
        Ok(self.lock()?.simulation.frame_number())
    }

    /// Name of the scene.
    #[getter]
    fn name(&self) -> PyResult<String> {
        Ok(self.lock()?.scene.name.clone())
    }

    /// Name of the solver.
    #[getter]
    fn solver(&self) -> PyResult<&'static str> {
        Ok(self.lock()?.scene.solver.name)
    }

    /// Frames per second [1/s].
    #[getter]
    fn frame_rate(&self) -> PyResult<f64> {
        Ok(self.lock()?.scene.frame_rate)
    }

    /// The simulated particles of the current frame.
    #[getter]
    fn guides(&self) -> PyResult<Table> {
        let mut core = self.lock()?;
        if core.guides.is_none() {
            core.guides = Some(Table::of_particles(core.simulation.frame_without_grains().guides));
        }
        Ok(core.guides.clone().expect("just made"))
    }

    /// The refined particles of the current frame, if the scene has any.
    #[getter]
    fn grains(&self) -> PyResult<Option<Table>> {
        let mut core = self.lock()?;
        if core.grains.is_none() {
            core.grains = core.simulation.frame().grains.map(Table::of_particles);
        }
        Ok(core.grains.clone())
    }

    /// The rigid bodies, by name.
    #[getter]
    fn bodies(slf: Bound<'_, Self>) -> Bodies {
        Bodies::of(slf.unbind())
    }

    /// Statistics of the current frame.
    #[getter]
    fn stats<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let stats = self.lock()?.simulation.frame_without_grains().stats;
        to_python(py, &stats_json(&stats))
    }

    /// Returns the current frame, which later steps do not change.
    fn frame(&self, py: Python<'_>) -> PyResult<Frame> {
        let mut core = self.lock()?;
        let simulation = &mut core.simulation;
        Ok(Frame::of_simulation(py.detach(move || simulation.frame())))
    }

    /// Writes this frame and the next ones into a cache: `frames` more, by default to the end of the scene's duration.
    /// `progress` is True, or a function of the number of finished frames, of all, and the time [s].
    #[pyo3(signature = (out, frames = None, *, progress = None, force = false))]
    fn run(
        slf: Bound<'_, Self>,
        out: PathBuf,
        frames: Option<u64>,
        progress: Option<Bound<'_, PyAny>>,
        force: bool,
    ) -> PyResult<PathBuf> {
        let py = slf.py();
        let show = progress_function(py, progress)?;
        let simulation = slf.unbind();
        let dir = out.clone();
        let mut heed = |now: Progress| match &show {
            Some(show) => show.call1((now.frame, now.frames, now.time)).map(drop),
            None => Ok(()),
        };
        interruptible(py, Ending::Awaited, &mut heed, move |control| {
            let mut core = simulation.get().lock()?;
            let core = &mut *core;
            (core.guides, core.grains) = (None, None);
            let options = RunOptions {
                dir,
                frames,
                start_frame: None,
                resume: false,
                force,
                scene: source(&core.scene, &core.document),
            };
            let mut watch = |now| {
                control.send(now);
                if control.is_stopped() { Go::Stop } else { Go::On }
            };
            record(&mut core.simulation, &core.scene, &options, &mut watch).map_err(of_run)
        })??;
        Ok(out)
    }

    /// Saves the state into a folder, for `resume`.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        let mut core = self.lock()?;
        let core = &mut *core;
        py.detach(move || barchan::save(&path, &core.simulation, &core.scene, &core.document).map_err(failed))
    }

    fn __repr__(&self) -> String {
        match self.lock() {
            Ok(core) => format!(
                "<barchan.Simulation {:?} by {}: frame {}, {} guides>",
                file_name(&core.scene.name),
                core.scene.solver.name,
                core.simulation.frame_number(),
                core.simulation.world().guides.len()
            ),
            Err(_) => "<barchan.Simulation, being advanced>".to_owned(),
        }
    }
}

/// Returns the function that shows progress: the given one, or one that writes a line for `True`.
pub fn progress_function<'py>(
    py: Python<'py>,
    progress: Option<Bound<'py, PyAny>>,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    match progress {
        Some(given) if given.is_callable() => Ok(Some(given)),
        Some(given) if given.is_truthy()? => Ok(Some(py.import("barchan._progress")?.getattr("show")?)),
        _ => Ok(None),
    }
}
