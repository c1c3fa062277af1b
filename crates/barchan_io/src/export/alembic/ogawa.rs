//! Alembic archives in the Ogawa layout: groups of children, and data.
//!
//! Samples are written as they come; the trees of properties and objects that refer to them follow at the end.

use std::path::Path;

use super::super::bytes;
use crate::WriteError;
use crate::atomic::StagedFile;

/// Offset of a group, or with [`IS_DATA`] of data.
pub type Child = u64;

const IS_DATA: u64 = 1 << 63;
/// Version of the library whose files have this layout: 1.8.3.
const VERSION: i32 = 10803;
/// Sizes in property headers have 32 bits.
const WIDE_SIZES: u32 = 2 << 2;

/// Types of numbers, by their numbers in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Number {
    Bool = 0,
    U8 = 1,
    I8 = 2,
    U32 = 5,
    I32 = 6,
    U64 = 7,
    F32 = 10,
    F64 = 11,
}

/// Times of samples.
#[derive(Clone, Debug, PartialEq)]
pub struct Sampling {
    /// Times of the samples [s].
    pub times: Vec<f64>,
}

/// A property, with the samples that were written.
pub struct Property {
    pub name: String,
    pub metadata: String,
    pub value: Value,
}

/// Contents of a property.
pub enum Value {
    Compound(Vec<Property>),
    /// One value of some numbers per sample.
    Scalar(Series),
    /// One array of values per sample.
    Array(Series),
}

/// Samples of a property.
pub struct Series {
    pub number: Number,
    /// Numbers per value.
    pub extent: u32,
    /// Index of its [`Sampling`] in the archive.
    pub sampling: u32,
    pub samples: Vec<Child>,
    /// Number of samples, unless all are the same one.
    pub count: u32,
}

impl Property {
    pub fn new(name: &str, metadata: &str, value: Value) -> Self {
        Self {
            name: name.to_owned(),
            metadata: metadata.to_owned(),
            value,
        }
    }
}

/// An object: a transform, points or a mesh.
pub struct Object {
    pub name: String,
    pub metadata: String,
    pub properties: Vec<Property>,
    pub children: Vec<Object>,
}

/// An archive that is being written.
pub struct Archive {
    file: StagedFile,
    metadata: Vec<String>,
}

impl Archive {
    pub fn create(path: &Path) -> Result<Self, WriteError> {
        let mut file = StagedFile::create(path)?;
        // 0xff in place of the first zero marks a finished file; the offset of the root follows.
        file.put(b"Ogawa\0\0\x01\0\0\0\0\0\0\0\0")?;
        Ok(Self {
            file,
            metadata: vec![String::new()],
        })
    }

    fn data(&mut self, parts: &[&[u8]]) -> Result<Child, WriteError> {
        let length: usize = parts.iter().map(|part| part.len()).sum();
        if length == 0 {
            return Ok(IS_DATA);
        }
        let at = self.file.put(&(length as u64).to_le_bytes())?;
        for part in parts {
            self.file.put(part)?;
        }
        Ok(IS_DATA | at)
    }

    fn group(&mut self, children: &[Child]) -> Result<Child, WriteError> {
        if children.is_empty() {
            return Ok(0);
        }
        let at = self.file.put(&(children.len() as u64).to_le_bytes())?;
        self.file.put(bytes(children))?;
        Ok(at)
    }

    /// Writes the numbers of a sample. Readers keep samples by a key of 16 bytes, which must differ between samples:
    /// offset, length and checksum do.
    pub fn sample<T: bytemuck::NoUninit>(&mut self, numbers: &[T]) -> Result<Child, WriteError> {
        let numbers = bytes(numbers);
        let mut key = [0; 16];
        key[..8].copy_from_slice(&self.file.length().to_le_bytes());
        key[8..12].copy_from_slice(&(numbers.len() as u32).to_le_bytes());
        key[12..].copy_from_slice(&crc32fast::hash(numbers).to_le_bytes());
        self.data(&[&key, numbers])
    }

