use std::f64::consts::PI;

use barchan::scene::{Document, Scene, parse_scene};
use barchan::world::{Bodies, BodyId, Boundary, JointKind, Mass, Motor, Target, World};
use glam::{DQuat, DVec3};
use proptest::prelude::*;

use crate::wrong::{ADDED, GOOD, WHOLE};

fn scene(text: &str) -> Scene {
    parse_scene(&Document::new("scene", text))
        .unwrap_or_else(|problems| panic!("{problems}"))
        .0
}

fn world(text: &str) -> World {
    scene(text).build().unwrap_or_else(|error| panic!("{error}"))
}

const SAND: &str = "duration = 1\n[materials.sand]\ndensity = 1600\n";

fn fill(radius: &str, packing: &str, shape: &str) -> String {
    format!("[[fill]]\nmaterial = \"sand\"\nradius = {radius}\npacking = \"{packing}\"\nshape = {shape}\n")
}

#[test]
fn a_fill_weighs_its_density_times_its_volume_whatever_the_packing() {
    for (packing, radius) in [("lattice", "0.05"), ("random", "{ min = 0.03, max = 0.06 }")] {
        let world = world(&format!(
            "{SAND}{}",
            fill(radius, packing, "{ sphere = { radius = 0.5 } }")
        ));
        let expected = 1600.0 * 4.0 / 3.0 * PI * 0.125;
        let filled = world.ledger.filled;
        assert!(
            (filled.kilograms() / expected - 1.0).abs() < 1e-3,
            "{packing}: {}",
            filled.kilograms()
        );
        assert_eq!(filled, Mass::sum(world.guides.mass.iter().copied()));
        let share = |i: usize| f64::from(world.guides.mass[i]) / f64::from(world.guides.radius[i]).powi(3);
        let shares: Vec<f64> = (0..world.guides.len()).map(share).collect();
        assert!(shares.iter().all(|s| (s / shares[0] - 1.0).abs() < 1e-5), "{packing}");
    }
}

#[test]
fn ids_count_up_fill_by_fill_and_the_same_scene_makes_the_same_bits() {
    let text = format!(
        "{SAND}{}{}",
        fill("0.1", "random", "{ sphere = { radius = 0.5 } }"),
        fill("0.1", "random", "{ sphere = { radius = 0.5 }, at = [2, 0, 0] }"),
    );
    let one = world(&text);
    let count = one.guides.len() as u32;
    assert!(one.guides.id.iter().copied().eq(0..count));
    assert_eq!(one.next_id, count);
    assert_eq!(one.guides, world(&text).guides);
    let other = world(&format!("seed = 2\n{text}"));
    assert_ne!(one.guides.position, other.guides.position);
    let split = (0..one.guides.len()).position(|i| one.place(i).x > 1.0).unwrap();
    assert!((split..one.guides.len()).all(|i| one.place(i).x > 1.0));
}

#[test]
fn a_scene_far_away_gets_an_origin_of_its_own_and_the_same_guides() {
    let near = world(&format!(
        "{SAND}{}",
        fill("0.05", "lattice", "{ box = { size = [1, 1, 1] } }")
    ));
    let far = world(&format!(
        "{SAND}{}",
        fill(
            "0.05",
            "lattice",
            "{ box = { size = [1, 1, 1] }, at = [1000, -2000.25, 4] }"
        )
    ));
    assert_eq!(
        (near.origin, far.origin),
        (DVec3::ZERO, DVec3::new(1000.0, -2000.0, 4.0))
    );
    assert_eq!(near.guides.len(), far.guides.len());
    let shift = DVec3::new(1000.0, -2000.25, 4.0);
    let apart = |i: usize| (near.place(i) + shift).distance(far.place(i));
    assert!((0..near.guides.len()).all(|i| apart(i) < 1e-6));
}

#[test]
fn a_fill_settles_before_time_zero() {
    let text = format!(
        "{SAND}{}settle = 0.5\n",
        fill("0.1", "lattice", "{ sphere = { radius = 0.5 } }")
    );
    assert_eq!(world(&text).time, -0.5);
}

