//! Memory of a bed of spheres.

mod support;

use barchan_dem::DemSettings;
use barchan_testing::{Counting, peak_allocation};
use glam::DVec3;
use support::*;

#[global_allocator]
static GLOBAL: Counting = Counting;

/// Most memory per sphere [bytes], while a bed falls together and neighbors are searched for.
const MOST: usize = 450;

#[test]
fn a_bed_of_spheres_takes_few_bytes_per_sphere() {
    let count = 4096;
    let radius = 5e-3;
    let mut world = world(DVec3::NEG_Z * 9.81, 0.5);
    let side = 16.0 * 2.4 * radius;
    for (normal, at) in [
        (DVec3::Z, DVec3::ZERO),
        (DVec3::X, DVec3::ZERO),
        (DVec3::Y, DVec3::ZERO),
        (DVec3::NEG_X, DVec3::splat(side)),
        (DVec3::NEG_Y, DVec3::splat(side)),
    ] {
        world.bodies.push(plane(normal, at, 0.5));
    }
    cloud(&mut world, count, radius, 0.1);
    let guides = size_of::<u32>() + 3 * size_of::<glam::Vec3>() + 2 * size_of::<f32>() + 1;
    let (settled, most) = peak_allocation(|| {
        let mut solver = solver(&world, DemSettings::default());
        run(&mut solver, &mut world, 1.0 / 60.0, 12);
        solver
    });
    let per_sphere = guides + most / count;
    assert!(per_sphere < MOST, "{per_sphere} bytes per sphere");
    // The count counts: the state of a sphere alone takes this much.
    assert!(per_sphere > guides + 100, "{per_sphere} bytes per sphere");
    drop(settled);
}
