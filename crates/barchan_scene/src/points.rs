//! Points from files: positions of a fill's guides.

use std::path::Path;

use barchan_geometry::mesh::files::ply;
use glam::DVec3;

/// Points, and radii [m] if the file has them.
#[derive(Debug, PartialEq)]
pub(crate) struct PointFile {
    pub positions: Vec<DVec3>,
    pub radii: Option<Vec<f64>>,
}

impl PointFile {
    pub(crate) fn checksum(&self) -> crc32fast::Hasher {
        let mut sum = crc32fast::Hasher::new();
        let positions = self.positions.iter().flat_map(DVec3::to_array);
        for number in positions.chain(self.radii.iter().flatten().copied()) {
            sum.update(&number.to_le_bytes());
        }
        sum
    }
}

/// Kinds of files that hold points, by their ending.
pub(crate) const ENDINGS: &[&str] = &["ply", "csv", "xyz"];

/// The points in a file, or why there are none.
pub(crate) fn read(path: &Path) -> Result<PointFile, String> {
    let ending = path.extension().unwrap_or_default().to_string_lossy().to_lowercase();
    let parse = match ending.as_str() {
        "ply" => parse_ply,
        "csv" => parse_csv,
        "xyz" => parse_xyz,
        _ => {
            return Err(format!(
                "points are read from files that end with {}",
                ENDINGS.join(", ")
            ));
        }
    };
    let bytes = std::fs::read(path).map_err(|error| format!("cannot read {}: {error}", path.display()))?;
    let points = parse(&bytes).map_err(|error| format!("{}: {error}", path.display()))?;
    if points.positions.is_empty() {
        return Err(format!("{} holds no points", path.display()));
    }
    if let Some(at) = points.positions.iter().position(|p| !p.is_finite()) {
        return Err(format!("{}: point {} is not finite", path.display(), at + 1));
    }
    let bad = |r: &f64| !(r.is_finite() && *r > 0.0);
    if let Some(at) = points.radii.as_ref().and_then(|radii| radii.iter().position(bad)) {
        return Err(format!(
            "{}: the radius of point {} is not above zero",
            path.display(),
            at + 1
        ));
    }
    Ok(points)
}

fn parse_ply(bytes: &[u8]) -> Result<PointFile, String> {
    let file = ply::read(bytes).map_err(|error| error.to_string())?;
    let vertices = file.element("vertex").ok_or("there is no element `vertex`")?;
    let column = |name: &str| vertices.scalars(name).map(ply::Values::to_f64);
    let axis = |name: &str| column(name).ok_or(format!("the element `vertex` has no number `{name}`"));
    let (x, y, z) = (axis("x")?, axis("y")?, axis("z")?);
    Ok(PointFile {
        positions: (0..vertices.count).map(|k| DVec3::new(x[k], y[k], z[k])).collect(),
        radii: column("radius"),
    })
}

/// A header line with `x`, `y`, `z` and perhaps `radius` among its names, then a line a point.
fn parse_csv(bytes: &[u8]) -> Result<PointFile, String> {
    let text = text(bytes)?;
    let mut lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    let (_, header) = lines.next().ok_or("the file is empty")?;
    let names: Vec<&str> = header.split(',').map(|name| name.trim().trim_matches('"')).collect();
    let column = |wanted: &str| names.iter().position(|name| name.eq_ignore_ascii_case(wanted));
    let axis = |wanted: &str| column(wanted).ok_or(format!("the header has no column `{wanted}`"));
    let (axes, radius) = ([axis("x")?, axis("y")?, axis("z")?], column("radius"));
    let mut points = PointFile {
        positions: Vec::new(),
        radii: radius.map(|_| Vec::new()),
    };
    for (number, line) in lines {
        let cells: Vec<&str> = line.split(',').collect();
        let cell = |at: usize| parse_number(cells.get(at).copied(), number);
        points
            .positions
            .push(DVec3::new(cell(axes[0])?, cell(axes[1])?, cell(axes[2])?));
        if let (Some(at), Some(radii)) = (radius, &mut points.radii) {
            radii.push(cell(at)?);
        }
    }
    Ok(points)
}

/// A line a point: x, y, z and perhaps a radius, with blanks between; lines that begin with `#` are comments.
fn parse_xyz(bytes: &[u8]) -> Result<PointFile, String> {
    let text = text(bytes)?;
    let mut positions = Vec::new();
    let mut radii = Vec::new();
    for (number, line) in text.lines().enumerate() {
        if line.trim().is_empty() || line.trim_start().starts_with('#') {
            continue;
        }
        let mut words = line.split_whitespace();
        let mut next = || parse_number(words.next(), number);
        positions.push(DVec3::new(next()?, next()?, next()?));
        if let Some(word) = words.next() {
            radii.push(parse_number(Some(word), number)?);
        }
    }
    if !radii.is_empty() && radii.len() != positions.len() {
        return Err(format!("{} of {} points have a radius", radii.len(), positions.len()));
    }
    let radii = (!radii.is_empty()).then_some(radii);
    Ok(PointFile { positions, radii })
}

fn text(bytes: &[u8]) -> Result<&str, String> {
    std::str::from_utf8(bytes).map_err(|_| "the file is no text".to_owned())
}

/// A number in the line `number`, counted from 0.
fn parse_number(word: Option<&str>, number: usize) -> Result<f64, String> {
    let line = number + 1;
    let word = word.ok_or(format!("line {line} has too few numbers"))?.trim();
    let shown: String = word.chars().take(20).collect();
    word.parse().map_err(|_| format!("line {line}: `{shown}` is no number"))
}
