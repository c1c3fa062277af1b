//! Comma-separated text with a header line.

use std::io::{self, Write};

use crate::ply::component_names;
use crate::{Points, Values};

pub(crate) fn write(out: &mut impl Write, points: &Points) -> io::Result<()> {
    write!(out, "x,y,z")?;
    for column in &points.columns {
        match column.values {
            Values::Scalar(_) => write!(out, ",{}", column.name)?,
            Values::Vector(_) => write!(out, ",{}", component_names(column.name).join(","))?,
        }
    }
    writeln!(out)?;
    for (i, p) in points.positions.iter().enumerate() {
        write!(out, "{},{},{}", p.x, p.y, p.z)?;
        for column in &points.columns {
            match column.values {
                Values::Scalar(values) => write!(out, ",{}", values[i])?,
                Values::Vector(values) => write!(out, ",{},{},{}", values[i].x, values[i].y, values[i].z)?,
            }
        }
        writeln!(out)?;
    }
    Ok(())
}
