//! Maps columns of particles to colors.

use barchan_render::{ColorMap, Legend};
use barchan_world::{Column, Frame, Table};
use glam::Vec3;
use rayon::prelude::*;

use crate::nearest::Nearest;

/// Meaning of the particles' colors.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Coloring {
    /// The material, with a little variation between particles.
    #[default]
    Material,
    /// A column by its name, or `speed`; vectors are colored by length.
    Column {
        /// Name of the column.
        name: String,
        /// Numbers at both ends of the colors; by default the range that excludes a thousandth of the frame's values at
        /// either end.
        range: Option<[f32; 2]>,
        /// Span of all values, for the legend and the default range; by default that of the frame.
        span: Option<Span>,
        /// Color map.
        map: ColorMap,
    },
}

/// Titles of well-known columns.
const TITLES: &[(&str, &str)] = &[
    ("speed", "speed [m/s]"),
    ("velocity", "speed [m/s]"),
    ("position", "distance from the origin [m]"),
    ("radius", "radius [m]"),
    // Relative to the settled material, which has density 1.
    ("density", "relative density [-]"),
    ("pressure", "pressure [Pa]"),
    ("wetness", "wetness [-]"),
    ("angular_velocity", "angular velocity [rad/s]"),
    ("rotation", "rotation [rad]"),
];

/// Largest number of values that are sorted to find a range.
const MAX_SORTED: usize = 20_000;

/// Share of the values beyond each end of a default range: 1 / `RARE` [-].
const RARE: usize = 1000;

/// Returns one number per row of a column; `None` if there is no such column.
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

/// Returns the columns that [`values`] finds, `speed` first.
pub(crate) fn names(table: &Table) -> impl Iterator<Item = &str> {
    let speed = table.column("velocity").map(|_| "speed");
    let others = table.columns.iter().map(|column| column.0.as_str());
    speed.into_iter().chain(others)
}

/// Returns true if grains lack a column that guides have, and take it from them.
pub(crate) fn is_followed(frame: &Frame, name: &str) -> bool {
    let lacks = |grains: &Table| !names(grains).any(|known| known == name);
    frame.grains.as_ref().is_some_and(lacks) && names(&frame.guides).any(|known| known == name)
}

/// Returns true if no particle has a column that a solver adds in its first step, which is still to come.
pub(crate) fn is_to_come(frame: &Frame, name: &str) -> bool {
    let tables = frame.grains.iter().chain([&frame.guides]);
    let missing = !tables.flat_map(names).any(|known| known == name);
    missing && frame.time <= 0.0 && TITLES.iter().any(|title| title.0 == name)
}

/// Returns a column of the guides for each grain: the value of the nearest guide.
pub(crate) fn follow(frame: &Frame, grains: &Table, name: &str) -> Option<Vec<f32>> {
    let values = values(&frame.guides, name)?;
    let (guides, grains) = (positions(&frame.guides)?, positions(grains)?);
    let tree = Nearest::new(guides);
    let value = |&position: &Vec3| tree.find(position).map_or(f32::NAN, |guide| values[guide]);
    Some(grains.par_iter().map(value).collect())
}

fn positions(table: &Table) -> Option<&[Vec3]> {
    match table.column("position") {
        Some(Column::Vec3(positions)) => Some(positions),
        _ => None,
    }
}

/// A range of numbers and their extremes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Span {
    /// Range that excludes a thousandth of the values at either end.
    pub range: [f32; 2],
    /// Smallest and largest value.
    pub extremes: [f32; 2],
}

impl Span {
    /// Returns the span of the finite values.
    pub(crate) fn of(values: &[f32]) -> Self {
        let finite = || values.iter().copied().filter(|v| v.is_finite());
        let extremes = [
            finite().fold(f32::INFINITY, f32::min),
            finite().fold(f32::NEG_INFINITY, f32::max),
        ];
        if extremes[0] > extremes[1] {
            return Self {
                range: [0.0, 1.0],
                extremes: [0.0, 1.0],
            };
        }
        let mut some: Vec<f32> = finite().step_by(values.len().div_ceil(MAX_SORTED)).collect();
        some.sort_unstable_by(f32::total_cmp);
        // Too few values have no outliers to exclude.
        let rare = some.len() / RARE;
        let range = match rare {
            0 => extremes,
            _ => [some[rare], some[some.len() - 1 - rare]],
        };
        Self {
            range: range_of(range),
            extremes,
        }
    }

