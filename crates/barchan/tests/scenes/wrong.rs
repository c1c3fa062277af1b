use barchan::scene::{Document, Place, Severity, parse_scene};

/// A valid scene of seven lines, to which an invalid part is added.
pub const GOOD: &str = "\
duration = 1
[materials.sand]
density = 1600
[[fill]]
material = \"sand\"
radius = 0.1
shape = { sphere = { radius = 1 } }
";

/// For each error in order: position, message, and a part of the help.
type Expected = &'static [(&'static str, &'static str, &'static str)];

/// Additions to the valid scene from line 8 on, and their errors.
#[rustfmt::skip]
pub const ADDED: &[(&str, Expected)] = &[
    ("radius = 1", &[("8:1", "duplicate key", "")]),
    ("packing = \"tight\"", &[("8:11", "unknown packing `tight`", "allowed: dense, random, lattice")]),
    ("packing = \"desne\"", &[("8:11", "unknown packing `desne`", "did you mean `dense`?")]),
    ("[periodic]\nx = [0, 0.5]\ny = [0, 0.6]", &[("9:5", "a periodic range must be at least 5.200e-1 m long, 5.2 radii of the largest guide with pbd, got 5.000e-1 m", "widen it")]),
    ("[periodic]\nx = [0, 0.7]\n[solver]\nkind = \"sph\"",
        &[("9:5", "a periodic range must be at least 1.000e0 m long, 10 radii of the largest guide with sph, got 7.000e-1 m", "widen it")]),
    ("[periodic]\nx = [0, 0.39]\ny = [0, 0.41]\n[solver]\nkind = \"dem\"",
        &[("9:5", "a periodic range must be at least 4.000e-1 m long, 4 radii of the largest guide with dem, got 3.900e-1 m", "widen it")]),
    ("packing = 3", &[("8:11", "packing must be a string, got `3`", "")]),
    ("settle = -1", &[("8:10", "settle must be 0 to 1e7, got `-1`", "")]),
    ("velocity = [1, 2]", &[("8:12", "velocity must be a list of 3 numbers, got a list of 2", "")]),
    ("clump = \"tetraeder\"", &[("8:9", "there is no clump `tetraeder`", "tetrahedron")]),
    ("from = \"points.ply\"", &[("8:8", "`shape` and `from` exclude each other", "remove")]),
    ("colour = 1", &[("8:1", "unknown key `colour` in fill", "allowed: clump, fixed, from")]),
    ("[[fill]]\nmaterial = \"snad\"\nradius = 0.1\nshape = { sphere = { radius = 1 }, at = [9, 0, 0] }",
        &[("9:12", "there is no material `snad`", "did you mean `sand`?")]),
    ("[[fill]]\nmaterial = \"sand\"\nshape = { sphere = { radius = 1 }, at = [9, 0, 0] }",
        &[("8:1", "fill must have the key `radius`", "add `radius = ...`")]),
    ("[[fill]]\nmaterial = \"sand\"\nradius = 0.1",
        &[("8:1", "fill must have the key `shape` or `from`", "")]),
    ("[[fill]]\nmaterial = \"sand\"\nradius = 0.1\nshape = { half_space = { normal = [0, 0, 1] } }",
        &[("11:9", "a shape for guides must have an end", "intersect")]),
    ("[[fill]]\nmaterial = \"sand\"\nradius = 2\nshape = { sphere = { radius = 1 }, at = [9, 0, 0] }",
        &[("11:9", "no guide of radius 2 m fits into this shape", "larger")]),
    ("[[fill]]\nmaterial = \"sand\"\nradius = { min = 0.2, max = 0.1 }\nshape = { sphere = { radius = 1 }, at = [9, 0, 0] }",
        &[("10:10", "the smallest radius (0.2 m) exceeds the largest (0.1 m)", "")]),
    ("[[fill]]\nmaterial = \"sand\"\nradius = { min = 0.2 }\nshape = { sphere = { radius = 1 }, at = [9, 0, 0] }",
        &[("10:10", "radius must have `min` and `max`, or `list`", "")]),
    ("[[fill]]\nmaterial = \"sand\"\nradius = { list = [0.1, 0.2], weights = [1] }\nshape = { sphere = { radius = 1 }, at = [9, 0, 0] }",
        &[("10:41", "there must be a weight for each radius, got 1 for 2", "")]),
    ("[[fill]]\nmaterial = \"sand\"\nradius = 0.1\nfrom = \"no such file.xyz\"",
        &[("11:8", "cannot read no such file.xyz: ...", "")]),
    ("[[fill]]\nmaterial = \"sand\"\nradius = 0.1\nfrom = \"points.abc\"",
        &[("11:8", "points are read from files that end with ply, csv, xyz", "")]),
    ("[[fill]]\nmaterial = \"sand\"\nradius = 0.1\nshape = { sphere = { radius = 1 }, at = [1, 0, 0] }\n[x]",
        &[("11:9", "fill 1 overlaps fill 0: guides there lie in each other", "subtract"),
          ("12:2", "unknown key `x` in the scene", "allowed: body, camera")]),
    ("[[emitter]]\nmaterial = \"sand\"\nradius = 0.1\nshape = { sphere = { radius = 0.05 } }\nrate = 1",
        &[("11:9", "no guide of radius 0.1 m fits into this shape", "")]),
    ("[[emitter]]\nmaterial = \"sand\"\nradius = 0.1\nshape = { sphere = { radius = 1 } }\nrate = 0",
        &[("12:8", "rate must be 1e-12 to 1e9, got `0`", "")]),
    ("[[emitter]]\nmaterial = \"sand\"\nradius = 0.1\nshape = { sphere = { radius = 1 } }\nrate = 1\nstart = 0.5\nend = 0.5",
        &[("14:7", "an emitter must end after it starts, at 0.5 s, got 0.5", "")]),
    ("[[emitter]]", &[
        ("8:1", "emitter must have the key `material`", "the name of a material"),
        ("8:1", "emitter must have the key `radius`", ""),
        ("8:1", "emitter must have the key `shape`", ""),
        ("8:1", "emitter must have the key `rate`", "how much [kg/s]")]),
    ("[emitter]\nrate = 1", &[("8:1", "emitter must be a list, got a table", "write `[[emitter]]`")]),
    ("[[sink]]", &[("8:1", "sink must have the key `shape`", "")]),
    ("[[body]]\nname = \"a\"\nshape = { spher = 1 }", &[("10:11", "unknown shape `spher`", "did you mean `sphere`?")]),
    ("[[body]]\nname = \"a\"\nmotion = \"fix\"\nshape = { sphere = { radius = 1 } }",
        &[("10:10", "unknown motion `fix`", "allowed: fixed, scripted, driven, dynamic")]),
    ("[[body]]\nname = \"a\"\nshape = { sphere = { radius = 1 } }\n[[body]]\nname = \"a\"\nshape = { sphere = { radius = 1 } }",
        &[("12:8", "there is a body `a` before", "must differ")]),
    ("[[body]]\nname = \"a\"\nmotion = \"dynamic\"\nshape = { half_space = { normal = [0, 0, 1] } }",
        &[("8:1", "a dynamic body must have the key `density` or `mass`", ""), ("11:9", "a dynamic body must have an end", "")]),
    ("[[body]]\nname = \"a\"\nmotion = \"scripted\"\nshape = { sphere = { radius = 1 } }",
        &[("8:1", "a scripted body must have at least one key", "keys = [")]),
    ("[[body]]\nname = \"a\"\nshape = { sphere = { radius = 1 } }\nkeys = [{ time = 0 }]",
        &[("11:8", "a fixed body has no keys", "set motion")]),
    ("[[body]]\nname = \"a\"\nmotion = \"scripted\"\nshape = { sphere = { radius = 1 } }\nkeys = [{ time = 1 }, { time = 0 }]",
        &[("12:32", "keys must be in the order of their times, got 0 after 1", "")]),
    ("[[body]]\nname = \"a\"\nmotion = \"scripted\"\nshape = { sphere = { radius = 1 } }\nkeys = [{ at = [0, 0, 0], ease = \"slow\" }]",
        &[("12:9", "key must have the key `time`", "when [s]"), ("12:34", "unknown ease `slow`", "allowed: linear, smooth, spline")]),
    ("[[body]]\nname = \"a\"\nmotion = \"scripted\"\nparent = \"b\"\nshape = { sphere = { radius = 1 } }\nkeys = [{ time = 0 }]",
        &[("11:10", "there is no body `b`", "allowed: a")]),
    ("[[body]]\nname = \"a\"\nparent = \"a\"\nshape = { sphere = { radius = 1 } }",
        &[("10:10", "only a scripted body has a parent", "set motion"),
          ("10:10", "a body cannot be its own ancestor: a in a", "")]),
    ("[[body]]\nname = \"a\"\nmotion = \"scripted\"\nparent = \"b\"\nshape = { sphere = { radius = 1 } }\nkeys = [{ time = 0 }]\n[[body]]\nname = \"b\"\nmotion = \"scripted\"\nparent = \"a\"\nshape = { sphere = { radius = 1 } }\nkeys = [{ time = 0 }]",
        &[("11:10", "a body cannot be its own ancestor: a in b in a", "")]),
    ("[[body]]\nname = \"a\"\nfrom = 2\nuntil = 1\nshape = { sphere = { radius = 1 } }",
        &[("11:9", "a body must be gone after it comes, at 2 s, got 1", "")]),
    ("[[body]]\nname = \"a\"\nfriction = { static = 0.2, kinetic = 0.3 }\nshape = { sphere = { radius = 1 } }",
        &[("10:38", "kinetic friction must not exceed static friction, got 0.3 and 0.2", "")]),
    ("[[body]]\nname = \"a\"\nfriction = \"rough\"\nshape = { intersect = [{ sphere = { radius = 1 } }, { sphere = { radius = 1 }, at = [5, 0, 0] }] }",
        &[("10:12", "friction must be a number or a table, got `\"rough\"`, a string", ""),
          ("11:9", "the shape of a body must not be empty", ""),
          ("11:23", "these shapes have nothing in common: nothing is inside", "")]),
    ("[[joint]]\nbodies = [\"a\"]\nkind = \"weld\"",
        &[("9:10", "bodies must be a list of two, got a list of 1", ""), ("10:8", "unknown kind `weld`", "allowed: hinge, slider, ball, rope, fixed")]),
    ("[[joint]]\nbodies = [\"a\", \"b\"]\nkind = \"ball\"\nat = [0, 0, 0]",
        &[("9:11", "there is no body `a`", "there is no body at all"), ("9:16", "there is no body `b`", "")]),
    ("[[joint]]\nbodies = [\"a\", \"b\"]\nkind = \"hinge\"\nat = [0, 0, 0]", &[("8:1", "a hinge must have the key `axis`", "")]),
    ("[[joint]]\nbodies = [\"a\", \"b\"]\nkind = \"slider\"\nat = [0, 0, 0]", &[("8:1", "a slider must have the key `axis`", "")]),
    ("[[body]]\nname = \"a\"\nmotion = \"dynamic\"\nmass = 1\ndensity = 1\ninertia = [1, 1, 3]\nshape = { sphere = { radius = 1 } }",
        &[("12:11", "`density` and `mass` exclude each other", "remove"), ("13:11", "no moment of inertia exceeds the sum of the other two, got [1, 1, 3]", "")]),
    ("[[body]]\nname = \"a\"\nshape = { sphere = { radius = 1 } }\n[[body]]\nname = \"b\"\nmotion = \"dynamic\"\nmass = 1\nshape = { sphere = { radius = 1 } }\n[[joint]]\nbodies = [\"a\", \"b\"]\nkind = \"hinge\"\naxis = [0, 0, 1]\nat = [0, 0, 0]\nlimits = [-200, 200]\nmotor = { position = 1, max_force = 2 }\n[[joint]]\nbodies = [\"a\", \"b\"]\nkind = \"slider\"\naxis = [0, 0, 1]\nat = [0, 0, 0]\nlimits = [0.1, 0.2]\nmotor = {}",
        &[("21:10", "the limits of a hinge must be less than 360 degrees apart", "leave them out"), ("22:22", "the motor of this joint has no `position`", "use `angle`"), ("22:37", "the motor of this joint has no `max_force`", "use `max_torque`"),
          ("28:10", "a joint must start within its limits: zero is where it is at time 0", ""), ("29:9", "motor must have the key `speed` or `position`", "")]),
    ("[[control]]\nlever = \"boom\"\nspeed = 1", &[("8:1", "control must have the key `body` or `joint`", "add `body")]),
    ("[[joint]]\nbodies = [\"a\", \"b\"]\nkind = \"ball\"", &[("8:1", "joint must have the key `at` or `anchors`", "")]),
    ("[[joint]]\nbodies = [\"a\", \"b\"]\nkind = \"ball\"\nat = [0, 0, 0]\nanchors = [[0, 0, 0], [0, 0, 0]]\n[[body]]\nname = \"a\"\nshape = { sphere = { radius = 1 } }",
        &[("9:16", "there is no body `b`", "allowed: a"), ("12:11", "`at` and `anchors` exclude each other", "")]),
    ("[[body]]\nname = \"a\"\nshape = { sphere = { radius = 1 } }\n[[control]]\nlever = \"boom\"\nbody = \"a\"\nturn = [0, 0, 1]\nspeed = 1",
        &[("13:8", "only a scripted body has a lever", "motion = \"scripted\"")]),
    ("[[body]]\nname = \"a\"\nshape = { sphere = { radius = 1 } }\nmotion = \"scripted\"\nkeys = [{ time = 0 }]\n[[control]]\nlever = \"bom\"\nbody = \"a\"\nturn = [0, 0, 1]\nspeed = 1",
        &[("14:9", "unknown lever `bom`", "did you mean `boom`?")]),
    ("[[body]]\nname = \"a\"\nshape = { sphere = { radius = 1 } }\nmotion = \"scripted\"\nkeys = [{ time = 0 }]\n[[control]]\nlever = \"boom\"\nbody = \"a\"\nspeed = 1",
        &[("13:1", "control must have the key `turn` or `move`", "add `turn")]),
    ("[[body]]\nname = \"a\"\nshape = { sphere = { radius = 1 } }\nmotion = \"scripted\"\nkeys = [{ time = 0 }]\n[[control]]\nlever = \"boom\"\nbody = \"a\"\nmove = [0, 0, 1]\nrange = [0, 1]\nspeed = 1",
        &[("17:9", "`move` and `range` exclude each other", "remove")]),
    ("[[body]]\nname = \"a\"\nshape = { sphere = { radius = 1 } }\nmotion = \"scripted\"\nkeys = [{ time = 0 }]\n[[control]]\nlever = \"boom\"\nbody = \"a\"\nmove = [0, 0, 1]\nspeed = 1\n[[control]]\nlever = \"boom\"\nbody = \"a\"\nturn = [0, 0, 1]\nspeed = 1",
        &[("19:9", "there is a lever `boom` before", "")]),
    ("[[camera]]\nposition = [0, 0, 1]\ntarget = [0, 0, 1]", &[("10:10", "a camera cannot look at where it is, [0, 0, 1]", "")]),
    ("[[camera]]\nposition = [0, 0, 1]\ntarget = [0, 0, 0]\nfov = 180", &[("11:7", "fov must be 1 to 170, got `180`", "")]),
    ("[[camera]]\nposition = [0, 0, 1]\ntarget = [0, 0, 0]\nkeys = [{ time = 1 }, { time = 1, fov = 0 }]",
        &[("11:32", "keys must be in the order of their times, got 1 after 1", ""), ("11:41", "fov must be 1 to 170, got `0`", "")]),
    ("[[camera]]\nposition = [0, 0, 1]\ntarget = [0, 0, 0]\n[[camera]]\nposition = [0, 0, 1]\ntarget = [0, 0, 0]",
        &[("11:1", "there is a camera `main` before", "")]),
    ("[materials.gravel]\ndensity = 1\ncolor = \"grey\"", &[("10:9", "color must be a color such as \"#c2a06b\" or \"#a33\", got `\"grey\"`, a string", "")]),
    ("[materials.gravel]\ndensity = 1\ncolor = \"#a333\"", &[("10:9", "color must be a color such as \"#c2a06b\" or \"#a33\", got `\"#a333\"`, a string", "")]),
    ("[[body]]\nname = \"a\"\nopacity = 2\ncolor = \"#12345g\"\nshape = { sphere = { radius = 1 } }",
        &[("10:11", "opacity must be 0 to 1, got `2`", ""), ("11:9", "color must be a color such as \"#c2a06b\" or \"#a33\", got `\"#12345g\"`, a string", "")]),
    ("[[pair]]\nmaterials = [\"sand\", \"sand\"]\nfriction = 0.1", &[("9:13", "a pair must be of two materials", "itself")]),
    ("[[pair]]\nmaterials = [\"sand\", \"gravel\"]\nfriction = 0.1", &[("9:22", "there is no material `gravel`", "allowed: sand")]),
    ("[solver]\nkind = \"pdb\"", &[("9:8", "unknown kind `pdb`", "did you mean `pbd`?")]),
    ("[solver.pbd]\nsubsteps = 2.5\niterations = 0\nfriction = \"some\"", &[
        ("9:12", "substeps must be a whole number, got `2.5`", ""),
        ("10:14", "iterations must be a whole number from 1 to 1000, got `0`", ""),
        ("11:12", "unknown friction `some`", "did you mean `sommer`?")]),
    ("[[body]]\nname = \"a\"\nmotion = \"dynamic\"\ndensity = 1\nshape = { sphere = { radius = 1 } }\n[[body]]\nname = \"b\"\nshape = { sphere = { radius = 1 } }\n[[joint]]\nbodies = [\"a\", \"b\"]\nkind = \"rope\"\nat = [0, 0, 0]",
        &[("19:6", "a rope that holds both bodies at one point must have the key `length`", "`anchors`")]),
    ("[[body]]\nname = \"a\"\nrestitution = 1.5\nshape = { sphere = { radius = 1 } }", &[("10:15", "restitution must be 0 to 1, got `1.5`", "")]),
    ("[solver.pbd]\nrigid = \"soft\"", &[("9:9", "unknown rigid `soft`", "allowed: true, shape_matching")]),
    ("[solver.pbd]\nsubsteps = 4\nstep = 0.005", &[("10:8", "`substeps` and `step` exclude each other", "")]),
    ("[refine]", &[("8:1", "refine must have the key `radius`", "")]),
    ("[output]\ncache = [\"guide\"]\ncompact = 1\ngrains_every = 0", &[
        ("9:10", "unknown cache `guide`", "did you mean `guides`?"),
        ("10:11", "compact must be true or false, got `1`", ""),
        ("11:16", "grains_every must be a whole number from 1 to 1000000, got `0`", "")]),
    ("[materials.gravel]\nfriction = 0.3\nangle_of_repose = 30", &[
        ("8:1", "a material must have the key `density`", "bulk density"),
        ("10:19", "`friction` and `angle_of_repose` exclude each other", "")]),
    ("[materials.gravel]\ndensity = 1\nfriction = 0.3\nwall_friction = 0.2", &[
        ("11:17", "`friction` and `wall_friction` exclude each other", "")]),
    ("[materials.gravel]\ndensity = 1\nangle_of_repose = 95\npoisson_ratio = 0.7", &[
        ("10:19", "angle_of_repose must be 1 to 60, got `95`", ""),
        ("11:17", "poisson_ratio must be -0.99 to 0.5, got `0.7`", "")]),
];

