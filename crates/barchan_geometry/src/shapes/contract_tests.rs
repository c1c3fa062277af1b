//! Tests the contract of [`Shape`] on all solids and compositions, and each solid against closed forms and brute force.

use std::sync::Arc;

use glam::{DQuat, DVec2, DVec3};
use proptest::prelude::*;

use super::*;
use crate::random::Stream;
use crate::{Aabb, Shape};

type Solid = Arc<dyn Shape>;

fn length() -> impl Strategy<Value = f64> {
    (-1.0..0.5f64).prop_map(|exponent| 10f64.powf(exponent))
}

fn vector(reach: f64) -> impl Strategy<Value = DVec3> {
    prop::array::uniform3(-reach..reach).prop_map(DVec3::from)
}

fn direction() -> impl Strategy<Value = DVec3> {
    vector(1.0).prop_filter_map("zero", unit)
}

fn rotation() -> impl Strategy<Value = DQuat> {
    (direction(), -3.2..3.2f64).prop_map(|(axis, angle)| DQuat::from_axis_angle(axis, angle))
}

/// A star around a point off the axis, or one cut by the axis.
fn profile() -> impl Strategy<Value = Vec<DVec2>> {
    (3usize..12, prop::collection::vec(0.3..1.0f64, 12), 0.0..2.0f64).prop_map(|(count, radii, offset)| {
        let corner = |k: usize| {
            let (sin, cos) = (k as f64 * std::f64::consts::TAU / count as f64).sin_cos();
            DVec2::new((offset + radii[k] * cos).max(0.0), radii[k] * sin)
        };
        (0..count).map(corner).collect()
    })
}

fn ground() -> impl Strategy<Value = Heightmap> {
    (2usize..6, prop::collection::vec(0.0..1.0f32, 30), length(), length()).prop_map(
        |(columns, samples, side, height)| {
            let samples = samples[..columns * 5].to_vec();
            Heightmap::new(samples, columns, DVec2::new(side, 1.0), height, 0.2).unwrap()
        },
    )
}

/// Solids whose distance is exact.
fn primitive() -> impl Strategy<Value = Solid> {
    fn solid<S: Shape + 'static>(shape: Result<S, ShapeError>) -> Solid {
        Arc::new(shape.unwrap())
    }
    let lengths = || prop::array::uniform3(length()).prop_map(DVec3::from);
    prop_oneof![
        length().prop_map(|r| solid(Sphere::new(r))),
        (lengths(), 0.0..=1.0f64).prop_map(|(size, r)| solid(Cuboid::rounded(size, 0.5 * r * size.min_element()))),
        lengths().prop_map(|radii| solid(Ellipsoid::new(radii))),
        (length(), length()).prop_map(|(r, h)| solid(Cylinder::new(r, h))),
        (length(), length()).prop_map(|(r, h)| solid(Capsule::new(r, 2.0 * r + h))),
        (length(), length(), length()).prop_map(|(a, b, h)| solid(Cone::new(a, b, h))),
        (length(), length()).prop_map(|(r, h)| solid(Cone::new(r, 0.0, h))),
        (length(), 0.05..0.95f64).prop_map(|(major, part)| solid(Torus::new(major, part * major))),
        (direction(), -1.0..1.0f64).prop_map(|(normal, offset)| solid(HalfSpace::new(normal, offset))),
        profile().prop_filter_map("axis", |points| Revolve::new(&points).ok().map(|r| solid(Ok(r)))),
        ground().prop_map(|map| solid(Ok(map))),
    ]
}

/// Any solid, up to three compositions deep.
fn composition() -> impl Strategy<Value = Solid> {
    primitive().prop_recursive(3, 12, 4, |inner| {
        let some = || prop::collection::vec(inner.clone(), 1..4);
        let smooth = || prop_oneof![Just(0.0), 0.01..0.8f64];
        prop_oneof![
            (some(), smooth()).prop_map(|(shapes, c)| Arc::new(Union::new(shapes, c).unwrap()) as Solid),
            (some(), smooth()).prop_map(|(shapes, c)| Arc::new(Subtract::new(shapes, c).unwrap()) as Solid),
            (some(), smooth()).prop_map(|(shapes, c)| Arc::new(Intersect::new(shapes, c).unwrap()) as Solid),
            (
                inner.clone(),
                vector(1.0),
                rotation(),
                prop::array::uniform3(0.3..3.0f64)
            )
                .prop_map(|(shape, at, turn, scale)| Arc::new(
                    Transformed::new(shape, at, turn, scale.into()).unwrap()
                ) as Solid),
        ]
    })
}

