//! Particles that other programs wrote: positions, and what else there is of velocities, radii and ids.

use std::fs;
use std::path::{Path, PathBuf};

use barchan_geometry::mesh::files::ply;
use glam::DVec3;
use thiserror::Error;

use crate::read_vtp;

/// Particles of a file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PointTable {
    /// Centres [m].
    pub positions: Vec<DVec3>,
    /// Velocities [m/s], if the file has them.
    pub velocities: Option<Vec<DVec3>>,
    /// Radii [m], if the file has them.
    pub radii: Option<Vec<f64>>,
    /// Stable numbers, if the file has them.
    pub ids: Option<Vec<u32>>,
}

/// A file that could not be read.
#[derive(Debug, Error)]
#[error("{}: {reason}", path.display())]
pub struct ReadPointsError {
    /// Which.
    pub path: PathBuf,
    /// Why.
    pub reason: String,
}

/// Endings of files that [`read_points`] reads.
pub const READABLE: &[&str] = &["vtp", "ply", "csv"];

/// Columns by name, each of one number a particle.
pub(crate) type Columns = Vec<(String, Vec<f64>)>;

/// Reads particles from a `.vtp`, `.ply` or `.csv` file. Columns are found by their names, in any case: `x`, `y`, `z`, then
/// `velocity_x` or `vx` or `u` and so on, `radius`, and `id`.
pub fn read_points(path: &Path) -> Result<PointTable, ReadPointsError> {
    let fail = |reason: String| ReadPointsError {
        path: path.to_owned(),
        reason,
    };
    let ending = path.extension().unwrap_or_default().to_string_lossy().to_lowercase();
    let parse: fn(&[u8]) -> Result<Columns, String> = match ending.as_str() {
        "vtp" => read_vtp::parse,
        "ply" => parse_ply,
        "csv" => parse_csv,
        _ => {
            return Err(fail(format!(
                "particles are read from files that end with {}",
                READABLE.join(", ")
            )));
        }
    };
    let bytes = fs::read(path).map_err(|error| fail(error.to_string()))?;
    table(parse(&bytes).map_err(fail)?).map_err(fail)
}

fn table(columns: Columns) -> Result<PointTable, String> {
    let column = |names: &[&str]| {
        names
            .iter()
            .find_map(|name| columns.iter().find(|c| c.0.eq_ignore_ascii_case(name)).map(|c| &c.1))
    };
    let vectors = |names: [&[&str]; 3]| {
        let [x, y, z] = names.map(column);
        let (x, y, z) = (x?, y?, z?);
        Some((0..x.len()).map(|i| DVec3::new(x[i], y[i], z[i])).collect::<Vec<_>>())
    };
    let positions = vectors([&["x", "position_x"], &["y", "position_y"], &["z", "position_z"]])
        .ok_or("there are no columns x, y and z")?;
    if let Some(at) = positions.iter().position(|p| !p.is_finite()) {
        return Err(format!("particle {} is not finite", at + 1));
    }
    let velocities = vectors([
        &["velocity_x", "vx", "v_x", "u"],
        &["velocity_y", "vy", "v_y", "v"],
        &["velocity_z", "vz", "v_z", "w"],
    ]);
    let ids = column(&["id", "ids", "particle_id", "particleid"]);
    let is_id = |id: &f64| (0.0..4e9).contains(id) && id.fract() == 0.0;
    if let Some(bad) = ids.and_then(|ids| ids.iter().find(|id| !is_id(id))) {
        return Err(format!("{bad} is no id: a whole number from 0 on"));
    }
    Ok(PointTable {
        positions,
        velocities,
        radii: column(&["radius", "radii", "r"]).cloned(),
        ids: ids.map(|ids| ids.iter().map(|id| *id as u32).collect()),
    })
}

fn parse_ply(bytes: &[u8]) -> Result<Columns, String> {
    let file = ply::read(bytes).map_err(|error| error.to_string())?;
    let vertices = file.element("vertex").ok_or("there is no element `vertex`")?;
    let scalar = |property: &ply::Property| {
        let values = vertices.scalars(&property.name)?;
        Some((property.name.clone(), values.to_f64()))
    };
    Ok(vertices.properties.iter().filter_map(scalar).collect())
}

fn parse_csv(bytes: &[u8]) -> Result<Columns, String> {
    let text = std::str::from_utf8(bytes).map_err(|_| "the file is no text".to_owned())?;
    let mut lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    let (_, header) = lines.next().ok_or("the file is empty")?;
    let names = header.split(',').map(|name| name.trim().trim_matches('"').to_owned());
    let mut columns: Columns = names.map(|name| (name, Vec::new())).collect();
    for (number, line) in lines {
        let mut cells = line.split(',');
        for (name, values) in &mut columns {
            let cell = cells.next().ok_or(format!("line {} has too few numbers", number + 1))?;
            // A word in a column that nobody asks for does no harm.
            let value = cell.trim().parse().unwrap_or(f64::NAN);
            if value.is_nan() && ["x", "y", "z"].contains(&name.as_str()) {
                return Err(format!("line {}: `{}` is no number", number + 1, cell.trim()));
            }
            values.push(value);
        }
    }
    Ok(columns)
}
