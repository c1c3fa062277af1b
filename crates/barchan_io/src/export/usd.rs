//! USD: one crate file with all frames. Points with ids, velocities, widths and colors, or instances of a sphere; bodies
//! as meshes with animated transforms. Time codes are frame numbers.

mod crate_file;

use std::path::Path;

use barchan_geometry::TriMesh;
use barchan_world::Column;
use glam::Vec3;

use self::crate_file::{CrateFile, Kind, Rep, Spec, Type, inlined};
use super::shots::{Axes, Cloud, Up};
use super::surfaces::{BodySurfaces, Track};
use super::{Export, ExportError, identifier};
use crate::{Part, WriteError};

/// Name of the root prim.
const ROOT: &str = "sand";
/// Name of the sphere that instances show.
const SPHERE: &str = "sphere";

pub(super) fn export(export: &mut Export) -> Result<(), ExportError> {
    let instances = export.options.instances;
    let mut stage = Stage {
        file: CrateFile::create(&export.out.join("sand.usdc"))?,
    };
    let mut clouds = [Part::Guides, Part::Grains].map(|part| (part, PointSamples::default()));
    for done in 0..export.frames.len() {
        let entry = export.frames[done].clone();
        for (part, samples) in &mut clouds {
            if let Some(cloud) = export.cloud(*part, &entry)? {
                samples.times.push(entry.frame as f64);
                stage.cloud(samples, cloud, instances)?;
            }
        }
        export.finished(done + 1);
    }
    let mut scope = stage.prim("Xform", ROOT);
    for (part, samples) in clouds {
        if !samples.times.is_empty() {
            scope.children.push(stage.points(part, samples, instances)?);
        }
    }
    let surfaces = BodySurfaces::load(export)?;
    let (times, frames): (Vec<f64>, Vec<_>) = (export
        .all_bodies()?
        .into_iter()
        .map(|(entry, bodies)| (entry.frame as f64, bodies)))
    .unzip();
    let tracks = surfaces.tracks(&frames);
    if !tracks.is_empty() {
        let mut bodies = stage.prim("Xform", Part::Bodies.name());
        let mut taken = Vec::new();
        for track in &tracks {
            taken.push(identifier(&track.name, &taken));
            let color = export.options.palette.map(|palette| palette.body(&track.name).into());
            let name = taken.last().expect("a name");
            bodies.children.push(stage.body(name, track, color, &times)?);
        }
        scope.children.push(bodies);
    }
    let ends = [&export.frames[0], &export.frames[export.frames.len() - 1]].map(|entry| entry.frame as f64);
    let rate = export.cache.manifest().run.frame_rate;
    Ok(stage.finish(scope, export.axes, rate, ends)?)
}

/// Values of a cloud by time: one list of representations per attribute.
#[derive(Default)]
struct PointSamples {
    times: Vec<f64>,
    attributes: Vec<Samples>,
}

/// An attribute that changes from frame to frame. Attributes that some frames lack have fewer times than the cloud.
struct Samples {
    name: String,
    type_name: &'static str,
    /// Values belong to points, as primvars do.
    is_primvar: bool,
    times: Vec<f64>,
    values: Vec<Rep>,
}

impl PointSamples {
    fn put(&mut self, name: &str, type_name: &'static str, value: Rep) {
        let time = *self.times.last().expect("a frame");
        let at = self.attributes.iter().position(|attribute| attribute.name == name);
        let at = at.unwrap_or_else(|| {
            self.attributes.push(Samples {
                name: name.to_owned(),
                type_name,
                is_primvar: name.starts_with("primvars:") || name == "widths",
                times: Vec::new(),
                values: Vec::new(),
            });
            self.attributes.len() - 1
        });
        self.attributes[at].times.push(time);
        self.attributes[at].values.push(value);
    }
}

struct Stage {
    file: CrateFile,
}

impl Stage {
    fn prim(&mut self, kind: &str, name: &str) -> Spec {
        Spec::new(Kind::Prim, name)
            .with("specifier", inlined(Type::Specifier, 0))
            .with("typeName", self.file.token(kind))
    }

    fn attribute(&mut self, name: &str, kind: &str, field: &'static str, value: Rep) -> Spec {
        Spec::new(Kind::Attribute, name)
            .with("typeName", self.file.token(kind))
            .with(field, value)
    }

    /// Returns an attribute that never changes over time.
    fn uniform(&mut self, name: &str, kind: &str, value: Rep) -> Spec {
        let attribute = self.attribute(name, kind, "default", value);
        attribute.with("variability", inlined(Type::Variability, 1))
    }

    fn extent(&mut self, [low, high]: [Vec3; 2]) -> Result<Rep, WriteError> {
        self.file.array(Type::Vec3f, &[low, high])
    }

