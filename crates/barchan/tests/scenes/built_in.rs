use barchan::scene::{BUILT_IN, Scene, built_in, parse_scene};
use barchan::world::{Bodies, Boundary, Mass, World};
use glam::DVec3;

/// Guides of the scenes of [Sommer22].
const SOMMER: &[(&str, f64)] = &[
    ("hourglass", 10_000.0),
    ("sandcastle", 2_400.0),
    ("excavator", 6_800.0),
    ("squirrel", 10_000.0),
];

fn scene(name: &str) -> Scene {
    let document = built_in(name).unwrap();
    let (scene, warnings) = parse_scene(&document).unwrap_or_else(|problems| panic!("{problems}"));
    let warnings: Vec<String> = warnings.iter().map(|warning| warning.render(&document)).collect();
    assert!(warnings.is_empty(), "{}", warnings.join("\n"));
    scene
}

#[test]
fn every_built_in_scene_is_read_without_warnings_and_makes_a_sound_world() {
    for entry in BUILT_IN {
        let scene = scene(entry.name);
        assert_eq!(scene.name, entry.name);
        let world = scene.build().unwrap_or_else(|error| panic!("{}: {error}", entry.name));
        print(entry.name, &world);
        assert_eq!(world.ledger.expected(), Mass::sum(world.guides.mass.iter().copied()));
        assert!(!world.guides.is_empty() || !world.emitters.is_empty());
        // Clumps need no refinement.
        let has_grains = scene.refine.is_some() || scene.fills.iter().any(|fill| fill.clump.is_some());
        assert!(!scene.cameras.is_empty() && has_grains);
        if let Some((_, guides)) = SOMMER.iter().find(|case| case.0 == entry.name) {
            let count = world.guides.len() as f64;
            assert!(
                (count / guides - 1.0).abs() < 0.02,
                "{}: {count} guides, not {guides}",
                entry.name
            );
        }
        no_guide_lies_in_a_body(entry.name, &world);
        walls_are_thicker_than_a_guide(entry.name, &scene, &world);
        if ["excavator", "sandcastle"].contains(&entry.name) {
            bucket_goes_through_more_than_it_holds(&scene, &world);
        }
    }
}

fn print(name: &str, world: &World) {
    println!(
        "{name}: {} guides, {:.1} kg",
        world.guides.len(),
        world.ledger.filled.kilograms()
    );
    for body in &world.bodies {
        let boundary = match &body.boundary {
            Boundary::Field(grid) => format!("field of {:.4} m, {} kB", grid.voxel(), grid.bytes() / 1000),
            Boundary::Exact(_) => "exact".to_owned(),
            Boundary::Particles { positions, .. } => format!("{} particles", positions.len()),
        };
        println!(
            "    {}: {} triangles, {boundary}",
            body.name,
            body.surface.triangles.len()
        );
    }
}

fn no_guide_lies_in_a_body(name: &str, world: &World) {
    for body in world.bodies.iter().filter(|body| body.is_present(world.time)) {
        for i in 0..world.guides.len() {
            let depth = f64::from(world.guides.radius[i]) - body.shape.distance(body.pose.local(world.place(i)));
            let radius = f64::from(world.guides.radius[i]);
            assert!(
                depth < 0.01 * radius,
                "{name}: guide {i} lies {depth} m in {}",
                body.name
            );
        }
    }
}

/// Checks that a body is at least as thick as the radius of a guide wherever sand may press on it.
fn walls_are_thicker_than_a_guide(name: &str, scene: &Scene, world: &World) {
    let radius = scene.largest_radius().unwrap();
    for body in &world.bodies {
        let mut thin = 0;
        for t in (0..body.surface.triangles.len()).step_by(7) {
            let [a, b, c] = body.surface.corners(t);
            let middle = (a + b + c) / 3.0;
            let inwards = -body.shape.normal(middle);
            thin += usize::from(body.shape.distance(middle + radius * inwards) > 0.1 * radius);
        }
        // Rounded edges are thinner across than their wall.
        let share = 7.0 * thin as f64 / body.surface.triangles.len() as f64;
        assert!(
            share < 0.03,
            "{name}: {share} of {} is thinner than {radius} m",
            body.name
        );
    }
}

/// Compares the volume [m³] of the level bucket with the volume of sand that its mouth sweeps before.
fn bucket_goes_through_more_than_it_holds(scene: &Scene, world: &World) {
    let at = world.bodies.iter().position(|body| body.name == "bucket").unwrap();
    let bucket = &world.bodies[at];
    let sand = match &scene.fills[0].source {
        barchan::scene::FillSource::Shape { shape, .. } => shape.clone(),
        barchan::scene::FillSource::Points(_) => panic!("the sand has a shape"),
    };
    // The hollow: neither in the walls nor above the rim, with walls on both sides.
    let bounds = bucket.shape.bounds();
    let step = bounds.size().max_element() / 60.0;
    let cells = (bounds.size() / step).floor();
    let mut inside = Vec::new();
    for k in 0..(cells.element_product() as u64) {
        let (nx, ny) = (cells.x as u64, cells.y as u64);
        let cell = DVec3::new((k % nx) as f64, (k / nx % ny) as f64, (k / nx / ny) as f64);
        let p = bounds.min + (cell + 0.5) * step;
        let walled = |way: DVec3| (1..60).any(|n| bucket.shape.distance(p + f64::from(n) * step * way) < 0.0);
        let sides = [DVec3::X, DVec3::NEG_X, DVec3::Y, DVec3::NEG_Y, DVec3::NEG_Z];
        if bucket.shape.distance(p) > 0.0 && sides.iter().all(|&way| walled(way)) {
            inside.push(p);
        }
    }
    let struck = inside.len() as f64 * step.powi(3);

    // Cells of the sand that were in the bucket's hollow at some time before it was level.
    let mut swept = std::collections::BTreeSet::new();
    for n in 0..=80 {
        let pose = world.bodies.scripted_pose(at, f64::from(n) * 0.05);
        for p in inside
            .iter()
            .map(|p| pose.point(*p))
            .filter(|p| sand.distance(*p) < 0.0)
        {
            swept.insert((p / step).floor().as_ivec3().to_array());
        }
    }
    let swept = swept.len() as f64 * step.powi(3);
    println!("    struck {struck:.4} m³, swept {swept:.4} m³");
    assert!(
        swept > 1.2 * struck,
        "the bucket holds {struck} m³ and sweeps {swept} m³"
    );

    // Lifted above the sand and level to within ten degrees.
    let lifted = world.bodies.scripted_pose(at, 5.5);
    assert!((lifted.rotation * DVec3::Z).z > 10f64.to_radians().cos());
    assert!(lifted.position.z > sand.bounds().max.z + 0.2);
}
