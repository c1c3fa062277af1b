//! Checkpoint entries of the solver.

use barchan_world::{Archive, ArchiveError};
use glam::{Vec3, Vec4, Vec4Swizzles};

use super::columns::Past;
use crate::laws::rest::Calm;
use crate::laws::stress::Sym;

/// Stores what outlives a step, for the guides `ids`.
pub(crate) fn save(past: &Past, ids: &[u32], archive: &mut Archive) {
    let stress: Vec<[f32; 6]> = past
        .stress
        .iter()
        .map(|s| [s.diagonal.x, s.diagonal.y, s.diagonal.z, s.off.x, s.off.y, s.off.z])
        .collect();
    let grip: Vec<Vec3> = past.grip.iter().map(|g| g.xyz()).collect();
    archive.put("sph.ids", ids);
    archive.put("sph.pressure", &past.pressure);
    archive.put("sph.stress", &stress);
    archive.put("sph.grip", &grip);
    let calm: Vec<f32> = past.calm.iter().map(|calm| calm.time).collect();
    let way: Vec<Vec3> = past.calm.iter().map(|calm| calm.way).collect();
    archive.put("sph.wetness", &past.wetness);
    archive.put("sph.calm", &calm);
    archive.put("sph.way", &way);
}

/// Takes back what [`save`] stored of guides with ids below `next_id`.
pub(crate) fn load(archive: &Archive, next_id: u32) -> Result<(Past, Vec<u32>), ArchiveError> {
    let ids = archive.get_ids("sph.ids", next_id)?;
    let pressure: Vec<f32> = archive.get_f32s("sph.pressure")?;
    let stress: Vec<[f32; 6]> = archive.get_f32s("sph.stress")?;
    let grip: Vec<Vec3> = archive.get_f32s("sph.grip")?;
    let wetness: Vec<f32> = archive.get_f32s("sph.wetness")?;
    let calm: Vec<f32> = archive.get_f32s("sph.calm")?;
    let way: Vec<Vec3> = archive.get_near("sph.way")?;
    if [
        pressure.len(),
        stress.len(),
        grip.len(),
        wetness.len(),
        calm.len(),
        way.len(),
    ]
    .iter()
    .any(|&n| n != ids.len())
    {
        return Err(ArchiveError::Ragged {
            prefix: "sph".to_owned(),
        });
    }
    let past = Past {
        pressure,
        stress: stress
            .iter()
            .map(|s| Sym {
                diagonal: Vec3::new(s[0], s[1], s[2]),
                off: Vec3::new(s[3], s[4], s[5]),
            })
            .collect(),
        grip: grip.iter().map(|g| Vec4::new(g.x, g.y, g.z, 0.0)).collect(),
        wetness,
        calm: calm.iter().zip(way).map(|(&time, way)| Calm { time, way }).collect(),
    };
    Ok((past, ids))
}