    /// Writes the values of one frame.
    fn cloud(&mut self, samples: &mut PointSamples, cloud: Cloud, instances: bool) -> Result<(), WriteError> {
        let bounds = cloud.bounds().unwrap_or_default();
        let extent = self.extent(bounds)?;
        samples.put("extent", "float3[]", extent);
        let file = &mut self.file;
        let positions = file.array(Type::Vec3f, &cloud.positions)?;
        samples.put(if instances { "positions" } else { "points" }, "point3f[]", positions);
        let ids: Vec<i64> = cloud.ids.iter().map(|&id| i64::from(id)).collect();
        samples.put("ids", "int64[]", file.array(Type::Int64, &ids)?);
        if let Some(velocities) = &cloud.velocities {
            samples.put("velocities", "vector3f[]", file.array(Type::Vec3f, velocities)?);
        }
        match &cloud.radii {
            Some(radii) if instances => {
                let scales: Vec<Vec3> = radii.iter().map(|&radius| Vec3::splat(radius)).collect();
                samples.put("scales", "float3[]", file.array(Type::Vec3f, &scales)?);
            }
            Some(radii) => {
                let widths: Vec<f32> = radii.iter().map(|radius| 2.0 * radius).collect();
                samples.put("widths", "float[]", file.array(Type::Float, &widths)?);
            }
            None => {}
        }
        if instances {
            let prototypes = vec![0i32; cloud.positions.len()];
            samples.put("protoIndices", "int[]", file.array(Type::Int, &prototypes)?);
        }
        if let Some(colors) = &cloud.colors {
            samples.put("primvars:displayColor", "color3f[]", file.array(Type::Vec3f, colors)?);
        }
        let integers = |values: &mut dyn Iterator<Item = i64>| values.map(|v| v as i32).collect::<Vec<i32>>();
        for (name, column) in &cloud.extras {
            let (kind, value) = match column {
                Column::U8(v) => (
                    "int[]",
                    file.array(Type::Int, &integers(&mut v.iter().map(|&v| v.into())))?,
                ),
                Column::U32(v) => (
                    "int[]",
                    file.array(Type::Int, &integers(&mut v.iter().map(|&v| v.into())))?,
                ),
                Column::F32(v) => ("float[]", file.array(Type::Float, v)?),
                Column::Vec3(v) => ("vector3f[]", file.array(Type::Vec3f, v)?),
            };
            samples.put(&format!("primvars:{}", identifier(name, &[])), kind, value);
        }
        Ok(())
    }

    /// Returns the prim of guides or grains.
    fn points(&mut self, part: Part, samples: PointSamples, instances: bool) -> Result<Spec, WriteError> {
        let kind = if instances { "PointInstancer" } else { "Points" };
        let mut prim = self.prim(kind, part.name());
        if instances {
            let path = format!("/{ROOT}/{}/{SPHERE}", part.name());
            let mut sphere = self.prim("Sphere", SPHERE);
            let radius = self.file.double(1.0)?;
            sphere
                .children
                .push(self.attribute("radius", "double", "default", radius));
            let unit = self.extent([Vec3::NEG_ONE, Vec3::ONE])?;
            sphere
                .children
                .push(self.attribute("extent", "float3[]", "default", unit));
            let mut prototypes =
                Spec::new(Kind::Relationship, "prototypes").with("variability", inlined(Type::Variability, 1));
            prototypes.targets.push(path);
            prim.children.extend([sphere, prototypes]);
        }
        for attribute in samples.attributes {
            let value = self.file.samples(&attribute.times, &attribute.values)?;
            let mut spec = self.attribute(&attribute.name, attribute.type_name, "timeSamples", value);
            if attribute.is_primvar {
                spec = spec.with("interpolation", self.file.token("vertex"));
            }
            prim.children.push(spec);
        }
        Ok(prim)
    }

    /// Writes a mesh: its extent, points, corners per face, and corners.
    fn geometry(&mut self, mesh: &TriMesh) -> Result<[Rep; 4], WriteError> {
        let vertices: Vec<Vec3> = mesh.vertices.iter().map(|v| v.as_vec3()).collect();
        let counts = vec![3i32; mesh.triangles.len()];
        let low = vertices.iter().copied().reduce(Vec3::min).unwrap_or_default();
        let high = vertices.iter().copied().reduce(Vec3::max).unwrap_or_default();
        Ok([
            self.extent([low, high])?,
            self.file.array(Type::Vec3f, &vertices)?,
            self.file.array(Type::Int, &counts)?,
            self.file.array(Type::Int, mesh.triangles.as_flattened())?,
        ])
    }

