//! Particle data as columns, declared once.

use bytemuck::Pod;
use glam::{DVec3, Vec3};

/// A value that a column can hold.
pub trait Element: Pod + Send + Sync {
    /// Returns the column as one of the types of files.
    fn column(values: &[Self]) -> ColumnRef<'_>;
}

/// A column of any kind.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ColumnRef<'a> {
    /// Small numbers, such as materials.
    U8(&'a [u8]),
    /// Numbers, such as ids.
    U32(&'a [u32]),
    /// One single-precision number each.
    F32(&'a [f32]),
    /// One double-precision number each.
    F64(&'a [f64]),
    /// Three single-precision numbers each.
    Vec3(&'a [Vec3]),
    /// Three double-precision numbers each.
    DVec3(&'a [DVec3]),
}

macro_rules! elements {
    ($($type:ty => $kind:ident),* $(,)?) => {
        $(impl Element for $type {
            fn column(values: &[Self]) -> ColumnRef<'_> {
                ColumnRef::$kind(values)
            }
        })*

        impl ColumnRef<'_> {
            /// Returns the number of rows.
            pub fn len(&self) -> usize {
                match self {
                    $(Self::$kind(values) => values.len(),)*
                }
            }

            /// Returns the bytes of the values, in this machine's byte order.
            pub fn bytes(&self) -> &[u8] {
                match self {
                    $(Self::$kind(values) => bytemuck::cast_slice(values),)*
                }
            }
        }
    };
}

elements!(u8 => U8, u32 => U32, f32 => F32, f64 => F64, Vec3 => Vec3, DVec3 => DVec3);

impl ColumnRef<'_> {
    /// Returns true if there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Replaces `values` by `values[order[0]], values[order[1]], ...`; `spare` holds the old ones afterwards.
pub fn gather<T: Copy>(values: &mut Vec<T>, order: &[u32], spare: &mut Vec<T>) {
    spare.clear();
    spare.extend(order.iter().map(|&k| values[k as usize]));
    std::mem::swap(values, spare);
}

/// Declares a structure of columns with all operations on it: rows, sorting, removal, export, checkpoints.
///
/// A new column is one line here, and no sort, file or checkpoint can forget it.
macro_rules! columns {
    (
        $(#[$about:meta])* pub struct $name:ident, row $row:ident {
            $($(#[$doc:meta])* $column:ident: $type:ty,)*
        }
    ) => {
        $(#[$about])*
        #[derive(Clone, Debug, Default, PartialEq)]
        pub struct $name {
            $($(#[$doc])* pub $column: Vec<$type>,)*
        }

        #[doc = concat!("One row of [`", stringify!($name), "`].")]
        #[derive(Clone, Copy, Debug, Default, PartialEq)]
        pub struct $row {
            $($(#[$doc])* pub $column: $type,)*
        }

        impl $name {
            /// Names of the columns, in their order.
            pub const NAMES: &'static [&'static str] = &[$(stringify!($column)),*];

            /// Appends a row.
            pub fn push(&mut self, row: $row) {
                $(self.$column.push(row.$column);)*
            }

            /// Returns row `i`.
            pub fn row(&self, i: usize) -> $row {
                $row { $($column: self.$column[i],)* }
            }

            /// Moves row `order[k]` to index `k`. An order that omits rows removes them.
            pub fn gather(&mut self, order: &[u32]) {
                $($crate::columns::gather(&mut self.$column, order, &mut Vec::new());)*
            }

            /// Keeps the rows for which `keep` is true, in their order.
            pub fn retain(&mut self, keep: &[bool]) {
                $({
                    let mut keep = keep.iter();
                    self.$column.retain(|_| *keep.next().expect("one flag a row"));
                })*
            }

            /// Returns every column with its name.
            pub fn columns(&self) -> Vec<(&'static str, $crate::ColumnRef<'_>)> {
                vec![$((stringify!($column), <$type as $crate::Element>::column(&self.$column))),*]
            }

            /// Writes every column to an archive, under `prefix`.
            pub fn save(&self, archive: &mut $crate::Archive, prefix: &str) {
                $(archive.put(&format!("{prefix}.{}", stringify!($column)), &self.$column);)*
            }

            /// Reads every column from an archive.
            pub fn load(archive: &$crate::Archive, prefix: &str) -> Result<Self, $crate::ArchiveError> {
                let loaded = Self {
                    $($column: archive.get(&format!("{prefix}.{}", stringify!($column)))?,)*
                };
                let rows = [$(loaded.$column.len()),*];
                match rows.iter().all(|&n| n == rows[0]) {
                    true => Ok(loaded),
                    false => Err($crate::ArchiveError::Ragged { prefix: prefix.to_owned() }),
                }
            }
        }
    };
}
pub(crate) use columns;
