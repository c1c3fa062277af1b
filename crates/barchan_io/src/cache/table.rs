//! Tables as Arrow record batches.

use std::path::Path;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float32Type, UInt8Type, UInt16Type, UInt32Type};
use arrow_array::{Array, ArrayRef, ArrowPrimitiveType, FixedSizeListArray, PrimitiveArray, RecordBatch};
use arrow_buffer::ScalarBuffer;
use arrow_schema::{DataType, Field, Metadata, Schema};
use barchan_world::{Column, Table};
use glam::{DVec3, Vec3};

use super::{CacheError, arrow_file};

/// Rows per record batch: readers decode batches in parallel, and larger ones hardly compress better.
const BATCH_ROWS: usize = 1 << 16;

const POSITION: &str = "position";
const BOX_KEY: &str = "box:position";

/// Storage of positions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Positions {
    /// Full precision.
    Exact,
    /// 16 bits per coordinate, within the bounding box.
    Compact,
}

/// Writes a table with this metadata, and returns the length of the file [bytes].
pub(super) fn write(
    path: &Path,
    table: Table,
    mut tags: Metadata,
    positions: Positions,
    level: i32,
) -> Result<u64, CacheError> {
    let mut columns = Vec::with_capacity(table.columns.len());
    for (name, column) in table.columns {
        if let Some(value) = constant(&column) {
            tags.insert(format!("constant:{name}"), value);
        }
        let array = match (&column, positions) {
            (Column::Vec3(points), Positions::Compact) if name == POSITION => match Bounds::of(points) {
                Some(bounds) => {
                    tags.insert(BOX_KEY, bounds.to_json());
                    lists::<UInt16Type, 3>(points.iter().map(|&p| bounds.pack(p)).collect())
                }
                None => array(column),
            },
            _ => array(column),
        };
        columns.push((name, array));
    }
    write_columns(path, columns, tags, level)
}

/// Writes columns of equal length.
pub(super) fn write_columns(
    path: &Path,
    columns: Vec<(String, ArrayRef)>,
    tags: Metadata,
    level: i32,
) -> Result<u64, CacheError> {
    let field = |(name, array): &(String, ArrayRef)| Field::new(name, array.data_type().clone(), false);
    let schema = Arc::new(Schema::new_with_metadata(
        columns.iter().map(field).collect::<Vec<_>>(),
        tags,
    ));
    let rows = columns.first().map_or(0, |c| c.1.len());
    let batch = |start| {
        let part = |c: &(String, ArrayRef)| c.1.slice(start, BATCH_ROWS.min(rows - start));
        RecordBatch::try_new(schema.clone(), columns.iter().map(part).collect()).expect("columns of equal length")
    };
    let batches: Vec<_> = (0..rows).step_by(BATCH_ROWS).map(batch).collect();
    Ok(arrow_file::write(path, &schema, &batches, level)?)
}

fn array(column: Column) -> ArrayRef {
    match column {
        Column::U8(values) => Arc::new(PrimitiveArray::<UInt8Type>::new(values.into(), None)),
        Column::U32(values) => Arc::new(PrimitiveArray::<UInt32Type>::new(values.into(), None)),
        Column::F32(values) => Arc::new(PrimitiveArray::<Float32Type>::new(values.into(), None)),
        Column::Vec3(values) => lists::<Float32Type, 3>(bytemuck::cast_vec(values)),
    }
}

/// Converts rows of N numbers each to a list array.
pub(super) fn lists<T: ArrowPrimitiveType, const N: usize>(rows: Vec<[T::Native; N]>) -> ArrayRef {
    let values = PrimitiveArray::<T>::new(ScalarBuffer::from(rows.into_flattened()), None);
    let item = Arc::new(Field::new("item", T::DATA_TYPE, false));
    Arc::new(FixedSizeListArray::new(item, N as i32, Arc::new(values), None))
}

/// Returns the common value of all rows as JSON, if there is one that JSON can represent.
fn constant(column: &Column) -> Option<String> {
    fn same<T: Copy + PartialEq>(values: &[T]) -> Option<T> {
        let (&first, rest) = values.split_first()?;
        rest.iter().all(|v| *v == first).then_some(first)
    }
    match column {
        Column::U8(values) => same(values).map(|v| v.to_string()),
        Column::U32(values) => same(values).map(|v| v.to_string()),
        Column::F32(values) => same(values).filter(|v| v.is_finite()).map(|v| v.to_string()),
        Column::Vec3(values) => same(values)
            .filter(|v| v.is_finite())
            .map(|v| format!("[{}, {}, {}]", v.x, v.y, v.z)),
    }
}

