//! Alembic: one Ogawa archive with all frames. Points with ids, velocities, widths and colors; bodies as meshes below
//! animated transforms. The time of frame n is n divided by the frame rate, so that programs show it as frame n.

mod ogawa;

use barchan_world::Column;
use glam::Vec3;

use self::ogawa::{Archive, Child, Number, Object, Property, Sampling, Series, Value};
use super::shots::Cloud;
use super::surfaces::{BodySurfaces, Track};
use super::{Export, ExportError, identifier};
use crate::{Part, WriteError};

const XFORM: &str = "schema=AbcGeom_Xform_v3";
const POINTS: &str = "schema=AbcGeom_Points_v1;schemaBaseType=AbcGeom_GeomBase_v1";
const MESH: &str = "schema=AbcGeom_PolyMesh_v1;schemaBaseType=AbcGeom_GeomBase_v1";
/// The box around a geometry.
const BOUNDS: &str = ".selfBnds";
const BOX: &str = "interpretation=box";
const POSITIONS: &str = "geoScope=vtx;interpretation=point";
const VECTORS: &str = "geoScope=vtx;interpretation=vector";
/// Parameters of points: one number, a vector, a linear color.
const NUMBERS: &str = "arrayExtent=1;geoScope=vtx;isGeomParam=true;podExtent=1;podName=float32_t";
const PARAMETERS: &str =
    "arrayExtent=1;geoScope=vtx;interpretation=vector;isGeomParam=true;podExtent=3;podName=float32_t";
const COLORS: &str = "arrayExtent=1;geoScope=vtx;interpretation=rgb;isGeomParam=true;podExtent=3;podName=float32_t";
/// An operation of a transform: a matrix, without a hint.
const MATRIX_OPERATION: u8 = 3 << 4;

pub(super) fn export(export: &mut Export) -> Result<(), ExportError> {
    let mut archive = Archive::create(&export.out.join("sand.abc"))?;
    let rate = export.cache.manifest().run.frame_rate;
    // Sampling 0 is that of constants.
    let mut samplings = vec![Sampling { times: vec![0.0] }];
    let mut clouds = [Part::Guides, Part::Grains].map(|part| (part, PointSamples::default()));
    for done in 0..export.frames.len() {
        let entry = export.frames[done].clone();
        for (part, samples) in &mut clouds {
            if let Some(cloud) = export.cloud(*part, &entry)? {
                samples.times.push(entry.frame as f64 / rate);
                samples.push(&mut archive, &cloud)?;
            }
        }
        export.finished(done + 1);
    }
    let mut objects = Vec::new();
    for (part, samples) in clouds {
        if !samples.times.is_empty() {
            let sampling = samplings.len() as u32;
            samplings.push(Sampling {
                times: samples.times.clone(),
            });
            // Programs name points by the transform above.
            let mut above = group(&mut archive, part.name())?;
            above
                .children
                .push(samples.object(&format!("{}Shape", part.name()), sampling));
            objects.push(above);
        }
    }
    let surfaces = BodySurfaces::load(export)?;
    let (times, frames): (Vec<f64>, Vec<_>) = (export
        .all_bodies()?
        .into_iter()
        .map(|(entry, bodies)| (entry.frame as f64 / rate, bodies)))
    .unzip();
    let tracks = surfaces.tracks(&frames);
    if !tracks.is_empty() {
        let sampling = samplings.len() as u32;
        samplings.push(Sampling { times });
        let mut bodies = group(&mut archive, Part::Bodies.name())?;
        let mut taken = Vec::new();
        for track in &tracks {
            taken.push(identifier(&track.name, &taken));
            let color = export.options.palette.map(|palette| palette.body(&track.name));
            let name = taken.last().expect("a name");
            bodies.children.push(body(&mut archive, name, track, color, sampling)?);
        }
        objects.push(bodies);
    }
    let mut sand = group(&mut archive, "sand")?;
    sand.children = objects;
    let root = Object {
        name: "ABC".to_owned(),
        metadata: String::new(),
        properties: Vec::new(),
        children: vec![sand],
    };
    Ok(archive.finish(&root, &samplings, rate)?)
}

/// Samples of a cloud's properties, by time.
#[derive(Default)]
struct PointSamples {
    times: Vec<f64>,
    properties: Vec<Samples>,
}

struct Samples {
    name: String,
    metadata: String,
    number: Number,
    extent: u32,
    is_parameter: bool,
    children: Vec<Child>,
}

