//! State of a simulation for checkpoints, as named bytes. Other crates write the files.

use std::collections::BTreeMap;
use std::fmt::Debug;

use bytemuck::Pod;
use thiserror::Error;

/// Named arrays of plain values, in memory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Archive {
    /// Bytes of each entry, in this machine's byte order.
    pub entries: BTreeMap<String, Vec<u8>>,
}

/// Error of reading an archive.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum ArchiveError {
    /// No entry of that name.
    #[error("the checkpoint has no entry `{name}`: it was made by another version of barchan, or for another solver")]
    Missing {
        /// Name of the entry.
        name: String,
    },
    /// An entry whose bytes do not make whole values.
    #[error("entry `{name}` of the checkpoint has {bytes} bytes, which is no multiple of {size}")]
    Size {
        /// The entry.
        name: String,
        /// Its length [bytes].
        bytes: usize,
        /// Length of a value [bytes].
        size: usize,
    },
    /// Columns of different length.
    #[error("the columns of `{prefix}` in the checkpoint differ in length")]
    Ragged {
        /// Prefix of the entries.
        prefix: String,
    },
    /// An invalid value.
    #[error("entry `{name}` of the checkpoint holds {found}, which does not fit this scene")]
    Unfit {
        /// The entry.
        name: String,
        /// Content of the entry.
        found: String,
    },
}

/// Largest coordinate [m] and speed [m/s] of a valid state.
pub const FARTHEST: f32 = 1e12;

impl Archive {
    /// Stores an array.
    pub fn put<T: Pod>(&mut self, name: &str, values: &[T]) {
        self.entries
            .insert(name.to_owned(), bytemuck::cast_slice(values).to_vec());
    }

    /// Stores an array given as an iterator.
    pub fn put_all<T: Pod>(&mut self, name: &str, values: impl ExactSizeIterator<Item = T>) {
        let mut bytes = Vec::with_capacity(values.len() * size_of::<T>());
        values.for_each(|value| bytes.extend_from_slice(bytemuck::bytes_of(&value)));
        self.entries.insert(name.to_owned(), bytes);
    }

    /// Returns a stored array.
    pub fn get<T: Pod>(&self, name: &str) -> Result<Vec<T>, ArchiveError> {
        let bytes = self
            .entries
            .get(name)
            .ok_or_else(|| ArchiveError::Missing { name: name.to_owned() })?;
        let size = size_of::<T>();
        if bytes.len() % size != 0 {
            return Err(ArchiveError::Size {
                name: name.to_owned(),
                bytes: bytes.len(),
                size,
            });
        }
        let values = bytes.chunks_exact(size);
        Ok(values.map(bytemuck::pod_read_unaligned).collect())
    }

    /// Returns a stored array if `is_fit` holds for all its values.
    pub fn get_fit<T: Pod + Debug>(&self, name: &str, is_fit: impl Fn(&T) -> bool) -> Result<Vec<T>, ArchiveError> {
        let values = self.get(name)?;
        match values.iter().position(|value| !is_fit(value)) {
            None => Ok(values),
            Some(row) => Err(ArchiveError::Unfit {
                name: name.to_owned(),
                found: format!("{:?} in row {row}", values[row]),
            }),
        }
    }

    /// Returns an array of values made of single-precision numbers, all of them finite and their squares too.
    pub fn get_f32s<T: Pod + Debug>(&self, name: &str) -> Result<Vec<T>, ArchiveError> {
        self.get_fit(name, |value| {
            numbers::<T, f32>(value).iter().all(|x| (x * x).is_finite())
        })
    }

    /// Returns an array of values made of double-precision numbers, all of them finite and their squares too.
    pub fn get_f64s<T: Pod + Debug>(&self, name: &str) -> Result<Vec<T>, ArchiveError> {
        self.get_fit(name, |value| {
            numbers::<T, f64>(value).iter().all(|x| (x * x).is_finite())
        })
    }

    /// Returns an array of positions or velocities in single precision, none beyond [`FARTHEST`].
    pub fn get_near<T: Pod + Debug>(&self, name: &str) -> Result<Vec<T>, ArchiveError> {
        self.get_fit(name, |value| {
            numbers::<T, f32>(value).iter().all(|x| x.abs() <= FARTHEST)
        })
    }

    /// Returns an array of unique ids, each below `next`.
    pub fn get_ids(&self, name: &str, next: u32) -> Result<Vec<u32>, ArchiveError> {
        let ids = self.get_fit(name, |&id: &u32| id < next)?;
        let mut sorted = ids.clone();
        sorted.sort_unstable();
        match sorted.windows(2).find(|pair| pair[0] == pair[1]) {
            None => Ok(ids),
            Some(pair) => Err(ArchiveError::Unfit {
                name: name.to_owned(),
                found: format!("the id {} twice", pair[0]),
            }),
        }
    }

    /// Returns a single value that was stored as an array of one, if `is_fit` holds for it.
    pub fn get_one_fit<T: Pod + Debug>(&self, name: &str, is_fit: impl Fn(&T) -> bool) -> Result<T, ArchiveError> {
        self.get_fit(name, is_fit)?;
        self.get_one(name)
    }

    /// Returns a single value that was stored as an array of one.
    pub fn get_one<T: Pod>(&self, name: &str) -> Result<T, ArchiveError> {
        let values = self.get(name)?;
        match values.as_slice() {
            [value] => Ok(*value),
            _ => Err(ArchiveError::Unfit {
                name: name.to_owned(),
                found: format!("{} values", values.len()),
            }),
        }
    }
}

/// The numbers that a value is made of.
fn numbers<T: Pod, N: Pod>(value: &T) -> &[N] {
    bytemuck::cast_slice(std::slice::from_ref(value))
}
