//! Rows and tables of results.

use std::path::Path;

use barchan_io::{Cache, CacheError, Part, Record, write_records, write_records_csv};
use barchan_world::Column;
use glam::{DVec3, Vec3};
use serde_json::Value;

use super::{Row, Sweep, SweepError};

/// Adds the measures of the last frame in the cache `dir` to a row. Wall-clock times are left out: rows have the same
/// bytes on every machine.
pub(super) fn measure(dir: &Path, row: &mut Row) -> Result<(), CacheError> {
    let cache = Cache::open(dir)?;
    let all = cache.stats()?;
    let Some(last) = all.last() else { return Ok(()) };
    let stats = &last.stats;
    let mut put = |name: &str, value: f64| row.insert(name.to_owned(), Value::from(value));
    put("frame", last.frame as f64);
    put("time", last.time);
    put("guides", stats.guides as f64);
    put("grains", stats.grains as f64);
    put("mass", stats.mass);
    put("removed_mass", stats.removed_mass);
    put("emitted_mass", stats.emitted_mass);
    put("kinetic_energy", stats.kinetic_energy);
    put("potential_energy", stats.potential_energy);
    put("max_speed", stats.max_speed);
    put("max_overlap", f64::from(stats.max_overlap));
    let vector = |row: &mut Row, name: &str, vector: DVec3| {
        for (axis, value) in ["x", "y", "z"].iter().zip(vector.to_array()) {
            row.insert(format!("{name}_{axis}"), Value::from(value));
        }
    };
    vector(row, "momentum", stats.momentum);
    let entry = cache.frames().iter().find(|entry| entry.frame == last.frame);
    let has = |part| entry.is_some_and(|entry| entry.rows(part).is_some());
    if has(Part::Guides)
        && let Some(Column::Vec3(positions)) = cache.read_guides(last.frame)?.column("position")
    {
        let all = || positions.iter().copied();
        let low = all().fold(Vec3::INFINITY, Vec3::min);
        let high = all().fold(Vec3::NEG_INFINITY, Vec3::max);
        let sum: DVec3 = all().map(Vec3::as_dvec3).sum();
        vector(row, "low", low.as_dvec3());
        vector(row, "high", high.as_dvec3());
        vector(row, "mean", sum / positions.len() as f64);
    }
    if has(Part::Bodies) {
        for body in cache.read_bodies(last.frame)? {
            for (what, value) in [
                ("position", body.position),
                ("force", body.force),
                ("torque", body.torque),
            ] {
                vector(row, &format!("{}.{what}", body.name), value);
            }
        }
    }
    Ok(())
}

/// Returns the rows of a sweep as columns, without those of runs that have no result yet.
pub fn table(sweep: &Sweep) -> Vec<(String, Record)> {
    let rows: Vec<Row> = (0..sweep.plan().len()).filter_map(|k| sweep.row(k)).collect();
    let mut names: Vec<&String> = Vec::new();
    for name in rows.iter().flat_map(Row::keys) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let column = |name: &String| {
        let values = rows.iter().map(|row| row.get(name).filter(|value| !value.is_null()));
        let is_text = values.clone().flatten().any(|value| !value.is_number());
        let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        match is_text {
            true => Record::Text(values.map(|value| value.map(text)).collect()),
            false => Record::Number(values.map(|value| value.and_then(Value::as_f64)).collect()),
        }
    };
    names.into_iter().map(|name| (name.clone(), column(name))).collect()
}

impl Sweep {
    /// Writes the table of all rows, `table.arrow` and `table.csv`, and returns it.
    pub fn write_table(&self) -> Result<Vec<(String, Record)>, SweepError> {
        let table = table(self);
        write_records(&self.dir().join("table.arrow"), &table)?;
        write_records_csv(&self.dir().join("table.csv"), &table)?;
        Ok(table)
    }
}