fn body(rest: &str) -> String {
    format!("{GOOD}[[body]]\nname = \"a\"\n{rest}\n").replace("radius = 0.1\n", "radius = 0.1\npacking = \"lattice\"\n")
}

#[test]
fn the_frame_of_a_body_is_where_its_shape_is_put() {
    let placed = "shape = { box = { size = [0.2, 0.4, 0.6] }, rotate = [0, 0, 90], at = [3, 2, 1] }";
    for motion in ["fixed", "driven", "dynamic"] {
        let world = world(&body(&format!("motion = \"{motion}\"\ndensity = 500\n{placed}")));
        let a = &world.bodies[0];
        assert_eq!(a.pose.position, DVec3::new(3.0, 2.0, 1.0));
        assert!(a.pose.rotation.abs_diff_eq(DQuat::from_rotation_z(PI / 2.0), 1e-12));
        assert!(a.center().abs_diff_eq(DVec3::new(3.0, 2.0, 1.0), 1e-3));
        assert!((a.mass() - 24.0).abs() < 0.5, "{}", a.mass());
        // Along its own long axis.
        assert!((a.shape.distance(DVec3::new(0.0, 0.5, 0.0)) - 0.3).abs() < 1e-12);
    }
}

#[test]
fn the_frame_of_a_scripted_body_is_where_its_keys_say() {
    let text = "motion = \"scripted\"\nshape = { sphere = { radius = 0.5 }, at = [1, 0, 0] }\nkeys = [{ time = 0, at = [0, 0, 5], rotate = [0, 0, 90] }]";
    let world = world(&body(text));
    let a = &world.bodies[0];
    assert_eq!(a.pose.position, DVec3::Z * 5.0);
    assert!(
        a.center().abs_diff_eq(DVec3::new(0.0, 1.0, 5.0), 1e-2),
        "{}",
        a.center()
    );
    let Boundary::Field(grid) = &a.boundary else { panic!() };
    assert!((grid.distance(DVec3::X) + 0.5).abs() < 0.05);
    assert!(grid.voxel() <= 0.05 && grid.band() >= 0.2);
}

/// Distance of the nearest vertex of a body's surface from `p` [m].
fn nearest_vertex(body: &barchan::world::Body, p: DVec3) -> f64 {
    let distances = body.surface.vertices.iter().map(|v| v.distance(p));
    distances.fold(f64::INFINITY, f64::min)
}

#[test]
fn a_box_with_a_hole_has_its_corners_and_its_exact_mass() {
    let shape = "shape = { subtract = [{ box = { size = [1.6, 1.6, 0.5] } }, { box = { size = [1.2, 1, 0.5] }, at = [0, 0, 0.1] }], rotate = [20, 30, 40], at = [1, 2, 3] }";
    for motion in ["fixed", "dynamic"] {
        let world = world(&body(&format!("motion = \"{motion}\"\ndensity = 500\n{shape}")));
        let a = &world.bodies[0];
        // 1.6 · 1.6 · 0.5 less 1.2 · 1 · 0.4.
        assert!((a.mass() - 500.0 * 0.8).abs() < 1e-9, "{} kg", a.mass());
        let lift = (1.28 * 0.0 - 0.48 * 0.05) / 0.8;
        let center = a.mass_properties.center;
        assert!(center.abs_diff_eq(DVec3::new(0.0, 0.0, lift), 1e-12), "{center}");
        let squares = |size: DVec3| size * size / 12.0;
        let (whole, hole) = (squares(DVec3::new(1.6, 1.6, 0.5)), squares(DVec3::new(1.2, 1.0, 0.4)));
        let about_z = 1.28 * (whole.x + whole.y) - 0.48 * (hole.x + hole.y);
        assert!((a.mass_properties.inertia.z_axis.z - about_z).abs() < 1e-12);
        for corner in (0..8).map(|k| DVec3::new(f64::from(k & 1), f64::from(k >> 1 & 1), f64::from(k >> 2)) - 0.5) {
            let outer = nearest_vertex(a, corner * DVec3::new(1.6, 1.6, 0.5));
            let inner = nearest_vertex(a, corner * DVec3::new(1.2, 1.0, 0.4) + 0.05 * DVec3::Z);
            assert!(outer.max(inner) < 1e-12, "{corner}: {outer} and {inner} m");
        }
    }
}

