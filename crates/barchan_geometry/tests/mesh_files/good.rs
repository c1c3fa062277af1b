//! Supported features of each format.

use std::fs;
use std::path::Path;

use approx::assert_relative_eq;
use barchan_geometry::TriMesh;
use barchan_geometry::mesh::files::ply;
use barchan_geometry::mesh::{MeshFormat, clean, load, parse, primitives, write_obj, write_ply, write_stl};
use glam::DVec3;

use super::build::*;

/// Parses `bytes` and checks the tetrahedron's volume after cleaning.
#[track_caller]
fn assert_tetrahedron(bytes: impl AsRef<[u8]>, format: MeshFormat) -> TriMesh {
    let mesh = parse(bytes.as_ref(), format, None).unwrap();
    let loaded = clean(&mesh).unwrap();
    assert_eq!((loaded.report.vertices, loaded.report.triangles), (4, 4));
    assert_eq!(loaded.report.warnings(), Vec::<String>::new());
    assert!(loaded.report.is_watertight());
    assert_relative_eq!(loaded.report.volume, VOLUME, epsilon = 1e-12);
    mesh
}

#[test]
fn an_extension_tells_the_format_in_either_case() {
    let format = |name: &str| MeshFormat::from_path(Path::new(name)).unwrap();
    assert_eq!(format("a/b.OBJ"), MeshFormat::Obj);
    assert_eq!(format("b.stl"), MeshFormat::Stl);
    assert_eq!(format("b.Ply"), MeshFormat::Ply);
    assert_eq!(format("b.gltf"), MeshFormat::Gltf);
    assert_eq!(format("b.c.glb"), MeshFormat::Gltf);
}

#[test]
fn an_obj_file_may_hold_everything_that_is_of_no_concern() {
    let text = "\u{feff}# Grün\nmtllib a.mtl\no part\nv 0 0 0 1\nv 1 0 0 0.5 0.5 0.5\r\n  v 0 2 0\nv\t0 0 3e0 # up\n\
                vt 0 0\nvn 0 0 1\ns off\nusemtl \\\nf 1/1/1 3//1 2\nf 1 \\\n 2 4\nl 1 2\nf 1/1 4/1 3/1 # last \\\nf 2 3 4";
    assert_tetrahedron(text, MeshFormat::Obj);
}

#[test]
fn obj_indices_may_count_backwards_and_stand_before_their_vertices() {
    let text = "v 0 0 0\nv 1 0 0\nf -2 4 -1\nv 0 0 3\nf 1 2 -1\nv 0 2 0\nf 1 3 -1\nf 2 4 3\n";
    let mesh = parse(text.as_bytes(), MeshFormat::Obj, None).unwrap();
    assert_eq!(mesh.triangles, [[0, 3, 1], [0, 1, 2], [0, 2, 3], [1, 3, 2]]);
}

#[test]
fn obj_polygons_are_cut_as_fans() {
    let text = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nv -1 0.5 0\nf 1 2 3 4 5";
    let mesh = parse(text.as_bytes(), MeshFormat::Obj, None).unwrap();
    assert_eq!(mesh.triangles, [[0, 1, 2], [0, 2, 3], [0, 3, 4]]);
}

#[test]
fn obj_coordinates_keep_all_digits_of_f64() {
    let text = "v 0.1 1234567.0000001 -1e-300\nv 1 0 0\nv 0 1 0\nf 1 2 3";
    let mesh = parse(text.as_bytes(), MeshFormat::Obj, None).unwrap();
    assert_eq!(mesh.vertices[0], DVec3::new(0.1, 1_234_567.000_000_1, -1e-300));
}

#[test]
fn stl_is_read_as_binary_and_as_text() {
    assert_tetrahedron(stl(b"made by hand", 4), MeshFormat::Stl);
    assert_tetrahedron(stl_text(), MeshFormat::Stl);
    assert_tetrahedron(stl_text().to_uppercase().replace('\n', "\r\n"), MeshFormat::Stl);
}

