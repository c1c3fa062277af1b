//! Periodic ranges: grains and guides that leave at one end re-enter at the other.

use barchan_world::World;
use glam::DVec3;

use crate::field::Mover;
use crate::grains::Grains;

/// The guides, and images of those near the ends of periodic ranges.
pub(crate) fn with_images(world: &World, movers: &[Mover]) -> Vec<Mover> {
    let mut all = movers.to_vec();
    for (axis, range) in world.periodic.iter().enumerate() {
        let Some([low, high]) = range else { continue };
        let (low, high) = ((low - world.origin[axis]) as f32, (high - world.origin[axis]) as f32);
        for k in 0..all.len() {
            let (mover, x) = (all[k], all[k].position[axis]);
            for (near, shift) in [(x - low, high - low), (high - x, low - high)] {
                if near < mover.reach() {
                    let mut image = mover;
                    image.position[axis] += shift;
                    all.push(image);
                }
            }
        }
    }
    all
}

/// Brings grains that left a periodic range back into it.
pub(crate) fn wrap(world: &World, grains: &mut Grains) {
    if world.periodic.iter().all(Option::is_none) {
        return;
    }
    for i in 0..grains.len() {
        let place = wrapped(world, grains.place(i).as_dvec3()).as_vec3();
        for axis in 0..3 {
            grains.position[axis][i] = place[axis];
        }
    }
}

/// Brings guides that left a periodic range back into it: [`with_images`] adds images at a distance of one period.
pub(crate) fn wrap_movers(world: &World, movers: &mut [Mover]) {
    for (axis, range) in world.periodic.iter().enumerate() {
        let Some([low, high]) = range else { continue };
        let (low, high) = ((low - world.origin[axis]) as f32, (high - world.origin[axis]) as f32);
        for mover in movers.iter_mut() {
            let x = &mut mover.position[axis];
            if !(low..high).contains(x) {
                *x = low + (*x - low).rem_euclid(high - low);
            }
        }
    }
}

/// `place` [m], relative to the world's origin, brought back into periodic ranges.
pub(crate) fn wrapped(world: &World, mut place: DVec3) -> DVec3 {
    for (axis, range) in world.periodic.iter().enumerate() {
        if let Some([low, high]) = range {
            let low = low - world.origin[axis];
            let high = high - world.origin[axis];
            if !(low..high).contains(&place[axis]) {
                place[axis] = low + (place[axis] - low).rem_euclid(high - low);
            }
        }
    }
    place
}
