use std::collections::HashMap;
use std::sync::Arc;

use barchan_geometry::mesh::{MeshSolid, mass_properties};
use barchan_geometry::random::Stream;
use barchan_geometry::shapes::{Cone, Cuboid, Cylinder, HalfSpace, Intersect, Subtract, Transformed, Union};
use barchan_geometry::{Aabb, Shape, TriMesh};
use glam::{DQuat, DVec3, EulerRot};

use crate::support::points_in;

type Solid = Arc<dyn Shape>;

/// A box between two corners.
fn cuboid(min: [f64; 3], max: [f64; 3]) -> Solid {
    let (min, max) = (DVec3::from(min), DVec3::from(max));
    let sharp = Arc::new(Cuboid::new(max - min).unwrap());
    Arc::new(Transformed::moved(sharp, 0.5 * (min + max)).unwrap())
}

fn placed(shape: Solid, at: DVec3, rotation: DQuat) -> Solid {
    Arc::new(Transformed::new(shape, at, rotation, DVec3::ONE).unwrap())
}

fn union(shapes: Vec<Solid>) -> Solid {
    Arc::new(Union::new(shapes, 0.0).unwrap())
}

fn subtract(shapes: Vec<Solid>) -> Solid {
    Arc::new(Subtract::new(shapes, 0.0).unwrap())
}

fn intersect(shapes: Vec<Solid>) -> Solid {
    Arc::new(Intersect::new(shapes, 0.0).unwrap())
}

fn turn() -> DQuat {
    DQuat::from_euler(EulerRot::XYZ, 0.3, -0.5, 1.1)
}

/// Returns the surface after checks: closed, every vertex used, no triangle without an area, every vertex on the
/// solid's surface.
fn surface(shape: &Solid) -> TriMesh {
    let mesh = shape.triangles().unwrap();
    let mut directed: HashMap<(u32, u32), i32> = HashMap::new();
    let mut used = vec![false; mesh.vertices.len()];
    for &[a, b, c] in &mesh.triangles {
        for (from, to) in [(a, b), (b, c), (c, a)] {
            *directed.entry((from, to)).or_default() += 1;
            used[from as usize] = true;
        }
    }
    for (&(from, to), &count) in &directed {
        assert_eq!(directed.get(&(to, from)), Some(&count), "edge {from} {to}");
    }
    assert!(used.iter().all(|&used| used));
    let size = shape.bounds().size().max_element();
    for t in 0..mesh.triangles.len() {
        let [a, b, c] = mesh.corners(t);
        let longest = a.distance(b).max(b.distance(c)).max(c.distance(a));
        let height = (b - a).cross(c - a).length() / longest;
        assert!(height > 1e-10 * size, "a triangle {height} m high");
        let middle = (a + b + c) / 3.0;
        assert!(
            shape.distance(middle).abs() < 1e-9 * size,
            "{middle} is off the surface"
        );
    }
    for &p in &mesh.vertices {
        assert!(shape.distance(p).abs() < 1e-9 * size, "{p} is off the surface");
    }
    mesh
}

fn is_manifold(mesh: &TriMesh) -> bool {
    let mut directed: HashMap<(u32, u32), u32> = HashMap::new();
    for &[a, b, c] in &mesh.triangles {
        for edge in [(a, b), (b, c), (c, a)] {
            *directed.entry(edge).or_default() += 1;
        }
    }
    directed.values().all(|&count| count == 1)
}

fn assert_volume(mesh: &TriMesh, expected: f64) {
    let found = mass_properties(mesh).volume;
    assert!(
        (found - expected).abs() < 1e-9 * expected,
        "{found} m³, not {expected} m³"
    );
}

/// Returns the largest distance of a corner from the vertices [m].
fn worst_corner(mesh: &TriMesh, corners: impl IntoIterator<Item = DVec3>) -> f64 {
    let nearest = |corner: DVec3| {
        let distances = mesh.vertices.iter().map(|v| v.distance(corner));
        distances.fold(f64::INFINITY, f64::min)
    };
    corners.into_iter().map(nearest).fold(0.0, f64::max)
}

