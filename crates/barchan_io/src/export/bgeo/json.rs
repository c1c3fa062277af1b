//! Binary JSON as Houdini 12 and later write it.

use std::path::Path;

use super::packed::PackedFile;
use crate::WriteError;
use crate::export::bytes;

/// First bytes of binary JSON: a code, and the letters "NSJb".
const MAGIC: [u8; 5] = [0x7f, 0x4e, 0x53, 0x4a, 0x62];

/// Numbers of a uniform array.
pub enum Numbers<'a> {
    I32(&'a [i32]),
    I64(&'a [i64]),
    F32(&'a [f32]),
}

/// A document that is being written.
pub struct Document {
    file: PackedFile,
}

impl Document {
    pub fn create(path: &Path) -> Result<Self, WriteError> {
        let mut file = PackedFile::create(path)?;
        file.put(&MAGIC)?;
        Ok(Self { file })
    }

    fn length(&mut self, length: usize) -> Result<(), WriteError> {
        if length < 0xf1 {
            self.file.put(&[length as u8])
        } else if let Ok(short) = u16::try_from(length) {
            self.file.put(&[0xf2])?;
            self.file.put(&short.to_le_bytes())
        } else if let Ok(long) = u32::try_from(length) {
            self.file.put(&[0xf4])?;
            self.file.put(&long.to_le_bytes())
        } else {
            self.file.put(&[0xf8])?;
            self.file.put(&(length as u64).to_le_bytes())
        }
    }

    pub fn text(&mut self, text: &str) -> Result<(), WriteError> {
        self.file.put(&[0x27])?;
        self.length(text.len())?;
        self.file.put(text.as_bytes())
    }

    pub fn texts(&mut self, texts: &[&str]) -> Result<(), WriteError> {
        texts.iter().try_for_each(|text| self.text(text))
    }

    pub fn integer(&mut self, value: i64) -> Result<(), WriteError> {
        match i32::try_from(value) {
            Ok(value) => {
                self.file.put(&[0x13])?;
                self.file.put(&value.to_le_bytes())
            }
            Err(_) => {
                self.file.put(&[0x14])?;
                self.file.put(&value.to_le_bytes())
            }
        }
    }

    pub fn no(&mut self) -> Result<(), WriteError> {
        self.file.put(&[0x30])
    }

    pub fn array(&mut self, fill: impl FnOnce(&mut Self) -> Result<(), WriteError>) -> Result<(), WriteError> {
        self.file.put(b"[")?;
        fill(self)?;
        self.file.put(b"]")
    }

    pub fn map(&mut self, fill: impl FnOnce(&mut Self) -> Result<(), WriteError>) -> Result<(), WriteError> {
        self.file.put(b"{")?;
        fill(self)?;
        self.file.put(b"}")
    }

    /// Writes an array of numbers of one type.
    pub fn numbers(&mut self, numbers: &Numbers) -> Result<(), WriteError> {
        let (kind, count, data) = match numbers {
            Numbers::I32(v) => (0x13, v.len(), bytes(v)),
            Numbers::I64(v) => (0x14, v.len(), bytes(v)),
            Numbers::F32(v) => (0x19, v.len(), bytes(v)),
        };
        self.file.put(&[0x40, kind])?;
        self.length(count)?;
        self.file.put(data)
    }

    pub fn finish(self) -> Result<(), WriteError> {
        self.file.finish()
    }
}
