//! `.sc` files: a stream cut into chunks, each in a Blosc 1 frame, and an index of the chunks at the end. The chunks are
//! stored, not compressed, which needs no compressor; particles hardly compress.

use std::path::Path;

use crate::WriteError;
use crate::atomic::StagedFile;

/// Bytes per chunk.
const CHUNK: usize = 1 << 20;
/// Header of a Blosc 1 frame: versions of the format and of its codec, the flag of a stored chunk, bytes per number.
const STORED: [u8; 4] = [2, 1, 2, 4];

/// A `.sc` file that is being written.
pub struct PackedFile {
    file: StagedFile,
    pending: Vec<u8>,
    /// Ends of the chunks but the last, from the first chunk on.
    ends: Vec<u64>,
    start: u64,
}

impl PackedFile {
    pub fn create(path: &Path) -> Result<Self, WriteError> {
        let mut file = StagedFile::create(path)?;
        // Length of additional metadata: none.
        file.put(b"scf1\0\0\0\0\0\0\0\0")?;
        Ok(Self {
            start: file.length(),
            file,
            pending: Vec::with_capacity(CHUNK),
            ends: Vec::new(),
        })
    }

    pub fn put(&mut self, mut data: &[u8]) -> Result<(), WriteError> {
        while !data.is_empty() {
            if self.pending.len() == CHUNK {
                self.write_chunk()?;
                self.ends.push(self.file.length() - self.start);
            }
            let (head, rest) = data.split_at(data.len().min(CHUNK - self.pending.len()));
            self.pending.extend(head);
            data = rest;
        }
        Ok(())
    }

    fn write_chunk(&mut self) -> Result<(), WriteError> {
        let length = self.pending.len() as u32;
        self.file.put(&STORED)?;
        for number in [length, length, length + 16] {
            self.file.put(&number.to_le_bytes())?;
        }
        self.file.put(&self.pending)?;
        self.pending.clear();
        Ok(())
    }

    /// Writes the index and moves the file to its path. The index has big-endian numbers: ends of the chunks, their
    /// length, the length of the last one; its own length follows.
    pub fn finish(mut self) -> Result<(), WriteError> {
        let last = self.pending.len() as u64;
        self.write_chunk()?;
        let numbers = self.ends.iter().copied().chain([CHUNK as u64, last]);
        let index: Vec<u8> = numbers.flat_map(u64::to_be_bytes).collect();
        self.file.put(&index)?;
        self.file.put(&(index.len() as u64).to_be_bytes())?;
        self.file.put(b"1fcs")?;
        self.file.finish()
    }
}