/// Returns the gradient by central differences, or `None` where the two sides differ: on a crease.
fn gradient(shape: &dyn Shape, p: DVec3) -> Option<DVec3> {
    let step = 1e-5;
    let here = shape.distance(p);
    let mut slopes = DVec3::ZERO;
    for (k, axis) in DVec3::AXES.into_iter().enumerate() {
        let forward = (shape.distance(p + step * axis) - here) / step;
        let backward = (here - shape.distance(p - step * axis)) / step;
        if (forward - backward).abs() > 1e-3 {
            return None;
        }
        slopes[k] = 0.5 * (forward + backward);
    }
    unit(slopes)
}

fn assert_contract(shape: &dyn Shape, seed: u64, p: DVec3, q: DVec3) {
    const TINY: f64 = 1e-9;
    let d = shape.distance(p);
    assert!(d.is_finite(), "{d} at {p}");
    let change = (d - shape.distance(q)).abs();
    assert!(
        change <= p.distance(q) + TINY,
        "changes by {change} over {} from {p} to {q}",
        p.distance(q)
    );

    let mut stream = Stream::new(seed, 0);
    for _ in 0..24 {
        let within = unit(stream.unit_cube() - 0.5).unwrap_or(DVec3::X) * d.abs() * stream.unit().cbrt();
        let there = shape.distance(p + within);
        assert!(
            d * there >= 0.0 || there.abs() < TINY,
            "{d} at {p}, but {there} at {}",
            p + within
        );
    }

    let normal = shape.normal(p);
    assert!((normal.length() - 1.0).abs() < 1e-12, "normal {normal} at {p}");
    if let Some(gradient) = gradient(shape, p) {
        assert!(
            normal.dot(gradient) > 1.0 - 1e-4,
            "normal {normal}, gradient {gradient} at {p}"
        );
    }

    let bounds = shape.bounds();
    assert!(!bounds.min.is_nan() && !bounds.max.is_nan(), "{bounds:?}");
    assert!(
        d >= -TINY || bounds.grown(TINY).contains(p),
        "{p} is inside but not in {bounds:?}"
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]

    #[test]
    fn every_solid_keeps_the_contract(shape in primitive(), p in vector(3.0), q in vector(3.0), seed: u64) {
        assert_contract(&*shape, seed, p, q);
        assert_contract(&*shape, seed, p, p + 1e-3 * q);
    }

    #[test]
    fn every_composition_keeps_the_contract(shape in composition(), p in vector(3.0), q in vector(3.0), seed: u64) {
        assert_contract(&*shape, seed, p, q);
        assert_contract(&*shape, seed, p, p + 1e-3 * q);
    }

    /// With the contract, this makes the distance exact: no surface is nearer, and here is surface.
    #[test]
    fn going_back_along_the_normal_of_a_solid_by_the_distance_ends_on_its_surface(shape in primitive(), p in vector(3.0)) {
        let foot = p - shape.distance(p) * shape.normal(p);
        prop_assert!(shape.distance(foot).abs() < 1e-9, "{} at {foot}", shape.distance(foot));
    }

    #[test]
    fn a_solid_moves_turns_and_grows_with_its_transform(
        shape in primitive(), at in vector(5.0), turn in rotation(), scale in 0.1..10.0f64, p in vector(2.0),
    ) {
        let there = at + turn * (scale * p);
        let moved = Transformed::new(shape.clone(), at, turn, DVec3::splat(scale)).unwrap();
        prop_assert!((moved.distance(there) - scale * shape.distance(p)).abs() < 1e-12 * 100.0);
        if gradient(&*shape, p).is_some() {
            prop_assert!(moved.normal(there).distance(turn * shape.normal(p)) < 1e-6);
        }
    }

    /// No point of the surface, sampled through its equation, is nearer than the distance; and the point at that
    /// distance along the normal satisfies the equation.
    #[test]
    fn the_distance_to_an_ellipsoid_is_that_to_its_nearest_point(
        radii in prop::array::uniform3(-2.0..1.0f64), p in vector(3.0), flat in 0usize..4,
    ) {
        let radii = DVec3::from(radii.map(|e| 10f64.powf(e)));
        let mut p = p * radii.max_element();
        if flat < 3 {
            p[flat] = 0.0;
        }
        let ellipsoid = Ellipsoid::new(radii).unwrap();
        let found = ellipsoid.distance(p);
        let brute = nearest_by_refinement(p, |latitude, longitude| {
            radii * DVec3::new(latitude.cos() * longitude.cos(), latitude.cos() * longitude.sin(), latitude.sin())
        });
        prop_assert!(found.abs() <= brute * (1.0 + 1e-9) + 1e-12, "{found} {brute}");
        let foot = p - found * ellipsoid.normal(p);
        prop_assert!(((foot / radii).length_squared() - 1.0).abs() < 1e-9, "{foot}");
    }
}

