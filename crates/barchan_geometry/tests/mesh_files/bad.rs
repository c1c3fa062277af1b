//! Rejected files, and their messages.

use std::fs;
use std::path::Path;

use barchan_geometry::mesh::{MeshError, MeshFormat, load, parse};
use base64::Engine;

use super::build::*;

const ALL: [MeshFormat; 4] = [MeshFormat::Obj, MeshFormat::Stl, MeshFormat::Ply, MeshFormat::Gltf];

/// Loads `bytes` from a file called `name`; returns the error.
fn load_failure(name: &str, bytes: impl AsRef<[u8]>) -> MeshError {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    fs::write(&path, bytes).unwrap();
    load(&path).expect_err("this must be refused")
}

#[test]
fn a_missing_file_is_named() {
    let error = load(Path::new("no/such/mesh.obj")).unwrap_err();
    assert!(matches!(error, MeshError::Read { .. }));
    assert_says(&error, &["cannot read", "mesh.obj"]);
}

#[test]
fn a_folder_is_no_file() {
    let folder = tempfile::tempdir().unwrap();
    assert_says(&load(folder.path()).unwrap_err(), &["is a folder"]);
    let named = folder.path().join("looks.stl");
    fs::create_dir(&named).unwrap();
    assert_says(&load(&named).unwrap_err(), &["looks.stl is a folder"]);
}

#[test]
fn an_unknown_extension_is_told_with_those_allowed() {
    let all = [".obj", ".stl", ".ply", ".gltf", ".glb"];
    let error = load_failure("part.step", "x");
    assert_says(&error, &["part.step has the unknown extension .step"]);
    assert_says(&error, &all);
    assert_says(&load_failure("part", "x"), &["has no extension", ".ply"]);
}

#[test]
fn an_empty_file_is_said_to_be_empty() {
    for name in ["a.obj", "a.stl", "a.ply", "a.gltf", "a.glb"] {
        let error = load_failure(name, "");
        assert!(matches!(error.inner(), MeshError::Empty));
        assert_says(&error, &[name, "the file is empty"]);
    }
}

