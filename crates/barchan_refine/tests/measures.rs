//! The measures on states with known results.

use barchan_geometry::random::Stream;
use barchan_geometry::sample::{Packing, VolumeSettings, sample_volume};
use barchan_geometry::shapes::Cuboid;
use barchan_refine::Grains;
use barchan_refine::measures::{clumping, creep, flow, mass_error, nearest_distances, share_below};
use barchan_world::{Materials, World};
use glam::{DVec3, Vec3};

fn random_points(count: u64, seed: u64) -> Vec<Vec3> {
    (0..count).map(|k| Stream::new(seed, k).unit_cube().as_vec3()).collect()
}

/// Away from the walls of the unit cube, where there are no neighbors beyond.
fn inner(p: Vec3) -> bool {
    p.min_element() > 0.1 && p.max_element() < 0.9
}

#[test]
fn random_points_have_the_figures_of_random_points() {
    let points = random_points(100_000, 1);
    let found = clumping(&points, 0.0215, &inner).unwrap();
    assert!((found.ratio - 1.0).abs() < 0.02, "{found:?}");
    assert!((found.variation - 0.36).abs() < 0.02, "{found:?}");
    for fano in found.fano {
        assert!((fano - 1.0).abs() < 0.12, "{found:?}");
    }
    assert!((found.density / 1e5 - 1.0).abs() < 0.02);
}

#[test]
fn dart_throwing_is_more_even_and_glued_clumps_are_less() {
    let cube = Cuboid::new(DVec3::ONE).unwrap();
    let settings = VolumeSettings {
        packing: Packing::Random,
        ..VolumeSettings::new(0.015).unwrap()
    };
    let darts = sample_volume(&cube, &settings, &|_| ()).unwrap();
    let darts: Vec<Vec3> = darts.positions.iter().map(|p| (*p + 0.5).as_vec3()).collect();
    let even = clumping(&darts, (1.0 / darts.len() as f64).cbrt(), &inner).unwrap();
    // At a fraction of 0.33: 1.58 to 1.65 and 0.05 to 0.03, counts 0.2.
    assert!((1.55..1.7).contains(&even.ratio), "{even:?}");
    assert!((0.02..0.07).contains(&even.variation), "{even:?}");
    assert!((0.15..0.27).contains(&even.fano[1]), "{even:?}");

    let centers = random_points(1500, 2);
    let clumped: Vec<Vec3> = (0..60_000)
        .map(|k| centers[k % centers.len()] + 0.015 * (Stream::new(3, k as u64).unit_cube() - 0.5).as_vec3())
        .collect();
    let found = clumping(&clumped, (1.0 / 60_000f64).cbrt(), &inner).unwrap();
    assert!(found.ratio < 0.6 && found.fano[2] > 5.0, "{found:?}");
}

#[test]
fn nearest_distances_are_those_of_brute_force() {
    let points = random_points(500, 4);
    let found = nearest_distances(&points, 0.3);
    for (i, p) in points.iter().enumerate() {
        let others = points.iter().enumerate().filter(|(j, _)| *j != i);
        let expected = others.map(|(_, q)| p.distance(*q)).fold(f32::INFINITY, f32::min);
        assert!((found[i] - expected).abs() < 1e-6);
    }
    assert_eq!(share_below(&[0.1, 0.2, 0.3, 0.4], 0.25), 0.5);
}

#[test]
fn the_mass_error_is_zero_for_the_same_field_and_one_for_another_place() {
    let guides: Vec<(Vec3, f32)> = random_points(4000, 5).into_iter().map(|p| (p, 2.0)).collect();
    let same = mass_error(&guides, &guides, 0.1).unwrap();
    assert_eq!((same.bulk, same.surface, same.total, same.offset), (0.0, 0.0, 1.0, 0.0));
    let away: Vec<(Vec3, f32)> = guides.iter().map(|(p, m)| (*p + 5.0 * Vec3::X, *m)).collect();
    let apart = mass_error(&guides, &away, 0.1).unwrap();
    // All that is missed in the bulk is half of the difference; the other half is where there are no guides.
    assert!((apart.bulk - 0.5).abs() < 1e-9, "{apart:?}");
    assert!((apart.offset - 5.0).abs() < 1e-4);
    let half: Vec<(Vec3, f32)> = guides.iter().map(|(p, m)| (*p, 0.5 * m)).collect();
    let lost = mass_error(&guides, &half, 0.1).unwrap();
    assert!(
        (lost.bulk - 0.25).abs() < 1e-6 && (lost.total - 0.5).abs() < 1e-6,
        "{lost:?}"
    );
}

#[test]
fn a_thin_layer_beside_a_block_is_an_edge() {
    let block = random_points(8000, 6);
    let layer: Vec<Vec3> = random_points(400, 7)
        .iter()
        .map(|p| Vec3::new(p.x + 1.3, p.y, 0.05 * p.z))
        .collect();
    let guides: Vec<(Vec3, f32)> = block.iter().chain(&layer).map(|p| (*p, 1.0)).collect();
    // Grains are missing in the layer only.
    let grains: Vec<(Vec3, f32)> = block.iter().map(|p| (*p, 1.0)).collect();
    let found = mass_error(&guides, &grains, 0.1).unwrap();
    // Half of what is dealt to nodes beside the layer counts there.
    assert!(found.bulk == 0.0 && found.surface < 0.03, "{found:?}");
    assert!(found.edge > 0.4, "{found:?}");
}

#[test]
fn creep_and_flow_count_who_moved_and_who_is_below() {
    let mut before = Grains::default();
    for k in 0..10u8 {
        before.push(Vec3::splat(f32::from(k)), Vec3::ZERO, u32::from(k), 0);
    }
    let mut after = Grains::default();
    for k in (0..10u8).rev() {
        let moved = if k < 3 { Vec3::X } else { Vec3::ZERO };
        after.push(Vec3::splat(f32::from(k)) + moved, Vec3::ZERO, u32::from(k), 0);
    }
    let found = creep(&before, &after, 0.5);
    assert_eq!((found.moved, found.longest), (0.3, 1.0));
    let mut world = World::new(DVec3::NEG_Z, Materials::default(), 1);
    world.add_guide(DVec3::ZERO, DVec3::ZERO, 0.1, 1.0, 0);
    world.add_guide(DVec3::Z, DVec3::ZERO, 0.1, 3.0, 0);
    let flow = flow(&world, &before, 0.5);
    assert_eq!((flow.guides, flow.grains), (0.25, 0.1));
}