#[test]
fn the_grousers_of_a_wheel_have_their_corners() {
    let grouser = |k: u32| format!("{{ box = {{ size = [1.2, 0.4, 0.04] }}, rotate = [0, {}, 0] }}", 30 * k);
    let grousers: Vec<String> = (0..6).map(grouser).collect();
    let wheel = "{ cylinder = { radius = 0.5, height = 0.4 }, rotate = [90, 0, 0] }";
    let world = world(&body(&format!(
        "shape = {{ union = [{wheel}, {}] }}",
        grousers.join(", ")
    )));
    let a = &world.bodies[0];
    for k in 0..6 {
        let turn = DQuat::from_rotation_y((30.0 * f64::from(k)).to_radians());
        for corner in (0..8).map(|k| DVec3::new(f64::from(k & 1), f64::from(k >> 1 & 1), f64::from(k >> 2)) - 0.5) {
            let off = nearest_vertex(a, turn * (corner * DVec3::new(1.2, 0.4, 0.04)));
            assert!(off < 1e-12, "{off} m");
        }
    }
    // Twelve bars of 0.04 beyond the circle, each with a cap of the circle less.
    let (r, half) = (0.5f64, 0.02f64);
    let under = half * (r * r - half * half).sqrt() + r * r * (half / r).asin();
    let volume = 0.4 * (PI * r * r + 12.0 * (2.0 * half * 0.6 - under));
    let found = barchan::geometry::mesh::mass_properties(&a.surface).volume;
    assert!((found / volume - 1.0).abs() < 1e-3, "{found} m³, not {volume} m³");
    assert!(a.surface.triangles.len() < 2_000, "{}", a.surface.triangles.len());
    assert!(
        barchan::geometry::mesh::clean(&a.surface)
            .unwrap()
            .report
            .is_watertight()
    );
}

#[test]
fn the_surface_of_a_thin_shell_is_not_lost() {
    let shell = "shape = { subtract = [{ sphere = { radius = 2 } }, { sphere = { radius = 1.9 } }] }";
    let world = world(&body(shell));
    let a = &world.bodies[0];
    let volume = 4.0 / 3.0 * PI * (8.0 - 1.9f64.powi(3));
    assert!(
        (a.mass_properties.volume / volume - 1.0).abs() < 0.05,
        "{}",
        a.mass_properties.volume
    );
    let surface = barchan::geometry::mesh::mass_properties(&a.surface).volume;
    assert!((surface / volume - 1.0).abs() < 0.1, "{surface} not {volume}");
}

#[test]
fn a_ground_without_an_end_is_asked_itself_and_drawn_where_the_scene_is() {
    let world = world(&body("shape = { half_space = { normal = [0, 0, 1], offset = -4 } }"));
    let ground = &world.bodies[0];
    let Boundary::Exact(shape) = &ground.boundary else {
        panic!()
    };
    assert_eq!(shape.distance(DVec3::new(1e6, 0.0, 3.0)), 7.0);
    assert_eq!(ground.mass(), 0.0);
    assert!(world.warnings.is_empty(), "{:?}", world.warnings);
    let bounds = ground.surface.bounds();
    assert!((bounds.max.z + 4.0).abs() < 1e-6 && bounds.min.z < -4.5);
    assert!(bounds.min.x < -1.0 && bounds.max.x > 1.0 && bounds.size().max_element() < 100.0);
}

#[test]
fn a_body_whose_field_would_not_fit_is_asked_itself_with_a_warning() {
    let world = world(&body("shape = { box = { size = [3e4, 3e4, 3e4] }, at = [0, 0, -2e4] }"));
    assert!(matches!(world.bodies[0].boundary, Boundary::Exact(_)));
    let [warning] = &world.warnings[..] else {
        panic!("{:?}", world.warnings)
    };
    assert!(
        warning.contains("body `a`: a distance grid with voxels of"),
        "{warning}"
    );
}

