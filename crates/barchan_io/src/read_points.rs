//! Reads particles of other programs: positions, and velocities, radii and ids if present.

use std::fs;
use std::path::{Path, PathBuf};

use barchan_geometry::mesh::files::ply;
use glam::DVec3;
use thiserror::Error;

use crate::read_vtp;

/// Particles of a file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PointTable {
    /// Centers [m].
    pub positions: Vec<DVec3>,
    /// Velocities [m/s], if the file has them.
    pub velocities: Option<Vec<DVec3>>,
    /// Radii [m], if the file has them.
    pub radii: Option<Vec<f64>>,
    /// Unique ids, if the file has them.
    pub ids: Option<Vec<u32>>,
}

/// A file that could not be read.
#[derive(Debug, Error)]
#[error("{}: {reason}", path.display())]
pub struct ReadPointsError {
    /// The file.
    pub path: PathBuf,
    /// Position in the file, and the error.
    pub reason: String,
}

/// Extensions of files that [`read_points`] reads.
pub const READABLE: &[&str] = &["vtp", "ply", "csv"];

/// Largest coordinate [m] and speed [m/s]: single precision is too coarse long before.
const MAX_COORDINATE: f64 = 1e9;
/// Smallest and largest radius [m].
const RADII: [f64; 2] = [1e-9, 1e6];

const POSITION: [&[&str]; 3] = [&["x", "position_x"], &["y", "position_y"], &["z", "position_z"]];
const VELOCITY: [&[&str]; 3] = [
    &["velocity_x", "vx", "v_x", "u"],
    &["velocity_y", "vy", "v_y", "v"],
    &["velocity_z", "vz", "v_z", "w"],
];
const RADIUS: &[&str] = &["radius", "radii", "r"];
const ID: &[&str] = &["id", "ids", "particle_id", "particleid"];

/// Columns that are read, each with one number per particle.
#[derive(Default)]
pub(crate) struct Columns {
    pub names: Vec<String>,
    pub values: Vec<Vec<f64>>,
    /// Line of each particle, counted from 1, in text files.
    pub lines: Option<Vec<usize>>,
}

impl Columns {
    fn row(&self, i: usize) -> String {
        match &self.lines {
            Some(lines) => format!("line {}", lines[i]),
            None => format!("particle {}", i + 1),
        }
    }
}

/// Indices of the columns that are read.
pub(crate) struct Layout {
    position: [usize; 3],
    velocity: Option<[usize; 3]>,
    radius: Option<usize>,
    id: Option<usize>,
}

impl Layout {
    /// Finds the columns among all names of a file.
    pub fn of<S: AsRef<str>>(names: &[S]) -> Result<Self, String> {
        let column = |wanted: &[&str]| {
            let find = |wanted: &&str| names.iter().position(|name| name.as_ref().eq_ignore_ascii_case(wanted));
            wanted.iter().find_map(find)
        };
        let vector = |wanted: [&[&str]; 3]| {
            let [x, y, z] = wanted.map(column);
            Some([x?, y?, z?])
        };
        Ok(Self {
            position: vector(POSITION).ok_or("there are no columns x, y and z")?,
            velocity: vector(VELOCITY),
            radius: column(RADIUS),
            id: column(ID),
        })
    }

    /// Returns true if column `k` is read.
    pub fn has(&self, k: usize) -> bool {
        let vectors = self.position.iter().chain(self.velocity.iter().flatten());
        vectors.chain(&self.radius).chain(&self.id).any(|&read| read == k)
    }
}

/// Reads particles from a `.vtp`, `.ply` or `.csv` file. Columns are found by their names (case-insensitive): `x`, `y`,
/// `z`, then `velocity_x` or `vx` or `u` and so on, `radius`, and `id`. Other columns may hold anything.
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
    table(&parse(&bytes).map_err(fail)?).map_err(fail)
}

