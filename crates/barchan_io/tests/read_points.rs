//! Particles that were written are read back, whoever wrote them.

use std::fs;

use barchan_io::{Points, Values, read_points, write_points};
use glam::{DVec3, Vec3};

#[test]
fn every_readable_format_gives_back_what_was_written() {
    let dir = tempfile::tempdir().unwrap();
    let positions: Vec<DVec3> = (0..50)
        .map(|k| DVec3::new(f64::from(k), 0.5 * f64::from(k), -2.0))
        .collect();
    let velocities: Vec<Vec3> = positions.iter().map(|p| p.as_vec3() * 0.25).collect();
    let radii: Vec<f64> = (0..50).map(|k| 0.5 + 0.125 * f64::from(k)).collect();
    let ids: Vec<u32> = (100..150).rev().collect();
    for ending in ["vtp", "ply", "csv"] {
        let path = dir.path().join(format!("points.{ending}"));
        let points = Points::new(&positions, &radii)
            .with("velocity", Values::Vec3(&velocities))
            .with("id", Values::U32(&ids));
        write_points(&path, &points).unwrap();
        let found = read_points(&path).unwrap();
        assert_eq!(found.positions, positions, "{ending}");
        assert_eq!(found.radii.as_deref(), Some(radii.as_slice()), "{ending}");
        assert_eq!(found.ids.as_deref(), Some(ids.as_slice()), "{ending}");
        let expected: Vec<DVec3> = velocities.iter().map(|v| v.as_dvec3()).collect();
        assert_eq!(found.velocities, Some(expected), "{ending}");
    }
}

#[test]
fn vtk_files_with_text_and_base64_arrays_are_read() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("other.vtp");
    // 12 bytes: 1, 2 and 3 as f32, with a header of four bytes before, encoded as one and in two pieces.
    for coordinates in ["DAAAAAAAgD8AAABAAABAQA==", "DAAAAA==AACAPwAAAEAAAEBA"] {
        let text = format!(
            r#"<?xml version="1.0"?>
<VTKFile type="PolyData" version="0.1" byte_order="LittleEndian" header_type="UInt32">
<PolyData><Piece NumberOfPoints="1">
<PointData><DataArray type="Float64" Name="Radius" format="ascii"> 0.25 </DataArray></PointData>
<Points><DataArray type="Float32" NumberOfComponents="3" format="binary">{coordinates}</DataArray></Points>
</Piece></PolyData></VTKFile>"#
        );
        fs::write(&path, text).unwrap();
        let found = read_points(&path).unwrap();
        assert_eq!(found.positions, [DVec3::new(1.0, 2.0, 3.0)]);
        assert_eq!(found.radii, Some(vec![0.25]));
        assert_eq!((found.velocities, found.ids), (None, None));
    }
}

#[test]
fn what_cannot_be_read_is_told_with_its_place() {
    let dir = tempfile::tempdir().unwrap();
    let cases = [
        ("a.csv", "x,y,z\n1,2,oops\n", "line 2: `oops` is no number"),
        ("b.csv", "x,y\n1,2\n", "no columns x, y and z"),
        (
            "c.vtp",
            "<VTKFile type=\"PolyData\" compressor=\"vtkZLibDataCompressor\">",
            "compressed",
        ),
        ("d.vtp", "hello", "no VTK XML file"),
        ("e.txt", "1 2 3", "end with vtp, ply, csv"),
    ];
    for (name, text, reason) in cases {
        let path = dir.path().join(name);
        fs::write(&path, text).unwrap();
        let error = read_points(&path).unwrap_err().to_string();
        assert!(error.contains(reason) && error.contains(name), "{error}");
    }
}