#[test]
fn bodies_can_be_covered_with_particles() {
    let text = body("shape = { sphere = { radius = 0.5 } }") + "[solver.pbd]\nboundary = \"particles\"\n";
    let world = world(&text);
    let Boundary::Particles {
        positions,
        normals,
        radius,
    } = &world.bodies[0].boundary
    else {
        panic!()
    };
    assert!((*radius - 0.1).abs() < 1e-6 && positions.len() > 30);
    for (p, n) in positions.iter().zip(normals.iter()) {
        assert!((p.length() - 0.4).abs() < 0.01 && n.dot(p.normalize()) > 0.99);
    }
}

#[test]
fn joints_hold_bodies_where_the_world_says() {
    let two = "shape = { box = { size = [1, 1, 1] }, at = [0, 0, 3], rotate = [0, 0, 90] }\n\
               [[body]]\nname = \"b\"\nmotion = \"dynamic\"\ndensity = 1\nshape = { sphere = { radius = 0.5 }, at = [2, 0, 3] }\n";
    let hinge = "[[joint]]\nbodies = [\"a\", \"b\"]\nkind = \"hinge\"\naxis = [2, 0, 0]\nat = [1, 0, 3]\n";
    let rope = "[[joint]]\nbodies = [\"a\", \"b\"]\nkind = \"rope\"\nanchors = [[0, 0, 0], [0, 0, 0]]\ncut = 2";
    let world = world(&body(&format!("{two}{hinge}{rope}")));
    let [hinge, rope] = &world.joints[..] else { panic!() };
    // The first body is turned, so its own y axis points back along the world's x.
    assert!(hinge.anchors[0].abs_diff_eq(DVec3::new(0.0, -1.0, 0.0), 1e-12));
    assert!(hinge.anchors[1].abs_diff_eq(DVec3::new(-1.0, 0.0, 0.0), 1e-12));
    let JointKind::Hinge { axis } = hinge.kind else {
        panic!()
    };
    assert!(axis.abs_diff_eq(DVec3::new(0.0, -1.0, 0.0), 1e-12));
    assert_eq!((rope.kind, rope.until), (JointKind::Rope { length: 2.0 }, 2.0));
}

#[test]
fn joints_have_limits_springs_and_motors_in_radians_and_a_name() {
    let two = "shape = { sphere = { radius = 0.5 } }\n[[body]]\nname = \"b\"\nmotion = \"dynamic\"\nmass = 3\ncenter = [0.1, 0, 0]\n\
               inertia = [1, 2, 2.5]\nshape = { sphere = { radius = 0.5 }, at = [2, 0, 3] }\n";
    let hinge = "[[joint]]\nname = \"axle\"\nbodies = [\"a\", \"b\"]\nkind = \"hinge\"\naxis = [0, 1, 0]\nat = [1, 0, 3]\n\
                 limits = [-90, 180]\nspring = { stiffness = 5, rest = 30 }\nmotor = { angle = 45, speed = -90, max_torque = 7 }\n";
    let slider = "[[joint]]\nbodies = [\"a\", \"b\"]\nkind = \"slider\"\naxis = [0, 0, 2]\nat = [1, 0, 3]\n\
                  limits = [-0.5, 1]\nmotor = { speed = -0.2 }\n";
    let world = world(&body(&format!("{two}{hinge}{slider}")));
    let [hinge, slider] = &world.joints[..] else { panic!() };
    assert_eq!((hinge.name.as_str(), slider.name.as_str()), ("axle", "a-b"));
    let near = |found: f64, expected: f64| assert!((found - expected).abs() < 1e-12, "{found}, expected {expected}");
    let [low, high] = hinge.limits.unwrap();
    near(low, -PI / 2.0);
    near(high, PI);
    near(hinge.spring.unwrap().rest, PI / 6.0);
    let motor = hinge.motor.unwrap();
    let Target::Position { at, speed } = motor.target else {
        panic!()
    };
    near(at, PI / 4.0);
    near(speed, PI / 2.0);
    assert_eq!((motor.limit, slider.limits), (7.0, Some([-0.5, 1.0])));
    assert_eq!(
        slider.motor.unwrap(),
        Motor {
            target: Target::Speed(-0.2),
            limit: f64::INFINITY
        }
    );
    assert_eq!(slider.kind, JointKind::Slider { axis: DVec3::Z });
    let heavy = &world.bodies[1];
    near(heavy.mass(), 3.0);
    assert_eq!(heavy.mass_properties.center, DVec3::X * 0.1);
    near((heavy.mass_properties.inertia * heavy.density).z_axis.z, 2.5);
}

