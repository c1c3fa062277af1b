//! Arrow IPC files with a checksum.
//!
//! The checksum lies in the footer's own metadata, which other programs skip. It is checked before anything is decoded: the
//! decoder believes the lengths that it reads, and a damaged length could ask for any amount of memory.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use arrow_array::RecordBatch;
use arrow_ipc::reader::StreamReader;
use arrow_ipc::writer::{FileWriter, IpcWriteOptions};
use arrow_ipc::{CompressionType, MetadataVersion, root_as_footer};
use arrow_schema::{ArrowError, Schema};
use crc32fast::Hasher;

use super::CacheError;
use crate::{WriteError, write_atomically};

const CHECKSUM_KEY: &str = "barchan:crc32";
const HEAD: &[u8] = b"ARROW1\0\0";
/// The stream within a file begins after so many bytes.
const ALIGNMENT: usize = HEAD.len();
const TAIL: &[u8] = b"ARROW1";
const END_OF_STREAM: &[u8] = &[0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0];

/// Writes a file with zstd of `level` and gives its length [bytes].
pub(super) fn write(path: &Path, schema: &Schema, batches: &[RecordBatch], level: i32) -> Result<u64, WriteError> {
    let mut bytes = 0;
    write_atomically(path, |out| {
        bytes = encode(out, schema, batches, level).map_err(into_io)?;
        Ok(())
    })?;
    Ok(bytes)
}

fn encode(out: impl Write, schema: &Schema, batches: &[RecordBatch], level: i32) -> Result<u64, ArrowError> {
    let options = IpcWriteOptions::try_new(ALIGNMENT, false, MetadataVersion::V5)?
        .try_with_compression(Some(CompressionType::ZSTD))?
        .try_with_compression_level(Some(level))?;
    let mut writer = FileWriter::try_new_with_options(Summed::new(out), schema, options)?;
    for batch in batches {
        writer.write(batch)?;
    }
    let sum = writer.get_ref().hasher.clone().finalize();
    writer.write_metadata(CHECKSUM_KEY, format!("{sum:08x}"));
    writer.finish()?;
    Ok(writer.get_ref().bytes)
}

fn into_io(error: ArrowError) -> io::Error {
    match error {
        ArrowError::IoError(_, reason) => reason,
        other => io::Error::other(other),
    }
}

/// Reads a file that [`write`] wrote.
pub(super) fn read(path: &Path) -> Result<(Schema, Vec<RecordBatch>), CacheError> {
    let bytes = fs::read(path).map_err(CacheError::reading(path))?;
    let stream = checked_stream(&bytes).map_err(|fault| match fault {
        Fault::Damaged(what) => CacheError::damaged(path, what),
        Fault::Foreign(what) => CacheError::foreign(path, what),
    })?;
    let decoded = StreamReader::try_new(stream, None).and_then(|reader| {
        let schema = reader.schema().as_ref().clone();
        Ok((schema, reader.collect::<Result<_, _>>()?))
    });
    decoded.map_err(|error| CacheError::foreign(path, error))
}

enum Fault {
    Damaged(&'static str),
    Foreign(&'static str),
}

/// The schema and the batches within a file, once its checksum is found to be right.
fn checked_stream(bytes: &[u8]) -> Result<&[u8], Fault> {
    let body = bytes.strip_prefix(HEAD).ok_or(Fault::Foreign("it is no Arrow file"))?;
    let cut_off = Fault::Damaged("it ends too early");
    let Some(rest) = body.strip_suffix(TAIL) else {
        return Err(cut_off);
    };
    let Some((rest, length)) = rest.split_last_chunk() else {
        return Err(cut_off);
    };
    let length = usize::try_from(i32::from_le_bytes(*length)).unwrap_or(usize::MAX);
    let Some(end) = rest.len().checked_sub(length) else {
        return Err(cut_off);
    };
    let (stream, footer) = rest.split_at(end);

    let footer = root_as_footer(footer).map_err(|_| Fault::Damaged("its footer makes no sense"))?;
    let tags = footer.custom_metadata().into_iter().flatten();
    let expected = tags
        .filter(|tag| tag.key() == Some(CHECKSUM_KEY))
        .find_map(|tag| tag.value())
        .ok_or(Fault::Foreign("it has no checksum"))?;
    let summed = stream
        .strip_suffix(END_OF_STREAM)
        .ok_or(Fault::Damaged("its end is missing"))?;
    let mut hasher = Hasher::new();
    hasher.update(HEAD);
    hasher.update(summed);
    match format!("{:08x}", hasher.finalize()) == expected {
        true => Ok(stream),
        false => Err(Fault::Damaged("its checksum is wrong")),
    }
}

/// Counts and sums what is written through it.
pub(super) struct Summed<W> {
    out: W,
    pub(super) hasher: Hasher,
    pub(super) bytes: u64,
}

impl<W: Write> Summed<W> {
    pub(super) fn new(out: W) -> Self {
        Self {
            out,
            hasher: Hasher::new(),
            bytes: 0,
        }
    }
}

impl<W: Write> Write for Summed<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.out.write(bytes)?;
        self.hasher.update(&bytes[..count]);
        self.bytes += count as u64;
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}
