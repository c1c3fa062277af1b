//! The buffers of a glTF document.

use std::borrow::Cow;
use std::path::{Component, Path};

use base64::Engine;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

use super::super::super::{MeshError, Place};
use super::super::read;
use super::document::Document;
use super::{invalid, lookup, unsupported};

const BASE64: GeneralPurpose = GeneralPurpose::new(
    &base64::alphabet::STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// Splits a file into the JSON and, in a GLB file, the binary chunk.
pub(super) fn split_glb(bytes: &[u8]) -> Result<(&[u8], Option<&[u8]>), MeshError> {
    const HEADER: usize = 12;
    if !bytes.starts_with(b"glTF") {
        return Ok((bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes), None));
    }
    let number = |at: usize| {
        let raw = bytes.get(at..at + 4).and_then(|b| b.first_chunk());
        raw.map(|b| u32::from_le_bytes(*b) as usize)
            .ok_or_else(|| MeshError::truncated(Place::Byte(bytes.len()), "a GLB header or chunk header is cut"))
    };
    let version = number(4)?;
    if version != 2 {
        return Err(unsupported(format!("version {version} of the GLB container")));
    }
    let chunk = |at: usize| {
        let (length, kind) = (number(at)?, number(at + 4)?);
        let data = bytes[at + 8..].get(..length).ok_or_else(|| {
            let missing = format!(
                "a chunk of {length} bytes is promised, {} are there",
                bytes.len() - at - 8
            );
            MeshError::truncated(Place::Byte(at), missing)
        })?;
        Ok((kind as u32, data))
    };
    let (kind, json) = chunk(HEADER)?;
    if kind != u32::from_le_bytes(*b"JSON") {
        return Err(MeshError::syntax(
            Place::Byte(HEADER),
            "the first chunk of a GLB file must be JSON",
        ));
    }
    // Chunks are padded to four bytes; a chunk of another kind may follow and is ignored.
    let next = HEADER + 8 + json.len();
    if next + 8 > bytes.len() {
        return Ok((json, None));
    }
    let (kind, binary) = chunk(next)?;
    Ok((json, (kind == u32::from_le_bytes(*b"BIN\0")).then_some(binary)))
}

/// The buffers of a document.
pub(super) struct Buffers<'a>(Vec<Cow<'a, [u8]>>);

impl<'a> Buffers<'a> {
    pub(super) fn resolve(
        document: &Document,
        chunk: Option<&'a [u8]>,
        base: Option<&Path>,
    ) -> Result<Self, MeshError> {
        let resolve = |(number, buffer): (usize, &super::document::Buffer)| {
            let bytes = match (&buffer.uri, chunk) {
                (Some(uri), _) => Cow::Owned(fetch(number, uri, base)?),
                (None, Some(chunk)) if number == 0 => Cow::Borrowed(chunk),
                // Left empty: an extension may fill it, and a reference to it is an error.
                (None, _) => Cow::Borrowed(&[][..]),
            };
            let there = bytes.len();
            if buffer.uri.is_some() && there < buffer.byte_length {
                let missing = format!(
                    "buffer {number} promises {} bytes, {there} are there",
                    buffer.byte_length
                );
                return Err(MeshError::truncated(Place::Byte(there), missing));
            }
            Ok(bytes)
        };
        document
            .buffers
            .iter()
            .enumerate()
            .map(resolve)
            .collect::<Result<_, _>>()
            .map(Self)
    }

    /// Returns the total number of bytes.
    pub(super) fn len(&self) -> usize {
        self.0.iter().map(|buffer| buffer.len()).sum()
    }

    /// Returns the bytes of a buffer view.
    pub(super) fn view(&self, document: &Document, number: usize) -> Result<&[u8], MeshError> {
        let view = lookup(&document.buffer_views, number, "buffer view")?;
        if let Some(extension) = view.extensions.keys().find(|e| e.contains("meshopt")) {
            return Err(unsupported(format!("the extension {extension}")));
        }
        let buffer = lookup(&self.0, view.buffer, "buffer")?;
        buffer
            .get(view.byte_offset..)
            .and_then(|rest| rest.get(..view.byte_length))
            .ok_or_else(|| {
                let (from, length) = (view.byte_offset, view.byte_length);
                let missing = format!(
                    "buffer view {number} wants {length} bytes from byte {from} of buffer {}, which has {}",
                    view.buffer,
                    buffer.len()
                );
                MeshError::truncated(Place::Byte(buffer.len()), missing)
            })
    }
}

/// Reads `uri` of buffer `number`: inline base64 data, or a file beside the document.
fn fetch(number: usize, uri: &str, base: Option<&Path>) -> Result<Vec<u8>, MeshError> {
    if let Some(data) = uri.strip_prefix("data:") {
        let (_, text) = data
            .split_once(";base64,")
            .ok_or_else(|| unsupported(format!("a data URI without base64 (buffer {number})")))?;
        return BASE64
            .decode(text)
            .map_err(|error| invalid(format!("buffer {number} is not base64: {error}")));
    }
    let name =
        percent_decoded(uri).ok_or_else(|| invalid(format!("the URI {uri:?} of buffer {number} is malformed")))?;
    // A foreign document must not reach other files by its buffers.
    let is_below = |part| matches!(part, Component::Normal(_) | Component::CurDir);
    if uri.contains("://") || !Path::new(&name).components().all(is_below) {
        return Err(unsupported(format!(
            "the buffer {uri:?}, which is not in the file's folder"
        )));
    }
    let base = base.ok_or_else(|| unsupported(format!("the file {name:?} beside it, but its folder is not known")))?;
    read(&base.join(name))
}

/// Decodes `text`, in which %41 stands for A.
fn percent_decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        if byte == b'%' {
            let hex = std::str::from_utf8(rest.get(..2)?).ok()?;
            bytes.push(u8::from_str_radix(hex, 16).ok()?);
            rest = &rest[2..];
        } else {
            bytes.push(byte);
        }
    }
    String::from_utf8(bytes).ok()
}