fn table(columns: &Columns) -> Result<PointTable, String> {
    let layout = Layout::of(&columns.names)?;
    let check = |k: usize, is_good: &dyn Fn(f64) -> bool, meant: &str| {
        let values = &columns.values[k];
        match values.iter().position(|&value| !is_good(value)) {
            None => Ok(values),
            Some(row) => Err(format!(
                "{}, column `{}`: {} is not {meant}",
                columns.row(row),
                columns.names[k],
                values[row]
            )),
        }
    };
    let vectors = |axes: [usize; 3], meant: &str| {
        let is_good = |value: f64| value.abs() <= MAX_COORDINATE;
        let [x, y, z] = axes.map(|k| check(k, &is_good, meant));
        let (x, y, z) = (x?, y?, z?);
        Ok::<_, String>((0..x.len()).map(|i| DVec3::new(x[i], y[i], z[i])).collect::<Vec<_>>())
    };
    let positions = vectors(layout.position, "a coordinate from -1e9 to 1e9 m")?;
    let velocities = layout
        .velocity
        .map(|axes| vectors(axes, "a velocity from -1e9 to 1e9 m/s"));
    let [low, high] = RADII;
    let is_radius = |value: f64| (low..=high).contains(&value);
    let radii = layout
        .radius
        .map(|k| check(k, &is_radius, "a radius from 1e-9 to 1e6 m"));
    let is_id = |value: f64| (0.0..=f64::from(u32::MAX - 1)).contains(&value) && value.fract() == 0.0;
    let ids = layout
        .id
        .map(|k| check(k, &is_id, "an id, a whole number from 0 to 4294967294"));
    let ids = ids
        .transpose()?
        .map(|ids| ids.iter().map(|id| *id as u32).collect::<Vec<_>>());
    if let Some([first, second]) = ids.as_deref().and_then(find_duplicate) {
        let (id, first, second) = (
            ids.as_deref().unwrap_or_default()[first],
            columns.row(first),
            columns.row(second),
        );
        return Err(format!("{second}: the id {id} is that of {first}"));
    }
    Ok(PointTable {
        positions,
        velocities: velocities.transpose()?,
        radii: radii.transpose()?.cloned(),
        ids,
    })
}

/// Returns two rows with the same id, if there are any.
fn find_duplicate(ids: &[u32]) -> Option<[usize; 2]> {
    if ids.is_sorted_by(|a, b| a < b) {
        return None;
    }
    let mut rows: Vec<usize> = (0..ids.len()).collect();
    rows.sort_unstable_by_key(|&row| (ids[row], row));
    rows.windows(2)
        .find(|pair| ids[pair[0]] == ids[pair[1]])
        .map(|pair| [pair[0], pair[1]])
}

fn parse_ply(bytes: &[u8]) -> Result<Columns, String> {
    let file = ply::read(bytes).map_err(|error| error.to_string())?;
    let vertices = file.element("vertex").ok_or("there is no element `vertex`")?;
    let numbers = vertices.properties.iter();
    let numbers: Vec<&str> = numbers
        .map(|p| p.name.as_str())
        .filter(|name| vertices.scalars(name).is_some())
        .collect();
    let layout = Layout::of(&numbers)?;
    let mut columns = Columns::default();
    for (_, name) in numbers.iter().enumerate().filter(|(k, _)| layout.has(*k)) {
        columns.names.push((*name).to_owned());
        columns
            .values
            .push(vertices.scalars(name).map(ply::Values::to_f64).unwrap_or_default());
    }
    Ok(columns)
}

fn parse_csv(bytes: &[u8]) -> Result<Columns, String> {
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let line = bytes[..error.valid_up_to()]
            .iter()
            .filter(|byte| **byte == b'\n')
            .count()
            + 1;
        format!("line {line} is no UTF-8 text")
    })?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    let (_, header) = lines.next().ok_or("the file is empty")?;
    let names: Vec<&str> = header.split(',').map(|name| name.trim().trim_matches('"')).collect();
    let layout = Layout::of(&names)?;
    let read: Vec<usize> = (0..names.len()).filter(|&k| layout.has(k)).collect();
    let mut columns = Columns {
        names: read.iter().map(|&k| names[k].to_owned()).collect(),
        values: vec![Vec::new(); read.len()],
        lines: None,
    };
    let mut numbers = Vec::new();
    for (number, line) in lines {
        let cells: Vec<&str> = line.split(',').collect();
        let number = number + 1;
        if cells.len() != names.len() {
            return Err(format!(
                "line {number} has {} cells, the header has {}",
                cells.len(),
                names.len()
            ));
        }
        for (values, &k) in columns.values.iter_mut().zip(&read) {
            let cell = cells[k].trim().trim_matches('"');
            let value = cell.parse().map_err(|_| {
                let shown: String = cell.chars().take(20).collect();
                format!("line {number}, column `{}`: `{shown}` is no number", names[k])
            })?;
            values.push(value);
        }
        numbers.push(number);
    }
    columns.lines = Some(numbers);
    Ok(columns)
}