    /// Writes the tree of `root` and moves the file to its path.
    pub fn finish(mut self, root: &Object, samplings: &[Sampling], rate: f64) -> Result<(), WriteError> {
        let top = self.object(root)?;
        let mut times = Vec::new();
        for sampling in samplings {
            times.extend((sampling.times.len() as u32).to_le_bytes());
            times.extend(sampling.packed());
        }
        let about = format!("FramesPerTimeUnit={rate};_ai_Application=barchan;_ai_AlembicVersion=none");
        let mut metadata = Vec::new();
        for text in &self.metadata[1..] {
            metadata.push(text.len() as u8);
            metadata.extend(text.bytes());
        }
        let children = [
            self.data(&[&0i32.to_le_bytes()])?,
            self.data(&[&VERSION.to_le_bytes()])?,
            top,
            self.data(&[about.as_bytes()])?,
            self.data(&[&times])?,
            self.data(&[&metadata])?,
        ];
        let root = self.group(&children)?;
        self.file.patch(5, &[0xff])?;
        self.file.patch(8, &root.to_le_bytes())?;
        self.file.finish()
    }

    fn object(&mut self, object: &Object) -> Result<Child, WriteError> {
        let mut children = vec![self.compound(&object.properties)?];
        let mut headers = Vec::new();
        for child in &object.children {
            children.push(self.object(child)?);
            headers.extend((child.name.len() as u32).to_le_bytes());
            headers.extend(child.name.bytes());
            headers.push(self.metadata_index(&child.metadata) as u8);
        }
        // Two hashes of the objects below, which readers compare but do not check.
        headers.extend([0; 32]);
        children.push(self.data(&[&headers])?);
        self.group(&children)
    }

    fn compound(&mut self, properties: &[Property]) -> Result<Child, WriteError> {
        if properties.is_empty() {
            return Ok(0);
        }
        let (mut children, mut headers) = (Vec::new(), Vec::new());
        for property in properties {
            children.push(match &property.value {
                Value::Compound(inner) => self.compound(inner)?,
                Value::Scalar(series) | Value::Array(series) => self.group(&series.samples)?,
            });
            self.header(property, &mut headers);
        }
        children.push(self.data(&[&headers])?);
        self.group(&children)
    }

    /// Appends the header of a property: bits, then number of samples, time sampling, name.
    fn header(&mut self, property: &Property, headers: &mut Vec<u8>) {
        let mut bits = WIDE_SIZES | self.metadata_index(&property.metadata) << 20;
        let series = match &property.value {
            Value::Compound(_) => None,
            Value::Scalar(series) => {
                bits |= 1 | 1 << 10;
                Some(series)
            }
            Value::Array(series) => {
                bits |= 2;
                Some(series)
            }
        };
        if let Some(series) = series {
            bits |= (series.number as u32) << 4 | 1 << 8 | series.extent << 12;
            let children = if bits & 3 == 2 { 2 } else { 1 };
            if series.samples.len() == children {
                bits |= 1 << 11;
            }
        }
        headers.extend(bits.to_le_bytes());
        if let Some(series) = series {
            headers.extend(series.count.to_le_bytes());
            headers.extend(series.sampling.to_le_bytes());
        }
        headers.extend((property.name.len() as u32).to_le_bytes());
        headers.extend(property.name.bytes());
    }

    fn metadata_index(&mut self, text: &str) -> u32 {
        let known = self.metadata.iter().position(|known| known == text);
        let index = known.unwrap_or_else(|| {
            self.metadata.push(text.to_owned());
            self.metadata.len() - 1
        });
        // 255 would announce metadata in place.
        assert!(index < 255 && text.len() < 256, "few kinds of metadata");
        index as u32
    }
}

impl Sampling {
    /// Returns seconds per cycle, number of stored times, and the times: one if they are regular, otherwise all.
    fn packed(&self) -> Vec<u8> {
        /// Seconds per cycle of times without a period.
        const ACYCLIC: f64 = f64::MAX / 32.0;
        let times = &self.times;
        let step = if times.len() > 1 { times[1] - times[0] } else { 1.0 };
        let is_regular = times
            .windows(2)
            .all(|pair| (pair[1] - pair[0] - step).abs() < 1e-6 * step);
        let (cycle, stored) = match is_regular {
            true => (step, &times[..1]),
            false => (ACYCLIC, &times[..]),
        };
        let mut packed = cycle.to_le_bytes().to_vec();
        packed.extend((stored.len() as u32).to_le_bytes());
        packed.extend(bytes(stored));
        packed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn regular_times_are_a_start_and_a_step_others_a_list() {
        let packed = |times: &[f64]| Sampling { times: times.to_vec() }.packed();
        let regular = packed(&[0.5, 0.75, 1.0]);
        assert_eq!(
            regular,
            [&0.25f64.to_le_bytes()[..], &1u32.to_le_bytes(), &0.5f64.to_le_bytes()].concat()
        );
        assert_eq!(packed(&[0.0, 1.0, 3.0]).len(), 8 + 4 + 3 * 8);
    }
}