#[test]
fn a_box_with_a_hole_keeps_all_sixteen_corners() {
    let outer = Aabb::new(DVec3::new(-0.8, -0.8, 0.0), DVec3::new(0.8, 0.8, 0.5));
    // Open at the top: the hole ends beyond it, and flush with it.
    for top in [2.0, 0.5] {
        let hole = Aabb::new(DVec3::new(-0.5, -0.3, 0.2), DVec3::new(0.4, 0.6, 0.5));
        let solid = subtract(vec![
            cuboid([-0.8, -0.8, 0.0], [0.8, 0.8, 0.5]),
            cuboid([-0.5, -0.3, 0.2], [0.4, 0.6, top]),
        ]);
        for (at, rotation) in [(DVec3::ZERO, DQuat::IDENTITY), (DVec3::new(1.0, -2.0, 3.0), turn())] {
            let solid = placed(solid.clone(), at, rotation);
            let mesh = surface(&solid);
            assert_volume(&mesh, outer.volume() - hole.volume());
            let corners = outer.corners().into_iter().chain(hole.corners());
            let worst = worst_corner(&mesh, corners.map(|p| at + rotation * p));
            assert!(worst < 1e-12, "a corner is off by {worst} m");
            assert!(
                is_manifold(&mesh) && mesh.triangles.len() <= 40,
                "{}",
                mesh.triangles.len()
            );
        }
    }
    // A tunnel through the whole block.
    let tunnel = subtract(vec![
        cuboid([-0.8, -0.8, 0.0], [0.8, 0.8, 0.5]),
        cuboid([-0.5, -0.3, -1.0], [0.4, 0.6, 1.0]),
    ]);
    let mesh = surface(&tunnel);
    assert_volume(&mesh, outer.volume() - 0.9 * 0.9 * 0.5);
    assert!(mesh.triangles.len() <= 48, "{}", mesh.triangles.len());
}

#[test]
fn boxes_that_share_faces_become_one() {
    let halves = union(vec![
        cuboid([0.0, 0.0, 0.0], [1.0, 1.0, 1.0]),
        cuboid([1.0, 0.0, 0.0], [3.0, 1.0, 1.0]),
        cuboid([0.5, 0.0, 0.0], [1.5, 1.0, 1.0]),
    ]);
    let halves = placed(halves, DVec3::new(0.1, 0.2, 0.3), turn());
    let mesh = surface(&halves);
    assert_eq!((mesh.vertices.len(), mesh.triangles.len()), (8, 12));
    assert_volume(&mesh, 3.0);
    // A table: legs end flush with the sides and within the top.
    let leg = |x: f64, y: f64| cuboid([x, y, 0.0], [x + 0.1, y + 0.1, 0.75]);
    let table = union(vec![
        cuboid([0.0, 0.0, 0.7], [1.2, 0.8, 0.75]),
        leg(0.0, 0.0),
        leg(1.1, 0.0),
        leg(0.0, 0.7),
        leg(1.1, 0.7),
    ]);
    let mesh = surface(&table);
    assert_volume(&mesh, 1.2 * 0.8 * 0.05 + 4.0 * 0.01 * 0.7);
    assert!(mesh.triangles.len() <= 100, "{}", mesh.triangles.len());
}

#[test]
fn grousers_keep_their_corners() {
    // A star of bars about y, all of one width.
    let count = 12;
    let bar = Arc::new(Cuboid::new(DVec3::new(1.0, 0.3, 0.04)).unwrap());
    let turns = (0..count).map(|k| DQuat::from_rotation_y(std::f64::consts::PI * f64::from(k) / f64::from(count)));
    let star = union(turns.clone().map(|r| placed(bar.clone(), DVec3::ZERO, r)).collect());
    let mesh = surface(&star);
    let corners = turns.flat_map(|r| bar.bounds().corners().map(|p| r * p));
    let worst = worst_corner(&mesh, corners);
    assert!(worst < 1e-12, "a corner is off by {worst} m");
    // Every bar except for the polygon in the middle that all share; the bars are disjoint beyond the radius of their
    // crossings.
    let (half, angle) = (0.02, std::f64::consts::PI / f64::from(count));
    let crossing = half / (0.5 * angle).tan();
    let polygon = f64::from(count) * 2.0 * half * crossing;
    let arms = 2.0 * f64::from(count) * 2.0 * half * (0.5 - crossing);
    assert_volume(&mesh, 0.3 * (arms + polygon));
    assert!(
        is_manifold(&mesh) && mesh.triangles.len() < 500,
        "{}",
        mesh.triangles.len()
    );
}

