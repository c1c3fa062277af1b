//! Arrow files of named things in f64: their state reads back bit for bit.

use std::path::Path;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Float64Type;
use arrow_array::{Array, ArrayRef, Float64Array, RecordBatch, StringArray};
use arrow_schema::{DataType, Metadata, Schema};
use glam::DVec3;

use super::table::{lists, rows, write_columns};
use super::{CacheError, arrow_file};

/// Columns of a file to be.
pub(super) struct DoubleColumns {
    columns: Vec<(String, ArrayRef)>,
}

impl DoubleColumns {
    /// Starts with the names of the rows.
    pub fn new<'a>(names: impl Iterator<Item = &'a str>) -> Self {
        let names: ArrayRef = Arc::new(StringArray::from_iter_values(names));
        Self {
            columns: vec![("name".to_owned(), names)],
        }
    }

    /// Adds a number per row.
    pub fn with(mut self, name: &str, values: impl Iterator<Item = f64>) -> Self {
        self.columns
            .push((name.to_owned(), Arc::new(Float64Array::from_iter_values(values))));
        self
    }

    /// Adds `N` numbers per row.
    pub fn with_lists<const N: usize>(mut self, name: &str, values: impl Iterator<Item = [f64; N]>) -> Self {
        self.columns
            .push((name.to_owned(), lists::<Float64Type, N>(values.collect())));
        self
    }

    /// Writes the file and returns its length [bytes].
    pub fn write(self, path: &Path, tags: Metadata, level: i32) -> Result<u64, CacheError> {
        write_columns(path, self.columns, tags, level)
    }
}

/// The contents of a file.
pub(super) struct DoubleRows<'a> {
    path: &'a Path,
    schema: Schema,
    batches: Vec<RecordBatch>,
}

impl<'a> DoubleRows<'a> {
    pub fn read(path: &'a Path, count: u64) -> Result<Self, CacheError> {
        let (schema, batches) = arrow_file::read(path, count)?;
        Ok(Self { path, schema, batches })
    }

    /// Returns true if there is a column of that name.
    pub fn has(&self, name: &str) -> bool {
        self.schema.column_with_name(name).is_some()
    }

    /// Returns the names of the rows.
    pub fn names(&self) -> Result<Vec<String>, CacheError> {
        let names = self.column("name", |kind| *kind == DataType::Utf8)?;
        let texts = names.flat_map(|array: &dyn Array| array.as_string::<i32>().iter().flatten());
        Ok(texts.map(str::to_owned).collect())
    }

    /// Returns a number per row.
    pub fn numbers(&self, name: &str) -> Result<Vec<f64>, CacheError> {
        let column = self.column(name, |kind| *kind == DataType::Float64)?;
        Ok(column
            .flat_map(|array| array.as_primitive::<Float64Type>().values().to_vec())
            .collect())
    }

    /// Returns `N` numbers per row.
    pub fn lists<const N: usize>(&self, name: &str) -> Result<Vec<[f64; N]>, CacheError> {
        Ok(rows::<Float64Type, N>(self.column(name, is_list::<N>)?))
    }

    /// Returns a vector per row.
    pub fn vectors(&self, name: &str) -> Result<Vec<DVec3>, CacheError> {
        Ok(self.lists::<3>(name)?.into_iter().map(DVec3::from).collect())
    }

    fn column(&self, name: &str, fits: fn(&DataType) -> bool) -> Result<impl Iterator<Item = &dyn Array>, CacheError> {
        match self.schema.column_with_name(name) {
            Some((i, field)) if fits(field.data_type()) => {
                Ok(self.batches.iter().map(move |batch| batch.column(i).as_ref()))
            }
            Some((_, field)) => Err(CacheError::foreign(
                self.path,
                format!("column `{name}` is of type {}", field.data_type()),
            )),
            None => Err(CacheError::foreign(self.path, format!("it has no column `{name}`"))),
        }
    }
}

fn is_list<const N: usize>(kind: &DataType) -> bool {
    matches!(kind, DataType::FixedSizeList(item, length) if *length == N as i32 && *item.data_type() == DataType::Float64)
}
