//! Houdini geometry as Houdini 18 and later open it: binary JSON in `.bgeo.sc` files. Points with `v`, `id`, `pscale` and
//! `Cd`; bodies as posed polygons, with the name of the body as primitive attribute.

mod json;
mod packed;

use std::path::Path;

use barchan_world::{BodyState, Column};
use glam::Vec3;

use self::json::{Document, Numbers};
use super::surfaces::BodySurfaces;
use super::{Export, ExportError, shots::Cloud};
use crate::WriteError;

/// Values per page of an attribute.
const PAGE: i64 = 1024;

pub(super) fn export(export: &mut Export) -> Result<(), ExportError> {
    let surfaces = BodySurfaces::load(export)?;
    let write_bodies = |path: &Path, bodies: Vec<BodyState>| Ok(write_bodies(path, &surfaces, &bodies)?);
    let write_cloud = |path: &Path, _, cloud| Ok(write_cloud(path, &cloud)?);
    let with_bodies = (!surfaces.is_empty()).then_some(&write_bodies as _);
    export.each_frame("bgeo.sc", &write_cloud, with_bodies)?;
    export.tables()
}

/// An attribute of numbers.
struct Attribute<'a> {
    name: &'a str,
    /// Kind of vector, by which Houdini transforms it.
    meaning: Option<&'static str>,
    /// Numbers per value.
    size: i32,
    values: Numbers<'a>,
}

/// Sizes of a geometry, and what refers to its points.
struct Outline<'a> {
    points: usize,
    /// Point of each vertex.
    vertices: &'a [i32],
    triangles: usize,
}

fn write_cloud(path: &Path, cloud: &Cloud) -> Result<(), WriteError> {
    let mut attributes = vec![vectors("P", "point", &cloud.positions)];
    let ids: Vec<i64> = cloud.ids.iter().map(|&id| id.into()).collect();
    attributes.push(Attribute {
        name: "id",
        meaning: None,
        size: 1,
        values: Numbers::I64(&ids),
    });
    attributes.extend(cloud.velocities.as_ref().map(|v| vectors("v", "vector", v)));
    attributes.extend(cloud.radii.as_ref().map(|radii| floats("pscale", radii)));
    attributes.extend(cloud.colors.as_ref().map(|colors| vectors("Cd", "color", colors)));
    let integers: Vec<Vec<i32>> = cloud.extras.iter().map(|(_, column)| integers(column)).collect();
    for ((name, column), integers) in cloud.extras.iter().zip(&integers) {
        attributes.push(match column {
            Column::U8(_) | Column::U32(_) => Attribute {
                name,
                meaning: None,
                size: 1,
                values: Numbers::I32(integers),
            },
            Column::F32(values) => floats(name, values),
            Column::Vec3(values) if name == "angular_velocity" => vectors("w", "vector", values),
            Column::Vec3(values) => vectors(name, "vector", values),
        });
    }
    let outline = Outline {
        points: cloud.positions.len(),
        vertices: &[],
        triangles: 0,
    };
    write(path, &outline, &attributes, None)
}

fn integers(column: &Column) -> Vec<i32> {
    match column {
        Column::U8(values) => values.iter().map(|&v| v.into()).collect(),
        Column::U32(values) => values.iter().map(|&v| v as i32).collect(),
        _ => Vec::new(),
    }
}

fn write_bodies(path: &Path, surfaces: &BodySurfaces, bodies: &[BodyState]) -> Result<(), WriteError> {
    let posed = surfaces.posed(bodies);
    let positions: Vec<Vec3> = posed.mesh.vertices.iter().map(|v| v.as_vec3()).collect();
    // Seen from outside, Houdini's corners go clockwise.
    let vertices: Vec<i32> = (posed.mesh.triangles.iter().flat_map(|t| [t[0], t[2], t[1]]))
        .map(|corner| corner as i32)
        .collect();
    let outline = Outline {
        points: positions.len(),
        vertices: &vertices,
        triangles: posed.mesh.triangles.len(),
    };
    let owners: Vec<i32> = posed.owners.iter().map(|&row| row as i32).collect();
    let names: Vec<&str> = bodies.iter().map(|body| body.name.as_str()).collect();
    write(
        path,
        &outline,
        &[vectors("P", "point", &positions)],
        Some((&names, &owners)),
    )
}

fn vectors<'a>(name: &'a str, meaning: &'static str, values: &'a [Vec3]) -> Attribute<'a> {
    Attribute {
        name,
        meaning: Some(meaning),
        size: 3,
        values: Numbers::F32(bytemuck::cast_slice(values)),
    }
}

