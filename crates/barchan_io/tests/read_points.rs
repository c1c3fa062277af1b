//! Particles written by barchan and by other programs are read back.

use std::fs;
use std::path::Path;

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
    // 12 bytes: 1, 2 and 3 as f32, after a header of four bytes, encoded together and separately.
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

/// A file that VTK 9.7 wrote: 300 particles, with an array that is not needed.
fn foreign(name: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/files").join(name)
}

const FOREIGN: [&str; 6] = [
    "appended_raw_zlib.vtp",
    "appended_base64_zlib.vtp",
    "inline_zlib.vtp",
    "inline_plain.vtp",
    "appended_raw_plain.vtp",
    "ascii.vtp",
];

#[test]
fn files_of_vtk_are_read_in_every_encoding() {
    for name in FOREIGN {
        let found = read_points(&foreign(name)).unwrap();
        let expected: Vec<DVec3> = (0..300)
            .map(|k| DVec3::new(0.25 * f64::from(k), -0.5 * f64::from(k), 2.0))
            .collect();
        assert_eq!(found.positions, expected, "{name}");
        let twice = expected.iter().map(|p| 2.0 * *p).collect();
        assert_eq!(found.velocities, Some(twice), "{name}");
        // Text has as many digits as single precision needs.
        let single: Vec<f32> = found.radii.unwrap().iter().map(|r| *r as f32).collect();
        let radii: Vec<f32> = (0..300).map(|k| 0.5 + k as f32 / 1024.0).collect();
        assert_eq!(single, radii, "{name}");
        assert_eq!(found.ids, Some((701..=1000).rev().collect()), "{name}");
    }
    for (name, compressor) in [("lz4.vtp", "vtkLZ4"), ("lzma.vtp", "vtkLZMA")] {
        let error = read_points(&foreign(name)).unwrap_err().to_string();
        assert!(error.contains(compressor) && error.contains("ZLib"), "{error}");
    }
}

#[test]
fn pieces_are_read_one_after_the_other() {
    let piece = |x: f64| {
        format!(
            "<Piece NumberOfPoints='1' NumberOfVerts='0'><Points>\n<DataArray\n type='Float64' NumberOfComponents='3' \
             format='ascii'> {x} 2 3 </DataArray></Points></Piece><Piece NumberOfPoints=\"0\"><Points><DataArray \
             type=\"Float64\" NumberOfComponents=\"3\" format=\"appended\" offset=\"99\"/></Points></Piece>"
        )
    };
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("pieces.vtp");
    let text = format!(
        "<VTKFile type='PolyData'><PolyData>{}{}</PolyData></VTKFile>",
        piece(1.0),
        piece(7.0)
    );
    fs::write(&path, text).unwrap();
    let found = read_points(&path).unwrap();
    assert_eq!(found.positions, [DVec3::new(1.0, 2.0, 3.0), DVec3::new(7.0, 2.0, 3.0)]);
}

