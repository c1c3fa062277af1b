use std::path::Path;

use barchan_scene::shapes::SHAPES;
use barchan_scene::{Document, ParsedShape, parse_shape, shape_help};
use glam::DVec3;

fn parse(text: &str) -> ParsedShape {
    parse_shape(&Document::new("shape", text)).unwrap_or_else(|problems| panic!("{problems}"))
}

pub fn distance(text: &str, p: [f64; 3]) -> f64 {
    parse(text).shape.distance(DVec3::from(p))
}

/// Text, point [m], signed distance [m].
pub const RIGHT: &[(&str, [f64; 3], f64)] = &[
    ("{ box = { size = [2, 4, 6] } }", [2.0, 0.0, 0.0], 1.0),
    ("{ box = { size = [2, 4, 6], rounding = 1 } }", [1.0, 0.0, 0.0], 0.0),
    ("{ box = { size = [2, 2, 2], rounding = 1.0 } }", [0.0, 3.0, 4.0], 4.0),
    ("{ sphere = { radius = 1.0 } }", [0.0, 3.0, 4.0], 4.0),
    ("{ sphere = { radius = 0x10 } }", [0.0, 0.0, 0.0], -16.0),
    ("{ sphere = { radius = 1_0.5e-1 } }", [0.0, 0.0, 0.0], -1.05),
    ("{ ellipsoid = { radii = [1, 2, 3] } }", [0.0, 0.0, 5.0], 2.0),
    ("{ cylinder = { radius = 1, height = 4 } }", [4.0, 0.0, 6.0], 5.0),
    ("{ capsule = { radius = 1, height = 4 } }", [0.0, 0.0, 3.0], 1.0),
    ("{ cone = { radius = 1, height = 2 } }", [0.0, 0.0, 2.0], 1.0),
    (
        "{ cone = { radius = 1, height = 2, top_radius = 1 } }",
        [2.0, 0.0, 0.0],
        1.0,
    ),
    (
        "{ frustum = { radius = 2, height = 2, top_radius = 1 } }",
        [0.0, 0.5, 3.0],
        2.0,
    ),
    ("{ torus = { major = 2, minor = 0.5 } }", [0.0, 0.0, 0.0], 1.5),
    (
        "{ half_space = { normal = [0, 0, 2], offset = 1 } }",
        [5.0, 5.0, 3.0],
        2.0,
    ),
    ("{ half-space = { normal = [0, 0, 1] } }", [5.0, 5.0, 3.0], 3.0),
    ("{ revolve = [[0, 0], [1, 0], [1, 2], [0, 2]] }", [3.0, 0.0, 1.0], 2.0),
    (
        "{ revolve = { profile = [[1, 0], [2, 0], [2, 1], [1, 1], [1, 0]] } }",
        [0.0, 0.0, 0.5],
        1.0,
    ),
    (
        "{ union = [{ sphere = { radius = 1 } }, { sphere = { radius = 1 }, at = [5, 0, 0] }] }",
        [8.0, 0.0, 0.0],
        2.0,
    ),
    (
        "{ subtract = [{ sphere = { radius = 2 } }, { sphere = { radius = 1 } }] }",
        [0.0, 0.0, 0.0],
        1.0,
    ),
    (
        "{ intersect = [{ sphere = { radius = 2 } }, { half_space = { normal = [1, 0, 0] } }] }",
        [1.0, 0.0, 0.0],
        1.0,
    ),
    (
        "{ union = [{ half_space = { normal = [1, 0, 0] } }, { half_space = { normal = [0, 1, 0] } }], smooth = 1 }",
        [0.4, 0.2, 0.0],
        0.0,
    ),
    ("{ sphere = { radius = 1 }, at = [10, 0, 0] }", [12.0, 0.0, 0.0], 1.0),
    ("{ sphere = { radius = 1 }, scale = 3 }", [5.0, 0.0, 0.0], 2.0),
    (
        "{ box = { size = [2, 2, 2] }, scale = [1, 1, 5], at = [0, 0, 1] }",
        [0.0, 0.0, 6.0],
        0.0,
    ),
    (
        "{ box = { size = [2, 4, 6] }, rotate = [0, 90, 0] }",
        [4.0, 0.0, 0.0],
        1.0,
    ),
    // x first, which takes the long side from z to y, then z, which takes it to x.
    (
        "{ box = { size = [2, 4, 6] }, rotate = [90, 0, 90] }",
        [4.0, 0.0, 0.0],
        1.0,
    ),
    (
        "{ box = { size = [2, 4, 6] }, rotate = { axis = [0, 0, 3], angle = 90 } }",
        [3.0, 0.0, 0.0],
        1.0,
    ),
    // Scaled in its own frame, then turned, then moved.
    (
        "{ box = { size = [2, 2, 2] }, scale = [3, 1, 1], rotate = [0, 0, 90], at = [0, 1, 0] }",
        [0.0, 4.0, 0.0],
        0.0,
    ),
    ("  \n { sphere = { radius = 1.0 } } \n", [2.0, 0.0, 0.0], 1.0),
    (
        "# a ball\n{ sphere = { radius = 1.0 } } # the end\n",
        [2.0, 0.0, 0.0],
        1.0,
    ),
    (
        "{\n  sphere = {\n    radius = 1.0, # [m]\n  },\n}",
        [2.0, 0.0, 0.0],
        1.0,
    ),
    ("shape = { sphere = { radius = 1.0 } }", [2.0, 0.0, 0.0], 1.0),
    ("sphere = { radius = 1.0 }\nat = [1, 0, 0]", [3.0, 0.0, 0.0], 1.0),
    ("sphere.radius = 1.0", [2.0, 0.0, 0.0], 1.0),
    ("[shape.sphere]\nradius = 1.0", [2.0, 0.0, 0.0], 1.0),
    (
        "[[union]]\nsphere.radius = 1.0\n[[union]]\nsphere.radius = 2.0",
        [3.0, 0.0, 0.0],
        1.0,
    ),
];