#[test]
fn a_binary_stl_may_begin_with_solid() {
    assert_tetrahedron(stl(b"solid of SolidWorks", 4), MeshFormat::Stl);
    let mut with_tail = stl(b"solid of SolidWorks", 4);
    with_tail.extend([1, 2, 3]);
    assert_tetrahedron(with_tail, MeshFormat::Stl);
}

#[test]
fn bytes_after_the_last_stl_triangle_are_passed_over() {
    let mesh = parse(&stl(b"", 3), MeshFormat::Stl, None).unwrap();
    assert_eq!(mesh.triangles.len(), 3);
}

#[test]
fn several_solids_of_a_text_stl_are_one_mesh() {
    let mesh = parse((stl_text() + &stl_text()).as_bytes(), MeshFormat::Stl, None).unwrap();
    assert_eq!(mesh.triangles.len(), 8);
}

#[test]
fn ply_is_read_as_text_with_extra_properties() {
    assert_tetrahedron(ply_ascii(), MeshFormat::Ply);
    assert_tetrahedron(ply_ascii().replace('\n', "\r\n"), MeshFormat::Ply);
    assert_tetrahedron(ply_ascii().replace("vertex_indices", "vertex_index"), MeshFormat::Ply);
}

/// Binary PLY with an element in between, and lists of type `index` with counts of type `count`.
fn ply_binary(order: &str, ending: &str, count: &str, index: &str) -> Vec<u8> {
    let big = order == "big";
    let number = |kind: &str, value: f64| -> Vec<u8> {
        let mut bytes = match kind {
            "char" | "uchar" => vec![value as u8],
            "short" | "ushort" => (value as u16).to_le_bytes().to_vec(),
            "int" | "uint" => (value as u32).to_le_bytes().to_vec(),
            "float" => (value as f32).to_le_bytes().to_vec(),
            _ => value.to_le_bytes().to_vec(),
        };
        if big {
            bytes.reverse();
        }
        bytes
    };
    let header = format!(
        "ply\nformat binary_{order}_endian 1.0\nobj_info none\nelement vertex 4\nproperty double x\nproperty double y\n\
         property short tag\nproperty double z\nelement hair 2\nproperty list char float length\nproperty int8 kind\n\
         element face 4\nproperty uint8 material\nproperty list {count} {index} vertex_indices\nend_header\n"
    );
    let mut bytes = header.replace('\n', ending).into_bytes();
    for [x, y, z] in CORNERS.map(|c| c.map(f64::from)) {
        for (kind, value) in [("double", x), ("double", y), ("short", 5.0), ("double", z)] {
            bytes.extend(number(kind, value));
        }
    }
    for length in [0, 2] {
        bytes.extend(number("char", f64::from(length)));
        for _ in 0..length {
            bytes.extend(number("float", 0.5));
        }
        bytes.extend(number("char", 1.0));
    }
    for face in FACES {
        bytes.extend(number("uchar", 9.0));
        bytes.extend(number(count, 3.0));
        for vertex in face {
            bytes.extend(number(index, f64::from(vertex)));
        }
    }
    bytes
}

#[test]
fn binary_ply_is_read_in_both_byte_orders_with_lists_of_any_type() {
    for order in ["little", "big"] {
        for count in ["char", "uchar", "ushort", "int"] {
            for index in ["uchar", "short", "ushort", "int", "uint", "float", "double"] {
                assert_tetrahedron(ply_binary(order, "\n", count, index), MeshFormat::Ply);
            }
        }
    }
}

#[test]
fn binary_ply_headers_may_end_their_lines_in_any_way() {
    for ending in ["\n", "\r\n", "\r"] {
        assert_tetrahedron(ply_binary("little", ending, "uchar", "int"), MeshFormat::Ply);
    }
}

