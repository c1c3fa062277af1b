//! Exports of caches.

mod common;

use std::fs;
use std::path::Path;

use barchan_geometry::TriMesh;
use barchan_geometry::mesh::write_ply;
use barchan_io::{
    Cache, CacheSettings, CacheWriter, EXPORTERS, ExportError, ExportOptions, Exporter, Part, Up, export, read_points,
};
use barchan_world::{Column, Frame, Table};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use common::{frame, run, written};
use glam::{DQuat, DVec3, Vec3};

fn exported(kind: &str, settings: CacheSettings) -> (tempfile::TempDir, Vec<String>) {
    let cache = written(0..3, settings);
    let out = tempfile::tempdir().unwrap();
    let mut steps = Vec::new();
    export(
        cache.path(),
        kind,
        out.path(),
        &ExportOptions::default(),
        &mut |done, of| steps.push((done, of)),
    )
    .unwrap();
    assert_eq!(steps, [(1, 3), (2, 3), (3, 3)]);
    let mut files = Vec::new();
    list(out.path(), out.path(), &mut files);
    files.sort();
    (out, files)
}

fn list(root: &Path, folder: &Path, files: &mut Vec<String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => list(root, &path, files),
            false => files.push(path.strip_prefix(root).unwrap().display().to_string()),
        }
    }
}

#[test]
fn every_exporter_writes_a_file_a_frame_or_one_with_all_frames() {
    for exporter in EXPORTERS {
        let (_out, files) = exported(exporter.name, CacheSettings::default());
        if let [file] = &files[..] {
            assert!(file == "sand.usdc" || file == "sand.abc", "{file}");
            continue;
        }
        for part in ["guides", "grains"] {
            let count = files
                .iter()
                .filter(|file| file.starts_with(&format!("{part}/00000")))
                .count();
            assert_eq!(count, 3, "{} of {part}: {files:?}", exporter.name);
        }
        assert!(files.iter().any(|file| file.contains("bodies")), "{files:?}");
    }
}

#[test]
fn text_has_every_column() {
    let (out, _) = exported("csv", CacheSettings::default());
    let text = fs::read_to_string(out.path().join("guides/000001.csv")).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 101);
    assert_eq!(lines[0], "x,y,z,id,velocity_x,velocity_y,velocity_z,radius,material");
    assert!(lines[8].ends_with(",0.028,1"), "{}", lines[8]);
    assert_eq!(lines[8].split(',').nth(3), Some("7"));
}

#[test]
fn bodies_become_one_table() {
    let (out, _) = exported("ply", CacheSettings::default());
    let text = fs::read_to_string(out.path().join("bodies.csv")).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 1 + 3 * 2);
    let first = "x,y,z,frame,time,name,rotation_x,rotation_y,rotation_z,rotation_w,linear_velocity_x";
    assert!(lines[0].starts_with(first), "{}", lines[0]);
    assert!(
        lines[6].contains(r#",2,0.03333333333333333,"scoop, ""left""",0,0.6,0,0.8,1,0,0,"#),
        "{}",
        lines[6]
    );
}

#[test]
fn joints_become_one_table() {
    let (out, _) = exported("csv", CacheSettings::default());
    let text = fs::read_to_string(out.path().join("joints.csv")).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 1 + 3);
    let header = "x,y,z,frame,time,name,displacement,speed,force_x,force_y,force_z,torque_x,torque_y,torque_z,motor";
    assert_eq!(lines[0], header);
    let row = r#",2,0.03333333333333333,"axle, ""left""",-0.2,0.3333333333333333,0,"#;
    assert!(lines[3].contains(row), "{}", lines[3]);
}