/// Whole texts, and their errors.
#[rustfmt::skip]
pub const WHOLE: &[(&str, Expected)] = &[
    ("", &[("1:1", "the scene must have the key `duration`", "how long it runs [s]"), ("1:1", "the scene has no guides", "")]),
    ("duration = 0", &[("1:1", "the scene has no guides", ""), ("1:12", "duration must be 1e-6 to 1e7, got `0`", "")]),
    ("duration = \"1 s\"\nfill = []\nframe_rat = 30",
        &[("1:12", "duration must be a number, got `\"1 s\"`, a string", ""), ("3:1", "unknown key `frame_rat` in the scene", "did you mean `frame_rate`?")]),
    ("# sand\nduration = 1\nfill = []\nseed = -1", &[("4:8", "seed must be a whole number from 0 to 9223372036854775807, got `-1`", "")]),
    ("duration = 1\nfill = []\ngravity = 9.81", &[("3:11", "gravity must be a list of 3 numbers, got `9.81`", "")]),
    ("duration = 1\nfill = []\nperiodic = { x = [1, 0], w = [0, 1] }",
        &[("3:18", "x must be [low, high] with low below high, got [1, 0]", ""), ("3:26", "unknown key `w` in periodic", "allowed: x, y, z")]),
    ("duration = 1\nfill = 3", &[("2:8", "fill must be a list, got `3`", "write `[[fill]]`")]),
    ("duration = 1\nfill = [1]", &[("2:9", "fill must be a table, got `1`", "")]),
    ("duration = 1\nmaterials = [1]\nfill = []", &[("2:13", "materials must be a table, got a list of 1", "")]),
    ("duration = 1\n[fill", &[("2:6", "unclosed table, expected `]`", "")]),
];