#[test]
fn ply_columns_of_any_element_can_be_had() {
    let content = ply::read(&ply_binary("big", "\r\n", "uchar", "int")).unwrap();
    let names: Vec<&str> = content.elements.iter().map(|e| e.name.as_str()).collect();
    assert_eq!(names, ["vertex", "hair", "face"]);
    let vertex = content.element("vertex").unwrap();
    assert_eq!(vertex.scalars("tag"), Some(&ply::Values::I16(vec![5; 4])));
    assert_eq!(vertex.scalars("z").unwrap().to_f64(), [0.0, 0.0, 0.0, 3.0]);
    let hair = content.element("hair").unwrap();
    let lengths = hair.lists("length").unwrap();
    assert_eq!((lengths.row(0), lengths.row(1)), (0..0, 0..2));
    assert_eq!(lengths.values, ply::Values::F32(vec![0.5; 2]));
    assert_eq!(hair.scalars("kind").unwrap().to_f64(), [1.0, 1.0]);
    assert_eq!(ply::read(ply_ascii().as_bytes()).unwrap().comments, ["made by hand"]);
}

#[test]
fn ply_strips_turn_every_other_triangle() {
    let text = "ply\nformat ascii 1.0\nelement vertex 4\nproperty float x\nproperty float y\nproperty float z\n\
                element tristrips 1\nproperty list int int vertex_indices\nend_header\n0 0 0\n1 0 0\n0 1 0\n1 1 0\n\
                8 0 1 2 3 -1 3 2 1\n";
    let mesh = parse(text.as_bytes(), MeshFormat::Ply, None).unwrap();
    assert_eq!(mesh.triangles, [[0, 1, 2], [2, 1, 3], [3, 2, 1]]);
}

#[test]
fn gltf_is_read_with_its_buffer_inside_and_as_glb() {
    let mesh = assert_tetrahedron(embedded_gltf(ONE_NODE, INDEXED), MeshFormat::Gltf);
    // y is up in the file, z here: (x, y, z) → (x, −z, y).
    assert_eq!(mesh.vertices[2], DVec3::new(0.0, 0.0, 2.0));
    assert_eq!(mesh.vertices[3], DVec3::new(0.0, -3.0, 0.0));
    assert_tetrahedron(glb(), MeshFormat::Gltf);
}

#[test]
fn a_gltf_buffer_may_lie_beside_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("part.gltf");
    fs::write(&path, gltf(ONE_NODE, INDEXED, r#","uri":"my%20part.bin""#)).unwrap();
    fs::write(folder.path().join("my part.bin"), gltf_buffer()).unwrap();
    let loaded = load(&path).unwrap();
    assert_relative_eq!(loaded.report.volume, VOLUME, epsilon = 1e-12);
}

#[test]
fn gltf_nodes_move_turn_and_scale_their_children() {
    // A quarter turn about y rotates x to −z; then scaled by 2 in x and moved up by 10.
    let nodes = r#"[{"children":[1],"translation":[0,10,0],"scale":[2,1,1]},
                    {"mesh":0,"rotation":[0,0.7071067811865476,0,0.7071067811865476]}]"#;
    let mesh = parse(embedded_gltf(nodes, INDEXED).as_bytes(), MeshFormat::Gltf, None).unwrap();
    let expected = [(0.0, 0.0, 10.0), (0.0, 1.0, 10.0), (0.0, 0.0, 12.0), (6.0, 0.0, 10.0)];
    for (vertex, (x, y, z)) in mesh.vertices.iter().zip(expected) {
        assert!(
            vertex.abs_diff_eq(DVec3::new(x, y, z), 1e-12),
            "{vertex} is not {x}, {y}, {z}"
        );
    }
}

#[test]
fn a_mirroring_gltf_matrix_keeps_the_outside_outside() {
    let nodes = r#"[{"mesh":0,"matrix":[-1,0,0,0, 0,1,0,0, 0,0,1,0, 5,0,0,1]}]"#;
    let mesh = assert_tetrahedron(embedded_gltf(nodes, INDEXED), MeshFormat::Gltf);
    assert_eq!(mesh.vertices[1], DVec3::new(4.0, 0.0, 0.0));
}

