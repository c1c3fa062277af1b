//! glTF 2.0 in binary files: guides and grains as points, one file per frame; bodies as one file with animated meshes.
//! Application-specific attributes begin with `_`. Times of the animation are those of the cache.

use std::path::Path;

use barchan_world::Column;
use glam::Vec3;
use serde_json::{Value, json};

use super::shots::Cloud;
use super::surfaces::{BodySurfaces, Track};
use super::{Export, ExportError, bytes};
use crate::atomic::StagedFile;

const FLOAT: u32 = 5126;
const UNSIGNED_INT: u32 = 5125;
const ARRAY_BUFFER: u32 = 34962;
const ELEMENT_ARRAY_BUFFER: u32 = 34963;
/// Mode of a primitive that draws points.
const POINTS: u32 = 0;

pub(super) fn export(export: &mut Export) -> Result<(), ExportError> {
    export.each_frame("glb", &|path, part, cloud| write_cloud(path, part.name(), &cloud), None)?;
    let surfaces = BodySurfaces::load(export)?;
    let (times, frames): (Vec<f32>, Vec<_>) = (export
        .all_bodies()?
        .into_iter()
        .map(|(entry, bodies)| (entry.time as f32, bodies)))
    .unzip();
    let tracks = surfaces.tracks(&frames);
    if !tracks.is_empty() {
        let colors = tracks
            .iter()
            .map(|track| export.options.palette.map(|palette| palette.body(&track.name)));
        write_bodies(
            &export.out.join("bodies.glb"),
            &tracks,
            &colors.collect::<Vec<_>>(),
            &times,
        )?;
    }
    export.tables()
}

/// A file as it is composed: the description, and the numbers it refers to.
#[derive(Default)]
struct Composition<'a> {
    accessors: Vec<Value>,
    views: Vec<Value>,
    parts: Vec<Part<'a>>,
    length: u64,
}

/// Numbers of the binary chunk.
enum Part<'a> {
    Borrowed(&'a [u8]),
    Owned(Vec<u8>),
}

impl<'a> Composition<'a> {
    /// Adds numbers of `kind` with `lanes` numbers per value, and returns the index of their accessor.
    fn put(&mut self, part: Part<'a>, kind: u32, lanes: usize, target: Option<u32>) -> usize {
        let length = part.bytes().len();
        let mut view = json!({ "buffer": 0, "byteOffset": self.length, "byteLength": length });
        if let Some(target) = target {
            view["target"] = target.into();
        }
        let names = ["SCALAR", "VEC2", "VEC3", "VEC4"];
        self.accessors.push(json!({
            "bufferView": self.views.len(), "componentType": kind, "count": length / (4 * lanes), "type": names[lanes - 1],
        }));
        self.views.push(view);
        self.parts.push(part);
        self.length += length as u64;
        self.accessors.len() - 1
    }

    /// Adds positions, whose bounds readers require.
    fn positions(&mut self, positions: &'a [Vec3]) -> usize {
        let accessor = self.put(Part::Borrowed(bytes(positions)), FLOAT, 3, Some(ARRAY_BUFFER));
        self.bound(accessor, positions.iter().map(Vec3::to_array))
    }

    /// Notes the bounds of an accessor's values.
    fn bound<const N: usize>(&mut self, accessor: usize, values: impl Iterator<Item = [f32; N]>) -> usize {
        let (mut low, mut high) = ([f32::INFINITY; N], [f32::NEG_INFINITY; N]);
        for value in values {
            low = std::array::from_fn(|k| low[k].min(value[k]));
            high = std::array::from_fn(|k| high[k].max(value[k]));
        }
        self.accessors[accessor]["min"] = low.to_vec().into();
        self.accessors[accessor]["max"] = high.to_vec().into();
        accessor
    }