/// Returns true if a message is the expected one, or begins with it up to dots (the rest comes from the system).
pub fn says(message: &str, expected: &str) -> bool {
    match expected.strip_suffix("...") {
        Some(begin) => message.starts_with(begin),
        None => message == expected,
    }
}

fn check(text: &str, expected: Expected) -> Result<(), String> {
    let document = Document::new("scene", text);
    let Err(problems) = parse_scene(&document) else {
        return Err(format!("{text}\nwas accepted\n\n"));
    };
    let place = |offset: usize| match document.place(offset) {
        Place::Text { line, column } => format!("{line}:{column}"),
        Place::Override(said) => said.to_owned(),
    };
    let same = problems.items.len() == expected.len()
        && problems.items.iter().zip(expected).all(|(item, (at, message, help))| {
            place(item.span.start) == *at
                && says(&item.message, message)
                && item.help.as_deref().unwrap_or_default().contains(help)
        });
    match same && problems.items.iter().any(|item| item.severity == Severity::Error) {
        true => Ok(()),
        false => Err(format!("{text}\nexpected {expected:#?}, got\n{problems}\n\n")),
    }
}

#[test]
fn every_mistake_is_reported_with_its_place_and_what_is_allowed() {
    let added = ADDED
        .iter()
        .map(|(text, expected)| check(&format!("{GOOD}{text}"), expected));
    let whole = WHOLE.iter().map(|(text, expected)| check(text, expected));
    let failures: String = added.chain(whole).filter_map(Result::err).collect();
    assert!(failures.is_empty(), "{failures}");
    assert!(ADDED.len() + WHOLE.len() >= 60);
}