#[test]
fn a_fill_with_too_many_guides_is_refused_with_its_place() {
    let error = scene(&format!(
        "{SAND}{}",
        fill("1e-5", "dense", "{ box = { size = [1, 1, 1] } }")
    ))
    .build()
    .unwrap_err();
    assert!(error.to_string().starts_with("scene:4:1: fill: a radius of"), "{error}");
}

#[test]
fn guides_do_not_appear_in_bodies() {
    let mut world = world(&format!(
        "{SAND}[[emitter]]\nmaterial = \"sand\"\nradius = 0.02\nrate = 1e4\nshape = {{ box = {{ size = [1, 1, 1] }} }}\n\
         [[body]]\nname = \"block\"\nshape = {{ box = {{ size = [0.5, 2, 2] }}, at = [0.25, 0, 0], rotate = [90, 0, 0] }}"
    ));
    world.emit(0.1);
    assert!(world.guides.len() > 100, "{}", world.guides.len());
    for i in 0..world.guides.len() {
        assert!(world.place(i).x < -0.02 + 1e-6, "{}", world.place(i));
    }
}

#[test]
fn a_fill_too_heavy_for_an_exact_ledger_is_refused_with_its_place() {
    let heavy = SAND.replace("1600", "1e5");
    assert_ne!(heavy, SAND);
    let filled = fill("20", "lattice", "{ box = { size = [1000, 1000, 1000] } }");
    let error = scene(&format!("{heavy}{filled}")).build().unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with("scene:4:1: the guides of this fill weigh"),
        "{error}"
    );
}

/// Reads a text with an override; whatever is wrong can be shown.
fn survives(text: &str, said: &str) {
    let document = Document::new("scene", text).with(said);
    if let Err(problems) = parse_scene(&document) {
        assert!(problems.to_string().contains("error: "));
    }
}

fn any_text() -> impl Strategy<Value = String> {
    let added = ADDED.iter().map(|case| format!("{GOOD}{}", case.0));
    let whole = WHOLE.iter().map(|case| case.0.to_owned());
    prop::sample::select(added.chain(whole).collect::<Vec<_>>())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn no_mutation_of_a_scene_makes_it_panic(
        text in any_text(),
        cuts in prop::collection::vec((any::<prop::sample::Index>(), 0usize..4, "[-\\[\\]{}=,.0-9\"enül\n]{0,3}"), 0..4),
        said in "(fill|body|solver|materials|seed|gravity|é)?(\\.(0|1|sand|pbd|shape|radius))?={0,1}[-0-9a-zé{}\\[\\]\"., ]{0,8}",
    ) {
        let mut characters: Vec<char> = text.chars().collect();
        for (at, removed, inserted) in cuts {
            let start = at.index(characters.len() + 1);
            let end = (start + removed).min(characters.len());
            characters.splice(start..end, inserted.chars());
        }
        survives(&characters.into_iter().collect::<String>(), &said);
    }
}

/// Angle [deg] about `axis` that body `k` turns through between two times [s].
fn turned(world: &World, k: BodyId, axis: DVec3, from: f64, to: f64) -> f64 {
    const STEPS: u32 = 1000;
    let rotation = |n: u32| {
        let time = from + (to - from) * f64::from(n) / f64::from(STEPS);
        world.bodies.scripted_pose(k, time).rotation
    };
    let angle = |n: u32| {
        let turn = rotation(n + 1) * rotation(n).inverse();
        let shorter = if turn.w < 0.0 { -turn } else { turn };
        shorter.to_scaled_axis().dot(axis)
    };
    (0..STEPS).map(angle).sum::<f64>().to_degrees()
}

