use barchan_scene::{Document, parse_shape};

/// Text; then for each problem in order: place, message, and a part of the help.
pub type Wrong = (&'static str, &'static [(&'static str, &'static str, &'static str)]);

pub const WRONG: &[Wrong] = &[
    (
        "{ sphere = { raduis = 1 } }",
        &[
            ("1:12", "sphere must have the key `radius`", "add `radius = ...`"),
            (
                "1:14",
                "unknown key `raduis` in sphere",
                "did you mean `radius`? allowed: radius",
            ),
        ],
    ),
    (
        "{ sphere = { radius = 1, colour = 2 } }",
        &[("1:26", "unknown key `colour` in sphere", "allowed: radius")],
    ),
    (
        "{ sphere = { radius = -1 } }",
        &[("1:23", "radius must be 1e-7 to 1e9, got `-1`", "")],
    ),
    (
        "{ sphere = { radius = 0.0 } }",
        &[("1:23", "radius must be 1e-7 to 1e9, got `0.0`", "")],
    ),
    (
        "{ sphere = { radius = nan } }",
        &[("1:23", "radius must be a finite number, got `nan`", "")],
    ),
    (
        "{ sphere = { radius = 1e999 } }",
        &[("1:23", "radius must be a finite number, got `1e999`", "")],
    ),
    (
        "{ sphere = { radius = \"big\" } }",
        &[("1:23", "radius must be a number, got `\"big\"`, a string", "")],
    ),
    (
        "{ sphere = { radius = true } }",
        &[("1:23", "radius must be a number, got `true`", "")],
    ),
    (
        "{ sphere = { radius = 2020-01-01 } }",
        &[("1:23", "radius must be a number, got `2020-01-01`, a date", "")],
    ),
    ("{ sphere = 1 }", &[("1:12", "sphere must be a table, got `1`", "")]),
    (
        "{ shpere = { radius = 1 } }",
        &[(
            "1:3",
            "unknown shape `shpere`",
            "did you mean `sphere`? allowed: box, sphere",
        )],
    ),
    (
        "{ at = [0, 0, 0] }",
        &[("1:1", "there is no shape in this table", "add one of: box, sphere")],
    ),
    ("", &[("1:1", "there is no shape in this table", "")]),
    (
        "{ sphere = { radius = 1 }, box = { size = [1, 1, 1] } }",
        &[("1:1", "a shape must be one thing, here are `box` and `sphere`", "union")],
    ),
    (
        "{ sphere = { radius = 1 }, att = [0, 0, 0] }",
        &[("1:28", "unknown key `att` in a shape", "did you mean `at`?")],
    ),
    (
        "{ sphere = { radius = 1 }, smooth = 0.1 }",
        &[(
            "1:28",
            "unknown key `smooth` in a shape",
            "allowed: at, rotate, scale, sphere",
        )],
    ),
    (
        "{ sphere = { radius = 1 }, at = [0, 0] }",
        &[("1:33", "at must be a list of 3 numbers, got a list of 2", "")],
    ),
    (
        "{ sphere = { radius = 1 }, at = [0, 0, \"x\"] }",
        &[("1:40", "at must be a number, got `\"x\"`, a string", "")],
    ),
    (
        "{ sphere = { radius = 1 }, scale = [1, 0, -1] }",
        &[
            ("1:40", "scale must be 1e-9 to 1e9, got `0`", ""),
            ("1:43", "scale must be 1e-9 to 1e9, got `-1`", ""),
        ],
    ),
    (
        "{ sphere = { radius = 1 }, rotate = 90 }",
        &[("1:37", "rotate must be a list of 3 numbers, got `90`", "")],
    ),
    (
        "{ sphere = { radius = 1 }, rotate = { axis = [0, 0, 0], angel = 9 } }",
        &[
            ("1:37", "rotate must have the key `angle`", ""),
            ("1:46", "axis must not be zero", ""),
            (
                "1:57",
                "unknown key `angel` in rotate",
                "did you mean `angle`? allowed: angle, axis",
            ),
        ],
    ),
    (
        "{ box = { size = [1, 2, 3], rounding = 0.6 } }",
        &[(
            "1:40",
            "rounding must be 0 to 0.5, half of the shortest side, got 0.6",
            "",
        )],
    ),
    (
        "{ box = { size = [1, -2, 3] } }",
        &[("1:22", "size must be 1e-7 to 1e9, got `-2`", "")],
    ),
    (
        "{ box = { size = 3 } }",
        &[("1:18", "size must be a list of 3 numbers, got `3`", "")],
    ),
    (
        "{ cylinder = { } }",
        &[
            ("1:14", "cylinder must have the key `radius`", ""),
            ("1:14", "cylinder must have the key `height`", ""),
        ],
    ),
    (
        "{ capsule = { radius = 1, height = 1.5 } }",
        &[(
            "1:36",
            "height must be finite and at least 2, twice the radius, for it includes the caps, got 1.5",
            "",
        )],
    ),
    (
        "{ cone = { radius = 0, height = 1 } }",
        &[(
            "1:21",
            "radius must be finite and above zero, or zero below a wider top, got 0",
            "",
        )],
    ),
    (
        "{ frustum = { radius = 1, height = 1 } }",
        &[("1:13", "frustum must have the key `top_radius`", "")],
    ),
    (
        "{ torus = { major = 0.5, minor = 1 } }",
        &[(
            "1:34",
            "minor must be above zero and below major, 0.5, or the ring would overlap itself, got 1",
            "",
        )],
    ),
    (
        "{ half_space = { normal = [0, 0, 0] } }",
        &[("1:27", "normal must not be zero", "")],
    ),
    (
        "{ revolve = [[0, 0], [1, 0]] }",
        &[("1:13", "profile must have at least 3 different points, got 2", "")],
    ),
    (
        "{ revolve = [[1, 0], [1, 1], [1, 2]] }",
        &[("1:13", "profile must enclose an area, its points lie on one line", "")],
    ),
    (
        "{ revolve = { profile = [[1, 0], [2, 1], [2, 0], [1, 1]] } }",
        &[(
            "1:25",
            "profile must not cross or touch itself, edges 0 and 2 do (edge 0 leaves the first point)",
            "",
        )],
    ),
    (
        "{ revolve = [[0, 0], [-1, 0], [1, 2, 3]] }",
        &[
            (
                "1:22",
                "a point of the profile must have r zero or above, got r = -1",
                "",
            ),
            (
                "1:31",
                "a point of the profile must be a list of 2 numbers, got a list of 3",
                "",
            ),
        ],
    ),
    (
        "{ heightmap = { file = \"none.png\", size = [1, 1], height = 1, thickness = 1 } }",
        &[("1:24", "cannot open none.png: ...", "")],
    ),
    (
        "{ heightmap = { file = 3, size = [1], height = -1 } }",
        &[
            ("1:15", "heightmap must have the key `thickness`", ""),
            ("1:24", "file must be a string, got `3`", ""),
            ("1:34", "size must be a list of two, got a list of 1", ""),
            ("1:48", "height must be 1e-7 to 1e9, got `-1`", ""),
        ],
    ),
    ("{ mesh = 3 }", &[("1:10", "mesh must be a string, got `3`", "")]),
    (
        "{ mesh = { path = \"a.stl\" } }",
        &[
            ("1:10", "mesh must have the key `file`", ""),
            ("1:12", "unknown key `path` in mesh", "allowed: file"),
        ],
    ),
    ("{ union = [] }", &[("1:11", "union must have at least one shape", "")]),
    (
        "{ union = { sphere = { radius = 1 } } }",
        &[("1:11", "union must be a list, got a table", "")],
    ),
    (
        "{ union = [{ sphere = { radius = 1 } }], smooth = -1 }",
        &[("1:51", "smooth must be 0 to 1e9, got `-1`", "")],
    ),
    (
        "{ union = [{ sphere = { radius = -1 } }, { bxo = 1 }, 7], at = 1 }",
        &[
            ("1:34", "radius must be 1e-7 to 1e9, got `-1`", ""),
            ("1:44", "unknown shape `bxo`", "did you mean `box`?"),
            ("1:55", "a shape must be a table, got `7`", ""),
            ("1:64", "at must be a list of 3 numbers, got `1`", ""),
        ],
    ),
    (
        "# ball\nsphere = { radius = 1 }\n\n  at = [0,\n    true, 0]\n",
        &[("5:5", "at must be a number, got `true`", "")],
    ),
    (
        "shape = { sphere = { radius = 1 } }\nnamed = 1\n",
        &[("2:1", "unknown key `named` in the document", "allowed: shape")],
    ),
    (
        "{ sphere = { radius = 1 }",
        &[("1:26", "unclosed inline table, expected `}`", "")],
    ),
    (
        "{ sphere = { radius = 1 } }\n# moved\nat = [1, 2, 3]",
        &[("3:1", "nothing may follow the closing brace", "")],
    ),
    (
        "# bäll\n { sphere = { radius = -1 } }",
        &[("2:24", "radius must be 1e-7 to 1e9, got `-1`", "")],
    ),
    (
        "sphere = { radius = }",
        &[("1:21", "invalid literal string, expected `'`", "")],
    ),
    (
        "sphere = { radius = 1 }\nsphere = { radius = 2 }",
        &[("2:1", "duplicate key", "")],
    ),
    ("[1, 2]", &[("1:3", "unclosed table, expected `]`", "")]),
];

/// Returns true if a message is the expected one, or begins with it up to dots (the operating system's text follows).
fn says(message: &str, expected: &str) -> bool {
    match expected.strip_suffix("...") {
        Some(begin) => message.starts_with(begin),
        None => message == expected,
    }
}

#[test]
fn every_mistake_is_reported_with_its_place_and_what_is_allowed() {
    let mut failures = String::new();
    for (text, expected) in WRONG {
        let document = Document::new("shape", *text);
        let Err(problems) = parse_shape(&document) else {
            failures += &format!("{text}\nwas accepted\n\n");
            continue;
        };
        let places = problems.items.iter().map(|item| {
            let (line, column) = document.line_and_column(item.span.start);
            (format!("{line}:{column}"), item)
        });
        let same = problems.items.len() == expected.len()
            && places.zip(*expected).all(|((place, item), (at, message, help))| {
                place == *at && says(&item.message, message) && item.help.as_deref().unwrap_or_default().contains(help)
            });
        if !same {
            failures += &format!("{text}\nexpected {expected:#?}, got\n{problems}\n\n");
        }
    }
    assert!(failures.is_empty(), "{failures}");
}

#[test]
fn a_report_names_the_file_and_marks_the_text() {
    let problems = parse_shape(&Document::new("shape", "{ sphere = { raduis = 1 } }")).unwrap_err();
    let expected = "\
error: unknown key `raduis` in sphere
  --> shape:1:14
  |
1 | { sphere = { raduis = 1 } }
  |              ^^^^^^
  = help: did you mean `radius`? allowed: radius";
    assert!(problems.to_string().ends_with(expected), "{problems}");
}