#[test]
fn convex_meshes_take_part_in_booleans() {
    // An octahedron and a rotated box as meshes, in single precision as in files.
    let rounded = |mut mesh: TriMesh| {
        mesh.vertices.iter_mut().for_each(|p| *p = p.as_vec3().as_dvec3());
        Arc::new(MeshSolid::new(mesh)) as Solid
    };
    let planes = [-1.0, 1.0].map(|x| [-1.0, 1.0].map(|y| [-1.0, 1.0].map(|z| DVec3::new(x, y, z))));
    let slopes = planes
        .into_iter()
        .flatten()
        .flatten()
        .map(|n| Arc::new(HalfSpace::new(n, 1.0).unwrap()) as Solid);
    let octahedron = intersect(slopes.chain([cuboid([-2.0; 3], [2.0; 3])]).collect());
    let octahedron = rounded(surface(&octahedron));
    let bar = rounded(surface(&placed(
        cuboid([-0.2, -0.2, -3.0], [0.2, 0.2, 3.0]),
        DVec3::ZERO,
        DQuat::from_rotation_z(0.3),
    )));
    let pierced = subtract(vec![octahedron.clone(), bar.clone()]);
    let mesh = surface(&pierced);
    let size = octahedron.bounds().size().x;
    let reach = 0.5 * size;
    let tips = [DVec3::X, DVec3::Y]
        .into_iter()
        .flat_map(|axis| [reach * axis, -reach * axis]);
    let worst = worst_corner(&mesh, tips);
    assert!(worst < 1e-6 * size, "a corner is off by {worst} m");
    assert!(mesh.triangles.len() < 60, "{}", mesh.triangles.len());
    // The bar removes the columns |z| < reach - |x| - |y| above its section.
    let side = 0.4;
    let (sin, cos) = 0.3f64.sin_cos();
    let mean = mean_of_absolute_sum(0.5 * side, cos, sin);
    let expected = 4.0 / 3.0 * reach.powi(3) - 2.0 * side * side * (reach - mean);
    let volume = mass_properties(&mesh).volume;
    assert!((volume / expected - 1.0).abs() < 1e-4, "{volume} m³ of {expected}");

    // A mesh that is not convex is marched.
    let block = surface(&subtract(vec![cuboid([0.0; 3], [1.0; 3]), cuboid([0.5; 3], [2.0; 3])]));
    assert!(subtract(vec![rounded(block), bar]).triangles().is_none());
}

/// Returns the mean of |x| + |y| over a square of half side `half`, rotated by the angle of `cos` and `sin`, by the
/// midpoint rule.
fn mean_of_absolute_sum(half: f64, cos: f64, sin: f64) -> f64 {
    let count = 1000;
    let at = |k: i32| half * ((f64::from(k) + 0.5) / f64::from(count) * 2.0 - 1.0);
    let mut sum = 0.0;
    for u in (0..count).map(at) {
        for v in (0..count).map(at) {
            sum += (cos * u - sin * v).abs() + (sin * u + cos * v).abs();
        }
    }
    sum / f64::from(count).powi(2)
}

#[test]
fn nested_booleans_with_slopes_and_scales_have_their_exact_volume() {
    let slope = |normal: DVec3, offset: f64| Arc::new(HalfSpace::new(normal, offset).unwrap()) as Solid;
    // A gable roof on a house with a door, stretched.
    let block = cuboid([-1.0, -1.0, 0.0], [1.0, 1.0, 3.0]);
    let roof = intersect(vec![
        block,
        slope(DVec3::new(1.0, 0.0, 1.0), 2.5 / 2f64.sqrt()),
        slope(DVec3::new(-1.0, 0.0, 1.0), 2.5 / 2f64.sqrt()),
    ]);
    let chimney = cuboid([0.3, 0.1, 1.0], [0.6, 0.4, 2.6]);
    let door = cuboid([-0.2, -2.0, 0.0], [0.2, -0.5, 0.9]);
    let house = subtract(vec![union(vec![roof, chimney]), door]);
    let stretch = DVec3::new(2.0, 0.5, 1.5);
    let house: Solid = Arc::new(Transformed::new(house, DVec3::new(5.0, 6.0, 7.0), turn(), stretch).unwrap());
    let mesh = surface(&house);
    // Walls to 1.5, a gable of base 2 and height 1, a chimney above the slope from x = 0.3 to 0.6, minus the door.
    let volume = 2.0 * 2.0 * 1.5 + 2.0 + 0.3 * 0.3 * (2.6 - 2.05) - 0.4 * 0.5 * 0.9;
    assert_volume(&mesh, volume * stretch.element_product());
    // The box of the region bounds unbounded solids.
    let trench = subtract(vec![slope(DVec3::Z, 0.0), cuboid([-0.1, -9.0, -0.5], [0.1, 9.0, 9.0])]);
    assert!(trench.triangles().is_none());
    let visible = intersect(vec![trench, cuboid([-1.0, -1.0, -1.0], [1.0, 1.0, 1.0])]);
    assert_volume(&surface(&visible), 2.0 * 2.0 - 0.2 * 2.0 * 0.5);
}

