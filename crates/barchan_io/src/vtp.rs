//! VTK XML poly data (.vtp), for ParaView, VTK and OVITO.
//!
//! Arrays are inline base64, uncompressed, of signed or floating-point types, and the positions are called `Points`:
//! ParaView 5.11 of Debian 12 reads no appended data, and OVITO reads nothing else. Written by hand: the released
//! `vtkio` is from 2021 and has outdated dependencies.

use std::io::{self, Write};

use barchan_geometry::TriMesh;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use glam::DVec3;

use crate::values::{put_f32, put_f64};
use crate::{Column, Points, Precision, Values};

/// Section of arrays that belong to no point and no cell.
const FIELD: &str = "FieldData";

/// Writes particles, one vertex each.
pub(crate) fn write(out: &mut impl Write, points: &Points) -> io::Result<()> {
    let count = points.positions.len();
    begin(out, &[])?;
    writeln!(out, r#"<Piece NumberOfPoints="{count}" NumberOfVerts="{count}">"#)?;
    coordinates(out, points.positions, points.precision())?;
    columns(out, "PointData", &points.columns)?;
    cells(out, "Verts", (0..count).map(|i| [i as i64]))?;
    end(out)
}

/// Surfaces of bodies, posed in the world.
pub(crate) struct Surfaces<'a> {
    /// Vertices and triangles of all surfaces, concatenated.
    pub mesh: TriMesh,
    /// Row in `rows` of each triangle's body.
    pub owners: Vec<u32>,
    /// Rows without triangles, each with a representative point [m].
    pub lone: Vec<(u32, DVec3)>,
    /// One row per body: its name and its state.
    pub rows: &'a [Column<'a>],
}

/// Writes surfaces: their triangles with the cell array `body`, an index into the rows of the field arrays.
pub(crate) fn write_surfaces(out: &mut impl Write, surfaces: &Surfaces) -> io::Result<()> {
    let Surfaces {
        mesh,
        owners,
        lone,
        rows,
    } = surfaces;
    begin(out, rows)?;
    let first = mesh.vertices.len();
    writeln!(
        out,
        r#"<Piece NumberOfPoints="{}" NumberOfVerts="{}" NumberOfPolys="{}">"#,
        first + lone.len(),
        lone.len(),
        mesh.triangles.len()
    )?;
    let positions: Vec<DVec3> = mesh.vertices.iter().copied().chain(lone.iter().map(|l| l.1)).collect();
    coordinates(out, &positions, Precision::Double)?;
    // Cells are numbered vertices first.
    let owners: Vec<u32> = lone.iter().map(|l| l.0).chain(owners.iter().copied()).collect();
    let body = Column {
        name: "body",
        values: Values::U32(&owners),
    };
    columns(out, "CellData", &[body])?;
    cells(out, "Verts", (0..lone.len()).map(|i| [(first + i) as i64]))?;
    cells(out, "Polys", mesh.triangles.iter().map(|t| t.map(i64::from)))?;
    end(out)
}

fn begin(out: &mut impl Write, field: &[Column]) -> io::Result<()> {
    writeln!(out, r#"<?xml version="1.0"?>"#)?;
    writeln!(
        out,
        r#"<VTKFile type="PolyData" version="1.0" byte_order="LittleEndian" header_type="UInt64">"#
    )?;
    writeln!(out, "<PolyData>")?;
    match field.is_empty() {
        true => Ok(()),
        false => columns(out, FIELD, field),
    }
}

fn end(out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "</Piece>\n</PolyData>\n</VTKFile>")
}

