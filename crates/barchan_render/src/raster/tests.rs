use super::*;
use crate::grain::{Ellipsoid, GrainKind, GrainMaterial};
use crate::picture::{Colors, Grains, Mesh, Radii, Spheres};
use crate::{Camera, Picture};
use glam::{Affine3A, Vec3};

const WIDTH: u32 = 200;
const HEIGHT: u32 = 150;

/// A camera at the origin that looks along x.
fn camera() -> Camera {
    Camera {
        position: Vec3::ZERO,
        target: Vec3::X,
        up: Vec3::Z,
        vertical_fov: 0.8,
    }
}

fn balls<'a>(positions: &'a [Vec3], radii: &'a [f32]) -> Spheres<'a> {
    Spheres {
        positions,
        radii: Radii::Each(radii),
        colors: Colors::One([0.5; 3]),
        ids: None,
    }
}

fn picture<'a>(positions: &'a [Vec3], radii: &'a [f32]) -> Picture<'a> {
    let mut picture = Picture::new(balls(positions, radii));
    picture.camera = camera();
    picture
}

/// Returns for each sample its ray (of depth 1), its depth [m] and the id of the surface.
fn seen(picture: &Picture) -> Vec<(Vec3, f32, u32)> {
    let lens = Lens::of_camera(&picture.camera, WIDTH, HEIGHT).unwrap();
    let scene = Scene::new(picture).unwrap();
    let samples = Samples::draw(&lens, &scene);
    let mut seen = Vec::new();
    for (x, y) in (0..HEIGHT as usize).flat_map(|y| (0..WIDTH as usize).map(move |x| (x, y))) {
        let pixel = samples.index(x, y);
        for lane in 0..4 {
            let place = Vec2::new(x as f32 + lens.lanes[0][lane], y as f32 + lens.lanes[1][lane]);
            seen.push((lens.ray(place), samples.depth[pixel][lane], samples.ids[pixel][lane]));
        }
    }
    seen
}

/// Returns the depth at which a ray from the origin meets a sphere, in double precision.
fn sphere_depth(ray: Vec3, center: Vec3, radius: f32) -> Option<f64> {
    let (d, c, r) = (ray.as_dvec3(), center.as_dvec3(), f64::from(radius));
    let inside = d.dot(c).powi(2) - d.length_squared() * (c.length_squared() - r * r);
    (inside >= 0.0).then(|| (d.dot(c) - inside.sqrt()) / d.length_squared())
}

/// Returns true for samples so close to the silhouette that rounding may decide.
fn on_the_edge(ray: Vec3, center: Vec3, radius: f32) -> bool {
    let distance = center.as_dvec3().cross(ray.as_dvec3().normalize()).length();
    (distance - f64::from(radius)).abs() < 1e-5 * f64::from(radius)
}

#[test]
fn silhouette_and_depth_of_a_sphere_are_those_of_the_closed_form() {
    // In the middle, at the border of the view where it is an ellipse, and close to the camera.
    for (center, radius) in [
        (Vec3::new(5.0, 0.0, 0.0), 1.0),
        (Vec3::new(5.0, 2.2, -1.6), 0.5),
        (Vec3::new(1.2, 0.3, 0.2), 0.9),
        (Vec3::new(0.2, 1.0, 0.0), 0.95),
    ] {
        let (positions, radii) = ([center], [radius]);
        let mut hits = 0;
        for (ray, depth, id) in seen(&picture(&positions, &radii)) {
            match sphere_depth(ray, center, radius).filter(|&t| t > 0.0) {
                _ if on_the_edge(ray, center, radius) => {}
                Some(expected) => {
                    assert_eq!(id, 0, "a ray to {center} misses");
                    // Half the chord is a root: its error grows toward the silhouette.
                    assert!(
                        (f64::from(depth) - expected).abs() < 2e-3 * f64::from(radius),
                        "{depth}, not {expected}"
                    );
                    hits += 1;
                }
                None => assert_eq!(id, SKY, "a ray beside {center} hits"),
            }
        }
        assert!(hits > 1000, "{center}: {hits}");
    }
}

/// Returns the distances along a ray from `origin` at which it enters a grain, in double precision.
fn grain_depth(origin: Vec3, ray: Vec3, center: Vec3, radius: f32, shape: &Ellipsoid) -> Option<f64> {
    let flat = |v: Vec3| (shape.turn.as_dquat() * v.as_dvec3()) / shape.axes.as_dvec3();
    let (d, c, r) = (flat(ray), flat(center - origin), f64::from(radius));
    let inside = d.dot(c).powi(2) - d.length_squared() * (c.length_squared() - r * r);
    (inside >= 0.0).then(|| (d.dot(c) - inside.sqrt()) / d.length_squared())
}

