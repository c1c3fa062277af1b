//! `checkpoint/state`: everything needed to resume, as one file.
//!
//! ```text
//! "barchan\n"                                     8 bytes
//! format, byte order (0x01020304 as the machine holds it), frame     u32, u32, u64
//! zstd of: count, then for each entry: length of its name, length of its bytes, name, bytes     u64, (u64, u64, .., ..)
//! crc32 of all before                             u32
//! ```
//!
//! Numbers are little-endian, entries in the machine's byte order.

use std::fs::{self, File};
use std::io::{self, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use barchan_world::Archive;

use super::CacheError;
use super::arrow_file::{Summed, unpacked_limit};
use crate::{WriteError, write_atomically};

const MAGIC: &[u8; 8] = b"barchan\n";
const FORMAT: u32 = 1;
const BYTE_ORDER: u32 = 0x0102_0304;
const LEVEL: i32 = 1;

fn file(dir: &Path) -> PathBuf {
    dir.join("checkpoint").join("state")
}

/// Returns true if the folder `dir` has a checkpoint.
pub fn has_checkpoint(dir: &Path) -> bool {
    file(dir).is_file()
}

/// Writes a checkpoint after `frame` into the cache `dir`; the previous one stays until the new one is complete and on
/// the disk.
pub fn write_checkpoint(dir: &Path, archive: &Archive, frame: u64) -> Result<u64, CacheError> {
    let path = file(dir);
    let folder = dir.join("checkpoint");
    fs::create_dir_all(&folder).map_err(|reason| WriteError { path: folder, reason })?;
    let mut bytes = 0;
    write_atomically(&path, |out| {
        bytes = encode(out, archive, frame)?;
        out.flush()?;
        out.get_ref().sync_all()
    })?;
    Ok(bytes)
}

fn encode(out: &mut BufWriter<File>, archive: &Archive, frame: u64) -> io::Result<u64> {
    let mut out = Summed::new(out);
    out.write_all(MAGIC)?;
    out.write_all(&FORMAT.to_le_bytes())?;
    out.write_all(&BYTE_ORDER.to_ne_bytes())?;
    out.write_all(&frame.to_le_bytes())?;
    let mut packed = zstd::Encoder::new(&mut out, LEVEL)?;
    packed.write_all(&(archive.entries.len() as u64).to_le_bytes())?;
    for (name, bytes) in &archive.entries {
        packed.write_all(&(name.len() as u64).to_le_bytes())?;
        packed.write_all(&(bytes.len() as u64).to_le_bytes())?;
        packed.write_all(name.as_bytes())?;
        packed.write_all(bytes)?;
    }
    packed.finish()?;
    let sum = out.hasher.clone().finalize();
    out.write_all(&sum.to_le_bytes())?;
    Ok(out.bytes)
}

/// Returns the frame after which the checkpoint of the cache `dir` was taken, and its contents.
pub fn read_checkpoint(dir: &Path) -> Result<(u64, Archive), CacheError> {
    let path = file(dir);
    let bytes = match fs::read(&path) {
        Err(reason) if reason.kind() == io::ErrorKind::NotFound => {
            return Err(CacheError::NoCheckpoint { path: dir.to_owned() });
        }
        other => other.map_err(CacheError::reading(&path))?,
    };
    let Some(rest) = bytes.strip_prefix(MAGIC) else {
        return Err(CacheError::foreign(&path, "it is no checkpoint"));
    };
    let cut_off = || CacheError::damaged(&path, "it ends too early");
    let (summed, sum) = bytes.split_last_chunk().ok_or_else(cut_off)?;
    let rest = rest.get(..rest.len().saturating_sub(sum.len())).ok_or_else(cut_off)?;
    let (format, rest) = rest.split_first_chunk().ok_or_else(cut_off)?;
    let (order, rest) = rest.split_first_chunk().ok_or_else(cut_off)?;
    let (frame, packed) = rest.split_first_chunk().ok_or_else(cut_off)?;
    let format = u32::from_le_bytes(*format);
    if format != FORMAT {
        return Err(CacheError::Format {
            path,
            found: format.into(),
            known: FORMAT.into(),
        });
    }
    if crc32fast::hash(summed) != u32::from_le_bytes(*sum) {
        return Err(CacheError::damaged(&path, "its checksum is wrong"));
    }
    if *order != BYTE_ORDER.to_ne_bytes() {
        return Err(CacheError::foreign(
            &path,
            "it comes from a machine of another byte order",
        ));
    }
    let archive = decode(packed).map_err(|error| CacheError::damaged(&path, error))?;
    Ok((u64::from_le_bytes(*frame), archive))
}

/// Largest number of entries in a checkpoint.
const MAX_ENTRIES: u64 = 100_000;

fn decode(packed: &[u8]) -> io::Result<Archive> {
    let limit = unpacked_limit(packed.len());
    let mut input = zstd::Decoder::new(packed)?.take(limit);
    let mut archive = Archive::default();
    let count = number(&mut input)?;
    if count > MAX_ENTRIES {
        return Err(io::Error::other(format!("it has {count} entries")));
    }
    for _ in 0..count {
        let (name, bytes) = (number(&mut input)?, number(&mut input)?);
        if name.saturating_add(bytes) > input.limit() {
            return Err(io::Error::other(format!("it would unpack to more than {limit} bytes")));
        }
        let name = String::from_utf8(take(&mut input, name)?).map_err(io::Error::other)?;
        let bytes = take(&mut input, bytes)?;
        archive.entries.insert(name, bytes);
    }
    Ok(archive)
}

fn number(input: &mut impl Read) -> io::Result<u64> {
    let mut bytes = [0; 8];
    input.read_exact(&mut bytes)?;
    Ok(u64::from_le_bytes(bytes))
}

/// Reads `length` bytes; the buffer grows with the bytes present, not with `length`.
fn take(input: &mut impl Read, length: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let found = input.take(length).read_to_end(&mut bytes)? as u64;
    match found == length {
        true => Ok(bytes),
        false => Err(io::ErrorKind::UnexpectedEof.into()),
    }
}
