//! VTK XML poly data (.vtp), appended raw, little-endian: what ParaView opens.
//!
//! Written by hand: the released `vtkio` is from 2021 and brings outdated parsers.

use std::io::{self, Write};

use crate::bytes::{doubles, floats};
use crate::{Points, Precision, Values};

pub(crate) fn write(out: &mut impl Write, points: &Points) -> io::Result<()> {
    let count = points.positions.len();
    let precision = points.precision();
    let (position_type, position_bytes) = match precision {
        Precision::Single => ("Float32", 12),
        Precision::Double => ("Float64", 24),
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
    array(out, position_type, "position", 3, place(position_bytes * count))?;
    writeln!(out, "</Points>\n<PointData>")?;
    for column in &points.columns {
        let components = match column.values {
            Values::Scalar(_) => 1,
            Values::Vector(_) => 3,
        };
        array(out, "Float32", column.name, components, place(4 * components * count))?;
    }
    writeln!(out, "</PointData>\n<Verts>")?;
    array(out, "Int64", "connectivity", 1, place(8 * count))?;
    array(out, "Int64", "offsets", 1, place(8 * count))?;
    writeln!(out, "</Verts>\n</Piece></PolyData>")?;
    write!(out, "<AppendedData encoding=\"raw\">\n_")?;

    header(out, position_bytes * count)?;
    for p in points.positions {
        match precision {
            Precision::Single => floats(out, p.to_array())?,
            Precision::Double => doubles(out, p.to_array())?,
        }
    }
    for column in &points.columns {
        match column.values {
            Values::Scalar(values) => {
                header(out, 4 * count)?;
                values.iter().try_for_each(|&v| floats(out, [v]))?;
            }
            Values::Vector(values) => {
                header(out, 12 * count)?;
                values.iter().try_for_each(|v| floats(out, v.to_array()))?;
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

fn array(out: &mut impl Write, kind: &str, name: &str, components: usize, offset: usize) -> io::Result<()> {
    writeln!(
        out,
        r#"<DataArray type="{kind}" Name="{name}" NumberOfComponents="{components}" format="appended" offset="{offset}"/>"#
    )
}

fn header(out: &mut impl Write, bytes: usize) -> io::Result<()> {
    out.write_all(&(bytes as u64).to_le_bytes())
}