#[test]
fn keys_turn_through_whole_angles_also_from_keys_that_leave_rotate_out() {
    let fan = |angle: f64, ease: &str| {
        format!(
            "{SAND}[[body]]\nname = \"fan\"\nmotion = \"scripted\"\nease = \"{ease}\"\n\
             shape = {{ box = {{ size = [1, 0.1, 0.2] }} }}\n\
             keys = [{{ time = 0 }}, {{ time = 1, rotate = {{ axis = [0, 1, 0], angle = {angle} }} }}, \
             {{ time = 2, at = [0, 0, 1] }}, {{ time = 3, rotate = {{ axis = [0, 2, 0], angle = 10 }} }}]\n\
             [[body]]\nname = \"tip\"\nmotion = \"scripted\"\nparent = \"fan\"\n\
             shape = {{ sphere = {{ radius = 0.1 }} }}\n\
             keys = [{{ time = 0, at = [1, 0, 0] }}, {{ time = 1, rotate = [0, {angle}, 0] }}]\n"
        )
    };
    for ease in ["linear", "smooth"] {
        for angle in [287.0, 360.0, 1200.0, -287.0, -1200.0] {
            let world = world(&fan(angle, ease));
            let found = [(0, 0.0, 1.0), (1, 0.0, 1.0), (0, 1.0, 2.0), (0, 2.0, 3.0)]
                .map(|(k, from, to)| turned(&world, k, DVec3::Y, from, to));
            for (found, expected) in found.into_iter().zip([angle, 2.0 * angle, 0.0, 10.0 - angle]) {
                assert!(
                    (found - expected).abs() < 1e-6,
                    "{angle} {ease}: {found}, not {expected}"
                );
            }
        }
    }
}

/// Boxes by their least and greatest corners, as the vertices and faces of an OBJ file.
fn obj(boxes: &[[[f64; 3]; 2]]) -> String {
    let mut text = String::new();
    for (n, corners) in boxes.iter().enumerate() {
        for k in 0..8 {
            let [x, y, z] = [0, 1, 2].map(|axis| corners[k >> axis & 1][axis]);
            text += &format!("v {x} {y} {z}\n");
        }
        for side in [
            [0, 2, 3, 1],
            [4, 5, 7, 6],
            [0, 1, 5, 4],
            [2, 6, 7, 3],
            [0, 4, 6, 2],
            [1, 3, 7, 5],
        ] {
            let [a, b, c, d] = side.map(|v| 8 * n + v + 1);
            text += &format!("f {a} {b} {c} {d}\n");
        }
    }
    text
}

