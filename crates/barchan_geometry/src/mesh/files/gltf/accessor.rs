//! Typed views of a glTF buffer; every range is checked before it is read.

use glam::DVec3;

use super::super::super::{MeshError, Place};
use super::buffers::Buffers;
use super::document::{Accessor, Document};
use super::{invalid, lookup, unsupported};

/// Reads vertex positions [m]: floats, or integers as in KHR_mesh_quantization.
pub(super) fn positions(document: &Document, buffers: &Buffers<'_>, number: usize) -> Result<Vec<DVec3>, MeshError> {
    let accessor = lookup(&document.accessors, number, "accessor")?;
    if accessor.kind != "VEC3" {
        return Err(invalid(format!(
            "positions (accessor {number}) are {}, not VEC3",
            accessor.kind
        )));
    }
    if accessor.normalized && accessor.component_type == F32 {
        return Err(invalid(format!("accessor {number} has normalized floats")));
    }
    let component = component(accessor, number)?;
    let scale = if accessor.normalized { component.one } else { 1.0 };
    let rows = rows(document, buffers, number, 3 * component.size)?;
    Ok(rows
        .map(|row| {
            let axis = |k: usize| (component.read)(&row[k * component.size..]) / scale;
            let stored = DVec3::new(axis(0), axis(1), axis(2));
            // Normalized signed numbers end at −1, although their bits go a little further.
            if accessor.normalized {
                stored.max(DVec3::NEG_ONE)
            } else {
                stored
            }
        })
        .collect())
}

/// Reads vertex indices.
pub(super) fn indices(document: &Document, buffers: &Buffers<'_>, number: usize) -> Result<Vec<u32>, MeshError> {
    let accessor = lookup(&document.accessors, number, "accessor")?;
    let unsigned = matches!(accessor.component_type, U8 | U16 | U32);
    if accessor.kind != "SCALAR" || !unsigned {
        return Err(invalid(format!(
            "vertex numbers (accessor {number}) must be unsigned scalars"
        )));
    }
    let component = component(accessor, number)?;
    // Every unsigned type fits f64 exactly.
    Ok(rows(document, buffers, number, component.size)?
        .map(|row| (component.read)(row) as u32)
        .collect())
}

const I8: u32 = 5120;
const U8: u32 = 5121;
const I16: u32 = 5122;
const U16: u32 = 5123;
const U32: u32 = 5125;
const F32: u32 = 5126;

/// Storage of one number.
struct Component {
    size: usize,
    /// Stored value of 1, where normalized.
    one: f64,
    read: Read,
}

type Read = fn(&[u8]) -> f64;

fn component(accessor: &Accessor, number: usize) -> Result<Component, MeshError> {
    let (size, one, read): (usize, f64, Read) = match accessor.component_type {
        I8 => (1, 127.0, |b| f64::from(b[0] as i8)),
        U8 => (1, 255.0, |b| f64::from(b[0])),
        I16 => (2, 32767.0, |b| f64::from(i16::from_le_bytes([b[0], b[1]]))),
        U16 => (2, 65535.0, |b| f64::from(u16::from_le_bytes([b[0], b[1]]))),
        U32 => (4, 4294967295.0, |b| {
            f64::from(u32::from_le_bytes([b[0], b[1], b[2], b[3]]))
        }),
        F32 => (4, 1.0, |b| f64::from(f32::from_le_bytes([b[0], b[1], b[2], b[3]]))),
        other => {
            return Err(invalid(format!(
                "accessor {number} has the unknown component type {other}"
            )));
        }
    };
    Ok(Component { size, one, read })
}

/// Returns the rows of an accessor, `width` bytes each.
fn rows<'a>(
    document: &Document,
    buffers: &'a Buffers<'_>,
    number: usize,
    width: usize,
) -> Result<impl Iterator<Item = &'a [u8]>, MeshError> {
    let accessor = &document.accessors[number];
    let (Some(view), None) = (accessor.buffer_view, &accessor.sparse) else {
        return Err(unsupported(format!("sparse data (accessor {number})")));
    };
    let bytes = buffers.view(document, view)?;
    let stride = document.buffer_views[view].byte_stride.unwrap_or(width);
    if stride < width {
        return Err(invalid(format!(
            "buffer view {view} has a stride of {stride} bytes for items of {width}"
        )));
    }
    let data = bytes.get(accessor.byte_offset..).unwrap_or_default();
    let there = if data.len() < width {
        0
    } else {
        (data.len() - width) / stride + 1
    };
    if there < accessor.count {
        let missing = format!("accessor {number} promises {} items, {there} are there", accessor.count);
        return Err(MeshError::truncated(Place::Byte(bytes.len()), missing));
    }
    Ok(data.chunks(stride).take(accessor.count).map(move |row| &row[..width]))
}
