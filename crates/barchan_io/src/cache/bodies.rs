//! Bodies as Arrow record batches, in f64: a body's state reads back bit for bit.

use std::path::Path;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Float64Type;
use arrow_array::{Array, ArrayRef, StringArray};
use arrow_schema::{DataType, Metadata};
use barchan_world::BodyState;
use glam::DVec3;

use super::table::{lists, rows, write_columns};
use super::{CacheError, arrow_file};

pub(super) fn write(path: &Path, bodies: &[BodyState], tags: Metadata, level: i32) -> Result<u64, CacheError> {
    let vectors = |value: fn(&BodyState) -> DVec3| {
        lists::<Float64Type, 3>(bodies.iter().map(|body| value(body).to_array()).collect())
    };
    let names: ArrayRef = Arc::new(StringArray::from_iter_values(bodies.iter().map(|body| &body.name)));
    let columns = [
        ("name", names),
        ("position", vectors(|b| b.position)),
        (
            "rotation",
            lists::<Float64Type, 4>(bodies.iter().map(|body| body.rotation).collect()),
        ),
        ("linear_velocity", vectors(|b| b.linear_velocity)),
        ("angular_velocity", vectors(|b| b.angular_velocity)),
        ("force", vectors(|b| b.force)),
        ("torque", vectors(|b| b.torque)),
    ];
    let columns = columns.map(|(name, array)| (name.to_owned(), array));
    write_columns(path, columns.into(), tags, level)
}

pub(super) fn read(path: &Path, count: u64) -> Result<Vec<BodyState>, CacheError> {
    let (schema, batches) = arrow_file::read(path, count)?;
    let column = |name: &str, fits: fn(&DataType) -> bool| match schema.column_with_name(name) {
        Some((i, field)) if fits(field.data_type()) => Ok(i),
        Some((_, field)) => Err(CacheError::foreign(
            path,
            format!("column `{name}` is of type {}", field.data_type()),
        )),
        None => Err(CacheError::foreign(path, format!("it has no column `{name}`"))),
    };
    let arrays = |i: usize| batches.iter().map(move |batch| batch.column(i).as_ref());
    let vectors = |name| -> Result<Vec<DVec3>, CacheError> {
        let i = column(name, is_doubles::<3>)?;
        Ok(rows::<Float64Type, 3>(arrays(i)).into_iter().map(DVec3::from).collect())
    };

    let names = arrays(column("name", |kind| *kind == DataType::Utf8)?);
    let names: Vec<&str> = names
        .flat_map(|array: &dyn Array| array.as_string::<i32>().iter().flatten())
        .collect();
    let position = vectors("position")?;
    let rotation = rows::<Float64Type, 4>(arrays(column("rotation", is_doubles::<4>)?));
    let linear_velocity = vectors("linear_velocity")?;
    let angular_velocity = vectors("angular_velocity")?;
    let force = vectors("force")?;
    let torque = vectors("torque")?;
    let body = |(i, name): (usize, &str)| BodyState {
        name: name.to_owned(),
        position: position[i],
        rotation: rotation[i],
        linear_velocity: linear_velocity[i],
        angular_velocity: angular_velocity[i],
        force: force[i],
        torque: torque[i],
    };
    Ok(names.into_iter().enumerate().map(body).collect())
}

fn is_doubles<const N: usize>(kind: &DataType) -> bool {
    matches!(kind, DataType::FixedSizeList(item, length) if *length == N as i32 && *item.data_type() == DataType::Float64)
}
