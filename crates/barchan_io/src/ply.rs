//! Stanford PLY, binary little-endian, vertices only.

use std::io::{self, Write};

use crate::bytes::{doubles, floats};
use crate::{Points, Precision, Values};

pub(crate) fn write(out: &mut impl Write, points: &Points) -> io::Result<()> {
    let precision = points.precision();
    let number = match precision {
        Precision::Single => "float",
        Precision::Double => "double",
    };
    writeln!(
        out,
        "ply\nformat binary_little_endian 1.0\ncomment barchan, SI units, z up"
    )?;
    writeln!(out, "element vertex {}", points.positions.len())?;
    for axis in ["x", "y", "z"] {
        writeln!(out, "property {number} {axis}")?;
    }
    for column in &points.columns {
        match column.values {
            Values::Scalar(_) => writeln!(out, "property float {}", column.name)?,
            Values::Vector(_) => {
                for name in component_names(column.name) {
                    writeln!(out, "property float {name}")?;
                }
            }
        }
    }
    writeln!(out, "end_header")?;
    for (i, p) in points.positions.iter().enumerate() {
        match precision {
            Precision::Single => floats(out, p.to_array())?,
            Precision::Double => doubles(out, p.to_array())?,
        }
        for column in &points.columns {
            match column.values {
                Values::Scalar(values) => floats(out, [values[i]])?,
                Values::Vector(values) => floats(out, values[i].to_array())?,
            }
        }
    }
    Ok(())
}

/// How a vector's components are called in files of plain columns; normals as everyone calls them.
pub(crate) fn component_names(name: &str) -> [String; 3] {
    match name {
        "normal" => ["nx", "ny", "nz"].map(str::to_owned),
        _ => ["x", "y", "z"].map(|axis| format!("{name}_{axis}")),
    }
}
