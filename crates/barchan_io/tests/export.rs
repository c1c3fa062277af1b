//! Caches turned into other files.

mod common;

use std::fs;
use std::path::Path;

use barchan_io::{CacheSettings, EXPORTERS, ExportError, Exporter, Part, export};
use common::written;

fn exported(kind: &str, settings: CacheSettings) -> (tempfile::TempDir, Vec<String>) {
    let cache = written(0..3, settings);
    let out = tempfile::tempdir().unwrap();
    let mut steps = Vec::new();
    export(cache.path(), kind, out.path(), &mut |done, of| steps.push((done, of))).unwrap();
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
fn every_exporter_writes_a_file_a_frame() {
    for exporter in EXPORTERS {
        let (_out, files) = exported(exporter.name, CacheSettings::default());
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

#[test]
fn unknown_kinds_are_told_what_there_is() {
    let error = Exporter::of_name("bgeo").err().unwrap();
    assert!(matches!(error, ExportError::UnknownKind { .. }));
    assert!(
        error
            .to_string()
            .ends_with("no export to `bgeo`; allowed: vtk, ply, csv"),
        "{error}"
    );
}