#[test]
fn text_that_is_no_mesh_is_told_from_a_broken_mesh() {
    let letter = "Dear Sir or Madam,\n\nplease find enclosed one mesh, by hand, as agreed on the phone on Monday.\n\
                  It is a good mesh; we have not seen a better one in this house since it was built.\n";
    for format in ALL {
        let error = failure(letter, format);
        assert!(matches!(error, MeshError::NotThisFormat { .. }), "{error}");
        assert_says(&error, &[&format!("not {format} data")]);
    }
    assert_says(&failure(letter, MeshFormat::Obj), &["\"Dear\" on line 1"]);
    assert_says(&failure(letter, MeshFormat::Stl), &["instead of \"solid\""]);
    assert_says(
        &failure(r#"{"name":"barchan"}"#, MeshFormat::Gltf),
        &["not glTF data", "neither \"asset\""],
    );
    assert_says(
        &failure(r#"{"asset":{"version":"2.0"}}"#, MeshFormat::Gltf),
        &["no triangles"],
    );
}

#[test]
fn one_format_under_the_name_of_another_is_refused() {
    let files: [Vec<u8>; 4] = [
        b"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3".to_vec(),
        stl(b"", 4),
        ply_ascii().into(),
        glb(),
    ];
    for (given, bytes) in ALL.iter().zip(files) {
        for claimed in ALL.iter().filter(|c| *c != given) {
            assert!(parse(&bytes, *claimed, None).is_err(), "{given} was read as {claimed}");
        }
    }
}

#[test]
fn an_obj_number_that_is_none_is_told_with_its_line() {
    let error = failure("v 0 0 0\nv 1 0,5 0\n", MeshFormat::Obj);
    assert_says(&error, &["line 2", "\"0,5\" is not a number"]);
    assert_says(
        &failure("v 0 0\nv 0 0 0", MeshFormat::Obj),
        &["line 1", "a number is missing"],
    );
}

#[test]
fn an_obj_face_that_is_none_is_told_with_its_line() {
    let vertices = "v 0 0 0\nv 1 0 0\nv 0 1 0\n";
    assert_says(
        &failure(format!("{vertices}f 1 2"), MeshFormat::Obj),
        &["line 4", "at least 3 vertices, got 2"],
    );
    assert_says(
        &failure(format!("{vertices}f 1 2 x"), MeshFormat::Obj),
        &["line 4", "\"x\" names no vertex"],
    );
}

#[test]
fn an_obj_index_out_of_range_is_told_with_triangle_line_and_count() {
    let start = "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3 1\n\n";
    for (face, index) in [
        ("f 1 2 4", "4"),
        ("f 0 1 2", "0"),
        ("f 1 2 -4", "-4"),
        ("f 1 2 99999999999", "99999999999"),
    ] {
        let error = failure(format!("{start}{face}"), MeshFormat::Obj);
        assert_says(
            &error,
            &[
                "triangle 2 (line 6)",
                &format!("vertex {index},"),
                "3 vertices (numbered from 1)",
            ],
        );
    }
}

#[test]
fn obj_vertices_without_faces_are_no_mesh() {
    let error = failure("v 0 0 0\nv 1 0 0\nv 0 1 0\np 1 2 3", MeshFormat::Obj);
    assert!(matches!(error, MeshError::NoTriangles { dropped: 0 }));
    assert_says(&error, &["there are no triangles"]);
}

#[test]
fn a_vertex_that_is_not_finite_is_named() {
    let error = failure("v 0 0 0\nv 1 nan 0\nv 0 1 0\nf 1 2 3", MeshFormat::Obj);
    assert!(matches!(error, MeshError::NotFinite { vertex: 1, .. }));
    assert_says(&error, &["vertex 1 is not finite", "NaN"]);
    let mut bytes = stl(b"", 4);
    bytes[84 + 12 + 36 + 2 + 12 + 4..][..4].copy_from_slice(&f32::INFINITY.to_le_bytes());
    assert_says(&failure(bytes, MeshFormat::Stl), &["vertex 3 is not finite", "inf"]);
    assert_says(
        &failure(ply_ascii().replace("0 7 2 0", "0 7 -inf 0"), MeshFormat::Ply),
        &["vertex 2 is not finite"],
    );
    let mut buffer = gltf_buffer();
    buffer[12..16].copy_from_slice(&f32::NAN.to_le_bytes());
    let error = failure(gltf(ONE_NODE, INDEXED, &data_uri(&buffer)), MeshFormat::Gltf);
    assert_says(&error, &["vertex 1 is not finite"]);
}

#[test]
fn a_vertex_beyond_the_sun_is_a_mistake() {
    let error = failure("v 0 0 0\nv 1 0 0\nv 0 -1.1e12 0\nf 1 2 3", MeshFormat::Obj);
    assert!(matches!(error, MeshError::TooFar { vertex: 2, .. }));
    assert_says(&error, &["vertex 2", "farther out than 1000000000000 m", "units"]);
}

#[test]
fn a_cut_binary_stl_is_told_with_both_counts() {
    let whole = stl(b"solid as a rock", 4);
    let error = failure(&whole[..whole.len() - 1], MeshFormat::Stl);
    assert_says(&error, &["truncated at byte 283", "promises 4 triangles, 3 are there"]);
    assert_says(
        &failure(&whole[..50], MeshFormat::Stl),
        &["truncated at byte 50", "84 bytes"],
    );
    assert_says(
        &failure(stl(b"", u32::MAX), MeshFormat::Stl),
        &["promises 4294967295 triangles, 4 are there"],
    );
}

#[test]
fn a_cut_text_stl_is_told_with_its_line() {
    let whole = stl_text();
    let error = failure(&whole[..whole.len() - 10], MeshFormat::Stl);
    assert_says(&error, &["truncated at line", "endsolid"]);
    let end = whole.find("vertex").unwrap();
    assert_says(
        &failure(&whole[..end + 8], MeshFormat::Stl),
        &["truncated at line 4", "a number is missing"],
    );
}

#[test]
fn a_wrong_word_or_count_in_a_text_stl_is_told_with_its_line() {
    let wrong = stl_text().replacen("outer loop", "outer hoop", 1);
    assert_says(&failure(wrong, MeshFormat::Stl), &["line 3", "\"hoop\""]);
    let four = stl_text().replacen("endloop", "vertex 0 0 0 endloop", 1);
    assert_says(&failure(four, MeshFormat::Stl), &["line 7", "3 vertices"]);
    let word = stl_text().replacen("vertex 0", "vertex zero", 1);
    assert_says(&failure(word, MeshFormat::Stl), &["line 4", "\"zero\" is not a number"]);
}

#[test]
fn an_stl_of_no_triangles_is_no_mesh() {
    assert_says(
        &failure("solid nothing\nendsolid nothing\n", MeshFormat::Stl),
        &["no triangles"],
    );
    assert_says(&failure(stl(b"", 0), MeshFormat::Stl), &["no triangles"]);
}

#[test]
fn a_broken_ply_header_is_told_with_its_line() {
    let refused = |from: &str, to: &str, says: &[&str]| {
        assert_says(&failure(ply_ascii().replace(from, to), MeshFormat::Ply), says);
    };
    refused("ascii", "ebcdic", &["line 2", "unknown format \"ebcdic\""]);
    refused("format ascii 1.0\n", "", &["\"format\" is missing"]);
    refused(
        "property float y",
        "property half y",
        &["line 7", "unknown type \"half\""],
    );
    refused(
        "element vertex 4",
        "element vertex -4",
        &["line 4", "\"-4\" is not a number of rows"],
    );
    refused("element vertex 4\n", "", &["line 4", "before any element"]);
    refused("comment", "remark", &["line 3", "no line of a PLY header"]);
    refused("end_header\n", "", &["line 11", "no line of a PLY header"]);
    let cut = ply_ascii().find("end_header").unwrap();
    assert_says(
        &failure(&ply_ascii()[..cut], MeshFormat::Ply),
        &["truncated at line 11", "end_header"],
    );
    refused(
        "end_header",
        "element void 9\nend_header",
        &["\"void\" has 9 rows but no property"],
    );
}

#[test]
fn a_ply_file_without_what_makes_a_mesh_is_told_so() {
    let refused = |from: &str, to: &str, says: &[&str]| {
        assert_says(&failure(ply_ascii().replace(from, to), MeshFormat::Ply), says);
    };
    refused("element vertex", "element point", &["no element \"vertex\""]);
    refused(
        "float z",
        "float height",
        &["no number \"z\" in the element \"vertex\""],
    );
    refused(
        "vertex_indices",
        "corners",
        &["no list \"vertex_indices\" in the element \"face\""],
    );
    refused("element face", "element patch", &["no triangles"]);
}

#[test]
fn a_broken_ply_body_is_told_with_its_place() {
    let refused = |from: &str, to: &str, says: &[&str]| {
        assert_says(&failure(ply_ascii().replacen(from, to, 1), MeshFormat::Ply), says);
    };
    refused(
        "3 0 2 1",
        "3 0 2 4",
        &["triangle 0 names vertex 4", "4 vertices (numbered from 0)"],
    );
    refused("3 0 2 1", "3 0 2 -1", &["triangle 0 names vertex -1"]);
    refused("3 0 2 1", "2 0 2", &["face 0", "at least 3 vertices, got 2"]);
    refused(
        "1 7 0 0",
        "1 300 0 0",
        &["line 13", "300 does not fit the type of \"confidence\""],
    );
    refused("1 7 0 0", "1 7 up 0", &["line 13", "\"up\" is not a number"]);
    refused(
        "element face 4",
        "element face 5",
        &["truncated", "\"face\" promises 5 rows, 4 are there"],
    );
}

#[test]
fn a_cut_or_boasting_binary_ply_is_told_with_its_byte() {
    let header = "ply\nformat binary_little_endian 1.0\nelement vertex 1000000000000\nproperty float x\nproperty float y\n\
                  property float z\nelement face 1\nproperty list int int vertex_indices\nend_header\n";
    let error = failure([header.as_bytes(), &[0; 30]].concat(), MeshFormat::Ply);
    assert_says(
        &error,
        &["\"vertex\" promises 1000000000000 rows of 12 bytes, 2 are there"],
    );
    let header = header.replace("1000000000000", "2");
    for (length, says) in [(i32::MAX, "row 0 is cut"), (-1, "-1 is not the length of a list")] {
        let error = failure(
            [header.as_bytes(), &[0; 24], &length.to_le_bytes()].concat(),
            MeshFormat::Ply,
        );
        assert_says(&error, &[&format!("byte {}", header.len() + 24), says]);
    }
}

#[test]
fn a_cut_gltf_is_told_where() {
    let text = embedded_gltf(ONE_NODE, INDEXED);
    assert_says(
        &failure(&text[..text.len() - 1], MeshFormat::Gltf),
        &["truncated at line 6"],
    );
    let whole = glb();
    assert_says(&failure(&whole[..10], MeshFormat::Gltf), &["truncated at byte 10"]);
    assert_says(
        &failure(&whole[..100], MeshFormat::Gltf),
        &["truncated at byte 12", "80 are there"],
    );
    let error = failure(&whole[..whole.len() - 4], MeshFormat::Gltf);
    assert_says(&error, &["a chunk of 72 bytes is promised, 68 are there"]);
}

#[test]
fn a_gltf_whose_parts_do_not_fit_is_told_which() {
    let refused = |from: &str, to: &str, says: &[&str]| {
        let text = embedded_gltf(ONE_NODE, INDEXED);
        assert!(text.contains(from), "{from}");
        assert_says(&failure(text.replacen(from, to, 1), MeshFormat::Gltf), says);
    };
    refused(r#""nodes":[0]"#, r#""nodes":[7]"#, &["no node 7, only 1"]);
    refused(r#""mesh":0"#, r#""mesh":3"#, &["no mesh 3, only 1"]);
    refused(r#""POSITION":0"#, r#""POSITION":9"#, &["no accessor 9, only 2"]);
    refused(r#""POSITION":0"#, r#""POSITION":1"#, &["accessor 1", "not VEC3"]);
    refused(r#""indices":1"#, r#""indices":0"#, &["accessor 0", "unsigned scalars"]);
    refused(
        r#""count":4"#,
        r#""count":400000000000"#,
        &["accessor 0 promises 400000000000 items, 4 are there"],
    );
    refused(
        r#""byteLength":48}"#,
        r#""byteLength":48,"byteStride":4}"#,
        &["stride of 4 bytes"],
    );
    refused(
        r#""byteLength":24"#,
        r#""byteLength":25"#,
        &["buffer view 1", "which has 72"],
    );
    refused(
        r#"[{"byteLength":72"#,
        r#"[{"byteLength":73"#,
        &["buffer 0 promises 73 bytes, 72 are there"],
    );
    refused(r#"base64,"#, r#"base64,!"#, &["buffer 0 is not base64"]);
    refused(r#"5123"#, r#""short""#, &["line 4", "invalid type"]);
}

#[test]
fn a_gltf_index_out_of_range_is_told_with_its_triangle() {
    let mut buffer = gltf_buffer();
    buffer[48 + 2 * 7] = 200;
    let error = failure(gltf(ONE_NODE, INDEXED, &data_uri(&buffer)), MeshFormat::Gltf);
    assert_says(&error, &["triangle 2 names vertex 200", "4 vertices (numbered from 0)"]);
}

#[test]
fn a_gltf_cycle_of_nodes_ends() {
    let nodes = r#"[{"mesh":0,"children":[1]},{"children":[0]}]"#;
    assert_says(
        &failure(embedded_gltf(nodes, INDEXED), MeshFormat::Gltf),
        &["node 0", "its own ancestor"],
    );
    let nodes = r#"[{"children":[1,1]},{"mesh":0}]"#;
    assert_says(
        &failure(embedded_gltf(nodes, INDEXED), MeshFormat::Gltf),
        &["node 1 has two parents"],
    );
}

#[test]
fn a_gltf_that_shows_one_mesh_without_end_is_refused() {
    let buffer = vec![0; 9 << 10];
    let nodes = vec![r#"{"mesh":0}"#; 30_000].join(",");
    let roots: Vec<String> = (0..30_000).map(|n| n.to_string()).collect();
    let text = format!(
        r#"{{"scenes":[{{"nodes":[{}]}}],"nodes":[{nodes}],"meshes":[{{"primitives":[{{"attributes":{{"POSITION":0}}}}]}}],
        "accessors":[{{"bufferView":0,"componentType":5120,"count":3072,"type":"VEC3"}}],
        "bufferViews":[{{"buffer":0,"byteLength":9216}}],"buffers":[{{"byteLength":9216{}}}]}}"#,
        roots.join(","),
        data_uri(&buffer)
    );
    assert_says(&failure(text, MeshFormat::Gltf), &["more than 16777216 vertices"]);
}

#[test]
fn what_gltf_may_have_and_we_do_not_is_named() {
    let text = embedded_gltf(ONE_NODE, INDEXED);
    let required = text.replacen('{', r#"{"extensionsRequired":["KHR_draco_mesh_compression"],"#, 1);
    let error = failure(required, MeshFormat::Gltf);
    assert!(matches!(error, MeshError::Unsupported { .. }));
    assert_says(&error, &["KHR_draco_mesh_compression", "not supported"]);
    let optional = text.replace(
        r#""indices":1"#,
        r#""indices":1,"extensions":{"KHR_draco_mesh_compression":{}}"#,
    );
    assert_says(&failure(optional, MeshFormat::Gltf), &["KHR_draco_mesh_compression"]);
    let packed = text.replacen(
        r#""byteLength":48"#,
        r#""byteLength":48,"extensions":{"EXT_meshopt_compression":{}}"#,
        1,
    );
    assert_says(&failure(packed, MeshFormat::Gltf), &["EXT_meshopt_compression"]);
    let sparse = text.replacen(r#""count":4"#, r#""count":4,"sparse":{"count":1}"#, 1);
    assert_says(&failure(sparse, MeshFormat::Gltf), &["sparse data (accessor 0)"]);
    let mut old = glb();
    old[4] = 1;
    assert_says(&failure(old, MeshFormat::Gltf), &["version 1"]);
}

#[test]
fn a_gltf_buffer_that_is_not_beside_the_file_is_named() {
    let text = |uri: &str| gltf(ONE_NODE, INDEXED, &format!(r#","uri":"{uri}""#));
    assert_says(&load_failure("a.gltf", text("gone.bin")), &["cannot read", "gone.bin"]);
    assert_says(
        &failure(text("a.bin"), MeshFormat::Gltf),
        &["a.bin", "folder is not known"],
    );
    for uri in [
        "https://example.org/a.bin",
        "/etc/hosts",
        "../a.bin",
        "b/../../a.bin",
        "%2e%2e/a.bin",
    ] {
        assert_says(&load_failure("a.gltf", text(uri)), &[uri, "not in the file's folder"]);
    }
    assert_says(&load_failure("a.gltf", text("a%2")), &["malformed"]);
}

#[test]
fn files_cut_anywhere_never_panic() {
    let text = embedded_gltf(ONE_NODE, INDEXED).into_bytes();
    let files = [
        (
            MeshFormat::Obj,
            b"v 0 0 0\nv 1 0 0 \\\n\nv 0 1 0\nf -1/1/1 2//2 3".to_vec(),
        ),
        (MeshFormat::Stl, stl(b"solid", 4)),
        (MeshFormat::Stl, stl_text().into()),
        (MeshFormat::Ply, ply_ascii().into()),
        (MeshFormat::Gltf, text),
        (MeshFormat::Gltf, glb()),
    ];
    for (format, bytes) in files {
        for end in 0..bytes.len() {
            if let Ok(mesh) = parse(&bytes[..end], format, None) {
                mesh.check().unwrap();
            }
        }
    }
}

#[test]
fn random_base64_is_no_mesh() {
    let noise = base64::engine::general_purpose::STANDARD.encode([0x5a; 400]);
    for format in ALL {
        let error = failure(&noise, format);
        assert!(matches!(error, MeshError::NotThisFormat { .. }), "{error}");
    }
}