impl PointSamples {
    fn series<T: bytemuck::NoUninit>(
        &mut self,
        archive: &mut Archive,
        (name, metadata, is_parameter): (&str, &str, bool),
        (number, extent): (Number, u32),
        values: &[T],
    ) -> Result<(), WriteError> {
        let at = self.properties.iter().position(|property| property.name == name);
        let at = at.unwrap_or_else(|| {
            self.properties.push(Samples {
                name: name.to_owned(),
                metadata: metadata.to_owned(),
                number,
                extent,
                is_parameter,
                children: Vec::new(),
            });
            self.properties.len() - 1
        });
        let children = &mut self.properties[at].children;
        children.push(archive.sample(values)?);
        if name != BOUNDS {
            children.push(IS_LIST);
        }
        Ok(())
    }

    /// Writes the values of one frame.
    fn push(&mut self, archive: &mut Archive, cloud: &Cloud) -> Result<(), WriteError> {
        // An empty box has its corners exchanged.
        let [low, high] = cloud.bounds().unwrap_or([Vec3::ONE, Vec3::NEG_ONE]);
        let corners = [low.as_dvec3().to_array(), high.as_dvec3().to_array()];
        self.series(archive, (BOUNDS, BOX, false), (Number::F64, 6), corners.as_flattened())?;
        let vectors = (Number::F32, 3);
        self.series(archive, ("P", POSITIONS, false), vectors, &cloud.positions)?;
        let ids: Vec<u64> = cloud.ids.iter().map(|&id| id.into()).collect();
        self.series(archive, (".pointIds", "geoScope=vtx", false), (Number::U64, 1), &ids)?;
        if let Some(velocities) = &cloud.velocities {
            self.series(archive, (".velocities", VECTORS, false), vectors, velocities)?;
        }
        if let Some(radii) = &cloud.radii {
            let widths: Vec<f32> = radii.iter().map(|radius| 2.0 * radius).collect();
            self.series(archive, (".widths", NUMBERS, false), (Number::F32, 1), &widths)?;
        }
        if let Some(colors) = &cloud.colors {
            self.series(archive, ("Cd", COLORS, true), vectors, colors)?;
        }
        // Blender drops integers.
        for (name, column) in &cloud.extras {
            let property = (name.as_str(), NUMBERS, true);
            match column {
                Column::U8(v) => {
                    let v: Vec<f32> = v.iter().map(|&v| v.into()).collect();
                    self.series(archive, property, (Number::F32, 1), &v)?;
                }
                Column::U32(v) => {
                    let v: Vec<f32> = v.iter().map(|&v| v as f32).collect();
                    self.series(archive, property, (Number::F32, 1), &v)?;
                }
                Column::F32(v) => self.series(archive, property, (Number::F32, 1), v)?,
                Column::Vec3(v) => {
                    self.series(archive, (name, PARAMETERS, true), vectors, v)?;
                }
            }
        }
        Ok(())
    }

    fn object(self, name: &str, sampling: u32) -> Object {
        let count = self.times.len() as u32;
        let (mut geometry, mut parameters) = (Vec::new(), Vec::new());
        for samples in self.properties {
            let series = Series {
                number: samples.number,
                extent: samples.extent,
                sampling,
                samples: samples.children,
                count,
            };
            let value = match samples.name.as_str() {
                BOUNDS => Value::Scalar(series),
                _ => Value::Array(series),
            };
            let list = if samples.is_parameter {
                &mut parameters
            } else {
                &mut geometry
            };
            list.push(Property::new(&samples.name, &samples.metadata, value));
        }
        if !parameters.is_empty() {
            geometry.push(Property::new(".arbGeomParams", "", Value::Compound(parameters)));
        }
        Object {
            name: name.to_owned(),
            metadata: format!("{POINTS};schemaObjTitle=AbcGeom_Points_v1:.geom"),
            properties: vec![Property::new(".geom", POINTS, Value::Compound(geometry))],
            children: Vec::new(),
        }
    }
}

/// Data of no bytes: the dimensions of a list.
const IS_LIST: Child = 1 << 63;

fn series(number: Number, extent: u32, samples: Vec<Child>) -> Series {
    Series {
        number,
        extent,
        sampling: 0,
        samples,
        count: 1,
    }
}

fn scalar<T: bytemuck::NoUninit>(
    archive: &mut Archive,
    name: &str,
    (number, extent): (Number, u32),
    value: &[T],
) -> Result<Property, WriteError> {
    let sample = archive.sample(value)?;
    Ok(Property::new(
        name,
        "",
        Value::Scalar(series(number, extent, vec![sample])),
    ))
}