#[test]
fn solids_that_touch_themselves_and_solids_of_nothing() {
    let corner = |at: [f64; 3]| cuboid(at, at.map(|x| x + 1.0));
    for (at, twice) in [
        ([1.0, 1.0, 0.0], "along an edge"),
        ([1.0, 1.0, 1.0], "at a corner"),
        ([1.0, 1.0, 0.5], "along half an edge"),
    ] {
        let solid = placed(union(vec![corner([0.0; 3]), corner(at)]), DVec3::ONE, turn());
        let mesh = surface(&solid);
        assert_volume(&mesh, 2.0);
        assert!(mesh.triangles.len() <= 32, "{twice}: {}", mesh.triangles.len());
    }
    let nothing = subtract(vec![corner([0.0; 3]), cuboid([0.0; 3], [1.0, 2.0, 1.0])]);
    assert_eq!(nothing.triangles().unwrap(), TriMesh::default());
    let apart = intersect(vec![corner([0.0; 3]), corner([1.0, 0.0, 0.0])]);
    assert_eq!(apart.triangles().unwrap(), TriMesh::default());
    assert!(Union::new(vec![corner([0.0; 3])], 0.1).unwrap().triangles().is_none());
}

/// Returns a random Boolean of `leaves`.
fn boolean(stream: &mut Stream, leaves: &[Solid]) -> Solid {
    if let [leaf] = leaves {
        return leaf.clone();
    }
    let middle = 1 + (stream.unit() * (leaves.len() - 1) as f64) as usize;
    let parts = vec![boolean(stream, &leaves[..middle]), boolean(stream, &leaves[middle..])];
    match stream.bits() % 3 {
        0 => union(parts),
        1 => subtract(parts),
        _ => intersect(parts),
    }
}

#[test]
fn booleans_of_boxes_on_a_lattice_fill_the_same_cells() {
    const SIDE: u64 = 5;
    let mut filled = 0;
    for seed in 0..300 {
        let mut stream = Stream::new(seed, 1);
        let mut ends = || {
            let (a, b) = (stream.bits() % SIDE, stream.bits() % SIDE);
            (a.min(b) as f64, a.max(b) as f64 + 1.0)
        };
        let leaves: Vec<Solid> = (0..6)
            .map(|_| {
                let [x, y, z] = [ends(), ends(), ends()];
                cuboid([x.0, y.0, z.0], [x.1, y.1, z.1])
            })
            .collect();
        let tree = |leaves: &[Solid]| boolean(&mut Stream::new(seed, 3), leaves);
        let solid = tree(&leaves);
        let cells = (0..SIDE.pow(3))
            .map(|k| DVec3::new((k % SIDE) as f64, (k / SIDE % SIDE) as f64, (k / SIDE / SIDE) as f64) + 0.5);
        let inside = cells.filter(|&p| solid.is_inside(p)).count();
        // Rotated as a whole, and leaf by leaf: planes then agree only up to rounding.
        let (rotation, at) = (stream.rotation(), DVec3::new(30.0, -20.0, 10.0));
        let turned: Vec<Solid> = leaves.iter().map(|leaf| placed(leaf.clone(), at, rotation)).collect();
        for solid in [solid, tree(&turned)] {
            let mesh = surface(&solid);
            let volume = mass_properties(&mesh).volume;
            assert!(
                (volume - inside as f64).abs() < 1e-9,
                "seed {seed}: {volume} m³, not {inside}"
            );
        }
        filled += usize::from(inside > 0);
    }
    assert!(filled > 100, "{filled}");
}

#[test]
fn booleans_of_turned_boxes_enclose_the_points_inside() {
    let (mut compared, mut most) = (0, 0);
    for seed in 0..60 {
        let mut stream = Stream::new(seed, 2);
        let leaves: Vec<Solid> = (0..8)
            .map(|_| {
                let size = 0.3 + stream.unit_cube();
                let at = stream.unit_cube();
                placed(Arc::new(Cuboid::new(size).unwrap()), at, stream.rotation())
            })
            .collect();
        let solid = boolean(&mut stream, &leaves);
        let mesh = surface(&solid);
        most = most.max(mesh.triangles.len());
        assert_eq!(mesh, solid.triangles().unwrap());
        let by_winding = MeshSolid::new(mesh);
        for p in points_in(solid.bounds(), 300).filter(|&p| solid.distance(p).abs() > 1e-6) {
            let winding = by_winding.winding_number(p);
            assert_eq!(
                winding.round() as i32,
                i32::from(solid.is_inside(p)),
                "seed {seed}: {winding} at {p}"
            );
            compared += 1;
        }
    }
    assert!(compared > 10_000 && most < 1_000, "{compared} points, {most} triangles");
}

