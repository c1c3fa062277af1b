//! Arrow IPC files with a checksum.
//!
//! The checksum is in the footer's own metadata, which other programs skip. It is checked before anything is decoded,
//! and so are the number of rows and the unpacked lengths of columns: the decoder trusts the file, and would allocate
//! any length.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use arrow_array::RecordBatch;
use arrow_ipc::reader::StreamReader;
use arrow_ipc::writer::{FileWriter, IpcWriteOptions};
use arrow_ipc::{CompressionType, MessageHeader, MetadataVersion, root_as_footer, root_as_message};
use arrow_schema::{ArrowError, Schema};
use crc32fast::Hasher;

use super::CacheError;
use crate::{WriteError, write_atomically};

const CHECKSUM_KEY: &str = "barchan:crc32";
const HEAD: &[u8] = b"ARROW1\0\0";
/// Offset of the stream within a file [bytes].
const ALIGNMENT: usize = HEAD.len();
const TAIL: &[u8] = b"ARROW1";
const END_OF_STREAM: &[u8] = &[0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0];

/// Writes a file with zstd of `level` and returns its length [bytes].
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

/// Reads a file that [`write`] wrote, with the number of `rows` that the manifest lists.
pub(super) fn read(path: &Path, rows: u64) -> Result<(Schema, Vec<RecordBatch>), CacheError> {
    let bytes = fs::read(path).map_err(CacheError::reading(path))?;
    let into_error = |fault| match fault {
        Fault::Damaged(what) => CacheError::damaged(path, what),
        Fault::Foreign(what) => CacheError::foreign(path, what),
    };
    let stream = checked_stream(&bytes).map_err(into_error)?;
    let content = measure(stream).map_err(into_error)?;
    if content.rows != rows {
        let what = format!("it has {} rows, the manifest lists {rows}", content.rows);
        return Err(CacheError::damaged(path, what));
    }
    let limit = unpacked_limit(bytes.len());
    if content.unpacked > limit {
        let what = format!("it would unpack to {} bytes, more than {limit}", content.unpacked);
        return Err(CacheError::foreign(path, what));
    }
    let decoded = StreamReader::try_new(stream, None).and_then(|reader| {
        let schema = reader.schema().as_ref().clone();
        Ok((schema, reader.collect::<Result<_, _>>()?))
    });
    decoded.map_err(|error| CacheError::foreign(path, error))
}

/// Returns the largest number of bytes that a file of `packed` bytes may unpack to.
///
/// Positions of sand hardly compress, so a file of ours unpacks to a few times its length; resting or constant data
/// compresses better. A file that grows a thousandfold was made to do so.
pub(super) fn unpacked_limit(packed: usize) -> u64 {
    const GROWTH: u64 = 1000;
    const ALWAYS: u64 = 64 << 20;
    (packed as u64).saturating_mul(GROWTH).saturating_add(ALWAYS)
}

/// Sizes that the batches of a stream declare.
#[derive(Default)]
struct Content {
    rows: u64,
    /// Length of all compressed buffers once unpacked [bytes].
    unpacked: u64,
}

/// Sums the sizes that the batches of a stream declare, without decoding them.
fn measure(mut stream: &[u8]) -> Result<Content, Fault> {
    let broken = || Fault::Foreign("its batches make no sense");
    let mut content = Content::default();
    loop {
        let rest = stream.strip_prefix(&END_OF_STREAM[..4]).ok_or_else(broken)?;
        let (length, rest) = rest.split_first_chunk().ok_or_else(broken)?;
        let length = usize::try_from(i32::from_le_bytes(*length)).map_err(|_| broken())?;
        if length == 0 {
            return Ok(content);
        }
        let (message, rest) = rest.split_at_checked(length).ok_or_else(broken)?;
        let message = root_as_message(message).map_err(|_| broken())?;
        let length = usize::try_from(message.bodyLength()).map_err(|_| broken())?;
        let (body, rest) = rest.split_at_checked(length).ok_or_else(broken)?;
        match message.header_type() {
            MessageHeader::Schema => {}
            MessageHeader::RecordBatch => {
                let batch = message.header_as_record_batch().ok_or_else(broken)?;
                let rows = u64::try_from(batch.length()).map_err(|_| broken())?;
                content.rows = content.rows.saturating_add(rows);
                if batch.compression().is_some() {
                    for buffer in batch.buffers().into_iter().flatten() {
                        let at = usize::try_from(buffer.offset()).ok();
                        let prefix = at.and_then(|at| body.get(at..)?.first_chunk());
                        // 0 and -1 mark an empty buffer and an uncompressed one.
                        let unpacked = prefix.map_or(0, |prefix| i64::from_le_bytes(*prefix)).max(0) as u64;
                        if buffer.length() > 0 {
                            content.unpacked = content.unpacked.saturating_add(unpacked);
                        }
                    }
                }
            }
            _ => return Err(Fault::Foreign("it holds something other than record batches")),
        }
        stream = rest;
    }
}

enum Fault {
    Damaged(&'static str),
    Foreign(&'static str),
}

/// Returns the schema and the batches within a file after checking its checksum.
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

/// A writer that counts bytes and computes their checksum.
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

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::UInt8Array;
    use arrow_schema::{DataType, Field};

    use super::*;

    #[test]
    fn a_file_that_grows_without_end_is_refused_before_it_is_unpacked() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("bomb.arrow");
        let rows = 200 << 20;
        let schema = Arc::new(Schema::new(vec![Field::new("material", DataType::UInt8, false)]));
        let column = Arc::new(UInt8Array::from(vec![0; rows]));
        let batch = RecordBatch::try_new(schema.clone(), vec![column]).unwrap();
        let bytes = write(&path, &schema, &[batch], 1).unwrap();
        assert!(bytes < 100_000, "{bytes}");
        let message = |rows| read(&path, rows).unwrap_err().to_string();
        let found = message(rows as u64);
        assert!(
            found.contains("bomb.arrow") && found.contains("would unpack to 209715200"),
            "{found}"
        );
        let found = message(7);
        assert!(
            found.contains("bomb.arrow") && found.contains("the manifest lists 7"),
            "{found}"
        );
    }
}