    /// Returns the attributes of a mesh that is drawn as it is, in one color.
    fn look(&mut self, color: Option<Vec3>) -> Result<Vec<Spec>, WriteError> {
        let none = self.file.token("none");
        let mut attributes = vec![self.uniform("subdivisionScheme", "token", none)];
        if let Some(color) = color {
            let value = self.file.array(Type::Vec3f, &[color])?;
            let spec = self.attribute("primvars:displayColor", "color3f[]", "default", value);
            attributes.push(spec.with("interpolation", self.file.token("constant")));
        }
        Ok(attributes)
    }

    /// Writes the root with the metadata of the stage, and moves the file to its path.
    fn finish(mut self, scope: Spec, axes: Axes, rate: f64, [first, last]: [f64; 2]) -> Result<(), WriteError> {
        let file = &mut self.file;
        let up = match axes.up {
            Up::Y => "Y",
            Up::Z => "Z",
        };
        let rate = file.double(rate)?;
        let mut root = Spec::new(Kind::Root, "")
            .with("defaultPrim", file.token(ROOT))
            .with("upAxis", file.token(up))
            .with("metersPerUnit", file.double(1.0 / axes.scale)?)
            .with("startTimeCode", file.double(first)?)
            .with("endTimeCode", file.double(last)?)
            .with("timeCodesPerSecond", rate)
            .with("framesPerSecond", rate);
        root.children.push(scope);
        self.file.finish(root)
    }

    fn body(&mut self, name: &str, track: &Track, color: Option<Vec3>, times: &[f64]) -> Result<Spec, WriteError> {
        let mut prim = self.prim("Mesh", name);
        let names = ["extent", "points", "faceVertexCounts", "faceVertexIndices"];
        let kinds = ["float3[]", "point3f[]", "int[]", "int[]"];
        for ((name, kind), value) in names.into_iter().zip(kinds).zip(self.geometry(track.mesh)?) {
            prim.children.push(self.attribute(name, kind, "default", value));
        }
        prim.children.extend(self.look(color)?);
        let order = self.file.token_array(&["xformOp:transform"])?;
        prim.children.push(self.uniform("xformOpOrder", "token[]", order));
        let (field, value) = match track.is_moving() {
            false => ("default", self.file.matrix(track.transform(0))?),
            true => {
                let matrices = (0..times.len()).map(|k| self.file.matrix(track.transform(k)));
                let matrices: Vec<Rep> = matrices.collect::<Result<_, _>>()?;
                ("timeSamples", self.file.samples(times, &matrices)?)
            }
        };
        prim.children
            .push(self.attribute("xformOp:transform", "matrix4d", field, value));
        if track.comes_and_goes() {
            let words = [self.file.token("invisible"), self.file.token("inherited")];
            let seen = track
                .transforms
                .iter()
                .map(|transform| words[usize::from(transform.is_some())]);
            let seen: Vec<Rep> = seen.collect();
            let value = self.file.samples(times, &seen)?;
            prim.children
                .push(self.attribute("visibility", "token", "timeSamples", value));
        }
        Ok(prim)
    }
}

/// A surface that changes its topology from frame to frame, in one file.
pub(super) struct AnimatedSurface {
    stage: Stage,
    times: Vec<f64>,
    attributes: [(&'static str, &'static str, Vec<Rep>); 4],
}

impl AnimatedSurface {
    pub fn create(path: &Path) -> Result<Self, WriteError> {
        Ok(Self {
            stage: Stage {
                file: CrateFile::create(path)?,
            },
            times: Vec::new(),
            attributes: [
                ("extent", "float3[]", Vec::new()),
                ("points", "point3f[]", Vec::new()),
                ("faceVertexCounts", "int[]", Vec::new()),
                ("faceVertexIndices", "int[]", Vec::new()),
            ],
        })
    }

    pub fn push(&mut self, frame: u64, mesh: &TriMesh) -> Result<(), WriteError> {
        self.times.push(frame as f64);
        let values = self.stage.geometry(mesh)?;
        for (attribute, value) in self.attributes.iter_mut().zip(values) {
            attribute.2.push(value);
        }
        Ok(())
    }

    pub fn finish(mut self, axes: Axes, rate: f64, color: [f32; 3]) -> Result<(), WriteError> {
        let stage = &mut self.stage;
        let mut mesh = stage.prim("Mesh", "surface");
        for (name, kind, values) in &self.attributes {
            let value = stage.file.samples(&self.times, values)?;
            mesh.children.push(stage.attribute(name, kind, "timeSamples", value));
        }
        mesh.children.extend(stage.look(Some(color.into()))?);
        let mut scope = stage.prim("Xform", ROOT);
        scope.children.push(mesh);
        let ends = [self.times[0], self.times[self.times.len() - 1]];
        self.stage.finish(scope, axes, rate, ends)
    }
}