/// Returns the smallest distance [m] from `p` to a surface of latitude and longitude, by a grid refined around its best
/// point.
fn nearest_by_refinement(p: DVec3, surface: impl Fn(f64, f64) -> DVec3) -> f64 {
    use std::f64::consts::{FRAC_PI_2, PI};
    let (mut center, mut half) = ([0.0, 0.0], [FRAC_PI_2, PI]);
    let mut least = f64::INFINITY;
    for _ in 0..12 {
        let middle = center;
        for i in -24..=24 {
            for j in -24..=24 {
                let place = [
                    middle[0] + half[0] * f64::from(i) / 24.0,
                    middle[1] + half[1] * f64::from(j) / 24.0,
                ];
                let distance = p.distance(surface(place[0], place[1]));
                if distance < least {
                    (least, center) = (distance, place);
                }
            }
        }
        half = half.map(|h| 0.3 * h);
    }
    least
}

fn at(x: f64, y: f64, z: f64) -> DVec3 {
    DVec3::new(x, y, z)
}

#[test]
fn distances_agree_with_closed_forms_at_chosen_points() {
    let half = std::f64::consts::FRAC_1_SQRT_2;
    let size = at(2.0, 4.0, 6.0);
    let sharp = Cuboid::new(size).unwrap();
    let rounded = Cuboid::rounded(size, 0.5).unwrap();
    let cylinder = Cylinder::new(1.0, 4.0).unwrap();
    let capsule = Capsule::new(1.0, 4.0).unwrap();
    let cone = Cone::new(1.0, 0.0, 1.0).unwrap();
    let frustum = Cone::new(2.0, 1.0, 1.0).unwrap();
    let torus = Torus::new(2.0, 0.5).unwrap();
    let floor = HalfSpace::new(at(0.0, 0.0, 5.0), 1.0).unwrap();
    let disc = Ellipsoid::new(at(2.0, 2.0, 0.5)).unwrap();
    let cases: &[(&dyn Shape, DVec3, f64)] = &[
        (&sharp, DVec3::ZERO, -1.0),
        (&sharp, at(0.5, 1.75, 0.0), -0.25),
        (&sharp, at(4.0, 6.0, 3.0), 5.0),
        (&rounded, at(1.0, 0.0, 0.0), 0.0),
        (&rounded, at(1.0, 2.0, 3.0), 0.75f64.sqrt() - 0.5),
        (&cylinder, DVec3::ZERO, -1.0),
        (&cylinder, at(4.0, 0.0, 6.0), 5.0),
        (&cylinder, at(0.0, 0.25, -1.875), -0.125),
        (&capsule, at(0.0, 0.0, 2.0), 0.0),
        (&capsule, at(0.0, 4.0, 4.0), 4.0),
        (&cone, at(0.0, 0.0, -0.5), 0.0),
        (&cone, at(0.0, 0.0, 1.5), 1.0),
        (&cone, at(1.0, 0.0, 0.5), half),
        (&cone, at(0.0, 0.0, -0.25), -0.25),
        (&frustum, at(0.0, 0.0, 2.5), 2.0),
        (&frustum, at(0.0, 2.0, 0.5), half),
        (&torus, DVec3::ZERO, 1.5),
        (&torus, at(0.0, 2.0, 0.0), -0.5),
        (&torus, at(5.0, 0.0, 4.0), 4.5),
        (&floor, at(7.0, 8.0, 3.0), 2.0),
        (&disc, DVec3::ZERO, -0.5),
        (&disc, at(0.0, 3.0, 0.0), 1.0),
        (&disc, at(0.0, 0.0, -1.0), 0.5),
    ];
    for (shape, p, expected) in cases {
        let found = shape.distance(*p);
        assert!(
            (found - expected).abs() < 1e-14,
            "{shape:?} at {p}: {found}, not {expected}"
        );
    }
}

