//! VTK XML poly data (.vtp), appended raw, little-endian: what ParaView opens.
//!
//! Written by hand: the released `vtkio` is from 2021 and brings outdated parsers.

use std::io::{self, Write};

use crate::values::{Number, put_f32, put_f64};
use crate::{Points, Precision, Values};

pub(crate) fn write(out: &mut impl Write, points: &Points) -> io::Result<()> {
    let count = points.positions.len();
    let precision = points.precision();
    let position = match precision {
        Precision::Single => Number::F32,
        Precision::Double => Number::F64,
    };
    let mut offset = 0;
    let mut place = |bytes: usize| {
        let here = offset;
        offset += size_of::<u64>() + bytes;
        here
    };
    writeln!(out, r#"<?xml version="1.0"?>"#)?;
    writeln!(
        out,
        r#"<VTKFile type="PolyData" version="1.0" byte_order="LittleEndian" header_type="UInt64">"#
    )?;
    writeln!(
        out,
        r#"<PolyData><Piece NumberOfPoints="{count}" NumberOfVerts="{count}">"#
    )?;
    writeln!(out, "<Points>")?;
    array(
        out,
        name_of(position),
        "position",
        3,
        place(position.bytes() * 3 * count),
    )?;
    writeln!(out, "</Points>\n<PointData>")?;
    for column in &points.columns {
        let kind = name_of(column.values.number());
        array(
            out,
            kind,
            column.name,
            column.values.components(),
            place(length(&column.values)),
        )?;
    }
    writeln!(out, "</PointData>\n<Verts>")?;
    array(out, "Int64", "connectivity", 1, place(8 * count))?;
    array(out, "Int64", "offsets", 1, place(8 * count))?;
    writeln!(out, "</Verts>\n</Piece></PolyData>")?;
    write!(out, "<AppendedData encoding=\"raw\">\n_")?;

    header(out, position.bytes() * 3 * count)?;
    for p in points.positions {
        match precision {
            Precision::Single => put_f32(out, p.to_array())?,
            Precision::Double => put_f64(out, p.to_array())?,
        }
    }
    for column in &points.columns {
        header(out, length(&column.values))?;
        for i in 0..count {
            column.values.put(out, i)?;
            if let Values::Text(_) = column.values {
                out.write_all(&[0])?;
            }
        }
    }
    for first in [0, 1] {
        header(out, 8 * count)?;
        for i in 0..count as i64 {
            out.write_all(&(i + first).to_le_bytes())?;
        }
    }
    writeln!(out, "\n</AppendedData>\n</VTKFile>")
}

fn name_of(number: Number) -> &'static str {
    match number {
        Number::U8 => "UInt8",
        Number::U32 => "UInt32",
        Number::F32 => "Float32",
        Number::F64 => "Float64",
        Number::Text => "String",
    }
}

/// Length of a column [bytes]; words end with a zero each.
fn length(values: &Values) -> usize {
    match values {
        Values::Text(words) => words.iter().map(|word| word.len() + 1).sum(),
        _ => values.number().bytes() * values.components() * values.len(),
    }
}

fn array(out: &mut impl Write, kind: &str, name: &str, components: usize, offset: usize) -> io::Result<()> {
    writeln!(
        out,
        r#"<DataArray type="{kind}" Name="{name}" NumberOfComponents="{components}" format="appended" offset="{offset}"/>"#
    )
}

fn header(out: &mut impl Write, bytes: usize) -> io::Result<()> {
    out.write_all(&(bytes as u64).to_le_bytes())
}
