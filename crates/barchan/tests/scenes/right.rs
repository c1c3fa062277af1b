use std::fs;

use barchan::SOLVERS;
use barchan::geometry::sample::Packing;
use barchan::scene::{
    Document, FillSource, JointPlace, JointType, Lever, Movement, SCENE, Scene, built_in, parse_scene, schema,
};
use barchan::world::Motion;
use glam::DVec3;

use crate::wrong::GOOD;

fn parse(text: &str) -> (Scene, Vec<String>) {
    let (scene, warnings) = parse_scene(&Document::new("scene", text)).unwrap_or_else(|problems| panic!("{problems}"));
    // These scenes need no ground.
    let meant = warnings
        .into_iter()
        .map(|warning| warning.message)
        .filter(|message| !message.contains("fall for ever"));
    (scene, meant.collect())
}

#[test]
fn what_was_not_said_has_the_defaults() {
    let (scene, warnings) = parse(GOOD);
    assert!(warnings.is_empty(), "{warnings:?}");
    assert_eq!((scene.name.as_str(), scene.frame_rate, scene.seed), ("scene", 60.0, 1));
    assert_eq!(
        (scene.solver.name, &scene.solver_settings),
        ("pbd", &SOLVERS[0].defaults())
    );
    assert_eq!(scene.gravity, DVec3::new(0.0, 0.0, -9.81));
    let sand = &scene.materials.all[0];
    assert_eq!((sand.name.as_str(), sand.particle_density), ("sand", 1600.0 / 0.6));
    assert_eq!((sand.friction.r#static, sand.friction.kinetic), (0.35, 0.30));
    assert!(matches!(
        &scene.fills[0].source,
        FillSource::Shape {
            packing: Packing::Dense,
            ..
        }
    ));
    assert_eq!((scene.settle(), scene.frames()), (0.0, 60));
    assert!(scene.output.guides && scene.output.grains && scene.output.bodies && !scene.output.compact);
}

/// Additions to a valid scene, and their warnings.
#[rustfmt::skip]
const WARNED: &[(&str, &[&str])] = &[
    ("clump = \"cube\"", &["pbd has no clumps: each cube is replaced by the sphere of equal volume"]),
    ("[[fill]]\nmaterial = \"wet\"\nradius = 0.1\nshape = { sphere = { radius = 1 }, at = [3, 0, 0] }\n[materials.wet]\ndensity = 1000\ncohesion = 1\nrestitution = 0.5",
        &["`cohesion` has no effect with pbd", "`restitution` has no effect with pbd"]),
    ("[materials.other]\ndensity = 1000\ngrain_density = 2000", &["no fill or emitter is of material `other`", "`grain_density` has no effect with pbd"]),
    ("[materials.other]\ndensity = 1000\ngrain_density = 2000\nsurface_tension = 0.1\n[solver]\nkind = \"dem\"",
        &["no fill or emitter is of material `other`", "`surface_tension` has no effect without `liquid`"]),
    ("[materials.other]\ndensity = 1000\nliquid = 0.01\nsurface_tension = 0.1\n[solver]\nkind = \"dem\"", &["no fill or emitter is of material `other`"]),
    ("[clumps.nut]\nspheres = [{ radius = 1 }, { at = [1, 0, 0], radius = 1 }]", &["no fill is of clump `nut`"]),
    ("[[body]]\nname = \"a\"\ndensity = 3000\nrestitution = 0.5\nshape = { sphere = { radius = 1 }, at = [0, 0, -3] }",
        &["`density` has no effect on a fixed body", "`restitution` has no effect: no body is dynamic"]),
    ("[[body]]\nname = \"a\"\nmotion = \"scripted\"\nshape = { sphere = { radius = 1 }, at = [9, 0, 0] }\nkeys = [{ time = 0, rotate = [90, 0, 0] }, { time = 1, rotate = { axis = [0, 1, 0], angle = 400 } }]",
        &["the body takes the shortest way to this turn, 96.7 degrees: the key before it turns about another axis"]),
    ("[[body]]\nname = \"a\"\nmotion = \"scripted\"\nshape = { sphere = { radius = 1 }, at = [9, 0, 0] }\nkeys = [{ time = 0 }, { time = 1, rotate = { axis = [0, 1, 0], angle = 400 } }, { time = 2, rotate = { axis = [0, -1, 0], angle = 400 } }]", &[]),
    ("[output]\ngrains_every = 2", &["`grains_every` has no effect: the scene has no grains"]),
    ("[output]\ngrains_every = 2\n[refine]\nradius = 0.02", &[]),
    ("[refine]\nradius = 0.02\nmode = \"ihmsen\"\nspread = true\nper_guide = 9",
        &["`spread` has no effect with mode = \"ihmsen\"", "`per_guide` has no effect: no grains are seeded about guides"]),
    ("[refine]\nradius = 0.02\nspread = false\nper_guide = 9\nseeding = \"support\"", &[]),
    ("[solver]\nkind = \"dem\"\n[solver.dem]\nstep = 1e-5\nsteps_per_contact = 30\nduration = 1\ntolerance = 0.01\nshear_viscosity = 1\nbody_poisson_ratio = 0.2",
        &["`steps_per_contact` has no effect beside `step`", "`duration` has no effect with normal = \"hertz_tsuji\"", "`tolerance` has no effect with integrator = \"verlet\"",
          "`shear_viscosity` has no effect with shear = \"spring\"", "`body_poisson_ratio` has no effect without `body_youngs_modulus`"]),
    ("[solver]\nkind = \"dem\"\n[solver.dem]\nnormal = \"linear\"\nduration = 1\nintegrator = \"rkf45\"\ntolerance = 0.01\nshear = \"capped\"\nshear_viscosity = 1", &[]),
    ("[solver]\nkind = \"sph\"\n[solver.sph]\nfriction_iterations = 2\ndrying_time = 3\nsound_speed = 9",
        &["`friction_iterations` has no effect with pressure = \"pcisph\"", "`drying_time` has no effect: no material has `wetness`", "`sound_speed` has no effect: no material has `viscosity`"]),
    ("[solver]\nkind = \"sph\"\n[solver.sph]\npressure = \"iisph\"\nfriction_iterations = 2", &[]),
    ("[[fill]]\nmaterial = \"wet\"\nradius = 0.1\nshape = { sphere = { radius = 1 }, at = [3, 0, 0] }\n[materials.wet]\ndensity = 1000\nwetness = 0.5\n[solver]\nkind = \"sph\"\n[solver.sph]\ndrying_time = 3", &["`wetness` has no effect without `cohesion` or `wet_viscosity`"]),
    ("[[fill]]\nmaterial = \"wet\"\nradius = 0.1\nshape = { sphere = { radius = 1 }, at = [3, 0, 0] }\n[materials.wet]\ndensity = 1000\nwetness = 0.5\ncohesion = 10\n[solver]\nkind = \"sph\"\n[solver.sph]\ndrying_time = 3", &[]),
    ("[[body]]\nname = \"a\"\nvelocity = [1, 0, 0]\nease = \"smooth\"\nshape = { sphere = { radius = 1 }, at = [0, 0, -3] }",
        &["`velocity` has no effect on a fixed body", "`ease` has no effect on a fixed body"]),
    ("[[emitter]]\nmaterial = \"sand\"\nradius = 0.1\nshape = { sphere = { radius = 1 } }\nrate = 1\nstart = 3",
        &["the emitter starts when the scene is over, at 1 s"]),
    ("[[body]]\nname = \"a\"\nshape = { sphere = { radius = 1 }, at = [0, 0, -3] }\n[[body]]\nname = \"b\"\nshape = { sphere = { radius = 1 }, at = [0, 0, -3] }\n[[joint]]\nbodies = [\"a\", \"b\"]\nkind = \"ball\"\nat = [0, 0, 0]\nlength = 2",
        &["this joint has no effect: none of its bodies is dynamic", "`length` has no effect on a ball joint"]),
    ("[solver.dem]\nsteps_per_contact = 30", &[]),
    ("[materials.wet]\ndensity = 1000\nwetness = 0.5", &["no fill or emitter is of material `wet`", "`wetness` has no effect with pbd"]),
    ("[solver]\nkind = \"sph\"\n[solver.sph]\nwind = [1, 0, 0]", &["`wind` has no effect: there is no air"]),
    ("[solver]\nkind = \"sph\"\n[solver.sph]\npreset = \"neder\"\nwind = [1, 0, 0]", &[]),
];

#[test]
fn settings_without_effect_are_warned_of() {
    for (text, expected) in WARNED {
        assert_eq!(parse(&format!("{GOOD}{text}")).1, *expected, "{text}");
    }
    assert_eq!(parse("duration = 1").1, ["the scene has no guides"]);
}

#[test]
fn parents_come_before_their_children_and_keys_keep_what_they_do_not_say() {
    let body = |name: &str, rest: &str| {
        format!("[[body]]\nname = \"{name}\"\nmotion = \"scripted\"\nshape = {{ sphere = {{ radius = 1 }} }}\n{rest}\n")
    };
    let (scene, _) = parse(&format!(
        "duration = 1\nfill = []\n{}{}{}",
        body("bucket", "parent = \"stick\"\nkeys = [{ time = 0 }]"),
        body(
            "stick",
            "parent = \"boom\"\nkeys = [{ time = 0, at = [1, 0, 0] }, { time = 1, rotate = [0, 90, 0] }]"
        ),
        body("boom", "keys = [{ time = 0 }]"),
    ));
    let names: Vec<&str> = scene.bodies.iter().map(|body| body.name.as_str()).collect();
    assert_eq!(names, ["boom", "stick", "bucket"]);
    let Motion::Scripted { parent, keys } = &scene.bodies[1].motion else {
        panic!()
    };
    assert_eq!((*parent, keys.pose(1.0).position), (Some(0), DVec3::X));
    assert!((keys.pose(1.0).rotation * DVec3::Z).abs_diff_eq(DVec3::X, 1e-12));
}

#[test]
fn pairs_joints_and_cameras_are_kept() {
    let (scene, warnings) = parse(&format!(
        "{GOOD}[materials.steel]\ndensity = 4000\n[[pair]]\nmaterials = [\"steel\", \"sand\"]\nfriction = 0.1\n\
         [[body]]\nname = \"a\"\nshape = {{ sphere = {{ radius = 1 }}, at = [0, 0, -3] }}\n\
         [[body]]\nname = \"b\"\nmotion = \"dynamic\"\ndensity = 1000\nangular_velocity = [0, 0, 180]\nshape = {{ sphere = {{ radius = 1 }}, at = [3, 0, 0] }}\n\
         [[joint]]\nbodies = [\"a\", \"b\"]\nkind = \"rope\"\nanchors = [[1, 0, 0], [0, 0, 0]]\ncut = 0.5\n\
         [[camera]]\nposition = [1, 0, 0]\ntarget = [0, 0, 0]\nkeys = [{{ time = 0 }}, {{ time = 1, fov = 90 }}]\n"
    ));
    assert_eq!(warnings, ["no fill or emitter is of material `steel`"]);
    assert_eq!(scene.materials.friction(0, 1).kinetic, 0.1);
    assert!(
        scene.bodies[1]
            .angular_velocity
            .abs_diff_eq(DVec3::Z * std::f64::consts::PI, 1e-12)
    );
    let joint = scene.joints[0];
    assert_eq!((joint.kind, joint.cut), (JointType::Rope { length: None }, 0.5));
    assert_eq!(joint.holds, JointPlace::Frames([DVec3::X, DVec3::ZERO]));
    let key = scene.cameras[0].keys[1];
    assert_eq!(key.position, DVec3::X);
    assert!((key.fov - std::f64::consts::FRAC_PI_2).abs() < 1e-12);
}

#[test]
fn a_camera_moves_between_its_keys_and_stands_still_outside() {
    let (scene, _) = parse(&format!(
        "{GOOD}[[camera]]\nposition = [0, 0, 1]\ntarget = [0, 0, 0]\nkeys = [\
         {{ time = 1, ease = \"linear\" }}, {{ time = 2, position = [4, 0, 1] }}, {{ time = 4, position = [0, 0, 1] }}]\n"
    ));
    let x = |time: f64| scene.cameras[0].at(time).position.x;
    assert_eq!(
        [0.0, 1.0, 1.25, 2.0, 3.0, 4.0, 9.0].map(x),
        [0.0, 0.0, 1.0, 4.0, 2.0, 0.0, 0.0]
    );
    // A smooth key starts slowly: at the share s of the time it has covered s²(3 - 2s) of the distance.
    assert!((x(2.5) - 4.0 * (1.0 - 0.15625)).abs() < 1e-12);
}

#[test]
fn colours_are_read_and_glass_is_not_solid() {
    let (scene, _) = parse(&format!(
        "{GOOD}[materials.gravel]\ndensity = 1\ncolor = \"#0aff80\"\n\
         [[body]]\nname = \"a\"\nopacity = 0.2\ncolor = \"#a3F\"\nshape = {{ sphere = {{ radius = 1 }} }}\n"
    ));
    assert_eq!(scene.colors, [None, Some([10, 255, 128])]);
    assert_eq!(
        (scene.bodies[0].color, scene.bodies[0].opacity),
        (Some([0xaa, 0x33, 0xff]), 0.2)
    );
}

#[test]
fn points_are_read_from_every_kind_of_file() {
    let folder = tempfile::tempdir().unwrap();
    let ply = "ply\nformat ascii 1.0\nelement vertex 2\nproperty float x\nproperty float y\nproperty float z\n\
               property float radius\nend_header\n0 0 1 0.1\n3 0 0 0.2\n";
    let files = [
        ("a.ply", ply),
        ("b.csv", "radius, X, y, z\n0.1,0,0,1\n0.2,3,0,0\n"),
        ("c.xyz", "# two\n0 0 1 0.1\n\n3 0 0 0.2\n"),
    ];
    for (name, text) in files {
        fs::write(folder.path().join(name), text).unwrap();
        let file = folder.path().join("scene.toml");
        let text = format!(
            "duration = 1\ngravity = [0, 0, 0]\n[materials.sand]\ndensity = 1600\n[[fill]]\nmaterial = \"sand\"\nfrom = \"{name}\"\nvelocity = [1, 0, 0]\n"
        );
        fs::write(&file, text).unwrap();
        let (scene, warnings) = parse_scene(&Document::read(&file).unwrap()).unwrap_or_else(|p| panic!("{p}"));
        assert!(warnings.is_empty());
        let world = scene.build().unwrap();
        assert_eq!((world.place(0), world.place(1)), (DVec3::Z, DVec3::X * 3.0), "{name}");
        assert_eq!((world.guides.radius[1], world.guides.velocity[0].x), (0.2, 1.0));
        assert!((world.guides.mass[1] / world.settled_mass(0, 0.2) - 1.0).abs() < 1e-6);
    }
    for (name, text, expected) in [
        ("d.csv", "x,y\n1,2\n", "the header has no column `z`"),
        ("e.xyz", "0 0 1\n0 0 x\n", "line 2: `x` is no number"),
        ("f.xyz", "0 0 1 0.1\n0 0\n", "line 2 has too few numbers"),
        (
            "g.csv",
            "x,y,z,radius\n1,2,3,-1\n",
            "the radius of point 1 is not above zero",
        ),
        ("h.xyz", "# nothing\n", "holds no points"),
        ("i.xyz", "1 2 3\n", "the file has no radii"),
        ("j.xyz", "nan 2 3\n", "point 1 is not finite"),
    ] {
        fs::write(folder.path().join(name), text).unwrap();
        let mut document = Document::new("scene", "duration = 1\n[materials.sand]\ndensity = 1600\n");
        document.text += &format!("[[fill]]\nmaterial = \"sand\"\nfrom = \"{name}\"\n");
        document.folder = folder.path().to_path_buf();
        let problems = parse_scene(&document).unwrap_err().to_string();
        assert!(
            problems.contains(expected) && problems.contains("scene:6:8"),
            "{problems}"
        );
    }
}

#[test]
fn the_schema_knows_every_key_and_accepts_what_the_reader_accepts() {
    let schema = schema();
    for field in SCENE.fields {
        assert!(schema["properties"][field.key].is_object(), "{}", field.key);
    }
    assert_eq!(
        schema["properties"]["fill"]["items"]["properties"]["packing"]["default"],
        "dense"
    );
    assert_eq!(schema["required"], serde_json::json!(["duration"]));
    assert_eq!(
        schema["properties"]["solver"]["properties"]["pbd"]["properties"]["iterations"]["default"],
        4
    );
    let shape = &schema["$defs"]["shape"];
    assert!(shape["properties"]["half_space"].is_object() && shape["additionalProperties"] == false);
    assert!(built_in("no such scene").is_none());
}

#[test]
fn levers_are_in_radians_and_name_their_bodies() {
    let document = built_in("excavator").unwrap();
    let (scene, _) = parse_scene(&document).unwrap();
    let levers: Vec<Lever> = scene.controls.iter().map(|control| control.lever).collect();
    assert_eq!(levers, Lever::ALL);
    for control in &scene.controls[3..] {
        assert_eq!(scene.bodies[control.body].name, control.lever.name());
    }
    let boom = &scene.controls[3];
    assert_eq!(
        boom.movement,
        Movement::Turn {
            axis: DVec3::new(0.0, -1.0, 0.0)
        }
    );
    assert_eq!(boom.range, Some([(-10f64).to_radians(), 75f64.to_radians()]));
    assert_eq!(boom.speed, 25f64.to_radians());
}

#[test]
fn a_preset_gives_what_was_not_said() {
    let settings = |text: &str| {
        let text = format!("{GOOD}[solver]\nkind = \"sph\"\n[solver.sph]\n{text}");
        parse(&text).0.solver_settings
    };
    let ihmsen = settings("preset = \"ihmsen\"\nyield = \"repose\"\nsubsteps = 4");
    assert_eq!(ihmsen.word("pressure"), Some("pcisph"));
    assert_eq!(ihmsen.count("max_iterations"), Some(3));
    assert_eq!(ihmsen.word("yield"), Some("repose"), "what is said counts");
    assert_eq!(ihmsen.number("step"), None, "substeps say it in another way");
    assert_eq!(settings("preset = \"ihmsen\"").number("step"), Some(1e-3));
    assert_eq!(settings("preset = \"neder\"").word("pressure"), Some("iisph"));
    assert_eq!(settings("").word("pressure"), Some("pcisph"));
}

#[test]
fn friction_means_the_same_slope_for_every_solver_unless_it_is_that_of_contacts() {
    let sand = |solver: &str, material: &str, more: &str| {
        let text = GOOD.replace("density = 1600", &format!("density = 1600\n{material}"));
        let (scene, warnings) = parse(&format!("{text}{more}\n[solver]\nkind = \"{solver}\""));
        assert!(warnings.is_empty(), "{warnings:?}");
        scene.materials.all[0].clone()
    };
    let slope = |material: &barchan::world::Material| material.angle_of_repose.map(f64::tan);
    for solver in ["pbd", "sph", "dem", "mpm"] {
        let given = sand(solver, "friction = { static = 0.5, kinetic = 0.4 }", "");
        assert!((slope(&given).unwrap() - 0.5).abs() < 1e-6, "{solver}");
        assert_eq!(
            (given.friction.r#static, given.friction.kinetic),
            (0.5, 0.4),
            "{solver}"
        );
        let usual = sand(solver, "", "");
        assert!(
            (slope(&usual).unwrap() - 38f64.to_radians().tan()).abs() < 1e-12,
            "{solver}"
        );
        assert_eq!(usual.friction.r#static, 0.35, "{solver}");
        let both = sand(solver, "angle_of_repose = 30\nwall_friction = 0.2", "");
        assert!(
            (slope(&both).unwrap() - 30f64.to_radians().tan()).abs() < 1e-12,
            "{solver}"
        );
        assert_eq!(both.friction.kinetic, 0.2, "{solver}");
    }
    // Friction of contacts: rolling resistance, the shape of clumps or a printed rule decides about heaps as well.
    for (solver, material, more) in [
        ("dem", "friction = 0.5\nrolling_friction = 0", ""),
        ("dem", "friction = 0.5", "clump = \"cube\""),
        ("pbd", "friction = 0.5", "[solver.pbd]\nfriction = \"sommer\""),
    ] {
        assert_eq!(slope(&sand(solver, material, more)), None, "{solver} {material} {more}");
    }
}
