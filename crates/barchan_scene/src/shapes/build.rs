//! One function a shape: its keys, and the solid they describe.

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use barchan_geometry::mesh::{self, LoadedSolid};
use barchan_geometry::shapes::{
    Capsule, Cone, Cuboid, Cylinder, Ellipsoid, HalfSpace, Heightmap, Intersect, Revolve, ShapeError, Sphere, Subtract,
    Torus, Union,
};
use barchan_geometry::{Shape, TriMesh};
use glam::{DVec2, DVec3};
use toml::de::DeValue;

use super::{ClosedMesh, Content, Entry, SMOOTH, accept, read_nested};
use crate::fields::Fields;
use crate::reader::{Reader, Table, Value};
use barchan_world::spec::quantities::FARTHEST;

type Solid = Option<Arc<dyn Shape>>;

impl<'r, 'd> Entry<'r, 'd> {
    fn table(&self) -> Option<Table<'r, 'd>> {
        self.reader.table(self.name, self.value)
    }

    /// The keys of a shape that is a table.
    fn fields(&self) -> Option<Fields> {
        match self.content {
            Content::Table(spec) => Fields::read(self.reader, spec, self.value),
            Content::Or(..) | Content::Shapes => None,
        }
    }

    /// The shape, or its error noted where the parameter at fault was written.
    fn solid<S: Shape + 'static>(&self, fields: &Fields, shape: Result<S, ShapeError>) -> Solid {
        let error = match shape {
            Ok(shape) => return Some(Arc::new(shape)),
            Err(error) => error,
        };
        let key = fields.spec.field(error.parameter()).map(|field| field.key);
        let span = key.map_or(fields.span.clone(), |key| fields.place(key));
        self.reader.error(span, error.to_string(), None);
        None
    }
}

pub(super) fn cuboid(entry: &Entry<'_, '_>) -> Solid {
    let fields = entry.fields()?;
    entry.solid(
        &fields,
        Cuboid::rounded(fields.vector("size")?, fields.number("rounding")?),
    )
}

pub(super) fn sphere(entry: &Entry<'_, '_>) -> Solid {
    let fields = entry.fields()?;
    entry.solid(&fields, Sphere::new(fields.number("radius")?))
}

pub(super) fn ellipsoid(entry: &Entry<'_, '_>) -> Solid {
    let fields = entry.fields()?;
    entry.solid(&fields, Ellipsoid::new(fields.vector("radii")?))
}

pub(super) fn cylinder(entry: &Entry<'_, '_>) -> Solid {
    let fields = entry.fields()?;
    entry.solid(
        &fields,
        Cylinder::new(fields.number("radius")?, fields.number("height")?),
    )
}

pub(super) fn capsule(entry: &Entry<'_, '_>) -> Solid {
    let fields = entry.fields()?;
    entry.solid(
        &fields,
        Capsule::new(fields.number("radius")?, fields.number("height")?),
    )
}

pub(super) fn cone(entry: &Entry<'_, '_>) -> Solid {
    let fields = entry.fields()?;
    let [radius, top_radius, height] = ["radius", "top_radius", "height"].map(|key| fields.number(key));
    entry.solid(&fields, Cone::new(radius?, top_radius?, height?))
}

pub(super) fn torus(entry: &Entry<'_, '_>) -> Solid {
    let fields = entry.fields()?;
    entry.solid(&fields, Torus::new(fields.number("major")?, fields.number("minor")?))
}

pub(super) fn half_space(entry: &Entry<'_, '_>) -> Solid {
    let fields = entry.fields()?;
    entry.solid(
        &fields,
        HalfSpace::new(fields.vector("normal")?, fields.number("offset")?),
    )
}

pub(super) fn revolve(entry: &Entry<'_, '_>) -> Solid {
    let points = |reader: &Reader<'_>, what: &str, value: &Value<'_>| {
        let point = |item: &Value<'_>| reader.profile_point("a point of the profile", item, FARTHEST);
        reader.list(what, value, point).map(|points| (points, value.span()))
    };
    let (points, span) = match entry.value.get_ref() {
        DeValue::Table(_) => {
            let table = entry.table()?;
            let points = table.required("profile", points);
            table.finish();
            points?
        }
        _ => points(entry.reader, entry.name, entry.value)?,
    };
    match Revolve::new(&points) {
        Ok(shape) => Some(Arc::new(shape)),
        Err(error) => {
            entry.reader.error(span, error.to_string(), None);
            None
        }
    }
}

