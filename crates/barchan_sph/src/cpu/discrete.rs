//! Forces between single guides.

use glam::{Vec3, Vec4, Vec4Swizzles};
use rayon::prelude::*;

use super::CHUNK;
use super::columns::Columns;
use super::pairs::{Rows, Space};
use crate::laws::discrete;

/// Inputs of the force between two guides in contact.
pub(crate) struct Touch<'a> {
    /// Velocities [m/s] and pressures [Pa] of the guides.
    pub velocity: &'a [Vec3],
    pub pressure: &'a [f32],
    /// Friction [-] of each pair of materials, and the guides' materials.
    pub friction: &'a [f32],
    pub material: &'a [u8],
    /// Number of materials [-].
    pub materials: usize,
    /// Radius of the kernel, in spacings [-].
    pub support: f32,
    pub step: f32,
}

/// Pushes guides apart that are nearer than their spacing, and lets them rub, over the step, in `columns.base`. Where both have a pressure,
/// the pressure does it.
pub(crate) fn bounce(columns: &mut Columns, rows: &[Rows], space: &Space, touch: &Touch) {
    let Columns {
        place,
        half_support,
        inverse_mass,
        base,
        ..
    } = columns;
    let (step, per_support) = (touch.step, 1.0 / touch.support);
    let chunks = base.par_chunks_mut(CHUNK).zip(rows).enumerate();
    chunks.for_each(|(c, (base, rows))| {
        for (k, base) in base.iter_mut().enumerate() {
            let i = c * CHUNK + k;
            let own = usize::from(touch.material[i]) * touch.materials;
            let mut sum = Vec3::ZERO;
            for (j, _) in rows.row(k) {
                let way: Vec4 = match space.is_open() {
                    true => space.between::<true>(place[i], place[j]),
                    false => space.between::<false>(place[i], place[j]),
                };
                let distance = way.length();
                let overlap = (half_support[i] + half_support[j]) * per_support - distance;
                let carried = touch.pressure[i] > 0.0 && touch.pressure[j] > 0.0;
                if overlap <= 0.0 || carried || distance == 0.0 {
                    continue;
                }
                let normal = way.xyz() / distance;
                let relative = touch.velocity[i] - touch.velocity[j];
                let mass = 1.0 / (inverse_mass[i] + inverse_mass[j]);
                let force = discrete::repulsion(mass, overlap, -relative.dot(normal), step);
                let sliding = relative - relative.dot(normal) * normal;
                let friction = touch.friction[own + usize::from(touch.material[j])];
                let grip = discrete::grip(mass, friction, force, sliding.length(), step);
                sum += force * normal - grip * sliding;
            }
            *base += (step * inverse_mass[i] * sum).extend(0.0);
        }
    });
}
