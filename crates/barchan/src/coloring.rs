//! Numbers of particles as colours.

use barchan_render::{ColorMap, Legend};
use barchan_world::{Column, Table};

/// What colours mean.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Coloring {
    /// The material, with a little variation from grain to grain.
    #[default]
    Material,
    /// A column: `speed`, or one by its name; of vectors the length.
    Column {
        /// Its name.
        name: String,
        /// The numbers at both ends of the colours; what the frame has if none is given.
        range: Option<[f32; 2]>,
        /// The colours.
        map: ColorMap,
    },
}

/// Units of columns that are known.
const UNITS: &[(&str, &str)] = &[
    ("speed", "m/s"),
    ("velocity", "m/s"),
    ("position", "m"),
    ("radius", "m"),
    ("density", "kg/m³"),
    ("pressure", "Pa"),
    ("mass", "kg"),
];

/// Numbers looked at to find a range.
const LOOKED_AT: usize = 20_000;

/// The numbers of a column, one each; none if there is no such column.
pub(crate) fn values(table: &Table, name: &str) -> Option<Vec<f32>> {
    let column = match table.column(name) {
        None if name == "speed" => table.column("velocity"),
        found => found,
    };
    Some(match column? {
        Column::U8(values) => values.iter().map(|&v| f32::from(v)).collect(),
        Column::U32(values) => values.iter().map(|&v| v as f32).collect(),
        Column::F32(values) => values.clone(),
        Column::Vec3(values) => values.iter().map(|v| v.length()).collect(),
    })
}

/// The columns that [`values`] finds, `speed` first.
pub(crate) fn names(table: &Table) -> impl Iterator<Item = &str> {
    let speed = table.column("velocity").map(|_| "speed");
    let others = table.columns.iter().map(|column| column.0.as_str());
    speed.into_iter().chain(others)
}

/// The range that all but the smallest and the largest hundredth lie in.
pub(crate) fn range(values: &[f32]) -> [f32; 2] {
    let step = values.len().div_ceil(LOOKED_AT).max(1);
    let mut some: Vec<f32> = values.iter().copied().step_by(step).filter(|v| v.is_finite()).collect();
    some.sort_unstable_by(f32::total_cmp);
    let [Some(low), Some(high)] = [
        some.len() / 100,
        some.len() - some.len() / 100 - usize::from(!some.is_empty()),
    ]
    .map(|at| some.get(at).copied()) else {
        return [0.0, 1.0];
    };
    // A heap at rest has speeds of almost zero: the bar starts at zero where it nearly does.
    let low = if low > 0.0 && low < 0.2 * high { 0.0 } else { low };
    if high > low { [low, high] } else { [low, low + 1.0] }
}

/// Colours of `values`, sRGB.
pub(crate) fn colors(values: &[f32], [low, high]: [f32; 2], map: ColorMap) -> Vec<[u8; 3]> {
    let scale = 1.0 / (high - low).max(f32::MIN_POSITIVE);
    values.iter().map(|&value| map.color((value - low) * scale)).collect()
}

/// The bar beside the picture.
pub(crate) fn legend(name: &str, range: [f32; 2], map: ColorMap) -> Legend {
    let unit = UNITS.iter().find(|unit| unit.0 == name);
    Legend {
        title: unit.map_or_else(|| name.to_owned(), |(_, unit)| format!("{name} [{unit}]")),
        range,
        map,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::Vec3;

    fn table() -> Table {
        let mut table = Table::default();
        table.push("velocity", Column::Vec3(vec![Vec3::new(3.0, 4.0, 0.0), Vec3::ZERO]));
        table.push("material", Column::U8(vec![0, 2]));
        table
    }

    #[test]
    fn speed_is_the_length_of_the_velocity() {
        assert_eq!(values(&table(), "speed"), Some(vec![5.0, 0.0]));
        assert_eq!(values(&table(), "material"), Some(vec![0.0, 2.0]));
        assert_eq!(values(&table(), "pressure"), None);
        assert!(names(&table()).eq(["speed", "velocity", "material"]));
    }

    #[test]
    fn a_range_leaves_out_what_is_rare_and_is_never_empty() {
        let mut values: Vec<f32> = (0..1000).map(|k| 100.0 + k as f32 * 0.1).collect();
        values.extend([1e9, -1e9, f32::NAN, f32::INFINITY]);
        let [low, high] = range(&values);
        assert!(
            (100.0..102.0).contains(&low) && (197.0..200.0).contains(&high),
            "{low} {high}"
        );
        assert_eq!(range(&[]), [0.0, 1.0]);
        assert_eq!(range(&[3.0; 5]), [3.0, 4.0]);
        assert_eq!(range(&[0.01, 1.0]), [0.0, 1.0]);
    }
}
