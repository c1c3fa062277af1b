//! The notation of shapes.
//!
//! A shape is a table with one of the keys of [`SHAPES`], and beside it, each optional and applied in this order:
//!
//! | key      | unit | meaning                                                                                      |
//! | -------- | ---- | -------------------------------------------------------------------------------------------- |
//! | `scale`  | -    | a number, or `[x, y, z]` along the shape's own axes                                          |
//! | `rotate` | deg  | `[x, y, z]`: about x, then y, then z; or `{ axis = [x, y, z], angle = a }`                   |
//! | `at`     | m    | `[x, y, z]`                                                                                  |
//! | `smooth` | m    | beside `union`, `subtract` and `intersect`: radius of the fillet where right angles meet     |
//!
//! ```toml
//! shape = { subtract = [
//!     { box = { size = [2, 2, 1], rounding = 0.1 } },
//!     { cylinder = { radius = 0.5, height = 3 }, rotate = [90, 0, 0] },
//! ], smooth = 0.05, at = [0, 0, 1] }
//! ```

mod build;

pub(crate) use build::load_mesh;

use std::cell::OnceCell;
use std::sync::Arc;

use barchan_geometry::shapes::{ShapeError, Transformed};
use barchan_geometry::{MassProperties, Shape, TriMesh};
use barchan_world::Turn;
use glam::{DQuat, DVec3};
use toml::de::DeValue;

use crate::fields::Fields;
use crate::reader::{Reader, Table, Value, bound, suggestion};
use crate::{Diagnostic, Diagnostics, Document};
use barchan_world::spec::Kind::{self, Axes, Direction, List, Pair, Text};
use barchan_world::spec::Need::{self, Required};
use barchan_world::spec::quantities::{COORDINATE, FARTHEST, LENGTH, LENGTH_OR_ZERO, POSITION, SIZE};
use barchan_world::spec::{Field, TURN, TableSpec, field};

/// One kind of shape.
#[derive(Debug)]
pub struct ShapeEntry {
    /// Its key.
    pub name: &'static str,
    /// The value of the key.
    pub content: Content,
    /// Syntax after the key, and its meaning.
    pub help: &'static str,
    build: fn(&Entry<'_, '_>) -> Option<Arc<dyn Shape>>,
}

/// The value of a shape's key.
#[derive(Debug)]
pub enum Content {
    /// A table.
    Table(&'static TableSpec),
    /// A value of the kind, or a table with such a value.
    Or(&'static Kind, &'static TableSpec),
    /// A list of shapes.
    Shapes,
}

const fn keys(name: &'static str, fields: &'static [Field]) -> TableSpec {
    TableSpec {
        name,
        fields,
        exclusive: &[],
    }
}

#[rustfmt::skip]
mod contents {
    use super::*;

