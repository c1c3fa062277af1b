//! Tables of bodies.

use std::path::Path;

use arrow_schema::Metadata;
use barchan_world::BodyState;
use glam::DVec3;

use super::CacheError;
use super::doubles::{DoubleColumns, DoubleRows};

pub(super) fn write(path: &Path, bodies: &[BodyState], tags: Metadata, level: i32) -> Result<u64, CacheError> {
    let vectors = |value: fn(&BodyState) -> DVec3| bodies.iter().map(move |body| value(body).to_array());
    DoubleColumns::new(bodies.iter().map(|body| body.name.as_str()))
        .with_lists("position", vectors(|b| b.position))
        .with_lists("rotation", bodies.iter().map(|body| body.rotation))
        .with_lists("linear_velocity", vectors(|b| b.linear_velocity))
        .with_lists("angular_velocity", vectors(|b| b.angular_velocity))
        .with_lists("force", vectors(|b| b.force))
        .with_lists("torque", vectors(|b| b.torque))
        .with("max_force", bodies.iter().map(|b| b.max_force))
        .with("max_torque", bodies.iter().map(|b| b.max_torque))
        .write(path, tags, level)
}

pub(super) fn read(path: &Path, count: u64) -> Result<Vec<BodyState>, CacheError> {
    let rows = DoubleRows::read(path, count)?;
    let names = rows.names()?;
    let (position, rotation) = (rows.vectors("position")?, rows.lists::<4>("rotation")?);
    let linear_velocity = rows.vectors("linear_velocity")?;
    let angular_velocity = rows.vectors("angular_velocity")?;
    let (force, torque) = (rows.vectors("force")?, rows.vectors("torque")?);
    // Caches of version 0.1 have no largest values.
    let largest = |name: &str| match rows.has(name) {
        true => rows.numbers(name),
        false => Ok(vec![f64::NAN; names.len()]),
    };
    let (max_force, max_torque) = (largest("max_force")?, largest("max_torque")?);
    let body = |(i, name)| BodyState {
        name,
        position: position[i],
        rotation: rotation[i],
        linear_velocity: linear_velocity[i],
        angular_velocity: angular_velocity[i],
        force: force[i],
        torque: torque[i],
        max_force: max_force[i],
        max_torque: max_torque[i],
    };
    Ok(names.into_iter().enumerate().map(body).collect())
}