#[test]
fn silhouette_and_depth_of_a_grain_are_those_of_its_ellipsoid() {
    let materials = [GrainMaterial::new(GrainKind::Gravel)];
    let (center, radius) = (Vec3::new(5.0, 1.8, -1.1), 0.7);
    let (positions, radii) = ([center], [radius]);
    for id in [3, 4, 77] {
        let mut picture = picture(&positions, &radii);
        let ids = [id];
        picture.spheres.ids = Some(&ids);
        picture.spheres.colors = Colors::Grains(Grains {
            materials: &materials,
            kinds: None,
            wetness: None,
            shaped: true,
        });
        let scene = Scene::new(&picture).unwrap();
        let shape = Ellipsoid::of_grain(id, scene.palettes[0].shape.stretch);
        let camera = Lens::of_camera(&picture.camera, WIDTH, HEIGHT).unwrap();
        let sun = Lens::of_light(
            Vec3::new(0.5, 0.3, -0.8).normalize(),
            center,
            0.012,
            [WIDTH as usize; 2],
        );
        for lens in [camera, sun] {
            let samples = Samples::draw(&lens, &scene);
            let (mut hits, mut wrong) = (0, 0);
            for (x, y) in (0..lens.size[1]).flat_map(|y| (0..lens.size[0]).map(move |x| (x, y))) {
                let place = Vec2::new(x as f32 + lens.lanes[0][0], y as f32 + lens.lanes[1][0]);
                let offset = (place - lens.middle) * lens.scale;
                let (from, ray) = match lens.perspective {
                    true => (lens.origin, lens.ray(place)),
                    false => (lens.origin + lens.outward(offset.extend(0.0)), lens.forward),
                };
                let found = samples.depth[samples.index(x, y)].x;
                match grain_depth(from, ray, center, radius, &shape) {
                    Some(expected) if (f64::from(found) - expected).abs() < 5e-3 => hits += 1,
                    None if found == f32::INFINITY => {}
                    // Rounding decides at the silhouette.
                    _ => wrong += 1,
                }
            }
            assert!(hits > 1000 && 200 * wrong < hits, "{id}: {hits} hits, {wrong} wrong");
        }
    }
}

#[test]
fn the_share_of_a_sphere_in_the_image_is_that_of_its_disc() {
    let (positions, radii) = ([Vec3::new(5.0, 0.0, 0.0)], [1.0]);
    let hits = seen(&picture(&positions, &radii)).iter().filter(|s| s.2 == 0).count();
    // The cone of tangents has the slope r / sqrt(c² - r²).
    let pixel = 2.0 * (0.5f64 * 0.8).tan() / f64::from(HEIGHT);
    let expected = 4.0 * std::f64::consts::PI / (24.0 * pixel * pixel);
    assert!((hits as f64 / expected - 1.0).abs() < 2e-3, "{hits}, not {expected}");
}

#[test]
fn a_far_small_grain_keeps_its_shape() {
    let (center, radius) = (Vec3::new(40.0, 7.123, -3.4), 0.4);
    let mut picture = picture(&[], &[]);
    let (positions, radii) = ([center], [radius]);
    picture.spheres = balls(&positions, &radii);
    for (ray, _, id) in seen(&picture) {
        let expected = if sphere_depth(ray, center, radius).is_some() {
            0
        } else {
            SKY
        };
        let distance = center.as_dvec3().cross(ray.as_dvec3().normalize()).length();
        if (distance - f64::from(radius)).abs() > 1e-3 * f64::from(radius) {
            assert_eq!(id, expected);
        }
    }
}

#[test]
fn of_two_spheres_that_intersect_the_nearer_surface_is_seen() {
    let positions = [Vec3::new(5.0, 0.3, 0.0), Vec3::new(5.1, -0.3, 0.0)];
    let radii = [0.8, 0.9];
    let mut both = 0;
    for (ray, depth, id) in seen(&picture(&positions, &radii)) {
        let depths = [0, 1].map(|k| sphere_depth(ray, positions[k], radii[k]));
        if let [Some(first), Some(second)] = depths
            && (first - second).abs() > 1e-3
        {
            assert_eq!(id, u32::from(second < first));
            assert!((f64::from(depth) - first.min(second)).abs() < 1e-3);
            both += 1;
        }
    }
    assert!(both > 1000, "{both}");
}

fn square(at: f32, half: f32) -> [Vec3; 4] {
    [[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]].map(|[y, z]| Vec3::new(at, half * y, half * z))
}

fn mesh<'a>(vertices: &'a [Vec3], triangles: &'a [[u32; 3]]) -> Mesh<'a> {
    Mesh {
        vertices,
        triangles,
        pose: Affine3A::IDENTITY,
        color: [0.5; 3],
        opacity: 1.0,
    }
}