#[test]
fn fills_and_bodies_of_overlapping_shells_weigh_as_the_space_they_fill() {
    // A cross of two bars that share 0.02 m³.
    let bars = [
        [[-0.5, -0.1, -0.25], [0.5, 0.1, 0.25]],
        [[-0.1, -0.3, -0.25], [0.1, 0.3, 0.25]],
    ];
    let volume = 0.5 * (0.2 + 0.2 * 0.6 - 0.2 * 0.2);
    let inertia_z = {
        let bar = |x: f64, y: f64| 0.5 * x * y * (x * x + y * y) / 12.0;
        bar(1.0, 0.2) + bar(0.2, 0.6) - bar(0.2, 0.2)
    };
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("cross.obj"), obj(&bars)).unwrap();
    let file = folder.path().join("scene.toml");
    let text = format!(
        "{SAND}{}[[body]]\nname = \"cross\"\nmotion = \"dynamic\"\ndensity = 500\n\
         shape = {{ mesh = \"cross.obj\", scale = [1, 1, 2], rotate = [0, 0, 30], at = [3, 0, 2] }}\n\
         [[body]]\nname = \"turned\"\nmotion = \"scripted\"\nkeys = [{{ time = 0 }}]\n\
         shape = {{ mesh = \"cross.obj\", rotate = [90, 0, 0], at = [0, 5, 0] }}\n",
        fill("0.04", "lattice", "{ mesh = \"cross.obj\", scale = 2 }")
    );
    std::fs::write(&file, text).unwrap();
    let (scene, warnings) = parse_scene(&Document::read(&file).unwrap()).unwrap_or_else(|p| panic!("{p}"));
    let overlaps = warnings
        .iter()
        .filter(|w| w.message.starts_with("shells overlap"))
        .count();
    assert_eq!(overlaps, 3, "{warnings:?}");
    let world = scene.build().unwrap();
    let filled = world.ledger.filled.kilograms();
    assert!((filled / (1600.0 * 8.0 * volume) - 1.0).abs() < 1e-6, "{filled} kg");
    let [cross, turned] = &world.bodies[..] else {
        panic!("two bodies")
    };
    assert!(
        (cross.mass() / (500.0 * 2.0 * volume) - 1.0).abs() < 1e-9,
        "{}",
        cross.mass()
    );
    assert!(cross.mass_properties.center.length() < 1e-9);
    let found = cross.mass_properties.inertia.z_axis.z;
    assert!((found / (2.0 * inertia_z) - 1.0).abs() < 1e-9, "{found}");
    let properties = turned.mass_properties;
    assert!((properties.volume / volume - 1.0).abs() < 1e-9);
    assert!(properties.center.distance(5.0 * DVec3::Y) < 1e-9);
    assert!((properties.inertia.y_axis.y / inertia_z - 1.0).abs() < 1e-9);
}

#[test]
fn a_fill_that_leaves_a_periodic_range_weighs_what_lies_within_it() {
    let periodic = "periodic = { x = [-0.2, 0.2] }";
    let filled = |size: &str| {
        let fill = fill("0.02", "dense", &format!("{{ box = {{ size = {size} }} }}"));
        world(&format!("{periodic}\n{SAND}{fill}"))
    };
    let (cut, whole) = (filled("[0.9, 0.2, 0.2]"), filled("[0.4, 0.2, 0.2]"));
    for world in [&cut, &whole] {
        let mass = world.ledger.filled.kilograms();
        assert!((mass / (1600.0 * 0.4 * 0.2 * 0.2) - 1.0).abs() < 2e-3, "{mass} kg");
        let places = (0..world.guides.len()).map(|i| world.place(i).x);
        assert!(places.clone().all(|x| (-0.2..0.2).contains(&x)));
        // Up to both faces.
        let farthest = places.map(f64::abs).fold(0.0, f64::max);
        assert!(farthest > 0.195, "{farthest}");
    }
}

#[test]
fn a_spline_is_an_ease_of_bodies_but_not_of_cameras() {
    let body = |key: &str| {
        format!(
            "{SAND}[[body]]\nname = \"a\"\nmotion = \"scripted\"\nease = \"spline\"\nshape = {{ sphere = {{ radius = 1 }} }}\n\
             keys = [{{ time = 0 }}, {{ time = 1, at = [1, 0, 0]{key} }}, {{ time = 2, at = [2, 0, 0] }}, {{ time = 3, at = [3, 0, 0] }}]\n"
        )
    };
    let x = |key: &str, time: f64| world(&body(key)).bodies[..].scripted_pose(0, time).position.x;
    assert!((x("", 1.5) - 1.5).abs() < 1e-12);
    // From rest, faster than a straight line in the middle of the first leg.
    assert!(x("", 0.5) < 0.45, "{}", x("", 0.5));
    assert!((x(", ease = \"linear\"", 1.25) - 1.25).abs() < 1e-12);
    let camera = "[[camera]]\nposition = [0, 0, 1]\ntarget = [0, 0, 0]\nkeys = [{ time = 0, ease = \"spline\" }]\n";
    let refused = parse_scene(&Document::new("scene", format!("{SAND}{camera}"))).unwrap_err();
    assert!(refused.to_string().contains("spline"), "{refused}");
}

