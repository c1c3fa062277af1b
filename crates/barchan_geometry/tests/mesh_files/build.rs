//! Generates files, all of the same tetrahedron unless noted.

use barchan_geometry::mesh::{MeshError, MeshFormat, parse};

pub const CORNERS: [[f32; 3]; 4] = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 2.0, 0.0], [0.0, 0.0, 3.0]];
pub const FACES: [[u16; 3]; 4] = [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]];

/// The tetrahedron's volume [m³].
pub const VOLUME: f64 = 1.0;

pub fn failure(bytes: impl AsRef<[u8]>, format: MeshFormat) -> MeshError {
    parse(bytes.as_ref(), format, None).expect_err("this must be refused")
}

/// Checks that the message contains every one of `parts`.
#[track_caller]
pub fn assert_says(error: &MeshError, parts: &[&str]) {
    let text = error.to_string();
    for part in parts {
        assert!(text.contains(part), "{text:?} does not say {part:?}");
    }
}

/// Binary STL with `header` and a declared `count`.
pub fn stl(header: &[u8], count: u32) -> Vec<u8> {
    let mut bytes = header.to_vec();
    bytes.resize(80, 0);
    bytes.extend(count.to_le_bytes());
    for face in FACES {
        bytes.extend([0; 12]);
        bytes.extend(
            face.iter()
                .flat_map(|&v| CORNERS[usize::from(v)])
                .flat_map(f32::to_le_bytes),
        );
        bytes.extend([0; 2]);
    }
    bytes
}

pub fn stl_text() -> String {
    let facet = |f: &[u16; 3]| {
        let vertex = |v: &u16| {
            let [x, y, z] = CORNERS[usize::from(*v)];
            format!("      vertex {x} {y} {z:e}\n")
        };
        let corners: String = f.iter().map(vertex).collect();
        format!("  facet normal 0 0 0\n    outer loop\n{corners}    endloop\n  endfacet\n")
    };
    let facets: String = FACES.iter().map(facet).collect();
    format!("solid a name with facet in it\n{facets}endsolid\n")
}

pub fn ply_ascii() -> String {
    let vertices: String = CORNERS.iter().map(|[x, y, z]| format!("{x} 7 {y} {z}\n")).collect();
    let faces: String = FACES.iter().map(|[a, b, c]| format!("3 {a} {b} {c}\n")).collect();
    format!(
        "ply\nformat ascii 1.0\ncomment made by hand\nelement vertex 4\nproperty float x\nproperty uchar confidence\n\
         property float y\nproperty float z\nelement face 4\nproperty list uchar int vertex_indices\nend_header\n\
         {vertices}{faces}"
    )
}

/// A glTF document over one buffer of positions (48 bytes) and vertex indices (24 bytes). `nodes`, `primitive` and
/// `uri` are JSON.
pub fn gltf(nodes: &str, primitive: &str, uri: &str) -> String {
    format!(
        r#"{{"asset":{{"version":"2.0"}},"scene":0,"scenes":[{{"nodes":[0]}}],"nodes":{nodes},
        "meshes":[{{"primitives":[{primitive}]}}],
        "accessors":[{{"bufferView":0,"componentType":5126,"count":4,"type":"VEC3"}},
                     {{"bufferView":1,"componentType":5123,"count":12,"type":"SCALAR"}}],
        "bufferViews":[{{"buffer":0,"byteLength":48}},{{"buffer":0,"byteOffset":48,"byteLength":24}}],
        "buffers":[{{"byteLength":72{uri}}}]}}"#
    )
}

pub const ONE_NODE: &str = r#"[{"mesh":0}]"#;
pub const INDEXED: &str = r#"{"attributes":{"POSITION":0},"indices":1}"#;

pub fn gltf_buffer() -> Vec<u8> {
    let positions = CORNERS.iter().flatten().flat_map(|x| x.to_le_bytes());
    let numbers = FACES.iter().flatten().flat_map(|v| v.to_le_bytes());
    positions.chain(numbers).collect()
}

/// Returns the `uri` of a buffer inside the document.
pub fn data_uri(bytes: &[u8]) -> String {
    use base64::Engine;
    let text = base64::engine::general_purpose::STANDARD.encode(bytes);
    format!(r#","uri":"data:application/octet-stream;base64,{text}""#)
}

pub fn embedded_gltf(nodes: &str, primitive: &str) -> String {
    gltf(nodes, primitive, &data_uri(&gltf_buffer()))
}

pub fn glb() -> Vec<u8> {
    let mut json = gltf(ONE_NODE, INDEXED, "").into_bytes();
    json.resize(json.len().next_multiple_of(4), b' ');
    let buffer = gltf_buffer();
    let total = 12 + 8 + json.len() + 8 + buffer.len();
    let mut bytes = b"glTF".to_vec();
    bytes.extend(2u32.to_le_bytes());
    bytes.extend((total as u32).to_le_bytes());
    for (kind, chunk) in [(b"JSON", json), (b"BIN\0", buffer)] {
        bytes.extend((chunk.len() as u32).to_le_bytes());
        bytes.extend(kind);
        bytes.extend(chunk);
    }
    bytes
}