#[test]
fn a_wall_through_a_sphere_hides_its_far_half() {
    let (positions, radii) = ([Vec3::new(5.0, 0.0, 0.0)], [1.0]);
    let vertices = square(4.6, 1.5);
    let mut picture = picture(&positions, &radii);
    picture.meshes = vec![mesh(&vertices, &[[0, 1, 2], [0, 2, 3]])];
    for (ray, depth, id) in seen(&picture) {
        let (y, z) = (4.6 * ray.y, 4.6 * ray.z);
        if (y.abs().max(z.abs()) - 1.5).abs() < 1e-4 {
            continue;
        }
        let wall = y.abs() < 1.5 && z.abs() < 1.5;
        match sphere_depth(ray, positions[0], 1.0) {
            Some(front) if front < 4.599 => assert_eq!(id, 0),
            _ if !wall => {}
            Some(front) if front < 4.601 => {}
            _ => {
                assert!(id == 1 || id == 2, "{id}");
                assert!((depth - 4.6).abs() < 1e-5, "{depth}");
            }
        }
    }
}

#[test]
fn triangles_that_share_an_edge_leave_no_gap_and_no_overlap() {
    let vertices = square(3.0, 9.0);
    let halves = [[[0u32, 1, 2]], [[0, 2, 3]]];
    let counts = halves.map(|half| {
        let mut picture = picture(&[], &[]);
        picture.meshes = vec![mesh(&vertices, &half)];
        seen(&picture).iter().filter(|s| s.2 == 0).count()
    });
    assert!(counts[0] > 1000 && counts[1] > 1000);
    assert_eq!(counts[0] + counts[1], 4 * (WIDTH * HEIGHT) as usize);
}

#[test]
fn a_floor_that_passes_under_the_camera_is_drawn_to_its_end() {
    // Corners behind the camera must not be mirrored into the image.
    let floor = |half: f32| square(0.0, half).map(|v| Vec3::new(v.y, v.z, -1.0));
    let vertices = floor(20.0);
    let mut picture = picture(&[], &[]);
    picture.meshes = vec![mesh(&vertices, &[[0, 1, 2], [0, 2, 3]])];
    for (ray, depth, id) in seen(&picture) {
        let distance = -1.0 / ray.z;
        let under = ray.z < 0.0 && distance < 20.0;
        if (distance - 20.0).abs() > 1e-3 {
            assert_eq!(id != SKY, under, "{ray}");
        }
        if under {
            assert!((depth - distance).abs() < 1e-4 * distance, "{depth}, not {distance}");
        }
    }
}

#[test]
fn the_ground_lies_at_its_height() {
    let mut picture = picture(&[], &[]);
    picture.ground = Some(-0.5);
    for (ray, depth, id) in seen(&picture) {
        assert_eq!(id == GROUND, ray.z < 0.0);
        if ray.z < -0.01 {
            assert!((depth * ray.z + 0.5).abs() < 1e-5);
        }
    }
}

#[test]
fn a_grain_below_a_pixel_is_seen_wherever_it_is_and_keeps_its_share() {
    // A narrow view: off its axis a sphere would be an ellipse.
    let fov = 0.05;
    let pixel = 2.0 * (0.5f32 * fov).tan() / HEIGHT as f32;
    for radius_pixels in [0.1f32, 0.3, 0.5, 0.65] {
        let (mut all, count) = (0, 400);
        let positions: Vec<Vec3> = (0..count)
            .map(|k| {
                let (column, row) = ((k % 20) as f32, (k / 20) as f32);
                // A little more than four pixels apart, so that every position within a pixel occurs.
                let place = Vec2::new(4.0 + 4.13 * column, 4.0 + 4.29 * row);
                let offset = place - 0.5 * Vec2::new(WIDTH as f32, HEIGHT as f32);
                5.0 * Vec3::new(1.0, -offset.x * pixel, -offset.y * pixel)
            })
            .collect();
        let radii = vec![5.0 * pixel * radius_pixels; count];
        let mut hits = vec![0; count];
        let mut picture = picture(&positions, &radii);
        picture.camera.vertical_fov = fov;
        for (_, _, id) in seen(&picture).iter().filter(|s| s.2 != SKY) {
            hits[*id as usize] += 1;
            all += 1;
        }
        assert!(hits.iter().all(|&n| n > 0), "a grain of {radius_pixels} px vanished");
        let share = all as f32 / (4 * count) as f32;
        // One lane is always kept, so the smallest share is a quarter of the smallest disc.
        let least = 0.25 * std::f32::consts::FRAC_PI_2;
        let expected = (std::f32::consts::PI * radius_pixels * radius_pixels).max(least);
        assert!(
            (share / expected - 1.0).abs() < 0.1,
            "{radius_pixels} px: {share}, not {expected}"
        );
    }
}