fn coordinates(out: &mut impl Write, positions: &[DVec3], precision: Precision) -> io::Result<()> {
    writeln!(out, "<Points>")?;
    let (kind, bytes) = match precision {
        Precision::Single => ("Float32", 4),
        Precision::Double => ("Float64", 8),
    };
    let head = format!(r#"type="{kind}" Name="Points" NumberOfComponents="3""#);
    array(out, &head, 3 * bytes * positions.len(), |out| {
        positions.iter().try_for_each(|p| match precision {
            Precision::Single => put_f32(out, p.to_array()),
            Precision::Double => put_f64(out, p.to_array()),
        })
    })?;
    writeln!(out, "</Points>")
}

/// Writes `all` as the arrays of `section`.
fn columns(out: &mut impl Write, section: &str, all: &[Column]) -> io::Result<()> {
    writeln!(out, "<{section}>")?;
    for Column { name, values } in all {
        let count = values.len();
        let tuples = match section {
            FIELD => format!(r#" NumberOfTuples="{count}""#),
            _ => String::new(),
        };
        let head = |kind: &str| {
            let (name, components) = (escaped(name), values.components());
            format!(r#"type="{kind}" Name="{name}" NumberOfComponents="{components}"{tuples}"#)
        };
        match values {
            Values::U8(numbers) => whole(out, head, count, |i| i64::from(numbers[i]))?,
            Values::U32(numbers) => whole(out, head, count, |i| i64::from(numbers[i]))?,
            Values::Text(words) => {
                // Each string ends with a zero and contains no other.
                let letters: Vec<u8> = words
                    .iter()
                    .flat_map(|word| word.bytes().filter(|byte| *byte != 0).chain([0]))
                    .collect();
                array(out, &head("String"), letters.len(), |out| out.write_all(&letters))?;
            }
            // These few rows are written in full precision.
            Values::Vector(rows) if section == FIELD => {
                array(out, &head("Float64"), 24 * count, |out| {
                    rows.iter().try_for_each(|row| put_f64(out, row.to_array()))
                })?;
            }
            Values::Rotation(rows) if section == FIELD => {
                array(out, &head("Float64"), 32 * count, |out| {
                    rows.iter().try_for_each(|row| put_f64(out, *row))
                })?;
            }
            _ => array(out, &head("Float32"), 4 * values.components() * count, |out| {
                (0..count).try_for_each(|i| values.put(out, i))
            })?,
        }
    }
    writeln!(out, "</{section}>")
}

/// Writes integers in 32 bits, or in 64 if any needs them.
fn whole(
    out: &mut impl Write,
    head: impl Fn(&str) -> String,
    count: usize,
    number: impl Fn(usize) -> i64,
) -> io::Result<()> {
    match (0..count).all(|i| i32::try_from(number(i)).is_ok()) {
        true => array(out, &head("Int32"), 4 * count, |out| {
            (0..count).try_for_each(|i| out.write_all(&(number(i) as i32).to_le_bytes()))
        }),
        false => array(out, &head("Int64"), 8 * count, |out| {
            (0..count).try_for_each(|i| out.write_all(&number(i).to_le_bytes()))
        }),
    }
}

/// Writes cells of N points each.
fn cells<const N: usize>(
    out: &mut impl Write,
    section: &str,
    corners: impl ExactSizeIterator<Item = [i64; N]>,
) -> io::Result<()> {
    let count = corners.len();
    writeln!(out, "<{section}>")?;
    array(out, r#"type="Int64" Name="connectivity""#, 8 * N * count, |out| {
        corners.flatten().try_for_each(|i| out.write_all(&i.to_le_bytes()))
    })?;
    array(out, r#"type="Int64" Name="offsets""#, 8 * count, |out| {
        (1..=count).try_for_each(|i| out.write_all(&((N * i) as i64).to_le_bytes()))
    })?;
    writeln!(out, "</{section}>")
}

/// Writes an array of `bytes` that `fill` writes.
fn array<W: Write>(
    out: &mut W,
    head: &str,
    bytes: usize,
    fill: impl FnOnce(&mut Base64<'_, W>) -> io::Result<()>,
) -> io::Result<()> {
    write!(out, r#"<DataArray {head} format="binary">"#)?;
    let mut encoder = Base64 {
        out,
        pending: Vec::with_capacity(CHUNK),
    };
    encoder.write_all(&(bytes as u64).to_le_bytes())?;
    fill(&mut encoder)?;
    encoder.put()?;
    writeln!(out, "</DataArray>")
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('"', "&quot;")
}

/// Bytes that are encoded at once: a multiple of three, so that there is no padding in between.
const CHUNK: usize = 3 << 14;

/// Encodes the bytes written to it.
struct Base64<'a, W> {
    out: &'a mut W,
    pending: Vec<u8>,
}

impl<W: Write> Base64<'_, W> {
    fn put(&mut self) -> io::Result<()> {
        self.out.write_all(STANDARD.encode(&self.pending).as_bytes())?;
        self.pending.clear();
        Ok(())
    }
}

impl<W: Write> Write for Base64<'_, W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let taken = bytes.len().min(CHUNK - self.pending.len());
        self.pending.extend_from_slice(&bytes[..taken]);
        if self.pending.len() == CHUNK {
            self.put()?;
        }
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