    /// Writes the file: a header, the description and the numbers.
    fn write(self, path: &Path, mut scene: Value) -> Result<(), ExportError> {
        scene["asset"] = json!({ "version": "2.0", "generator": "barchan" });
        scene["accessors"] = self.accessors.into();
        scene["bufferViews"] = self.views.into();
        scene["buffers"] = json!([{ "byteLength": self.length }]);
        let mut text = scene.to_string().into_bytes();
        text.resize(text.len().next_multiple_of(4), b' ');
        let all = 12 + 8 + text.len() as u64 + 8 + self.length;
        let Ok(total) = u32::try_from(all) else {
            return Err(ExportError::TooLong {
                path: path.to_owned(),
                bytes: all,
            });
        };
        let mut file = StagedFile::create(path)?;
        file.put(b"glTF")?;
        for number in [2, total, text.len() as u32] {
            file.put(&number.to_le_bytes())?;
        }
        file.put(b"JSON")?;
        file.put(&text)?;
        file.put(&(self.length as u32).to_le_bytes())?;
        file.put(b"BIN\0")?;
        for part in &self.parts {
            file.put(part.bytes())?;
        }
        Ok(file.finish()?)
    }
}

impl Part<'_> {
    fn bytes(&self) -> &[u8] {
        match self {
            Self::Borrowed(bytes) => bytes,
            Self::Owned(bytes) => bytes,
        }
    }
}

fn owned<'a, T: bytemuck::NoUninit>(numbers: &[T]) -> Part<'a> {
    Part::Owned(bytes(numbers).to_vec())
}

fn write_cloud(path: &Path, name: &str, cloud: &Cloud) -> Result<(), ExportError> {
    if cloud.positions.is_empty() {
        let empty = json!({ "scene": 0, "scenes": [{ "nodes": [0] }], "nodes": [{ "name": name }] });
        return write_empty(path, empty);
    }
    let mut file = Composition::default();
    let mut attributes = json!({ "POSITION": file.positions(&cloud.positions) });
    let floats = |file: &mut Composition, values: &mut dyn Iterator<Item = f32>| {
        file.put(owned(&values.collect::<Vec<f32>>()), FLOAT, 1, Some(ARRAY_BUFFER))
    };
    // Attributes must not be 32-bit integers; single precision holds ids up to 2^24.
    attributes["_ID"] = floats(&mut file, &mut cloud.ids.iter().map(|&id| id as f32)).into();
    let mut lists: Vec<(String, &[u8], usize)> = Vec::new();
    if let Some(colors) = &cloud.colors {
        lists.push(("COLOR_0".to_owned(), bytes(colors), 3));
    }
    if let Some(velocities) = &cloud.velocities {
        lists.push(("_VELOCITY".to_owned(), bytes(velocities), 3));
    }
    if let Some(radii) = &cloud.radii {
        lists.push(("_RADIUS".to_owned(), bytes(radii), 1));
    }
    for (name, column) in &cloud.extras {
        let name = format!("_{}", name.to_uppercase());
        match column {
            Column::U8(v) => attributes[&name] = floats(&mut file, &mut v.iter().map(|&v| v.into())).into(),
            Column::U32(v) => attributes[&name] = floats(&mut file, &mut v.iter().map(|&v| v as f32)).into(),
            // Numbers that are not known yet: glTF has none of these.
            Column::F32(v) if v.iter().any(|x| !x.is_finite()) => {}
            Column::Vec3(v) if v.iter().any(|x| !x.is_finite()) => {}
            Column::F32(v) => lists.push((name, bytes(v), 1)),
            Column::Vec3(v) => lists.push((name, bytes(v), 3)),
        }
    }
    for (name, values, lanes) in lists {
        attributes[&name] = file
            .put(Part::Borrowed(values), FLOAT, lanes, Some(ARRAY_BUFFER))
            .into();
    }
    let scene = json!({
        "scene": 0,
        "scenes": [{ "nodes": [0] }],
        "nodes": [{ "name": name, "mesh": 0 }],
        "meshes": [{ "name": name, "primitives": [{ "mode": POINTS, "attributes": attributes }] }],
    });
    file.write(path, scene)
}