fn array<T: bytemuck::NoUninit>(
    archive: &mut Archive,
    (name, metadata): (&str, &str),
    (number, extent): (Number, u32),
    values: &[T],
) -> Result<Property, WriteError> {
    let sample = archive.sample(values)?;
    let series = series(number, extent, vec![sample, IS_LIST]);
    Ok(Property::new(name, metadata, Value::Array(series)))
}

/// Returns a transform that changes nothing, to hold other objects.
fn group(archive: &mut Archive, name: &str) -> Result<Object, WriteError> {
    let inherits = scalar(archive, ".inherits", (Number::Bool, 1), &[1u8])?;
    Ok(Object {
        name: name.to_owned(),
        metadata: format!("{XFORM};schemaObjTitle=AbcGeom_Xform_v3:.xform"),
        properties: vec![Property::new(".xform", XFORM, Value::Compound(vec![inherits]))],
        children: Vec::new(),
    })
}

/// Returns the transform of a body with its mesh below.
fn body(
    archive: &mut Archive,
    name: &str,
    track: &Track,
    color: Option<[f32; 3]>,
    sampling: u32,
) -> Result<Object, WriteError> {
    let frames = track.transforms.len();
    let mut object = group(archive, name)?;
    let mut matrices = Vec::new();
    let count = if track.is_moving() { frames } else { 1 };
    for k in 0..count {
        matrices.push(archive.sample(&track.transform(k).to_cols_array())?);
    }
    let values = Series {
        number: Number::F64,
        extent: 16,
        sampling,
        samples: matrices,
        count: frames as u32,
    };
    let mut operations = vec![
        scalar(archive, ".inherits", (Number::Bool, 1), &[1u8])?,
        scalar(archive, ".ops", (Number::U8, 1), &[MATRIX_OPERATION])?,
        Property::new(".vals", "", Value::Scalar(values)),
        scalar(archive, "isNotConstantIdentity", (Number::Bool, 1), &[1u8])?,
    ];
    if track.is_moving() {
        let channels: Vec<u32> = (0..16).collect();
        operations.push(array(archive, (".animChans", ""), (Number::U32, 1), &channels)?);
    }
    object.properties = vec![Property::new(".xform", XFORM, Value::Compound(operations))];
    if track.comes_and_goes() {
        let mut samples = Vec::new();
        for transform in &track.transforms {
            samples.push(archive.sample(&[i8::from(transform.is_some())])?);
        }
        let seen = Series {
            number: Number::I8,
            extent: 1,
            sampling,
            samples,
            count: frames as u32,
        };
        object
            .properties
            .push(Property::new("visible", "", Value::Scalar(seen)));
    }
    object
        .children
        .push(mesh(archive, &format!("{name}Shape"), track, color)?);
    Ok(object)
}

fn mesh(archive: &mut Archive, name: &str, track: &Track, color: Option<[f32; 3]>) -> Result<Object, WriteError> {
    let vertices: Vec<Vec3> = track.mesh.vertices.iter().map(|v| v.as_vec3()).collect();
    let low = vertices.iter().copied().reduce(Vec3::min).unwrap_or_default();
    let high = vertices.iter().copied().reduce(Vec3::max).unwrap_or_default();
    let corners = [low.as_dvec3().to_array(), high.as_dvec3().to_array()];
    // Seen from outside, Alembic's corners go clockwise.
    let indices: Vec<i32> = (track.mesh.triangles.iter().flat_map(|t| [t[0], t[2], t[1]]))
        .map(|corner| corner as i32)
        .collect();
    let counts = vec![3i32; track.mesh.triangles.len()];
    let mut bounds = scalar(archive, BOUNDS, (Number::F64, 6), corners.as_flattened())?;
    bounds.metadata = BOX.to_owned();
    let mut geometry = vec![
        bounds,
        array(archive, ("P", POSITIONS), (Number::F32, 3), &vertices)?,
        array(archive, (".faceIndices", ""), (Number::I32, 1), &indices)?,
        array(archive, (".faceCounts", ""), (Number::I32, 1), &counts)?,
    ];
    if let Some(color) = color {
        // For each vertex: Blender reads no color of a whole mesh.
        let colors = vec![color; vertices.len()];
        let color = array(archive, ("Cd", COLORS), (Number::F32, 3), &colors)?;
        geometry.push(Property::new(".arbGeomParams", "", Value::Compound(vec![color])));
    }
    Ok(Object {
        name: name.to_owned(),
        metadata: format!("{MESH};schemaObjTitle=AbcGeom_PolyMesh_v1:.geom"),
        properties: vec![Property::new(".geom", MESH, Value::Compound(geometry))],
        children: Vec::new(),
    })
}