    pub const BOX: TableSpec = keys("box", &[
        field("size",     SIZE,           Required,          "side lengths [m]"),
        field("rounding", LENGTH_OR_ZERO, Need::Number(0.0), "radius of the edges [m]"),
    ]);
    pub const SPHERE: TableSpec = keys("sphere", &[
        field("radius", LENGTH, Required, "[m]"),
    ]);
    pub const ELLIPSOID: TableSpec = keys("ellipsoid", &[
        field("radii", SIZE, Required, "half axes [m]"),
    ]);
    pub const CYLINDER: TableSpec = keys("cylinder", &[
        field("radius", LENGTH, Required, "[m]"),
        field("height", LENGTH, Required, "[m]"),
    ]);
    pub const CAPSULE: TableSpec = keys("capsule", &[
        field("radius", LENGTH, Required, "[m]"),
        field("height", LENGTH, Required, "from tip to tip [m]"),
    ]);
    pub const CONE: TableSpec = keys("cone", &[
        field("radius",     LENGTH_OR_ZERO, Required,          "at the bottom [m]"),
        field("height",     LENGTH,         Required,          "[m]"),
        field("top_radius", LENGTH_OR_ZERO, Need::Number(0.0), "at the top [m]"),
    ]);
    pub const FRUSTUM: TableSpec = keys("frustum", &[
        field("radius",     LENGTH_OR_ZERO, Required, "at the bottom [m]"),
        field("height",     LENGTH,         Required, "[m]"),
        field("top_radius", LENGTH_OR_ZERO, Required, "at the top [m]"),
    ]);
    pub const TORUS: TableSpec = keys("torus", &[
        field("major", LENGTH, Required, "radius of the ring [m]"),
        field("minor", LENGTH, Required, "radius of its cross section [m]"),
    ]);
    pub const HALF_SPACE: TableSpec = keys("half_space", &[
        field("normal", Direction,  Required,          "out of the solid"),
        field("offset", COORDINATE, Need::Number(0.0), "of the surface along the normal [m]"),
    ]);
    pub const PROFILE: Kind = List(&Pair(&COORDINATE));
    pub const REVOLVE: TableSpec = keys("revolve", &[
        field("profile", PROFILE, Required, "points [r, z] [m]"),
    ]);
    pub const HEIGHTMAP: TableSpec = keys("heightmap", &[
        field("file",      Text,          Required, "a PNG"),
        field("size",      Pair(&LENGTH), Required, "along x and y [m]"),
        field("height",    LENGTH,        Required, "of white above black [m]"),
        field("thickness", LENGTH,        Required, "below black [m]"),
    ]);
    pub const MESH: TableSpec = keys("mesh", &[
        field("file", Text, Required, "an OBJ, STL, PLY, glTF or GLB"),
    ]);
}
use contents::*;

/// Keys beside that of the shape.
#[rustfmt::skip]
pub(crate) const BESIDE: TableSpec = keys("a shape", &[
    field("at",     POSITION,        Need::Vector([0.0; 3]), "where [m]"),
    field("rotate", Kind::Turn,      Need::Optional,         "how it is turned [deg]"),
    field("scale",  Axes(1e-9, 1e9), Need::Vector([1.0; 3]), "how much larger [-]"),
]);

/// Keys beside those shapes that are made of others.
#[rustfmt::skip]
pub(crate) const SMOOTH: TableSpec = keys("a shape", &[
    field("smooth", LENGTH_OR_ZERO, Need::Number(0.0), "radius of fillets [m]"),
]);

/// All kinds of shapes. A new one is a file in `barchan_geometry::shapes`, a function in `shapes/build.rs`, its keys above and a line here.
#[rustfmt::skip]
pub const SHAPES: &[ShapeEntry] = &[
    ShapeEntry { name: "box",        build: build::cuboid,     content: Content::Table(&BOX),        help: "{ size = [x, y, z], rounding = 0 }" },
    ShapeEntry { name: "sphere",     build: build::sphere,     content: Content::Table(&SPHERE),     help: "{ radius }" },
    ShapeEntry { name: "ellipsoid",  build: build::ellipsoid,  content: Content::Table(&ELLIPSOID),  help: "{ radii = [x, y, z] }" },
    ShapeEntry { name: "cylinder",   build: build::cylinder,   content: Content::Table(&CYLINDER),   help: "{ radius, height }, along z" },
    ShapeEntry { name: "capsule",    build: build::capsule,    content: Content::Table(&CAPSULE),    help: "{ radius, height }, from tip to tip along z" },
    ShapeEntry { name: "cone",       build: build::cone,       content: Content::Table(&CONE),       help: "{ radius, height, top_radius = 0 }, along z" },
    ShapeEntry { name: "frustum",    build: build::cone,       content: Content::Table(&FRUSTUM),    help: "{ radius, height, top_radius }, along z" },
    ShapeEntry { name: "torus",      build: build::torus,      content: Content::Table(&TORUS),      help: "{ major, minor }, about z" },
    ShapeEntry { name: "half_space", build: build::half_space, content: Content::Table(&HALF_SPACE), help: "{ normal = [x, y, z], offset = 0 }" },
    ShapeEntry { name: "half-space", build: build::half_space, content: Content::Table(&HALF_SPACE), help: "{ normal = [x, y, z], offset = 0 }, the same as half_space" },
    ShapeEntry { name: "revolve",    build: build::revolve,    content: Content::Or(&PROFILE, &REVOLVE), help: "[[r, z], ...], a closed profile about z" },
    ShapeEntry { name: "heightmap",  build: build::heightmap,  content: Content::Table(&HEIGHTMAP),  help: "{ file, size = [x, y], height, thickness }, a PNG" },
    ShapeEntry { name: "mesh",       build: build::mesh,       content: Content::Or(&Text, &MESH),   help: "\"file\", an OBJ, STL, PLY, glTF or GLB" },
    ShapeEntry { name: "union",      build: build::union,      content: Content::Shapes,             help: "[shape, ...]" },
    ShapeEntry { name: "subtract",   build: build::subtract,   content: Content::Shapes,             help: "[shape, what is taken away, ...]" },
    ShapeEntry { name: "intersect",  build: build::intersect,  content: Content::Shapes,             help: "[shape, ...]" },
];

/// Shapes may lie this deep in compositions.
const DEEPEST: usize = 64;

/// A shape that was read.
#[derive(Clone, Debug)]
pub struct ParsedShape {
    /// The solid.
    pub shape: Arc<dyn Shape>,
    /// Warnings.
    pub warnings: Vec<Diagnostic>,
}

/// Reads a shape: an inline table `{ sphere = { radius = 1 } }`, or a file with `shape = { ... }` or the shape's own keys on
/// top.
pub fn parse_shape(document: &Document) -> Result<ParsedShape, Diagnostics> {
    let reader = Reader::new(document);
    let shape = reader.parse().and_then(|value| document_shape(&reader, &value));
    let warnings = reader.finish()?;
    let shape = shape.expect("a shape that could not be read has noted an error");
    Ok(ParsedShape { shape, warnings })
}

/// One line for each kind of shape, for `--help`.
pub fn shape_help() -> String {
    let width = SHAPES.iter().map(|entry| entry.name.len()).max().unwrap_or(0);
    let line = |entry: &ShapeEntry| format!("{:width$} = {}\n", entry.name, entry.help);
    SHAPES.iter().map(line).collect()
}

fn document_shape(reader: &Reader<'_>, value: &Value<'_>) -> Option<Arc<dyn Shape>> {
    match value.get_ref() {
        DeValue::Table(entries) if entries.contains_key("shape") => {
            let table = reader.table("the document", value)?;
            let shape = table.required("shape", |reader, _, value| read_shape(reader, value));
            table.finish();
            shape
        }
        _ => read_shape(reader, value),
    }
}

/// Reads one shape table, for readers of larger documents.
pub fn read_shape(reader: &Reader<'_>, value: &Value<'_>) -> Option<Arc<dyn Shape>> {
    read_nested(reader, value, 1)
}

/// Reads one shape table and keeps apart where it is put.
pub fn read_placed(reader: &Reader<'_>, value: &Value<'_>) -> Option<PlacedShape> {
    read_at_depth(reader, value, 1)
}

/// A shape, and where its outermost `at` and `rotate` put it.
#[derive(Clone, Debug)]
pub struct PlacedShape {
    /// The solid as written.
    pub whole: Arc<dyn Shape>,
    /// The solid without the outermost `at` and `rotate`.
    pub unplaced: Arc<dyn Shape>,
    /// The outermost `at` [m].
    pub at: DVec3,
    /// The outermost `rotate`.
    pub rotation: DQuat,
    /// `unplaced` if it is a closed mesh from a file.
    pub mesh: Option<ClosedMesh>,
}

/// A closed mesh from a file.
#[derive(Clone, Debug)]
pub struct ClosedMesh {
    /// Its triangles.
    pub surface: TriMesh,
    /// Mass properties of the space it fills, for a density of 1 kg/m³.
    pub properties: MassProperties,
}

impl ClosedMesh {
    /// The same stretched along its axes by `scale` [-], then turned, then moved by `at` [m].
    #[must_use]
    pub fn transformed(mut self, scale: DVec3, rotation: DQuat, at: DVec3) -> Self {
        for p in &mut self.surface.vertices {
            *p = rotation * (scale * *p) + at;
        }
        self.properties = self.properties.transformed(scale, rotation, at);
        self
    }
}

fn read_nested(reader: &Reader<'_>, value: &Value<'_>, depth: usize) -> Option<Arc<dyn Shape>> {
    read_at_depth(reader, value, depth).map(|placed| placed.whole)
}

/// Reads one shape table; `depth` counts it and the compositions around it.
fn read_at_depth(reader: &Reader<'_>, value: &Value<'_>, depth: usize) -> Option<PlacedShape> {
    if depth > DEEPEST {
        let message = format!("shapes may be nested {DEEPEST} deep, this is one more");
        reader.error(value.span(), message, None);
        return None;
    }
    let table = reader.table("a shape", value)?;
    let kinds: Vec<_> = SHAPES
        .iter()
        .filter(|entry| table.keys().any(|(key, _)| key == entry.name))
        .collect();
    let kind = match kinds[..] {
        [kind] => kind,
        [] => {
            report_no_kind(reader, &table);
            return None;
        }
        [first, second, ..] => {
            let message = format!(
                "a shape must be one thing, here are `{}` and `{}`",
                first.name, second.name
            );
            let help = "put them into `union = [...]`, `subtract` or `intersect`";
            reader.error(table.span(), message, Some(help.into()));
            return None;
        }
    };

    let content = table.get(kind.name)?;
    let entry = Entry {
        reader,
        name: kind.name,
        content: &kind.content,
        value: content,
        beside: &table,
        depth,
        mesh: OnceCell::new(),
    };
    let shape = (kind.build)(&entry);
    let beside = Fields::of_table(reader, &BESIDE, &table);
    table.finish();
    let rotation = match beside.written("rotate") {
        Some(_) => beside.turn("rotate").map(Turn::rotation),
        None => Some(DQuat::IDENTITY),
    };
    let (shape, at, rotation, scale) = (shape?, beside.vector("at")?, rotation?, beside.vector("scale")?);
    let transformed = |at, rotation| match (at, rotation, scale) == (DVec3::ZERO, DQuat::IDENTITY, DVec3::ONE) {
        true => Some(shape.clone()),
        false => accept(reader, &table, Transformed::new(shape.clone(), at, rotation, scale)),
    };
    let mesh = entry.mesh.into_inner();
    let mesh = match scale == DVec3::ONE {
        true => mesh,
        false => mesh.map(|mesh| mesh.transformed(scale, DQuat::IDENTITY, DVec3::ZERO)),
    };
    let whole = transformed(at, rotation)?;
    if !is_near(&*whole) {
        let message = format!("shapes must lie within {} m of zero", bound(FARTHEST));
        reader.error(table.span(), message, None);
        return None;
    }
    Some(PlacedShape {
        whole,
        unplaced: transformed(DVec3::ZERO, DQuat::IDENTITY)?,
        at,
        rotation,
        mesh,
    })
}

/// A table without any kind of shape: if a key looks like a misspelt one, says so.
fn report_no_kind(reader: &Reader<'_>, table: &Table<'_, '_>) {
    let names: Vec<_> = SHAPES.iter().map(|entry| entry.name).collect();
    let mut unknown = table
        .keys()
        .filter(|(key, _)| !["at", "rotate", "scale", "smooth"].contains(key))
        .peekable();
    if unknown.peek().is_none() {
        let help = format!("add one of: {}", names.join(", "));
        reader.error(table.span(), "there is no shape in this table", Some(help));
    }
    for (key, span) in unknown {
        reader.error(span, format!("unknown shape `{key}`"), Some(suggestion(key, &names)));
    }
}

/// Returns whether a shape lies where coordinates are exact: all of it, or, if it has no end, its surface.
fn is_near(shape: &dyn Shape) -> bool {
    let bounds = shape.bounds();
    match bounds.is_finite() {
        true => bounds.min.abs().max(bounds.max.abs()).max_element() <= FARTHEST,
        false => bounds.is_empty() || shape.distance(DVec3::ZERO).abs() <= 2.0 * FARTHEST,
    }
}

/// Degrees about x, then y, then z; or an axis and an angle.
pub(crate) fn read_turn<'d>(reader: &Reader<'d>, what: &str, value: &Value<'d>) -> Option<Turn> {
    if let DeValue::Table(_) = value.get_ref() {
        let table = reader.table(what, value)?;
        let axis = table.required("axis", Reader::direction);
        let angle = table.required("angle", |reader, what, value| reader.between(what, value, -TURN, TURN));
        table.finish();
        let (axis, angle) = (unit(axis?), angle?.to_radians());
        return Some(Turn::About { axis, angle });
    }
    let angles = reader.vec3(what, value, -TURN, TURN)?.map(f64::to_radians);
    Some(Turn::Euler(angles))
}

/// `direction` at unit length; scaled first, or the square of a tiny or huge one is lost.
pub(crate) fn unit(direction: DVec3) -> DVec3 {
    (direction / direction.abs().max_element()).normalize()
}

/// The content of a shape's key, and what stands beside it.
struct Entry<'r, 'd> {
    reader: &'r Reader<'d>,
    name: &'static str,
    content: &'static Content,
    value: &'r Value<'d>,
    beside: &'r Table<'r, 'd>,
    depth: usize,
    /// The mesh, if the shape is a closed one from a file.
    mesh: OnceCell<ClosedMesh>,
}

/// The shape, or its error noted where the parameter at fault was written.
fn accept<S: Shape + 'static>(
    reader: &Reader<'_>,
    table: &Table<'_, '_>,
    shape: Result<S, ShapeError>,
) -> Option<Arc<dyn Shape>> {
    match shape {
        Ok(shape) => Some(Arc::new(shape)),
        Err(error) => {
            let span = table.get(error.parameter()).map_or(table.span(), Value::span);
            reader.error(span, error.to_string(), None);
            None
        }
    }
}