pub(super) fn heightmap(entry: &Entry<'_, '_>) -> Solid {
    let fields = entry.fields()?;
    let file = fields.text("file")?;
    let path = entry.reader.document().folder.join(file);
    let [x, y] = [0, 1].map(|k| fields.list("size").and_then(|size| size[k].number()));
    let size = DVec2::new(x?, y?);
    let (height, thickness) = (fields.number("height")?, fields.number("thickness")?);
    let shape = entry.solid(&fields, Heightmap::from_png(&path, size, height, thickness));
    if let Ok(bytes) = std::fs::read(&path) {
        let mut sum = crc32fast::Hasher::new();
        sum.update(&bytes);
        entry.reader.note_file(file, sum);
    }
    shape
}

pub(super) fn mesh(entry: &Entry<'_, '_>) -> Solid {
    let file = |reader: &Reader<'_>, what: &str, value: &Value<'_>| Some((reader.string(what, value)?, value.span()));
    let (file, span) = match entry.value.get_ref() {
        DeValue::Table(_) => {
            let table = entry.table()?;
            let file = table.required("file", file);
            table.finish();
            file?
        }
        _ => file(entry.reader, entry.name, entry.value)?,
    };
    let path = entry.reader.document().folder.join(&file);
    let (solid, closed) = load_mesh(entry.reader, &file, &path, &span)?;
    if let Some(closed) = closed {
        entry.mesh.set(closed).expect("a shape is built once");
    }
    Some(solid)
}

/// Loads the solid of a mesh that the scene calls `file`, and the mesh itself if it is closed; notes its errors at `span`.
pub(crate) fn load_mesh(
    reader: &Reader<'_>,
    file: &str,
    path: &Path,
    span: &Range<usize>,
) -> Option<(Arc<dyn Shape>, Option<ClosedMesh>)> {
    let loaded = mesh::load(path).and_then(|loaded| loaded.require_volume().map(|()| loaded));
    match loaded {
        Ok(loaded) => {
            let LoadedSolid {
                solid,
                report,
                properties,
            } = loaded.into_solid();
            for warning in report.warnings() {
                reader.warn(span.clone(), warning, None);
            }
            let closed = properties
                .filter(|_| report.is_watertight())
                .map(|properties| ClosedMesh {
                    surface: solid.mesh().clone(),
                    properties,
                });
            reader.note_file(file, checksum(solid.mesh()));
            Some((Arc::new(solid), closed))
        }
        Err(error) => {
            reader.error(span.clone(), error.to_string(), None);
            None
        }
    }
}

/// Checksum of a mesh, which may have come from several files.
fn checksum(mesh: &TriMesh) -> crc32fast::Hasher {
    let mut sum = crc32fast::Hasher::new();
    for number in mesh.vertices.iter().flat_map(DVec3::to_array) {
        sum.update(&number.to_le_bytes());
    }
    for corner in mesh.triangles.iter().flatten() {
        sum.update(&corner.to_le_bytes());
    }
    sum
}

pub(super) fn union(entry: &Entry<'_, '_>) -> Solid {
    compose(entry, Union::new)
}

pub(super) fn subtract(entry: &Entry<'_, '_>) -> Solid {
    compose(entry, Subtract::new)
}

pub(super) fn intersect(entry: &Entry<'_, '_>) -> Solid {
    let shape = compose(entry, Intersect::new)?;
    if shape.bounds().is_empty() {
        entry.reader.warn(
            entry.value.span(),
            "these shapes have nothing in common: nothing is inside",
            None,
        );
    }
    Some(shape)
}

fn compose<S: Shape + 'static>(
    entry: &Entry<'_, '_>,
    make: impl FnOnce(Vec<Arc<dyn Shape>>, f64) -> Result<S, ShapeError>,
) -> Solid {
    let shape = |item: &Value<'_>| read_nested(entry.reader, item, entry.depth + 1);
    let shapes = entry.reader.list(entry.name, entry.value, shape);
    let smooth = Fields::of_table(entry.reader, &SMOOTH, entry.beside).number("smooth");
    let (shapes, smooth) = (shapes?, smooth?);
    if let ([_], Some(value)) = (&shapes[..], entry.beside.get("smooth")) {
        let message = format!("smooth has no effect on {} of one shape", entry.name);
        entry.reader.warn(value.span(), message, None);
    }
    accept(entry.reader, entry.beside, make(shapes, smooth))
}