#[test]
fn gltf_primitives_may_be_strips_fans_lists_or_lines() {
    let triangles = |primitive: &str| {
        let text = embedded_gltf(ONE_NODE, primitive);
        parse(text.as_bytes(), MeshFormat::Gltf, None).map(|m| m.triangles)
    };
    let strip = triangles(r#"{"attributes":{"POSITION":0},"mode":5}"#).unwrap();
    assert_eq!(strip, [[0, 1, 2], [2, 1, 3]]);
    let fan = triangles(r#"{"attributes":{"POSITION":0},"mode":6}"#).unwrap();
    assert_eq!(fan, [[0, 1, 2], [0, 2, 3]]);
    let list = triangles(r#"{"attributes":{"POSITION":0}}"#).unwrap();
    assert_eq!(list, [[0, 1, 2]]);
    assert!(triangles(r#"{"attributes":{"POSITION":0},"mode":1}"#).is_err());
}

#[test]
fn gltf_nodes_may_show_a_mesh_twice_and_scenes_may_be_many_or_none() {
    let two = r#"[{"mesh":0},{"mesh":0,"translation":[9,0,0]}]"#;
    let count = |text: String| {
        let mesh = parse(text.as_bytes(), MeshFormat::Gltf, None).unwrap();
        mesh.triangles.len()
    };
    let text = embedded_gltf(two, INDEXED);
    assert_eq!(count(text.clone()), 4);
    let all = text.replace(
        r#""scene":0,"scenes":[{"nodes":[0]}]"#,
        r#""scenes":[{"nodes":[0]},{"nodes":[1,0]}]"#,
    );
    assert_eq!(count(all), 8);
    assert_eq!(count(text.replace(r#""scene":0,"scenes":[{"nodes":[0]}],"#, "")), 8);
}

#[test]
fn normalized_gltf_positions_are_scaled() {
    let buffer: Vec<u8> = [[0i16, 0, 0], [32767, 0, 0], [0, 32767, 0]]
        .iter()
        .flatten()
        .flat_map(|x| x.to_le_bytes())
        .collect();
    let text = format!(
        r#"{{"extensionsRequired":["KHR_mesh_quantization"],"nodes":[{{"mesh":0,"scale":[2,2,2]}}],
        "meshes":[{{"primitives":[{{"attributes":{{"POSITION":0}}}}]}}],
        "accessors":[{{"bufferView":0,"componentType":5122,"normalized":true,"count":3,"type":"VEC3"}}],
        "bufferViews":[{{"buffer":0,"byteLength":18}}],"buffers":[{{"byteLength":18{}}}]}}"#,
        data_uri(&buffer)
    );
    let mesh = parse(text.as_bytes(), MeshFormat::Gltf, None).unwrap();
    assert_eq!(mesh.vertices[1], DVec3::new(2.0, 0.0, 0.0));
    assert_eq!(mesh.vertices[2], DVec3::new(0.0, 0.0, 2.0));
}

#[test]
fn obj_and_ply_come_back_bit_by_bit() {
    let mut mesh = primitives::torus(1.0 / 3.0, 0.1, 12, 7);
    mesh.vertices.iter_mut().for_each(|v| *v += DVec3::new(1e4, -0.1, 1e-9));
    let (mut obj, mut ply) = (Vec::new(), Vec::new());
    write_obj(&mesh, &mut obj).unwrap();
    write_ply(&mesh, &mut ply).unwrap();
    assert_eq!(parse(&obj, MeshFormat::Obj, None).unwrap(), mesh);
    assert_eq!(parse(&ply, MeshFormat::Ply, None).unwrap(), mesh);
}

#[test]
fn stl_comes_back_to_f32_and_welds_to_the_same_mesh() {
    let mesh = primitives::icosphere(0.7, 3);
    let mut bytes = Vec::new();
    write_stl(&mesh, &mut bytes).unwrap();
    let loaded = clean(&parse(&bytes, MeshFormat::Stl, None).unwrap()).unwrap();
    assert!(loaded.report.is_watertight());
    assert_eq!(loaded.mesh.vertices.len(), mesh.vertices.len());
    for t in 0..mesh.triangles.len() {
        let rounded = mesh.corners(t).map(|p| p.as_vec3().as_dvec3());
        assert_eq!(loaded.mesh.corners(t), rounded);
    }
}
