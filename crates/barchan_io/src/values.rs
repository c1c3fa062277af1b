//! Values of a column, and their representation in files.

use std::io::{self, Write};

use glam::{DVec3, Vec3};

/// Values of a column. 64-bit values are written in full as text, and in 32 bits otherwise.
#[derive(Clone, Copy, Debug)]
pub enum Values<'a> {
    /// One number each.
    Scalar(&'a [f64]),
    /// Three numbers each.
    Vector(&'a [DVec3]),
    /// Small integers.
    U8(&'a [u8]),
    /// Integers.
    U32(&'a [u32]),
    /// One 32-bit number each.
    F32(&'a [f32]),
    /// Three 32-bit numbers each.
    Vec3(&'a [Vec3]),
    /// Rotations: x, y, z, w.
    Rotation(&'a [[f64; 4]]),
    /// Strings.
    Text(&'a [String]),
}

/// Representation of a value in a binary file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Number {
    U8,
    U32,
    F32,
    F64,
    Text,
}

impl Values<'_> {
    /// Returns the number of particles.
    pub fn len(&self) -> usize {
        match self {
            Self::Scalar(values) => values.len(),
            Self::Vector(values) => values.len(),
            Self::U8(values) => values.len(),
            Self::U32(values) => values.len(),
            Self::F32(values) => values.len(),
            Self::Vec3(values) => values.len(),
            Self::Rotation(values) => values.len(),
            Self::Text(values) => values.len(),
        }
    }

    /// Returns true if there are no particles.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub(crate) fn number(&self) -> Number {
        match self {
            Self::U8(_) => Number::U8,
            Self::U32(_) => Number::U32,
            Self::Text(_) => Number::Text,
            Self::Scalar(_) | Self::Vector(_) | Self::F32(_) | Self::Vec3(_) | Self::Rotation(_) => Number::F32,
        }
    }

    /// Returns the names of a column's components in files of plain columns; normals have their conventional names.
    pub(crate) fn component_names(&self, name: &str) -> Vec<String> {
        let axes: &[&str] = match self {
            Self::Vector(_) | Self::Vec3(_) => &["x", "y", "z"],
            Self::Rotation(_) => &["x", "y", "z", "w"],
            _ => return vec![name.to_owned()],
        };
        let stem = if name == "normal" { "n" } else { &format!("{name}_") };
        axes.iter().map(|axis| format!("{stem}{axis}")).collect()
    }

    pub(crate) fn components(&self) -> usize {
        match self {
            Self::Vector(_) | Self::Vec3(_) => 3,
            Self::Rotation(_) => 4,
            _ => 1,
        }
    }

    /// Writes value `i` as little-endian bytes; a string as its characters.
    pub(crate) fn put(&self, out: &mut impl Write, i: usize) -> io::Result<()> {
        match self {
            Self::Scalar(values) => put_f32(out, [values[i]]),
            Self::Vector(values) => put_f32(out, values[i].to_array()),
            Self::U8(values) => out.write_all(&[values[i]]),
            Self::U32(values) => out.write_all(&values[i].to_le_bytes()),
            Self::F32(values) => out.write_all(&values[i].to_le_bytes()),
            Self::Vec3(values) => values[i]
                .to_array()
                .iter()
                .try_for_each(|v| out.write_all(&v.to_le_bytes())),
            Self::Rotation(values) => put_f32(out, values[i]),
            Self::Text(values) => out.write_all(values[i].as_bytes()),
        }
    }

    /// Writes value `i` as text, with commas between components.
    pub(crate) fn print(&self, out: &mut impl Write, i: usize) -> io::Result<()> {
        match self {
            Self::Scalar(values) => write!(out, "{}", values[i]),
            Self::Vector(values) => print_all(out, values[i].to_array()),
            Self::U8(values) => write!(out, "{}", values[i]),
            Self::U32(values) => write!(out, "{}", values[i]),
            Self::F32(values) => write!(out, "{}", values[i]),
            Self::Vec3(values) => print_all(out, values[i].to_array()),
            Self::Rotation(values) => print_all(out, values[i]),
            Self::Text(values) if values[i].contains([',', '"', '\n', '\r']) => {
                write!(out, "\"{}\"", values[i].replace('"', "\"\""))
            }
            Self::Text(values) => write!(out, "{}", values[i]),
        }
    }
}

pub(crate) fn put_f32<const N: usize>(out: &mut impl Write, values: [f64; N]) -> io::Result<()> {
    values
        .iter()
        .try_for_each(|&v| out.write_all(&(v as f32).to_le_bytes()))
}

pub(crate) fn put_f64<const N: usize>(out: &mut impl Write, values: [f64; N]) -> io::Result<()> {
    values.iter().try_for_each(|v| out.write_all(&v.to_le_bytes()))
}

fn print_all<T: std::fmt::Display, const N: usize>(out: &mut impl Write, values: [T; N]) -> io::Result<()> {
    for (i, value) in values.iter().enumerate() {
        let comma = if i == 0 { "" } else { "," };
        write!(out, "{comma}{value}")?;
    }
    Ok(())
}
