//! Bodies as guides see them: the world's own, then their images through periodic faces, those of one body side by side.

use barchan_world::World;

use super::bodies::{BodyStep, Load};

/// Number of bodies and images that guides see.
pub(crate) fn count(world: &World) -> usize {
    world.bodies.len() * world.places_of_bodies()
}

/// The body of each thing that guides see, by its number.
pub(crate) fn numbers(world: &World) -> impl Iterator<Item = usize> {
    let (bodies, images) = (world.bodies.len(), world.places_of_bodies() - 1);
    (0..bodies).chain((0..bodies * images).map(move |k| k / images))
}

/// Bodies and their images over the next `step` [s]; in pieces of that volume [m³], if guides meet those.
pub(crate) fn place(seen: &mut Vec<BodyStep>, world: &World, step: f64, pieces: Option<f64>) {
    let own = |k: usize| {
        let body = BodyStep::new(world, k, step);
        pieces.map_or(body, |volume| body.in_pieces(volume, world.bodies[k].density))
    };
    seen.clear();
    seen.extend((0..world.bodies.len()).map(own));
    if world.places_of_bodies() == 1 {
        return;
    }
    for (k, body) in world.bodies.iter().enumerate() {
        let own = seen[k];
        let mut shifts = world.shifts_of_body(body);
        seen[k] = own.seen(shifts.next().flatten());
        seen.extend(shifts.map(|shift| own.seen(shift)));
    }
}

/// Gives bodies what their images got.
pub(crate) fn gather(loads: &mut [Load], seen: &[BodyStep], bodies: usize) {
    for k in bodies..loads.len() {
        let image = std::mem::take(&mut loads[k]);
        loads[seen[k].of as usize].add(&image);
    }
}

/// Moves images as their bodies were moved.
pub(crate) fn follow(seen: &mut [BodyStep], bodies: usize) {
    let (own, images) = seen.split_at_mut(bodies);
    for image in images {
        let BodyStep {
            contacts, shift, turn, ..
        } = own[image.of as usize];
        (image.contacts, image.shift, image.turn) = (contacts, shift, turn);
    }
}
