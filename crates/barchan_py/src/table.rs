//! Columns that numpy and Arrow programs share.

use std::any::Any;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::types::{ArrowPrimitiveType, Float32Type, Float64Type, UInt8Type, UInt32Type};
use arrow_array::{
    Array, ArrayRef, FixedSizeListArray, PrimitiveArray, RecordBatch, RecordBatchIterator, RecordBatchOptions,
    StringArray,
};
use arrow_buffer::ScalarBuffer;
use arrow_schema::{DataType, Field, Schema};
use barchan::io::Record;
use barchan::world::{BodyState, Column};
use glam::DVec3;
use pyo3::exceptions::{PyAttributeError, PyKeyError};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict, PyList};

use crate::errors::failed;

/// Named columns of equal length. Columns are attributes and items: numpy arrays that cannot be written to and share
/// memory with the table. Arrow programs read it by `__arrow_c_stream__`, without a copy.
#[pyclass(frozen, module = "barchan")]
#[derive(Clone)]
pub struct Table {
    batch: RecordBatch,
}

impl Table {
    /// Creates a table from columns of `rows` values.
    fn new(columns: Vec<(String, ArrayRef)>, rows: usize) -> Self {
        let field =
            |(name, array): &(String, ArrayRef)| Field::new(name, array.data_type().clone(), array.is_nullable());
        let schema = Arc::new(Schema::new(columns.iter().map(field).collect::<Vec<_>>()));
        let arrays = columns.into_iter().map(|column| column.1).collect();
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        let batch = RecordBatch::try_new_with_options(schema, arrays, &options);
        Self {
            batch: batch.expect("columns of equal length"),
        }
    }

    /// Takes the columns of guides or grains, without a copy.
    pub fn of_particles(table: barchan::world::Table) -> Self {
        let rows = table.len();
        let array = |column| -> ArrayRef {
            match column {
                Column::U8(values) => Arc::new(PrimitiveArray::<UInt8Type>::new(values.into(), None)),
                Column::U32(values) => Arc::new(PrimitiveArray::<UInt32Type>::new(values.into(), None)),
                Column::F32(values) => Arc::new(PrimitiveArray::<Float32Type>::new(values.into(), None)),
                Column::Vec3(values) => lists::<Float32Type, 3>(bytemuck::cast_vec(values)),
            }
        };
        let columns = table.columns.into_iter().map(|(name, column)| (name, array(column)));
        Self::new(columns.collect(), rows)
    }

    /// Returns the table of bodies, as in a cache.
    pub fn of_bodies(bodies: &[BodyState]) -> Self {
        let vectors = |value: fn(&BodyState) -> DVec3| {
            lists::<Float64Type, 3>(bodies.iter().map(|body| value(body).to_array()).collect())
        };
        let names: ArrayRef = Arc::new(StringArray::from_iter_values(bodies.iter().map(|body| &body.name)));
        let rotations = lists::<Float64Type, 4>(bodies.iter().map(|body| body.rotation).collect());
        let columns = [
            ("name", names),
            ("position", vectors(|body| body.position)),
            ("rotation", rotations),
            ("linear_velocity", vectors(|body| body.linear_velocity)),
            ("angular_velocity", vectors(|body| body.angular_velocity)),
            ("force", vectors(|body| body.force)),
            ("torque", vectors(|body| body.torque)),
        ];
        let columns = columns.map(|(name, array)| (name.to_owned(), array));
        Self::new(columns.into(), bodies.len())
    }

    /// Returns the table of sampled particles: positions [m], radii [m], normals of a surface [-].
    pub fn of_samples(positions: Vec<DVec3>, radii: Vec<f64>, normals: Option<Vec<DVec3>>) -> Self {
        let rows = radii.len();
        let vectors = |values: Vec<DVec3>| lists::<Float64Type, 3>(values.iter().map(DVec3::to_array).collect());
        let radii: ArrayRef = Arc::new(PrimitiveArray::<Float64Type>::new(radii.into(), None));
        let mut columns = vec![
            ("position".to_owned(), vectors(positions)),
            ("radius".to_owned(), radii),
        ];
        columns.extend(normals.map(|normals| ("normal".to_owned(), vectors(normals))));
        Self::new(columns, rows)
    }

    /// Returns the table of a sweep.
    pub fn of_records(records: Vec<(String, Record)>) -> Self {
        let rows = records.first().map_or(0, |record| record.1.len());
        let array = |record| -> ArrayRef {
            match record {
                Record::Number(values) => Arc::new(PrimitiveArray::<Float64Type>::from(values)),
                Record::Text(values) => Arc::new(StringArray::from(values)),
            }
        };
        let columns = records.into_iter().map(|(name, record)| (name, array(record)));
        Self::new(columns.collect(), rows)
    }

    fn column<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Option<Bound<'py, PyAny>>> {
        self.batch
            .column_by_name(name)
            .map(|array| to_python(py, array))
            .transpose()
    }

    fn names(&self) -> Vec<String> {
        let fields = self.batch.schema_ref().fields().iter();
        fields.map(|field| field.name().clone()).collect()
    }

    fn missing(&self, name: &str) -> String {
        format!("there is no column `{name}`; there are: {}", self.names().join(", "))
    }
}

#[pymethods]
impl Table {
    /// Names of the columns.
    #[getter]
    fn columns(&self) -> Vec<String> {
        self.names()
    }

    fn __len__(&self) -> usize {
        self.batch.num_rows()
    }