/// Writes a file without numbers, which must not have a buffer.
fn write_empty(path: &Path, mut scene: Value) -> Result<(), ExportError> {
    scene["asset"] = json!({ "version": "2.0", "generator": "barchan" });
    let mut text = scene.to_string().into_bytes();
    text.resize(text.len().next_multiple_of(4), b' ');
    let mut file = StagedFile::create(path)?;
    file.put(b"glTF")?;
    for number in [2, 20 + text.len() as u32, text.len() as u32] {
        file.put(&number.to_le_bytes())?;
    }
    file.put(b"JSON")?;
    file.put(&text)?;
    Ok(file.finish()?)
}

fn write_bodies(path: &Path, tracks: &[Track], colors: &[Option<[f32; 3]>], times: &[f32]) -> Result<(), ExportError> {
    let vertices: Vec<Vec<Vec3>> = (tracks.iter())
        .map(|track| track.mesh.vertices.iter().map(|v| v.as_vec3()).collect())
        .collect();
    let mut file = Composition::default();
    let clock = file.put(owned(times), FLOAT, 1, None);
    file.bound(clock, times.iter().map(|&time| [time]));
    let (mut nodes, mut meshes, mut materials) = (Vec::new(), Vec::new(), Vec::new());
    let (mut samplers, mut channels) = (Vec::new(), Vec::new());
    for (k, track) in tracks.iter().enumerate() {
        let positions = file.positions(&vertices[k]);
        let corners = track.mesh.triangles.as_flattened();
        let corners = file.put(owned(corners), UNSIGNED_INT, 1, Some(ELEMENT_ARRAY_BUFFER));
        let mut primitive = json!({ "attributes": { "POSITION": positions }, "indices": corners });
        if let Some([r, g, b]) = colors[k] {
            primitive["material"] = materials.len().into();
            materials.push(json!({ "pbrMetallicRoughness": {
                "baseColorFactor": [r, g, b, 1.0], "metallicFactor": 0.0, "roughnessFactor": 0.7,
            } }));
        }
        meshes.push(json!({ "name": track.name, "primitives": [primitive] }));
        let mut node = json!({ "name": track.name, "mesh": k });
        let poses: Vec<_> = (0..times.len())
            .map(|frame| track.transform(frame).to_scale_rotation_translation())
            .collect();
        let translations: Vec<Vec3> = poses.iter().map(|pose| pose.2.as_vec3()).collect();
        let mut rotations: Vec<[f32; 4]> = poses.iter().map(|pose| pose.1.as_quat().to_array()).collect();
        // q and -q are the same rotation; interpolation takes the short way between equal signs.
        for frame in 1..rotations.len() {
            let before = rotations[frame - 1];
            let dot: f32 = before.iter().zip(rotations[frame]).map(|(a, b)| a * b).sum();
            if dot < 0.0 {
                rotations[frame] = rotations[frame].map(|x| -x);
            }
        }
        node["translation"] = translations[0].to_array().to_vec().into();
        node["rotation"] = rotations[0].to_vec().into();
        let mut animate = |file: &mut Composition, path: &str, numbers, lanes, interpolation: &str| {
            let output = file.put(numbers, FLOAT, lanes, None);
            channels.push(json!({ "sampler": samplers.len(), "target": { "node": k, "path": path } }));
            samplers.push(json!({ "input": clock, "output": output, "interpolation": interpolation }));
        };
        if track.is_moving() {
            animate(&mut file, "translation", owned(&translations), 3, "LINEAR");
            animate(&mut file, "rotation", owned(&rotations), 4, "LINEAR");
        }
        if track.comes_and_goes() {
            // An absent body has no size.
            let size = |transform: &Option<_>| if transform.is_some() { Vec3::ONE } else { Vec3::ZERO };
            let sizes: Vec<Vec3> = track.transforms.iter().map(size).collect();
            animate(&mut file, "scale", owned(&sizes), 3, "STEP");
        }
        nodes.push(node);
    }
    let mut scene = json!({
        "scene": 0,
        "scenes": [{ "nodes": (0..nodes.len()).collect::<Vec<_>>() }],
        "nodes": nodes,
        "meshes": meshes,
    });
    if !materials.is_empty() {
        scene["materials"] = materials.into();
    }
    if !channels.is_empty() {
        scene["animations"] = json!([{ "name": "run", "samplers": samplers, "channels": channels }]);
    }
    file.write(path, scene)
}