#[test]
fn ellipsoids_stay_exact_when_they_are_discs_or_needles() {
    // On the middle plane of a disc of revolution, inside the evolute, the nearest point is at r a^2 / (a^2 - c^2), for
    // the ellipse r^2/a^2 + z^2/c^2 = 1: from the normal through (r, 0).
    for c in [0.5, 1e-3, 1e-6, 1e-9] {
        let disc = Ellipsoid::new(at(1.0, 1.0, c)).unwrap();
        for r in [0.0, 1e-12, 0.3, 0.7] {
            let foot = r / (1.0 - c * c);
            let expected = -(foot - r).hypot(c * (1.0 - foot * foot).sqrt());
            for p in [
                at(r, 0.0, 0.0),
                at(0.6 * r, -0.8 * r, 0.0),
                at(r, 0.0, 1e-30),
                at(r, 0.0, -f64::MIN_POSITIVE),
            ] {
                let found = disc.distance(p);
                assert!(
                    (found / expected - 1.0).abs() < 1e-9,
                    "c {c} at {p}: {found}, not {expected}"
                );
            }
        }
        let needle = Ellipsoid::new(at(c, c, 1.0)).unwrap();
        assert!((needle.distance(DVec3::ZERO) + c).abs() < 1e-15);
        assert!((needle.distance(at(0.0, 0.0, 3.0)) - 2.0).abs() < 1e-15);
        assert!((needle.distance(at(4.0, 0.0, 0.0)) - (4.0 - c)).abs() < 1e-14);
    }
}

#[test]
fn normals_have_unit_length_on_centers_axes_corners_and_faces() {
    let shapes: Vec<Solid> = vec![
        Arc::new(Sphere::new(1.0).unwrap()),
        Arc::new(Cuboid::rounded(DVec3::ONE, 0.25).unwrap()),
        Arc::new(Ellipsoid::new(at(1.0, 2.0, 3.0)).unwrap()),
        Arc::new(Ellipsoid::new(DVec3::ONE).unwrap()),
        Arc::new(Cylinder::new(1.0, 1.0).unwrap()),
        Arc::new(Capsule::new(1.0, 3.0).unwrap()),
        Arc::new(Cone::new(1.0, 0.0, 1.0).unwrap()),
        Arc::new(Torus::new(1.0, 0.5).unwrap()),
        Arc::new(HalfSpace::new(DVec3::Z, 0.0).unwrap()),
        Arc::new(Heightmap::new(vec![0.5; 9], 3, DVec2::ONE, 1.0, 0.5).unwrap()),
    ];
    let both = Union::new(shapes.clone(), 0.3).unwrap();
    let places = [0.0, 0.5, -0.5, 1.0, -1.0, 1e-200, 1e-310];
    for shape in shapes.iter().map(|s| &**s).chain([&both as &dyn Shape]) {
        for x in places {
            for y in places {
                for z in places {
                    let normal = shape.normal(at(x, y, z));
                    assert!(
                        (normal.length() - 1.0).abs() < 1e-12,
                        "{shape:?} at {x} {y} {z}: {normal}"
                    );
                }
            }
        }
    }
}

