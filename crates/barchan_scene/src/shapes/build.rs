//! One function a shape: its keys, and the solid they describe.

use std::sync::Arc;

use barchan_geometry::mesh::{self, LoadedSolid};
use barchan_geometry::shapes::{
    Capsule, Cone, Cuboid, Cylinder, Ellipsoid, HalfSpace, Heightmap, Intersect, Revolve, ShapeError, Sphere, Subtract,
    Torus, Union,
};
use barchan_geometry::{Shape, TriMesh};
use glam::DVec3;
use toml::de::DeValue;

use super::{ClosedMesh, Entry, accept, read_nested};
use crate::reader::{Reader, Table, Value};

type Solid = Option<Arc<dyn Shape>>;

impl<'r, 'd> Entry<'r, 'd> {
    fn table(&self) -> Option<Table<'r, 'd>> {
        self.reader.table(self.name, self.value)
    }

    fn accept<S: Shape + 'static>(&self, table: &Table<'_, '_>, shape: Result<S, ShapeError>) -> Solid {
        accept(self.reader, table, shape)
    }
}

pub(super) fn cuboid(entry: &Entry<'_, '_>) -> Solid {
    let table = entry.table()?;
    let size = table.required("size", Reader::positive_vec3);
    let rounding = table.optional("rounding", Reader::not_negative, 0.0);
    table.finish();
    entry.accept(&table, Cuboid::rounded(size?, rounding?))
}

pub(super) fn sphere(entry: &Entry<'_, '_>) -> Solid {
    let table = entry.table()?;
    let radius = table.required("radius", Reader::positive);
    table.finish();
    entry.accept(&table, Sphere::new(radius?))
}

pub(super) fn ellipsoid(entry: &Entry<'_, '_>) -> Solid {
    let table = entry.table()?;
    let radii = table.required("radii", Reader::positive_vec3);
    table.finish();
    entry.accept(&table, Ellipsoid::new(radii?))
}

pub(super) fn cylinder(entry: &Entry<'_, '_>) -> Solid {
    let table = entry.table()?;
    let radius = table.required("radius", Reader::positive);
    let height = table.required("height", Reader::positive);
    table.finish();
    entry.accept(&table, Cylinder::new(radius?, height?))
}

pub(super) fn capsule(entry: &Entry<'_, '_>) -> Solid {
    let table = entry.table()?;
    let radius = table.required("radius", Reader::positive);
    let height = table.required("height", Reader::positive);
    table.finish();
    entry.accept(&table, Capsule::new(radius?, height?))
}

pub(super) fn cone(entry: &Entry<'_, '_>) -> Solid {
    let table = entry.table()?;
    let top_radius = table.optional("top_radius", Reader::not_negative, 0.0);
    cone_with(entry, &table, top_radius)
}

pub(super) fn frustum(entry: &Entry<'_, '_>) -> Solid {
    let table = entry.table()?;
    let top_radius = table.required("top_radius", Reader::not_negative);
    cone_with(entry, &table, top_radius)
}

fn cone_with(entry: &Entry<'_, '_>, table: &Table<'_, '_>, top_radius: Option<f64>) -> Solid {
    let radius = table.required("radius", Reader::not_negative);
    let height = table.required("height", Reader::positive);
    table.finish();
    entry.accept(table, Cone::new(radius?, top_radius?, height?))
}

pub(super) fn torus(entry: &Entry<'_, '_>) -> Solid {
    let table = entry.table()?;
    let major = table.required("major", Reader::positive);
    let minor = table.required("minor", Reader::positive);
    table.finish();
    entry.accept(&table, Torus::new(major?, minor?))
}

pub(super) fn half_space(entry: &Entry<'_, '_>) -> Solid {
    let table = entry.table()?;
    let normal = table.required("normal", Reader::direction);
    let offset = table.optional("offset", Reader::number, 0.0);
    table.finish();
    entry.accept(&table, HalfSpace::new(normal?, offset?))
}

pub(super) fn revolve(entry: &Entry<'_, '_>) -> Solid {
    let points = |reader: &Reader<'_>, what: &str, value: &Value<'_>| {
        let point = |item: &Value<'_>| reader.profile_point("a point of the profile", item);
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
    let table = entry.table()?;
    let file = table.required("file", Reader::string);
    let size = table.required("size", Reader::positive_vec2);
    let height = table.required("height", Reader::positive);
    let thickness = table.required("thickness", Reader::positive);
    table.finish();
    let file = file?;
    let path = entry.reader.document().folder.join(&file);
    let shape = entry.accept(&table, Heightmap::from_png(&path, size?, height?, thickness?));
    if let Ok(bytes) = std::fs::read(&path) {
        let mut sum = crc32fast::Hasher::new();
        sum.update(&bytes);
        entry.reader.note_file(&file, sum);
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
    let loaded = mesh::load(&path).and_then(|loaded| loaded.require_volume().map(|()| loaded));
    match loaded {
        Ok(loaded) => {
            let LoadedSolid {
                solid,
                report,
                properties,
            } = loaded.into_solid();
            for warning in report.warnings() {
                entry.reader.warn(span.clone(), warning, None);
            }
            if let (Some(properties), true) = (properties, report.is_watertight()) {
                let surface = solid.mesh().clone();
                let closed = ClosedMesh { surface, properties };
                entry.mesh.set(closed).expect("a shape is built once");
            }
            entry.reader.note_file(&file, checksum(solid.mesh()));
            Some(Arc::new(solid))
        }
        Err(error) => {
            entry.reader.error(span, error.to_string(), None);
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
    let smooth = entry.beside.optional("smooth", Reader::not_negative, 0.0);
    let (shapes, smooth) = (shapes?, smooth?);
    if let ([_], Some(value)) = (&shapes[..], entry.beside.get("smooth")) {
        let message = format!("smooth has no effect on {} of one shape", entry.name);
        entry.reader.warn(value.span(), message, None);
    }
    entry.accept(entry.beside, make(shapes, smooth))
}
