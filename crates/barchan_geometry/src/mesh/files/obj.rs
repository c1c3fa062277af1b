//! Wavefront OBJ.
//!
//! A parser of our own: the errors of tobj 4.0.5 have no position. Only positions and faces are read; polygons are
//! triangulated as fans, so concave ones may overlap themselves.

use std::io::{self, Write};

use glam::DVec3;

use super::super::{MeshError, TriMesh};
use super::MeshFormat;
use super::text::{Words, excerpt};

pub(super) fn parse(bytes: &[u8]) -> Result<TriMesh, MeshError> {
    let mut mesh = TriMesh::default();
    let mut unknown = None;
    for_each_statement(bytes, |keyword, words| {
        match keyword {
            b"v" => mesh.vertices.push(DVec3::new(
                words.number_in_line()?,
                words.number_in_line()?,
                words.number_in_line()?,
            )),
            b"f" => face(words, &mut mesh)?,
            b"vn" | b"vt" | b"vp" | b"o" | b"g" | b"s" | b"usemtl" | b"mtllib" => {}
            _ => unknown = unknown.take().or_else(|| Some((words.place(), excerpt(keyword)))),
        }
        Ok(true)
    })?;

    if let (true, true, Some((place, word))) = (mesh.vertices.is_empty(), mesh.triangles.is_empty(), unknown) {
        return Err(MeshError::NotThisFormat {
            format: MeshFormat::Obj,
            reason: format!("no vertex and no face, but {word:?} on {place}"),
        });
    }
    // A face may refer to later vertices, so this cannot be checked earlier.
    let count = mesh.vertices.len();
    let fault = |t: &[u32; 3]| t.iter().copied().find(|&v| v as usize >= count);
    match mesh
        .triangles
        .iter()
        .enumerate()
        .find_map(|(t, v)| Some((t, fault(v)?)))
    {
        Some((t, v)) => Err(out_of_range(t, line_of_triangle(bytes, t), i64::from(v) + 1, count)),
        None => Ok(mesh),
    }
}

/// Parses an `f` statement: vertex indices from 1, or from −1 backward, each optionally followed by `/texture/normal`.
fn face(words: &mut Words<'_>, mesh: &mut TriMesh) -> Result<(), MeshError> {
    let mut corners = 0;
    let (mut first, mut last) = (0, 0);
    while let Some(word) = words.word_in_line() {
        if word.starts_with(b"#") {
            break;
        }
        let number = word.split(|&b| b == b'/').next().unwrap_or_default();
        let number: i64 = std::str::from_utf8(number)
            .ok()
            .and_then(|n| n.parse().ok())
            .ok_or_else(|| MeshError::syntax(words.place(), format!("{:?} names no vertex", excerpt(word))))?;
        let count = mesh.vertices.len();
        let index = if number < 0 { count as i64 + number } else { number - 1 };
        let index =
            u32::try_from(index).map_err(|_| out_of_range(mesh.triangles.len(), Some(words.line()), number, count))?;
        match corners {
            0 => first = index,
            1 => {}
            _ => mesh.triangles.push([first, last, index]),
        }
        last = index;
        corners += 1;
    }
    if corners < 3 {
        return Err(MeshError::syntax(
            words.place(),
            format!("a face needs at least 3 vertices, got {corners}"),
        ));
    }
    Ok(())
}

/// Calls `act` with the first word of every statement, until it returns false.
fn for_each_statement<'a>(
    bytes: &'a [u8],
    mut act: impl FnMut(&[u8], &mut Words<'a>) -> Result<bool, MeshError>,
) -> Result<(), MeshError> {
    let mut words = Words::new(bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes), 1);
    loop {
        if let Some(keyword) = words.word_in_line()
            && !keyword.starts_with(b"#")
            && !act(keyword, &mut words)?
        {
            return Ok(());
        }
        if !words.next_line() {
            return Ok(());
        }
    }
}

/// Finds the line by reading the file again, so that valid files have no overhead.
fn line_of_triangle(bytes: &[u8], triangle: usize) -> Option<usize> {
    let (mut seen, mut line) = (0, None);
    let walked = for_each_statement(bytes, |keyword, words| {
        if keyword == b"f" {
            let here = words.line();
            let corners = std::iter::from_fn(|| words.word_in_line().filter(|word| !word.starts_with(b"#"))).count();
            seen += corners.saturating_sub(2);
            line = (triangle < seen).then_some(here);
        }
        Ok(line.is_none())
    });
    walked.ok().and(line)
}

fn out_of_range(triangle: usize, line: Option<usize>, index: i64, vertices: usize) -> MeshError {
    MeshError::IndexOutOfRange {
        triangle,
        line,
        index,
        vertices,
        first: 1,
    }
}

/// Writes `mesh` as OBJ text, with the shortest decimals that read back as the same `f64`.
pub fn write_obj(mesh: &TriMesh, mut out: impl Write) -> io::Result<()> {
    for v in &mesh.vertices {
        writeln!(out, "v {} {} {}", v.x, v.y, v.z)?;
    }
    for t in &mesh.triangles {
        let [a, b, c] = t.map(|v| u64::from(v) + 1);
        writeln!(out, "f {a} {b} {c}")?;
    }
    Ok(())
}