#[test]
fn bounds_are_tight_and_never_nan() {
    let quarter = DQuat::from_rotation_x(std::f64::consts::FRAC_PI_2);
    let floor: Solid = Arc::new(HalfSpace::new(DVec3::Z, 1.0).unwrap());
    let inf = f64::INFINITY;
    assert_eq!(floor.bounds(), Aabb::new(DVec3::NEG_INFINITY, at(inf, inf, 1.0)));
    let wall = Transformed::new(floor.clone(), at(0.0, 5.0, 0.0), quarter, DVec3::ONE).unwrap();
    assert_eq!(wall.bounds(), Aabb::new(at(-inf, 4.0, -inf), DVec3::INFINITY));
    let tilted = Transformed::new(floor.clone(), DVec3::ZERO, DQuat::from_rotation_x(0.3), DVec3::ONE).unwrap();
    assert_eq!(tilted.bounds(), Aabb::UNBOUNDED);

    let stick: Solid = Arc::new(Cuboid::new(at(2.0, 4.0, 6.0)).unwrap());
    let lying = Transformed::new(stick.clone(), at(1.0, 1.0, 1.0), quarter, at(1.0, 1.0, 2.0)).unwrap();
    assert_eq!(lying.bounds(), Aabb::new(at(0.0, -5.0, -1.0), at(2.0, 7.0, 3.0)));
    let diagonal = Transformed::new(stick, DVec3::ZERO, DQuat::from_rotation_z(0.5), DVec3::ONE).unwrap();
    let reach = 0.5f64.cos() + 2.0 * 0.5f64.sin();
    assert!((diagonal.bounds().max.x - reach).abs() < 1e-14);

    let ball: Solid = Arc::new(Sphere::new(1.0).unwrap());
    let dome = Intersect::new(vec![ball.clone(), floor.clone()], 0.0).unwrap();
    assert_eq!(dome.bounds(), ball.bounds());
    let pit = Subtract::new(vec![floor.clone(), ball.clone()], 0.2).unwrap();
    assert_eq!(pit.bounds(), floor.bounds());
    let pair = Union::new(vec![ball.clone(), ball], 0.2).unwrap();
    assert_eq!(pair.bounds().max, DVec3::splat(1.0 + 0.2 * (1.0 - 0.5f64.sqrt())));
}

#[test]
fn impossible_sizes_are_refused_with_the_name_the_value_and_what_is_allowed() {
    let wrong = [-1.0, 0.0, f64::NAN, f64::INFINITY];
    for x in wrong {
        let ball: Solid = Arc::new(Sphere::new(1.0).unwrap());
        let refusals: [(&str, Option<ShapeError>); 12] = [
            ("radius", Sphere::new(x).err()),
            ("size", Cuboid::new(at(1.0, x, 1.0)).err()),
            ("radii", Ellipsoid::new(at(1.0, 1.0, x)).err()),
            ("radius", Cylinder::new(x, 1.0).err()),
            ("height", Cylinder::new(1.0, x).err()),
            ("radius", Capsule::new(x, 1.0).err()),
            ("height", Capsule::new(1.0, x).err()),
            ("radius", Cone::new(x, 0.0, 1.0).err()),
            ("height", Cone::new(1.0, 0.0, x).err()),
            ("major", Torus::new(x, 0.1).err()),
            ("minor", Torus::new(1.0, x).err()),
            (
                "scale",
                Transformed::new(ball, DVec3::ZERO, DQuat::IDENTITY, at(x, 1.0, 1.0)).err(),
            ),
        ];
        for (what, error) in refusals {
            let error = error.unwrap_or_else(|| panic!("{what} = {x} was accepted"));
            assert_eq!(error.parameter(), what);
            assert!(error.to_string().contains(&format!("got {x}")), "{error}");
        }
    }
    let message = |error: Option<ShapeError>| error.unwrap().to_string();
    assert_eq!(
        message(Cuboid::rounded(DVec3::new(1.0, 2.0, 3.0), 0.6).err()),
        "rounding must be 0 to 0.5, half of the shortest side, got 0.6"
    );
    assert!(message(Torus::new(1.0, 1.0).err()).contains("below major, 1"));
    assert!(message(Capsule::new(1.0, 1.5).err()).contains("at least 2, twice the radius"));
    assert!(message(HalfSpace::new(DVec3::ZERO, 0.0).err()).contains("normal must not be zero"));
    assert!(message(Revolve::new(&[DVec2::new(-1.0, 0.0)]).err()).contains("got -1"));
    assert!(message(Cone::new(1.0, -1.0, 1.0).err()).contains("top_radius"));
}