    fn __contains__(&self, name: &str) -> bool {
        self.batch.column_by_name(name).is_some()
    }

    fn __getitem__<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
        self.column(py, name)?
            .ok_or_else(|| PyKeyError::new_err(self.missing(name)))
    }

    fn __getattr__<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
        self.column(py, name)?
            .ok_or_else(|| PyAttributeError::new_err(self.missing(name)))
    }

    fn __dir__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyList>> {
        let names = slf
            .py()
            .import("builtins")?
            .getattr("object")?
            .call_method1("__dir__", (slf,))?;
        let names = names.cast_into::<PyList>()?;
        for name in slf.get().names() {
            names.append(name)?;
        }
        Ok(names)
    }

    fn __repr__(&self) -> String {
        format!(
            "<barchan.Table of {} rows: {}>",
            self.batch.num_rows(),
            self.names().join(", ")
        )
    }

    /// Exports the table as an Arrow stream [Arrow PyCapsule interface]. The requested schema is ignored, as the
    /// interface allows.
    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        drop(requested_schema);
        let reader = RecordBatchIterator::new([Ok(self.batch.clone())], self.batch.schema());
        let stream = FFI_ArrowArrayStream::new(Box::new(reader));
        PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
    }
}

/// Converts rows of N numbers each to a list array, without a copy.
fn lists<T: ArrowPrimitiveType, const N: usize>(rows: Vec<[T::Native; N]>) -> ArrayRef {
    let values = PrimitiveArray::<T>::new(ScalarBuffer::from(rows.into_flattened()), None);
    let item = Arc::new(Field::new("item", T::DATA_TYPE, false));
    Arc::new(FixedSizeListArray::new(item, N as i32, Arc::new(values), None))
}

/// Returns a column as a numpy array over the same memory; texts as a list. Missing numbers are NaN.
fn to_python<'py>(py: Python<'py>, array: &ArrayRef) -> PyResult<Bound<'py, PyAny>> {
    match array.data_type() {
        DataType::Utf8 => Ok(array.as_string::<i32>().iter().collect::<Vec<_>>().into_pyobject(py)?),
        DataType::FixedSizeList(item, width) => {
            let values = array.as_fixed_size_list().values();
            let shape = vec![array.len(), *width as usize];
            match item.data_type() {
                DataType::Float32 => view::<Float32Type>(py, values, shape),
                _ => view::<Float64Type>(py, values, shape),
            }
        }
        DataType::UInt8 => view::<UInt8Type>(py, array, vec![array.len()]),
        DataType::UInt32 => view::<UInt32Type>(py, array, vec![array.len()]),
        DataType::Float32 => view::<Float32Type>(py, array, vec![array.len()]),
        _ if array.null_count() > 0 => {
            let values = array.as_primitive::<Float64Type>().iter();
            let values = values.map(|value| value.unwrap_or(f64::NAN));
            let filled: ArrayRef = Arc::new(PrimitiveArray::<Float64Type>::from_iter_values(values));
            view::<Float64Type>(py, &filled, vec![array.len()])
        }
        _ => view::<Float64Type>(py, array, vec![array.len()]),
    }
}

fn view<'py, T: ArrowPrimitiveType>(
    py: Python<'py>,
    array: &ArrayRef,
    shape: Vec<usize>,
) -> PyResult<Bound<'py, PyAny>> {
    let kind = match T::DATA_TYPE {
        DataType::UInt8 => "|u1",
        DataType::UInt32 => "<u4",
        DataType::Float32 => "<f4",
        DataType::Float64 => "<f8",
        other => return Err(failed(format!("a column of type {other} has no view"))),
    };
    let address = array.as_primitive::<T>().values().as_ptr() as usize;
    Memory::view(py, Box::new(array.clone()), address, shape, kind)
}

/// Memory that numpy looks at, and its owner.
#[pyclass(frozen)]
pub struct Memory {
    _owner: Box<dyn Any + Send + Sync>,
    address: usize,
    shape: Vec<usize>,
    kind: &'static str,
}

impl Memory {
    /// Returns a numpy array over the memory at `address`, which lives as long as `owner`.
    fn view<'py>(
        py: Python<'py>,
        owner: Box<dyn Any + Send + Sync>,
        address: usize,
        shape: Vec<usize>,
        kind: &'static str,
    ) -> PyResult<Bound<'py, PyAny>> {
        let memory = Self {
            _owner: owner,
            address,
            shape,
            kind,
        };
        py.import("numpy")?.call_method1("asarray", (memory,))
    }

    /// Returns an image as a numpy array: rows, columns, red green blue.
    pub fn image(py: Python<'_>, image: barchan::render::Image) -> PyResult<Bound<'_, PyAny>> {
        let shape = vec![image.height as usize, image.width as usize, 3];
        let address = image.pixels.as_ptr() as usize;
        Self::view(py, Box::new(image.pixels), address, shape, "|u1")
    }
}

#[pymethods]
impl Memory {
    /// Describes the memory [numpy array interface]; numpy then keeps this object alive.
    #[getter]
    fn __array_interface__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let about = PyDict::new(py);
        about.set_item("version", 3)?;
        about.set_item("shape", pyo3::types::PyTuple::new(py, &self.shape)?)?;
        about.set_item("typestr", self.kind)?;
        let is_read_only = true;
        about.set_item("data", (self.address, is_read_only))?;
        Ok(about)
    }
}