#[test]
fn every_notation_means_the_solid_it_says() {
    for (text, p, expected) in RIGHT {
        let found = distance(text, *p);
        assert!(
            (found - expected).abs() < 1e-12,
            "{text}\nat {p:?}: {found}, not {expected}"
        );
        assert!(parse(text).warnings.is_empty(), "{text}");
    }
}

#[test]
fn every_shape_without_a_file_is_among_the_tested_ones() {
    for entry in SHAPES
        .iter()
        .filter(|entry| !["mesh", "heightmap"].contains(&entry.name))
    {
        assert!(
            RIGHT.iter().any(|case| case.0.contains(&format!("{} =", entry.name))),
            "{}",
            entry.name
        );
        assert!(shape_help().contains(&format!("{:10} = {}\n", entry.name, entry.help)));
    }
}

#[test]
fn settings_without_effect_and_empty_solids_are_warned_of() {
    let lonely = parse("{ union = [{ sphere = { radius = 1 } }], smooth = 0.1 }");
    assert_eq!(lonely.warnings[0].message, "smooth has no effect on union of one shape");
    let apart = parse("{ intersect = [{ sphere = { radius = 1 } }, { sphere = { radius = 1 }, at = [5, 0, 0] }] }");
    assert_eq!(
        apart.warnings[0].message,
        "these shapes have nothing in common: nothing is inside"
    );
}

#[test]
fn images_are_found_beside_the_file_that_names_them() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("maps")).unwrap();
    let image = std::fs::File::create(folder.path().join("maps/flat.png")).unwrap();
    let mut encoder = png::Encoder::new(image, 2, 2);
    encoder.set_color(png::ColorType::Grayscale);
    encoder.write_header().unwrap().write_image_data(&[255; 4]).unwrap();
    let file = folder.path().join("ground.toml");
    let text = "heightmap = { file = \"maps/flat.png\", size = [4, 4], height = 1, thickness = 2 }";
    std::fs::write(&file, text).unwrap();

    let document = Document::read(&file).unwrap();
    let ground = parse_shape(&document)
        .unwrap_or_else(|problems| panic!("{problems}"))
        .shape;
    assert!((ground.distance(DVec3::new(0.0, 0.0, 4.0)) - 3.0).abs() < 1e-12);
    assert!((ground.distance(DVec3::new(0.0, 0.0, -0.5)) + 1.5).abs() < 1e-12);
    assert!(Document::read(Path::new("no such file")).is_err());
}