#[test]
fn a_small_solid_far_away_keeps_its_corners() {
    let far = DVec3::new(3e4, -7e4, 2e4);
    let solid = subtract(vec![
        cuboid([-0.01, -0.01, 0.0], [0.01, 0.01, 0.01]),
        cuboid([-0.005, -0.005, 0.005], [0.005, 0.005, 0.02]),
    ]);
    let mesh = placed(solid, far, turn()).triangles().unwrap();
    let corners = Aabb::new(DVec3::new(-0.01, -0.01, 0.0), DVec3::splat(0.01)).corners();
    let worst = worst_corner(&mesh, corners.map(|p| far + turn() * p));
    assert!(worst < 1e-10, "a corner is off by {worst} m");
    let volume = mass_properties(&mesh).volume;
    assert!((volume / 3.5e-6 - 1.0).abs() < 1e-6, "{volume} m³");
}

#[test]
fn round_solids_have_flat_sides_within_the_tolerance_and_rims_on_the_surface() {
    let cylinder: Solid = Arc::new(Cylinder::new(0.5, 0.3).unwrap());
    let cone: Solid = Arc::new(Cone::new(0.4, 0.0, 0.6).unwrap());
    let funnel: Solid = Arc::new(Cone::new(0.1, 0.5, 0.3).unwrap());
    for shape in [cylinder, cone, funnel] {
        assert!(shape.triangles().is_none());
        for (tolerance, stretch) in [
            (1e-2, DVec3::ONE),
            (1e-3, DVec3::new(2.0, 0.5, 1.0)),
            (1e-4, DVec3::ONE),
        ] {
            let shape = Transformed::new(shape.clone(), DVec3::ONE, turn(), stretch).unwrap();
            let mesh = shape.flat_solid(tolerance).unwrap().surface(&shape.bounds()).unwrap();
            for &p in &mesh.vertices {
                assert!(shape.distance(p).abs() < 1e-9, "{p}");
            }
            for t in 0..mesh.triangles.len() {
                let off = shape.distance(mesh.corners(t).into_iter().sum::<DVec3>() / 3.0);
                assert!(off < 1e-9 && off > -tolerance, "{off} m");
            }
            assert!(
                is_manifold(&mesh) && mesh.triangles.len() < 800,
                "{}",
                mesh.triangles.len()
            );
        }
        assert!(shape.flat_solid(1e-9).is_none());
    }
    // A drum in a box, flush with its top: the rim and all corners.
    let drum = Arc::new(Cylinder::new(0.5, 0.4).unwrap());
    let solid = subtract(vec![cuboid([-1.0, -1.0, -0.3], [1.0, 1.0, 0.2]), drum]);
    let mesh = solid.flat_solid(1e-4).unwrap().surface(&solid.bounds()).unwrap();
    assert!(worst_corner(&mesh, solid.bounds().corners()) < 1e-12);
    let volume = 2.0 * 2.0 * 0.5 - std::f64::consts::PI * 0.25 * 0.4;
    assert!((mass_properties(&mesh).volume / volume - 1.0).abs() < 2e-4);
    assert!(
        is_manifold(&mesh) && mesh.triangles.len() < 1_000,
        "{}",
        mesh.triangles.len()
    );
}

#[test]
fn solids_of_too_many_or_extreme_faces_are_left_to_others() {
    let boxes = (0..20_000).map(|k| cuboid([f64::from(k), 0.0, 0.0], [f64::from(k) + 0.5, 1.0, 1.0]));
    assert!(union(boxes.collect()).triangles().is_none());
    for size in [1e-200, 1e-80, 1e80, 1e200, 1e308] {
        let huge = subtract(vec![cuboid([0.0; 3], [size; 3]), cuboid([0.0; 3], [0.5 * size; 3])]);
        assert!(huge.triangles().is_none(), "{size}");
    }
    // As close to each other as numbers can be.
    for gap in [1e-16, 1e-13, 1e-11, 1e-10, 2e-10, 1e-9, 1e-8] {
        let solid = union(vec![
            cuboid([0.0; 3], [1.0; 3]),
            cuboid([1.0 + gap, gap, -gap], [2.0, 1.0 + gap, 1.0 - gap]),
            cuboid([gap, 0.5, 0.5], [1.5, 1.5, 1.5]),
        ]);
        let mesh = solid.triangles();
        if let Some(mesh) = mesh {
            let volume = mass_properties(&mesh).volume;
            // 1 + 1 + 1.5 minus the overlaps 0.25 and 0.125.
            assert!((volume - 3.125).abs() < 1e-7, "{gap}: {volume} m³");
        }
    }
}
