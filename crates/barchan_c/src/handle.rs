//! State behind the pointers of the C interface.

use std::any::Any;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ffi::{CString, c_char, c_void};
use std::fmt::Display;
use std::path::Path;

use barchan::scene::{Diagnostic, Document, Scene, find, parse_scene};
use barchan::world::{Body as WorldBody, Column as Values, Table, Twist};
use barchan::{SimulationError, read_saved, save};

/// Result of a call.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// Done.
    Ok = 0,
    /// The work failed.
    Failed = 1,
    /// The input was wrong.
    WrongInput = 2,
}

/// Type of the numbers of a column.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `uint8_t`.
    U8 = 0,
    /// `uint32_t`.
    U32 = 1,
    /// `float`.
    F32 = 2,
}

/// Values of a column, in memory of the library: valid until the simulation is advanced or freed.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Column {
    /// The first number.
    pub data: *const c_void,
    /// Number of particles.
    pub rows: usize,
    /// Numbers per particle: 1 or 3.
    pub width: usize,
    /// Type of the numbers.
    pub kind: Kind,
}

impl Column {
    fn of(values: &Values) -> Self {
        let (data, width, kind): (*const c_void, _, _) = match values {
            Values::U8(values) => (values.as_ptr().cast(), 1, Kind::U8),
            Values::U32(values) => (values.as_ptr().cast(), 1, Kind::U32),
            Values::F32(values) => (values.as_ptr().cast(), 1, Kind::F32),
            Values::Vec3(values) => (values.as_ptr().cast(), 3, Kind::F32),
        };
        Self {
            data,
            rows: values.len(),
            width,
            kind,
        }
    }
}

/// State of a body.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Body {
    /// Position of its frame [m].
    pub position: [f64; 3],
    /// Rotation of its frame: x, y, z, w.
    pub rotation: [f64; 4],
    /// Velocity of its center of mass [m/s].
    pub linear_velocity: [f64; 3],
    /// Angular velocity [rad/s].
    pub angular_velocity: [f64; 3],
    /// Mean force of the guides over the last frame [N].
    pub force: [f64; 3],
    /// Mean torque of the guides about its center of mass over the last frame [N m].
    pub torque: [f64; 3],
}

impl Body {
    fn of(body: &WorldBody) -> Self {
        Self {
            position: body.pose.position.to_array(),
            rotation: body.pose.rotation.to_array(),
            linear_velocity: body.twist.linear.to_array(),
            angular_velocity: body.twist.angular.to_array(),
            force: body.wrench.force.to_array(),
            torque: body.wrench.torque.to_array(),
        }
    }
}

/// An error to be reported.
pub(crate) struct Failure {
    pub status: Status,
    pub message: String,
}

/// Reports wrong input.
pub(crate) fn input(error: impl Display) -> Failure {
    let (status, message) = (Status::WrongInput, error.to_string());
    Failure { status, message }
}

/// Reports failed work.
pub(crate) fn failed(error: impl Display) -> Failure {
    let (status, message) = (Status::Failed, error.to_string());
    Failure { status, message }
}

fn of_simulation(error: SimulationError) -> Failure {
    match error {
        SimulationError::Advance(_) | SimulationError::Archive(_) => failed(error),
        error => input(error),
    }
}

thread_local! {
    static LAST_ERROR: RefCell<CString> = RefCell::default();
}

/// Keeps a message for [`last_error`].
pub(crate) fn set_error(message: &str) {
    let message = CString::new(message.replace('\0', " ")).unwrap_or_default();
    LAST_ERROR.with(|last| *last.borrow_mut() = message);
}

/// Returns the last message of this thread.
pub(crate) fn last_error() -> *const c_char {
    LAST_ERROR.with(|last| last.borrow().as_ptr())
}

/// Returns the message of a panic.
pub(crate) fn panic_text(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied())
        .unwrap_or("a panic")
}

/// Particles to read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Particles {
    Guides,
    Grains,
}

/// A simulation, its scene, and the columns that were read since the last step.
pub struct Simulation {
    core: barchan::Simulation,
    scene: Scene,
    document: Document,
    tables: BTreeMap<Particles, Option<Table>>,
    /// Set while the state changes: a panic leaves it set.
    is_broken: bool,
}

impl Simulation {
    fn of(
        document: Document,
        make: impl FnOnce(&Scene) -> Result<barchan::Simulation, SimulationError>,
    ) -> Result<Self, Failure> {
        let (scene, _): (Scene, Vec<Diagnostic>) = parse_scene(&document).map_err(input)?;
        Ok(Self {
            core: make(&scene).map_err(of_simulation)?,
            scene,
            document,
            tables: BTreeMap::new(),
            is_broken: false,
        })
    }

    pub(crate) fn create(source: &str, overrides: Vec<String>) -> Result<Self, Failure> {
        let document = match source.contains('\n') {
            true => Document::new("scene", source),
            false => find(source).map_err(input)?,
        };
        let document = overrides.into_iter().fold(document, Document::with);
        Self::of(document, barchan::Simulation::new)
    }

    pub(crate) fn resume(path: &Path) -> Result<Self, Failure> {
        let (document, archive) = read_saved(path).map_err(input)?;
        Self::of(document, |scene| barchan::Simulation::resume(scene, &archive))
    }

    /// Returns the state, unless a panic has left it in the middle of a step.
    pub(crate) fn state(&self) -> Result<&barchan::Simulation, Failure> {
        match self.is_broken {
            true => Err(failed("the simulation has failed by an internal error")),
            false => Ok(&self.core),
        }
    }

    pub(crate) fn advance(&mut self, frames: u64) -> Result<(), Failure> {
        self.state()?;
        for _ in 0..frames {
            self.tables.clear();
            self.is_broken = true;
            let advanced = self.core.advance();
            self.is_broken = false;
            advanced.map_err(of_simulation)?;
        }
        Ok(())
    }

    pub(crate) fn column(&mut self, particles: Particles, name: &str) -> Result<Column, Failure> {
        self.state()?;
        let core = &self.core;
        let table = self.tables.entry(particles).or_insert_with(|| match particles {
            Particles::Guides => Some(core.frame_without_grains().guides),
            Particles::Grains => core.frame().grains,
        });
        let table = table
            .as_ref()
            .ok_or_else(|| input("the scene has no grains: it has no [refine]"))?;
        let missing = || {
            let names: Vec<&str> = table.columns.iter().map(|column| column.0.as_str()).collect();
            input(format!("there is no column `{name}`; there are: {}", names.join(", ")))
        };
        table.column(name).map(Column::of).ok_or_else(missing)
    }

    pub(crate) fn body(&self, name: &str) -> Result<Body, Failure> {
        let core = self.state()?;
        let index = core.body_id(name).map_err(input)?;
        Ok(Body::of(&core.world().bodies[index]))
    }

    pub(crate) fn set_velocity(&mut self, name: &str, twist: Twist) -> Result<(), Failure> {
        let index = self.state()?.body_id(name).map_err(input)?;
        self.core.set_velocity(index, twist).map_err(input)
    }

    pub(crate) fn save(&self, path: &Path) -> Result<(), Failure> {
        save(path, self.state()?, &self.scene, &self.document).map_err(failed)
    }
}