#[test]
fn times_are_beside_vtk_files() {
    let settings = CacheSettings {
        grains_every: 2,
        ..CacheSettings::default()
    };
    let (out, _) = exported("vtk", settings);
    let text = fs::read_to_string(out.path().join("grains.pvd")).unwrap();
    assert_eq!(text.matches("<DataSet").count(), 2);
    assert!(
        text.contains(r#"timestep="0.03333333333333333" part="0" file="grains/000002.vtp""#),
        "{text}"
    );
    assert!(out.path().join("bodies.pvd").exists());
}

#[test]
fn a_cache_without_bodies_has_no_table_of_them() {
    let settings = CacheSettings {
        parts: vec![Part::Guides],
        ..CacheSettings::default()
    };
    let (_out, files) = exported("csv", settings);
    assert_eq!(files, ["guides/000000.csv", "guides/000001.csv", "guides/000002.csv"]);
}

/// A cache with one frame whose rows are not in the order of their ids.
fn shuffled() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let mut writer = CacheWriter::create(folder.path(), run(0), CacheSettings::default()).unwrap();
    let table = |count: u32| {
        let ids: Vec<u32> = (0..count).map(|row| 5 + row * 7 % count).collect();
        let place = |id: &u32| Vec3::new(*id as f32, 0.5, -2.0);
        let mut table = Table::default();
        table.push("id", Column::U32(ids.clone()));
        table.push("position", Column::Vec3(ids.iter().map(place).collect()));
        table.push("velocity", Column::Vec3(ids.iter().map(|id| -place(id)).collect()));
        table.push("radius", Column::F32(ids.iter().map(|id| 1.0 + *id as f32).collect()));
        table.push("material", Column::U8(ids.iter().map(|id| (*id % 3) as u8).collect()));
        table
    };
    let frame = Frame {
        guides: table(100),
        grains: Some(table(1000)),
        ..frame(0)
    };
    writer.push(frame).unwrap();
    writer.finish().unwrap();
    folder
}

#[test]
fn particles_lie_in_the_order_of_their_ids() {
    let cache = shuffled();
    for (kind, ending) in [("vtk", "vtp"), ("ply", "ply"), ("csv", "csv")] {
        let out = tempfile::tempdir().unwrap();
        export(
            cache.path(),
            kind,
            out.path(),
            &ExportOptions::default(),
            &mut |_, _| (),
        )
        .unwrap();
        for (part, count) in [("guides", 100), ("grains", 1000)] {
            let found = read_points(&out.path().join(part).join(format!("000000.{ending}"))).unwrap();
            assert_eq!(found.ids.unwrap(), (5..5 + count).collect::<Vec<u32>>(), "{kind}");
            for (k, position) in found.positions.iter().enumerate() {
                let expected = DVec3::new(5.0 + k as f64, 0.5, -2.0);
                assert_eq!(*position, expected, "{kind}");
                assert_eq!(found.velocities.as_ref().unwrap()[k], -expected, "{kind}");
                assert_eq!(found.radii.as_ref().unwrap()[k], 6.0 + k as f64, "{kind}");
            }
        }
    }
    // The cache is unchanged.
    let Some(Column::U32(ids)) = Cache::open(cache.path())
        .unwrap()
        .read_guides(0)
        .unwrap()
        .column("id")
        .cloned()
    else {
        panic!("no ids");
    };
    assert!(!ids.is_sorted());
}

/// Returns the bytes of the array `name` in `section` of a VTK file, without their length.
fn array(text: &str, section: &str, name: &str) -> (String, Vec<u8>) {
    let section = &text[text.find(&format!("<{section}>")).unwrap()..];
    let array = &section[section.find(&format!("Name=\"{name}\"")).unwrap()..];
    let kind = section[..section.find(&format!("Name=\"{name}\"")).unwrap()]
        .rsplit('"')
        .nth(1);
    let letters = array.split_once('>').unwrap().1.split_once('<').unwrap().0;
    let bytes = STANDARD.decode(letters).unwrap();
    let length = u64::from_le_bytes(bytes[..8].try_into().unwrap());
    assert_eq!(length, bytes.len() as u64 - 8, "{name}");
    (kind.unwrap().to_owned(), bytes[8..].to_vec())
}

