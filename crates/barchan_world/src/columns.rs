//! Particle data as columns, declared once.

use bytemuck::Pod;
use glam::{DVec3, Vec3};

/// A value that a column can hold.
pub trait Element: Pod + Send + Sync {
    /// Returns the memory of `spare` for values of this type.
    fn spare(spare: &mut Spare) -> &mut Vec<Self>;

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
        /// Memory to sort columns with, one vector per type of values.
        #[derive(Clone, Debug, Default)]
        #[allow(non_snake_case, reason = "named as the kinds of columns")]
        pub struct Spare {
            $($kind: Vec<$type>,)*
        }

        $(impl Element for $type {
            fn spare(spare: &mut Spare) -> &mut Vec<Self> {
                &mut spare.$kind
            }

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

/// Replaces `values` by those of the rows before: row `old[k]`, or the default for rows that are [`NEW_ROW`]. `spare` holds the old ones
/// afterwards.
pub fn carry<T: Copy + Default>(values: &mut Vec<T>, old: &[u32], spare: &mut Vec<T>) {
    let first_new = values.len() as u32;
    values.push(T::default());
    spare.clear();
    spare.extend(old.iter().map(|&k| values[k.min(first_new) as usize]));
    std::mem::swap(values, spare);
}

/// Moves value `order[k]` to index `k` without a copy of all of them.
pub fn permute<T: Copy>(values: &mut [T], order: &[u32]) {
    let mut is_done = vec![false; order.len()];
    for start in 0..order.len() {
        let first = values[start];
        let mut place = start;
        while !is_done[place] {
            is_done[place] = true;
            let next = order[place] as usize;
            values[place] = if next == start { first } else { values[next] };
            place = next;
        }
    }
}

/// Keeps the values for which `keep` is true, in their order.
pub fn retain<T>(values: &mut Vec<T>, keep: &[bool]) {
    let mut keep = keep.iter();
    values.retain(|_| *keep.next().expect("one flag per row"));
}

/// Index of a row that did not exist before.
pub const NEW_ROW: u32 = u32::MAX;

/// Finds the rows that ids had before.
#[derive(Clone, Debug, Default)]
pub struct Renumbering {
    row_of: Vec<u32>,
}

impl Renumbering {
    /// Writes the index in `before` of each of `ids` to `old`, [`NEW_ROW`] for new ones.
    pub fn find(&mut self, ids: &[u32], before: &[u32], old: &mut Vec<u32>) {
        let most = ids.iter().chain(before).copied().max();
        self.row_of.clear();
        self.row_of.resize(most.map_or(0, |most| most as usize + 1), NEW_ROW);
        for (row, &id) in (0..).zip(before) {
            self.row_of[id as usize] = row;
        }
        old.clear();
        old.extend(ids.iter().map(|&id| self.row_of[id as usize]));
    }
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
            pub fn gather(&mut self, order: &[u32], spare: &mut $crate::Spare) {
                $($crate::columns::gather(&mut self.$column, order, <$type as $crate::Element>::spare(spare));)*
            }

            /// Keeps the rows for which `keep` is true, in their order.
            pub fn retain(&mut self, keep: &[bool]) {
                $($crate::columns::retain(&mut self.$column, keep);)*
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Archive, ArchiveError};

    columns! {
        /// A structure that only this test knows.
        pub struct Beads, row Bead {
            /// Number [-].
            id: u32,
            /// Temperature [K].
            heat: f64,
            /// Color [-].
            color: Vec3,
        }
    }

    fn beads() -> Beads {
        let mut beads = Beads::default();
        for k in 0..4u8 {
            beads.push(Bead {
                id: u32::from(k),
                heat: 0.5 * f64::from(k),
                color: Vec3::splat(f32::from(k)),
            });
        }
        beads
    }

    #[test]
    fn one_declared_line_is_sorted_removed_exported_and_saved() {
        let mut beads = beads();
        beads.gather(&[3, 1, 0, 2], &mut Spare::default());
        beads.retain(&[true, false, true, true]);
        assert_eq!(
            (beads.id.as_slice(), beads.heat.as_slice()),
            (&[3, 0, 2][..], &[1.5, 0.0, 1.0][..])
        );
        assert_eq!(beads.row(2).color, Vec3::splat(2.0));
        let exported = beads.columns();
        assert_eq!(exported.iter().map(|c| c.0).collect::<Vec<_>>(), Beads::NAMES);
        assert_eq!(exported[1].1, ColumnRef::F64(&[1.5, 0.0, 1.0]));
        let mut archive = Archive::default();
        beads.save(&mut archive, "beads");
        assert_eq!(Beads::load(&archive, "beads"), Ok(beads));
        archive.put("beads.heat", &[0.0]);
        assert!(matches!(
            Beads::load(&archive, "beads"),
            Err(ArchiveError::Ragged { .. })
        ));
    }

    #[test]
    fn rows_are_carried_by_their_ids_and_new_ones_get_the_default() {
        let (mut old, mut numbers) = (Vec::new(), Renumbering::default());
        numbers.find(&[7, 2, 9], &[2, 5, 7], &mut old);
        assert_eq!(old, [2, 0, NEW_ROW]);
        let mut values = vec![0.2, 0.5, 0.7];
        carry(&mut values, &old, &mut Vec::new());
        assert_eq!(values, [0.7, 0.2, 0.0]);
    }

    #[test]
    fn permuting_in_place_is_picking_by_the_order() {
        let order = [3, 1, 0, 2, 6, 4, 5, 7];
        let mut values: Vec<u32> = (10..18).collect();
        let mut picked = values.clone();
        permute(&mut values, &order);
        gather(&mut picked, &order, &mut Vec::new());
        assert_eq!(values, picked);
        assert_eq!(values, [13, 11, 10, 12, 16, 14, 15, 17]);
    }
}
