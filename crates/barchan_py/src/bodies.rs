//! Bodies of a simulation. Motors and levers of machines belong here, too.

use barchan::motion_name;
use barchan::world::{Body as WorldBody, Twist};
use glam::DVec3;
use pyo3::prelude::*;

use crate::errors::of_drive;
use crate::simulation::Simulation;

/// The bodies of a simulation, by name: `simulation.bodies["wheel"]`.
#[pyclass(frozen, mapping, module = "barchan")]
pub struct Bodies {
    simulation: Py<Simulation>,
}

impl Bodies {
    /// Returns the bodies of `simulation`.
    pub fn of(simulation: Py<Simulation>) -> Self {
        Self { simulation }
    }
}

#[pymethods]
impl Bodies {
    /// Names of the bodies, as in the scene file.
    fn keys(&self) -> PyResult<Vec<String>> {
        let core = self.simulation.get().lock()?;
        let bodies = core.simulation.world().bodies.iter();
        Ok(bodies.map(|body| body.name.clone()).collect())
    }

    /// The bodies, in the order of their names.
    fn values(&self, py: Python<'_>) -> PyResult<Vec<Body>> {
        let simulation = || self.simulation.clone_ref(py);
        let body = |index| Body {
            simulation: simulation(),
            index,
        };
        Ok((0..self.__len__()?).map(body).collect())
    }

    /// Names and bodies.
    fn items(&self, py: Python<'_>) -> PyResult<Vec<(String, Body)>> {
        Ok(self.keys()?.into_iter().zip(self.values(py)?).collect())
    }

    fn __len__(&self) -> PyResult<usize> {
        Ok(self.simulation.get().lock()?.simulation.world().bodies.len())
    }

    fn __contains__(&self, name: &str) -> PyResult<bool> {
        Ok(self.simulation.get().lock()?.simulation.body_id(name).is_ok())
    }

    fn __getitem__(&self, py: Python<'_>, name: &str) -> PyResult<Body> {
        let index = self
            .simulation
            .get()
            .lock()?
            .simulation
            .body_id(name)
            .map_err(of_drive)?;
        let simulation = self.simulation.clone_ref(py);
        Ok(Body { simulation, index })
    }

    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.keys()?.into_pyobject(py)?.call_method0("__iter__")
    }
}

/// A rigid body of a simulation, as it is now. Vectors are numpy arrays of their own.
#[pyclass(frozen, module = "barchan")]
pub struct Body {
    simulation: Py<Simulation>,
    index: usize,
}

impl Body {
    fn read<T>(&self, value: impl FnOnce(&WorldBody) -> T) -> PyResult<T> {
        let core = self.simulation.get().lock()?;
        Ok(value(&core.simulation.world().bodies[self.index]))
    }

    fn vector<'py>(&self, py: Python<'py>, value: fn(&WorldBody) -> DVec3) -> PyResult<Bound<'py, PyAny>> {
        numbers(py, &self.read(value)?.to_array())
    }
}

/// Returns numbers as a numpy array.
fn numbers<'py>(py: Python<'py>, values: &[f64]) -> PyResult<Bound<'py, PyAny>> {
    py.import("numpy")?.call_method1("array", (values.to_vec(),))
}

#[pymethods]
impl Body {
    /// Name in the scene file.
    #[getter]
    fn name(&self) -> PyResult<String> {
        self.read(|body| body.name.clone())
    }

    /// Kind of motion: fixed, scripted, driven or dynamic.
    #[getter]
    fn motion(&self) -> PyResult<&'static str> {
        self.read(|body| motion_name(&body.motion))
    }

    /// Mass [kg].
    #[getter]
    fn mass(&self) -> PyResult<f64> {
        self.read(WorldBody::mass)
    }

    /// Position of the body's frame [m] and its rotation (x, y, z, w).
    #[getter]
    fn pose<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
        Ok((self.position(py)?, self.rotation(py)?))
    }

    /// Position of the body's frame [m].
    #[getter]
    fn position<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.vector(py, |body| body.pose.position)
    }

    /// Rotation of the body's frame: x, y, z, w.
    #[getter]
    fn rotation<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        numbers(py, &self.read(|body| body.pose.rotation.to_array())?)
    }

    /// Center of mass [m].
    #[getter]
    fn center<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.vector(py, WorldBody::center)
    }

    /// Velocity of the center of mass [m/s].
    #[getter]
    fn linear_velocity<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.vector(py, |body| body.twist.linear)
    }

    /// Angular velocity [rad/s].
    #[getter]
    fn angular_velocity<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.vector(py, |body| body.twist.angular)
    }

    /// Mean force of the guides over the last frame [N].
    #[getter]
    fn force<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.vector(py, |body| body.wrench.force)
    }

    /// Mean torque of the guides about the center of mass over the last frame [N m].
    #[getter]
    fn torque<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.vector(py, |body| body.wrench.torque)
    }

    /// Sets the velocity of the center of mass [m/s] and the angular velocity [rad/s]; what is not given is zero. A
    /// driven body keeps it, a dynamic one starts with it.
    #[pyo3(signature = (linear = [0.0; 3], angular = [0.0; 3]))]
    fn set_velocity(&self, linear: [f64; 3], angular: [f64; 3]) -> PyResult<()> {
        let twist = Twist {
            linear: linear.into(),
            angular: angular.into(),
        };
        let mut core = self.simulation.get().lock()?;
        core.simulation.set_velocity(self.index, twist).map_err(of_drive)
    }

    fn __repr__(&self) -> PyResult<String> {
        self.read(|body| format!("<barchan.Body {:?}: {}>", body.name, motion_name(&body.motion)))
    }
}