    /// Returns the union of two spans.
    pub fn join(self, other: Self) -> Self {
        let join = |a: [f32; 2], b: [f32; 2]| [a[0].min(b[0]), a[1].max(b[1])];
        Self {
            range: range_of(join(self.range, other.range)),
            extremes: join(self.extremes, other.extremes),
        }
    }
}

/// Returns the range of the colors. A range that nearly starts at zero starts at zero: a heap at rest has speeds of
/// almost zero. The range of a constant column has equal ends.
fn range_of([low, high]: [f32; 2]) -> [f32; 2] {
    let low = if low > 0.0 && low < 0.2 * high { 0.0 } else { low };
    [low, high.max(low)]
}

/// Returns the sRGB colors of `values`.
pub(crate) fn colors(values: &[f32], [low, high]: [f32; 2], map: ColorMap) -> Vec<[u8; 3]> {
    let scale = 1.0 / (high - low).max(f32::MIN_POSITIVE);
    values.iter().map(|&value| map.color((value - low) * scale)).collect()
}

/// Returns the legend. `range`: of the user, otherwise that of the span.
pub(crate) fn legend(name: &str, range: Option<[f32; 2]>, span: Span, map: ColorMap) -> Legend {
    let title = TITLES.iter().find(|title| title.0 == name);
    Legend {
        title: title.map_or(name, |title| title.1).to_owned(),
        range: range.unwrap_or(span.range),
        extremes: span.extremes,
        beyond: range.is_none().then_some(1.0 / RARE as f32),
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
    fn a_range_leaves_out_what_is_rare_and_knows_its_extremes() {
        let mut values: Vec<f32> = (0..5000).map(|k| 100.0 + k as f32 * 0.02).collect();
        values.extend([1e9, -1e9, f32::NAN, f32::INFINITY]);
        let Span {
            range: [low, high],
            extremes,
        } = Span::of(&values);
        assert!(
            (100.0..100.2).contains(&low) && (199.8..200.0).contains(&high),
            "{low} {high}"
        );
        assert_eq!(extremes, [-1e9, 1e9]);
        // Few values have no outliers.
        assert_eq!(Span::of(&[1.5, 2.0, 4.9]).range, [1.5, 4.9]);
        assert_eq!(Span::of(&[]).range, [0.0, 1.0]);
        // The range of a constant has equal ends.
        assert_eq!(Span::of(&[3.0; 5]).range, [3.0, 3.0]);
        assert_eq!(
            colors(&[3.0], [3.0, 3.0], ColorMap::default()),
            colors(&[0.0], [0.0, 1.0], ColorMap::default())
        );
        assert_eq!(Span::of(&[0.01, 1.0]).range, [0.0, 1.0]);
        let joined = Span::of(&[1.0, 2.0]).join(Span::of(&[5.0, 6.0]));
        assert_eq!((joined.range, joined.extremes), ([0.0, 6.0], [1.0, 6.0]));
    }

    #[test]
    fn grains_take_what_they_lack_from_the_nearest_guide() {
        let positions = |x: &[f32]| Column::Vec3(x.iter().map(|&x| Vec3::new(x, 0.0, 0.0)).collect());
        let mut guides = Table::default();
        guides.push("position", positions(&[0.0, 1.0]));
        guides.push("wetness", Column::F32(vec![0.25, 0.75]));
        let mut grains = Table::default();
        grains.push("position", positions(&[0.9, 0.1, -3.0, 7.0]));
        let frame = Frame {
            guides,
            grains: Some(grains.clone()),
            ..Frame::default()
        };
        assert!(is_followed(&frame, "wetness") && !is_followed(&frame, "position"));
        assert_eq!(follow(&frame, &grains, "wetness"), Some(vec![0.75, 0.25, 0.25, 0.75]));
        assert_eq!(follow(&frame, &grains, "heat"), None);
    }
}
