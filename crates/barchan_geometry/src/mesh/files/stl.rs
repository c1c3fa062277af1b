//! STL, binary and text.
//!
//! A parser of our own: stl_io 0.11 treats a file that begins with "solid " as text as long as its first line is UTF-8,
//! which may be true of a binary one, and its errors have no position. Normals are ignored; the order of the corners
//! determines the outer side.

use std::io::{self, Write};

use glam::{DVec3, Vec3};

use super::super::{MeshError, Place, TriMesh};
use super::MeshFormat;
use super::text::{Words, excerpt};

const HEADER: usize = 80;
const DATA: usize = HEADER + 4;
/// Normal, three corners, two bytes of attributes.
const TRIANGLE_BYTES: usize = 12 + 36 + 2;

pub(super) fn parse(bytes: &[u8]) -> Result<TriMesh, MeshError> {
    if fits_binary(bytes) {
        return binary(bytes);
    }
    // A count below 2²⁴ puts a zero into byte 83, and text has no zeros.
    let looks_like_text = !bytes[..bytes.len().min(DATA + TRIANGLE_BYTES)].contains(&0);
    let says_solid = bytes
        .trim_ascii_start()
        .get(..5)
        .is_some_and(|word| word.eq_ignore_ascii_case(b"solid"));
    match (looks_like_text, says_solid) {
        (true, true) => text(bytes),
        (true, false) => Err(MeshError::NotThisFormat {
            format: MeshFormat::Stl,
            reason: format!(
                "text that begins with {:?} instead of \"solid\"",
                excerpt(bytes.trim_ascii_start())
            ),
        }),
        (false, _) => binary(bytes),
    }
}

/// Returns true if the length is exactly that of the count in a binary header.
fn fits_binary(bytes: &[u8]) -> bool {
    claimed(bytes).is_some_and(|count| bytes.len() as u64 == DATA as u64 + TRIANGLE_BYTES as u64 * u64::from(count))
}

fn claimed(bytes: &[u8]) -> Option<u32> {
    bytes[HEADER.min(bytes.len())..]
        .first_chunk()
        .map(|count| u32::from_le_bytes(*count))
}

fn binary(bytes: &[u8]) -> Result<TriMesh, MeshError> {
    let count = claimed(bytes).ok_or_else(|| {
        let missing = format!("a binary STL begins with {DATA} bytes of header and count");
        MeshError::truncated(Place::Byte(bytes.len()), missing)
    })?;
    let records = &bytes[DATA..];
    let whole = records.len() / TRIANGLE_BYTES;
    if whole < count as usize {
        let missing = format!("the header promises {count} triangles, {whole} are there");
        return Err(MeshError::truncated(Place::Byte(bytes.len()), missing));
    }
    let float = |b: &[u8]| f32::from_le_bytes([b[0], b[1], b[2], b[3]]);
    let corner = |b: &[u8]| Vec3::new(float(b), float(&b[4..]), float(&b[8..])).as_dvec3();
    Ok(soup(
        records
            .chunks_exact(TRIANGLE_BYTES)
            .take(count as usize)
            .flat_map(|r| [corner(&r[12..]), corner(&r[24..]), corner(&r[36..])])
            .collect(),
    ))
}

fn text(bytes: &[u8]) -> Result<TriMesh, MeshError> {
    let mut words = Words::new(bytes, 1);
    let mut corners: Vec<DVec3> = Vec::new();
    let (mut open, mut facet) = (false, 0);
    while let Some(word) = words.word() {
        let keyword = word.to_ascii_lowercase();
        match keyword.as_slice() {
            b"solid" | b"endsolid" => {
                open = keyword == b"solid";
                words.next_line();
            }
            b"facet" => facet = corners.len(),
            b"outer" | b"loop" | b"endfacet" => {}
            b"normal" => {
                for _ in 0..3 {
                    words.number()?;
                }
            }
            b"vertex" => corners.push(DVec3::new(words.number()?, words.number()?, words.number()?)),
            b"endloop" if corners.len() == facet + 3 => {}
            b"endloop" => return Err(MeshError::syntax(words.place(), "a facet must have 3 vertices")),
            _ => {
                let reason = format!("{:?} is no word of a text STL", excerpt(word));
                return Err(MeshError::syntax(words.place(), reason));
            }
        }
    }
    if open || !corners.len().is_multiple_of(3) {
        return Err(MeshError::truncated(words.place(), "\"endsolid\" is missing"));
    }
    Ok(soup(corners))
}

/// Makes a separate triangle of every three corners.
fn soup(vertices: Vec<DVec3>) -> TriMesh {
    let triangles = (0..vertices.len() as u32 / 3).map(|t| [3 * t, 3 * t + 1, 3 * t + 2]);
    TriMesh {
        triangles: triangles.collect(),
        vertices,
    }
}

/// Writes `mesh` as binary STL; positions are rounded to `f32`, as the format requires.
pub fn write_stl(mesh: &TriMesh, mut out: impl Write) -> io::Result<()> {
    let count = u32::try_from(mesh.triangles.len()).map_err(io::Error::other)?;
    out.write_all(&[0; HEADER])?;
    out.write_all(&count.to_le_bytes())?;
    for t in 0..mesh.triangles.len() {
        let [a, b, c] = mesh.corners(t);
        let normal = (b - a).cross(c - a).normalize_or_zero();
        for vector in [normal, a, b, c] {
            for number in vector.as_vec3().to_array() {
                out.write_all(&number.to_le_bytes())?;
            }
        }
        out.write_all(&[0; 2])?;
    }
    Ok(())
}