#[test]
fn lengths_that_a_file_declares_are_not_believed() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("crafted.vtp");
    let tried = |bytes: &[u8]| {
        fs::write(&path, bytes).unwrap();
        read_points(&path)
    };
    for name in FOREIGN {
        let whole = fs::read(foreign(name)).unwrap();
        // Damages headers of blocks, which begin after the mark of the appended data, and other bytes.
        let mark = whole.iter().position(|byte| *byte == b'_').unwrap_or(0);
        for at in 0..whole.len() {
            if at % 211 == 0 || (mark..mark + 60).contains(&at) {
                let mut bytes = whole.clone();
                for byte in bytes.iter_mut().skip(at).take(1 + at % 9) {
                    *byte = if at % 2 == 0 { 0xff } else { b'9' };
                }
                let _ = tried(&bytes);
            }
            if at % 307 == 0 {
                let _ = tried(&whole[..at]);
            }
        }
    }
    // A block of 12 TB: the bytes for it are not there.
    let text = String::from_utf8(fs::read(foreign("inline_plain.vtp")).unwrap()).unwrap();
    let count = text.replace("NumberOfPoints=\"300\"", "NumberOfPoints=\"1000000000000\"");
    let error = tried(count.as_bytes()).unwrap_err().to_string();
    assert!(error.contains("1000000000000 particles"), "{error}");
    let count = text.replace("NumberOfPoints=\"300\"", "NumberOfPoints=\"100000000\"");
    let error = tried(count.as_bytes()).unwrap_err().to_string();
    assert!(
        error.contains("`Points`: it holds 3600 bytes where 1200000000 are needed"),
        "{error}"
    );
    // A consistent header: 3.6 GB in one compressed block of three bytes.
    let header: Vec<u8> = [1u32, 1_200_000_000, 0, 3]
        .iter()
        .flat_map(|n| n.to_le_bytes())
        .collect();
    let crafted = [
        b"<VTKFile type='PolyData' compressor='vtkZLibDataCompressor'><Piece NumberOfPoints='100000000'><Points>",
        &b"<DataArray type='Float32' NumberOfComponents='3' format='appended' offset='0'/></Points></Piece>"[..],
        b"<AppendedData encoding='raw'>_",
        &header,
        &[1, 2, 3],
    ]
    .concat();
    let error = tried(&crafted).unwrap_err().to_string();
    assert!(error.contains("3 bytes cannot hold 1200000000"), "{error}");
}

#[test]
fn what_cannot_be_read_is_reported_with_its_place() {
    let dir = tempfile::tempdir().unwrap();
    let cases = [
        ("a.csv", "x,y,z\n1,2,oops\n", "line 2, column `z`: `oops` is no number"),
        ("b.csv", "x,y\n1,2\n", "no columns x, y and z"),
        (
            "c.csv",
            "x,y,z,Radius\n1,2,3,0.1\n\n1,2,3,-0.02\n",
            "line 4, column `Radius`: -0.02 is not a radius",
        ),
        ("d.vtp", "hello", "no VTK XML file"),
        ("e.txt", "1 2 3", "end with vtp, ply, csv"),
        (
            "f.csv",
            "x,y,z,radius\n1,2,3,O.1\n",
            "line 2, column `radius`: `O.1` is no number",
        ),
        (
            "g.csv",
            "x,y,z,id\n1,2,3,7\n1,2,4,8\n1,2,5,7\n",
            "line 4: the id 7 is that of line 2",
        ),
        (
            "h.csv",
            "x,y,z,id\n1,2,3,1.5\n",
            "line 2, column `id`: 1.5 is not an id",
        ),
        ("i.csv", "x,y,z\n1,2,1e300\n", "line 2, column `z`: 1"),
        (
            "j.csv",
            "x,y,z\n1,2,nan\n",
            "line 2, column `z`: NaN is not a coordinate",
        ),
        (
            "k.csv",
            "x,y,z,vx,vy,vz\n1,2,3,0,inf,0\n",
            "line 2, column `vy`: inf is not a velocity",
        ),
        ("l.csv", "x,y,z\n1,2,3\n1,2\n", "line 3 has 2 cells, the header has 3"),
        (
            "m.ply",
            "ply\nformat ascii 1.0\nelement vertex 2\nproperty float x\nproperty float y\nproperty float z\n\
             property float radius\nend_header\n0 0 0 1\n0 0 0 0\n",
            "particle 2, column `radius`: 0 is not a radius",
        ),
        (
            "n.vtp",
            "<VTKFile type=\"PolyData\"><Piece NumberOfPoints=\"1\"><Points><DataArray type=\"Float32\" \
             NumberOfComponents=\"3\" format=\"ascii\">1 2 x</DataArray></Points></Piece></VTKFile>",
            "array `Points`: `x` is no number",
        ),
    ];
    for (name, text, reason) in cases {
        let path = dir.path().join(name);
        fs::write(&path, text).unwrap();
        let error = read_points(&path).unwrap_err().to_string();
        assert!(error.contains(reason) && error.contains(name), "{name}: {error}");
    }
    // Text in a column that is not read is allowed.
    let path = dir.path().join("words.csv");
    fs::write(&path, "x,y,z,name\n1,2,3,ball\n").unwrap();
    assert_eq!(read_points(&path).unwrap().positions.len(), 1);
}
