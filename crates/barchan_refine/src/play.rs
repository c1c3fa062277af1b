//! Guides with play: what rests on them rests.

use barchan_world::{Archive, ArchiveError, World};
use glam::{DVec3, Vec3};

use crate::field::Mover;

/// Where each guide is for grains: an anchor that follows its guide on a slack rope.
///
/// Settled guides never rest altogether: contacts let them tremble. An anchor stays while its guide is within `slack` of it, and
/// is drawn along by a guide that goes farther, so grains see trembling as rest, and lag behind motion by no more than the slack,
/// however slow it is.
#[derive(Clone, Debug, Default)]
pub(crate) struct Play {
    /// By the guides' ids [m], relative to the world's origin; no number for those that are not known yet.
    anchors: Vec<DVec3>,
}

impl Play {
    /// Draws the anchors along over the frame that ends now, and writes what grains see of the guides to `movers`, in the world's
    /// order: where each was at the start, and how it moves.
    pub fn advance(&mut self, world: &World, velocities: &[Vec3], duration: f64, slack: f64, movers: &mut Vec<Mover>) {
        self.anchors.resize(world.next_id as usize, DVec3::NAN);
        movers.clear();
        for (i, velocity) in velocities.iter().enumerate() {
            let now = world.place(i) - world.origin;
            let anchor = &mut self.anchors[world.guides.id[i] as usize];
            let from = match anchor.is_nan() {
                true => now - velocity.as_dvec3() * duration,
                false => *anchor,
            };
            let pull = nearest(world, now - from);
            let length = pull.length();
            let moved = match length > slack {
                true => pull * (1.0 - slack / length),
                false => DVec3::ZERO,
            };
            *anchor = wrapped(world, from + moved);
            let rate = (moved / duration).as_vec3();
            movers.push(Mover::new(from.as_vec3(), rate, world.guides.radius[i]));
        }
    }

    pub fn save(&self, archive: &mut Archive) {
        archive.put("grains.anchors", &self.anchors);
    }

    pub fn load(&mut self, archive: &Archive) -> Result<(), ArchiveError> {
        self.anchors = archive.get("grains.anchors")?;
        Ok(())
    }
}

/// The shortest of the ways that lead to the images of a point.
fn nearest(world: &World, mut way: DVec3) -> DVec3 {
    for (axis, range) in world.periodic.iter().enumerate() {
        if let Some([low, high]) = range {
            way[axis] -= (high - low) * (way[axis] / (high - low)).round();
        }
    }
    way
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
