//! Tables of joints.

use std::path::Path;

use arrow_schema::Metadata;
use barchan_world::JointState;

use super::CacheError;
use super::doubles::{DoubleColumns, DoubleRows};

pub(super) fn write(path: &Path, joints: &[JointState], tags: Metadata, level: i32) -> Result<u64, CacheError> {
    DoubleColumns::new(joints.iter().map(|joint| joint.name.as_str()))
        .with_lists("position", joints.iter().map(|joint| joint.position.to_array()))
        .with("displacement", joints.iter().map(|joint| joint.displacement))
        .with("speed", joints.iter().map(|joint| joint.speed))
        .with_lists("force", joints.iter().map(|joint| joint.force.to_array()))
        .with_lists("torque", joints.iter().map(|joint| joint.torque.to_array()))
        .with("motor", joints.iter().map(|joint| joint.motor))
        .write(path, tags, level)
}

pub(super) fn read(path: &Path, count: u64) -> Result<Vec<JointState>, CacheError> {
    let rows = DoubleRows::read(path, count)?;
    let position = rows.vectors("position")?;
    let (displacement, speed) = (rows.numbers("displacement")?, rows.numbers("speed")?);
    let (force, torque, motor) = (rows.vectors("force")?, rows.vectors("torque")?, rows.numbers("motor")?);
    let joint = |(i, name)| JointState {
        name,
        position: position[i],
        displacement: displacement[i],
        speed: speed[i],
        force: force[i],
        torque: torque[i],
        motor: motor[i],
    };
    Ok(rows.names()?.into_iter().enumerate().map(joint).collect())
}