fn floats<'a>(name: &'a str, values: &'a [f32]) -> Attribute<'a> {
    Attribute {
        name,
        meaning: None,
        size: 1,
        values: Numbers::F32(values),
    }
}

/// Writes points with attributes, and triangles with the name of each one's owner.
fn write(
    path: &Path,
    outline: &Outline,
    attributes: &[Attribute],
    names: Option<(&[&str], &[i32])>,
) -> Result<(), WriteError> {
    let mut document = Document::create(path)?;
    document.array(|d| {
        d.texts(&["fileversion", "18.0.0", "hasindex"])?;
        d.no()?;
        for (key, count) in [
            ("pointcount", outline.points),
            ("vertexcount", outline.vertices.len()),
            ("primitivecount", outline.triangles),
        ] {
            d.text(key)?;
            d.integer(count as i64)?;
        }
        d.text("info")?;
        d.map(|d| d.texts(&["software", "barchan"]))?;
        d.text("topology")?;
        d.array(|d| {
            d.text("pointref")?;
            d.array(|d| {
                d.text("indices")?;
                d.numbers(&Numbers::I32(outline.vertices))
            })
        })?;
        d.text("attributes")?;
        d.array(|d| {
            d.text("pointattributes")?;
            d.array(|d| {
                attributes
                    .iter()
                    .try_for_each(|attribute| write_attribute(d, attribute))
            })?;
            let Some((names, owners)) = names else { return Ok(()) };
            d.text("primitiveattributes")?;
            d.array(|d| write_names(d, names, owners))
        })?;
        d.text("primitives")?;
        d.array(|d| match outline.triangles {
            0 => Ok(()),
            count => d.array(|d| {
                d.array(|d| d.texts(&["type", "Polygon_run"]))?;
                d.array(|d| {
                    d.text("startvertex")?;
                    d.integer(0)?;
                    d.text("nprimitives")?;
                    d.integer(count as i64)?;
                    // Runs: corners per polygon, number of polygons.
                    d.text("nvertices_rle")?;
                    d.numbers(&Numbers::I32(&[3, count as i32]))
                })
            }),
        })
    })?;
    document.finish()
}

/// Writes how an attribute is declared: scope, type, name, meaning.
fn write_declaration(d: &mut Document, kind: &str, name: &str, meaning: Option<&str>) -> Result<(), WriteError> {
    d.array(|d| {
        d.texts(&["scope", "public", "type", kind, "name", name, "options"])?;
        d.map(|d| match meaning {
            None => Ok(()),
            Some(meaning) => {
                d.text("type")?;
                d.map(|d| d.texts(&["type", "string", "value", meaning]))
            }
        })
    })
}

fn write_attribute(d: &mut Document, attribute: &Attribute) -> Result<(), WriteError> {
    let storage = match attribute.values {
        Numbers::I32(_) => "int32",
        Numbers::I64(_) => "int64",
        Numbers::F32(_) => "fpreal32",
    };
    d.array(|d| {
        write_declaration(d, "numeric", attribute.name, attribute.meaning)?;
        d.array(|d| {
            write_size(d, attribute.size, storage)?;
            d.text("defaults")?;
            d.array(|d| {
                write_size(d, 1, "fpreal64")?;
                d.text("values")?;
                d.array(|d| d.integer(0))
            })?;
            d.text("values")?;
            d.array(|d| {
                write_size(d, attribute.size, storage)?;
                // Values lie one after the other, whatever the pages.
                d.text("packing")?;
                d.numbers(&Numbers::I32(&[attribute.size]))?;
                d.text("pagesize")?;
                d.integer(PAGE)?;
                d.text("rawpagedata")?;
                d.numbers(&attribute.values)
            })
        })
    })
}

/// Writes the primitive attribute `name`: a table of strings and the index of each primitive's.
fn write_names(d: &mut Document, names: &[&str], owners: &[i32]) -> Result<(), WriteError> {
    d.array(|d| {
        write_declaration(d, "string", "name", None)?;
        d.array(|d| {
            write_size(d, 1, "int32")?;
            d.text("strings")?;
            d.array(|d| d.texts(names))?;
            d.text("indices")?;
            d.array(|d| {
                write_size(d, 1, "int32")?;
                d.text("arrays")?;
                d.array(|d| d.numbers(&Numbers::I32(owners)))
            })
        })
    })
}

fn write_size(d: &mut Document, size: i32, storage: &str) -> Result<(), WriteError> {
    d.text("size")?;
    d.integer(size.into())?;
    d.texts(&["storage", storage])
}