#[test]
fn bodies_are_their_surfaces_where_they_are() {
    let cache = written(0..3, CacheSettings::default());
    let meshes = cache.path().join("meshes");
    fs::create_dir(&meshes).unwrap();
    let mesh = TriMesh {
        vertices: vec![DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::Z],
        triangles: vec![[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]],
    };
    write_ply(&mesh, fs::File::create(meshes.join("001_scoop.ply")).unwrap()).unwrap();
    let stage = |file: &str| {
        let text = serde_json::json!({ "ground": 0.0, "bodies": [
            { "name": "glass", "color": null, "opacity": 1.0, "mesh": null },
            { "name": "scoop, \"left\"", "color": null, "opacity": 1.0, "mesh": file },
        ] });
        fs::write(cache.path().join("stage.json"), text.to_string()).unwrap();
    };
    stage("001_scoop.ply");
    let out = tempfile::tempdir().unwrap();
    export(
        cache.path(),
        "vtk",
        out.path(),
        &ExportOptions::default(),
        &mut |_, _| (),
    )
    .unwrap();
    for number in 0..3 {
        let text = fs::read_to_string(out.path().join(format!("bodies/00000{number}.vtp"))).unwrap();
        assert!(
            text.contains(r#"NumberOfPoints="5" NumberOfVerts="1" NumberOfPolys="4""#),
            "{text}"
        );
        let (kind, points) = array(&text, "Points", "Points");
        assert_eq!(kind, "Float64");
        let numbers: Vec<f64> = points.as_chunks().0.iter().map(|b| f64::from_le_bytes(*b)).collect();
        let points: Vec<DVec3> = numbers.chunks(3).map(DVec3::from_slice).collect();
        let body = &frame(number).bodies[1];
        let turn = DQuat::from_array(body.rotation);
        let longs = |bytes: &[u8]| -> Vec<i64> { bytes.as_chunks().0.iter().map(|b| i64::from_le_bytes(*b)).collect() };
        let corners = longs(&array(&text, "Polys", "connectivity").1);
        // Reading a mesh may renumber its vertices; its triangles stay.
        let found: Vec<[DVec3; 3]> = corners
            .chunks(3)
            .map(|c| [0, 1, 2].map(|k| points[c[k] as usize]))
            .collect();
        for triangle in &mesh.triangles {
            let posed = triangle.map(|corner| body.position + turn * mesh.vertices[corner as usize]);
            let is_same =
                |other: &[DVec3; 3]| (0..3).any(|k| (0..3).all(|j| posed[j].distance(other[(j + k) % 3]) < 1e-12));
            assert!(found.iter().any(is_same), "{posed:?} in {found:?}");
        }
        assert_eq!(longs(&array(&text, "Polys", "offsets").1), [3, 6, 9, 12]);
        assert_eq!(longs(&array(&text, "Verts", "connectivity").1), [4]);
        assert_eq!(points[4], frame(number).bodies[0].position);
        let (kind, owners) = array(&text, "CellData", "body");
        assert_eq!(
            (kind.as_str(), owners),
            ("Int32", [0i32, 1, 1, 1, 1].map(i32::to_le_bytes).concat())
        );
        assert_eq!(array(&text, "FieldData", "name").1, b"glass\0scoop, \"left\"\0");
        let (kind, force) = array(&text, "FieldData", "force");
        let expected: Vec<u8> = [body.force; 2]
            .iter()
            .flat_map(DVec3::to_array)
            .flat_map(f64::to_le_bytes)
            .collect();
        assert_eq!((kind.as_str(), force), ("Float64", expected));
    }
    assert!(out.path().join("bodies.csv").exists() && out.path().join("bodies.pvd").exists());
    for outside in ["../meshes/001_scoop.ply", "/etc/passwd", "..", ""] {
        stage(outside);
        let error = export(
            cache.path(),
            "vtk",
            out.path(),
            &ExportOptions::default(),
            &mut |_, _| (),
        )
        .unwrap_err();
        assert!(matches!(error, ExportError::Surface { .. }), "{outside}: {error}");
    }
}

#[test]
fn vtk_files_have_only_what_paraview_and_ovito_read() {
    let (out, files) = exported("vtk", CacheSettings::default());
    for file in files.iter().filter(|file| file.ends_with(".vtp")) {
        let text = fs::read_to_string(out.path().join(file)).expect("text to its end");
        assert!(
            !text.contains("appended") && !text.contains("UInt32") && !text.contains("UInt8"),
            "{file}"
        );
        assert!(text.contains(r#"Name="Points""#), "{file}");
    }
}

#[test]
fn unknown_kinds_are_told_what_there_is() {
    let error = Exporter::of_name("fbx").err().unwrap();
    assert!(matches!(error, ExportError::UnknownKind { .. }));
    assert!(
        error
            .to_string()
            .ends_with("no export to `fbx`; allowed: usd, alembic, bgeo, vdb, gltf, vtk, ply, csv"),
        "{error}"
    );
}

#[test]
fn frames_parts_scale_and_axis_can_be_chosen() {
    let cache = written(0..6, CacheSettings::default());
    let out = tempfile::tempdir().unwrap();
    let options = ExportOptions {
        frames: 1..=4,
        every: 2,
        only: Some(Part::Guides),
        scale: 100.0,
        up: Some(Up::Y),
        ..ExportOptions::default()
    };
    export(cache.path(), "ply", out.path(), &options, &mut |_, _| ()).unwrap();
    let mut files = Vec::new();
    list(out.path(), out.path(), &mut files);
    files.sort();
    assert_eq!(files, ["guides/000001.ply", "guides/000003.ply"]);
    let found = read_points(&out.path().join("guides/000003.ply")).unwrap();
    let Some(Column::Vec3(positions)) = frame(3).guides.column("position").cloned() else {
        panic!("no positions");
    };
    for (found, p) in found.positions.iter().zip(positions) {
        assert!(found.distance(100.0 * Vec3::new(p.x, p.z, -p.y).as_dvec3()) < 1e-4);
    }
    assert!((found.radii.unwrap()[0] - 2.8).abs() < 1e-6);
}

#[test]
fn options_that_cannot_be_are_rejected() {
    let cache = written(0..3, CacheSettings::default());
    let out = tempfile::tempdir().unwrap();
    let refused = |options: ExportOptions| {
        let error = export(cache.path(), "usd", out.path(), &options, &mut |_, _| ()).unwrap_err();
        assert_eq!(fs::read_dir(out.path()).unwrap().count(), 0);
        error.to_string()
    };
    let late = ExportOptions {
        frames: 3..=9,
        ..ExportOptions::default()
    };
    assert_eq!(refused(late), "there is nothing to export: the cache has frames 0 to 2");
    for scale in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let options = ExportOptions {
            scale,
            ..ExportOptions::default()
        };
        assert!(refused(options).contains("the scale must be positive and finite"));
    }
}

#[test]
fn columns_that_come_with_the_first_step_are_not_numbers_before() {
    let folder = tempfile::tempdir().unwrap();
    let mut writer = CacheWriter::create(folder.path(), run(0), CacheSettings::default()).unwrap();
    writer.push(frame(0)).unwrap();
    let mut later = frame(1);
    let rows = later.guides.len();
    later.guides.push("density", Column::F32(vec![0.5; rows]));
    writer.push(later).unwrap();
    writer.finish().unwrap();
    let out = tempfile::tempdir().unwrap();
    export(
        folder.path(),
        "csv",
        out.path(),
        &ExportOptions::default(),
        &mut |_, _| (),
    )
    .unwrap();
    for (number, value) in [(0, "NaN"), (1, "0.5")] {
        let text = fs::read_to_string(out.path().join(format!("guides/00000{number}.csv"))).unwrap();
        assert!(text.lines().next().unwrap().ends_with(",material,density"));
        assert!(text.lines().nth(1).unwrap().ends_with(value), "{text}");
    }
}