#[test]
fn a_pair_is_of_two_materials_or_of_a_material_and_a_body() {
    let text = |solver: &str, pair: &str| {
        format!(
            "duration = 1\n[solver]\nkind = \"{solver}\"\n[materials.sand]\ndensity = 1600\n[materials.glass]\ndensity = 1600\n\
             [[body]]\nname = \"wall\"\nshape = {{ half_space = {{ normal = [0, 0, 1] }} }}\n\
             [[body]]\nname = \"post\"\nfriction = 0.5\nshape = {{ sphere = {{ radius = 1 }} }}\n{pair}"
        )
    };
    let pair = "[[pair]]\nmaterial = \"glass\"\nbody = \"post\"\nfriction = { static = 0.2, kinetic = 0.1 }\nrestitution = 0.7\n";
    let built = world(&text("dem", pair));
    let on_post: Vec<f32> = built
        .materials
        .frictions_on(1, &built.bodies[1])
        .map(|f| f.kinetic)
        .collect();
    assert_eq!(on_post[1], 0.1);
    assert!((on_post[0] - (0.3f32 * 0.5).sqrt()).abs() < 1e-6, "{}", on_post[0]);
    assert_eq!(built.materials.meeting(1, 1).restitution, Some(0.7));
    assert_eq!(built.materials.meeting(1, 0), Default::default());
    let warnings = parse_scene(&Document::new("scene", text("pbd", pair))).unwrap().1;
    let messages: Vec<String> = warnings.iter().map(|w| w.message.clone()).collect();
    assert!(
        messages.iter().any(|m| m == "`restitution` has no effect with pbd"),
        "{messages:?}"
    );
    for (pair, wanted) in [
        (
            "[[pair]]\nfriction = 1\n",
            "pair must have the key `materials`, or `material` and `body`",
        ),
        (
            "[[pair]]\nmaterial = \"sand\"\nfriction = 1\n",
            "pair must have the key `materials`, or `material` and `body`",
        ),
        (
            "[[pair]]\nmaterials = [\"sand\", \"glass\"]\n",
            "pair must have the key `friction`",
        ),
        (
            "[[pair]]\nmaterial = \"sand\"\nbody = \"post\"\n",
            "`friction`, `restitution` or `rolling_friction`",
        ),
        ("[[pair]]\nmaterial = \"sand\"\nbody = \"pots\"\nfriction = 1\n", "pots"),
        (
            "[[pair]]\nmaterial = \"sandy\"\nbody = \"post\"\nfriction = 1\n",
            "sandy",
        ),
        (
            "[[pair]]\nmaterials = [\"sand\", \"glass\"]\nbody = \"post\"\nfriction = 1\n",
            "body",
        ),
    ] {
        let problems = parse_scene(&Document::new("scene", text("dem", pair)))
            .unwrap_err()
            .to_string();
        assert!(problems.contains(wanted), "{pair}: {problems}");
    }
    let twice = format!("{pair}{pair}");
    let problems = parse_scene(&Document::new("scene", text("dem", &twice))).unwrap_err();
    assert!(problems.to_string().contains("was said before"), "{problems}");
}

#[test]
fn a_fixed_fill_has_no_velocity_and_no_clumps() {
    let fill = |more: &str| {
        format!(
            "{SAND}[[fill]]\nmaterial = \"sand\"\nradius = 0.1\nfixed = true\nshape = {{ sphere = {{ radius = 0.5 }} }}\n{more}"
        )
    };
    let built = world(&fill(""));
    assert!((0..built.guides.len()).all(|i| built.is_fixed(i)) && built.has_fixed_guides());
    let (moving, warnings) = parse_scene(&Document::new("scene", fill("velocity = [1, 0, 0]\n"))).unwrap();
    assert_eq!(moving.fills[0].velocity, DVec3::ZERO);
    assert!(warnings.iter().any(|w| w.message.contains("`velocity` has no effect")));
    // Nothing falls.
    assert!(
        !warnings.iter().any(|w| w.message.contains("fall for ever")),
        "{warnings:?}"
    );
    let problems = parse_scene(&Document::new("scene", fill("clump = \"cube\"\n"))).unwrap_err();
    assert!(problems.to_string().contains("cannot be clumps"), "{problems}");
}