/// Reads a table of `count` rows that [`write`] wrote.
pub(super) fn read(path: &Path, count: u64) -> Result<Table, CacheError> {
    let (schema, batches) = arrow_file::read(path, count)?;
    let bounds = schema
        .metadata
        .get(BOX_KEY)
        .map(|text| Bounds::from_json(text).ok_or_else(|| CacheError::foreign(path, format!("`{BOX_KEY}` is {text}"))));
    let bounds = bounds.transpose()?;
    let mut table = Table::default();
    for (i, field) in schema.fields().iter().enumerate() {
        let arrays = || batches.iter().map(|batch| batch.column(i).as_ref());
        let column = match (Kind::of(field.data_type()), bounds) {
            (Some(Kind::U8), _) => Column::U8(numbers::<UInt8Type>(arrays())),
            (Some(Kind::U32), _) => Column::U32(numbers::<UInt32Type>(arrays())),
            (Some(Kind::F32), _) => Column::F32(numbers::<Float32Type>(arrays())),
            (Some(Kind::Vec3), _) => Column::Vec3(bytemuck::cast_vec(rows::<Float32Type, 3>(arrays()))),
            (Some(Kind::Packed), Some(bounds)) => {
                let packed = rows::<UInt16Type, 3>(arrays());
                Column::Vec3(packed.into_iter().map(|p| bounds.unpack(p)).collect())
            }
            _ => {
                let what = format!("column `{}` is of type {}", field.name(), field.data_type());
                return Err(CacheError::foreign(path, what));
            }
        };
        table.columns.push((field.name().clone(), column));
    }
    Ok(table)
}

enum Kind {
    U8,
    U32,
    F32,
    Vec3,
    Packed,
}

impl Kind {
    fn of(kind: &DataType) -> Option<Self> {
        match kind {
            DataType::UInt8 => Some(Self::U8),
            DataType::UInt32 => Some(Self::U32),
            DataType::Float32 => Some(Self::F32),
            DataType::FixedSizeList(item, 3) => match item.data_type() {
                DataType::Float32 => Some(Self::Vec3),
                DataType::UInt16 => Some(Self::Packed),
                _ => None,
            },
            _ => None,
        }
    }
}

/// Returns the numbers of a column, batch after batch.
///
/// # Panics
/// If they have another type.
pub(super) fn numbers<'a, T: ArrowPrimitiveType>(arrays: impl Iterator<Item = &'a dyn Array>) -> Vec<T::Native> {
    let mut all = Vec::new();
    for array in arrays {
        all.extend_from_slice(array.as_primitive::<T>().values());
    }
    all
}

/// Returns the lists of a column, batch after batch.
///
/// # Panics
/// If they have another type.
pub(super) fn rows<'a, T: ArrowPrimitiveType, const N: usize>(
    arrays: impl Iterator<Item = &'a dyn Array>,
) -> Vec<[T::Native; N]> {
    let mut all = Vec::new();
    for array in arrays {
        let values = array.as_fixed_size_list().values().as_primitive::<T>();
        all.extend_from_slice(values.values().as_chunks().0);
    }
    all
}

/// Bounding box of compact positions.
#[derive(Clone, Copy, Debug)]
struct Bounds {
    low: Vec3,
    high: Vec3,
}

impl Bounds {
    /// Returns the smallest box around the finite points, if there are any.
    fn of(points: &[Vec3]) -> Option<Self> {
        let first = *points.first()?;
        let mut bounds = Self {
            low: first,
            high: first,
        };
        for &p in points {
            if !p.is_finite() {
                return None;
            }
            bounds.low = bounds.low.min(p);
            bounds.high = bounds.high.max(p);
        }
        Some(bounds)
    }

    fn size(self) -> DVec3 {
        self.high.as_dvec3() - self.low.as_dvec3()
    }

    /// Rounds to the nearest of 65536 positions per axis.
    fn pack(self, p: Vec3) -> [u16; 3] {
        let share = (p.as_dvec3() - self.low.as_dvec3()) / self.size();
        // A flat box has 0 / 0 here, which casts to 0.
        share.to_array().map(|s| (s * f64::from(u16::MAX)).round() as u16)
    }

    fn unpack(self, packed: [u16; 3]) -> Vec3 {
        let share = DVec3::from_array(packed.map(f64::from)) / f64::from(u16::MAX);
        (self.low.as_dvec3() + share * self.size()).as_vec3()
    }

    fn to_json(self) -> String {
        serde_json::json!([self.low.to_array(), self.high.to_array()]).to_string()
    }

    fn from_json(text: &str) -> Option<Self> {
        let [low, high]: [[f32; 3]; 2] = serde_json::from_str(text).ok()?;
        Some(Self {
            low: low.into(),
            high: high.into(),
        })
    }
}
