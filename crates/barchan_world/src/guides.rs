use glam::Vec3;

use crate::columns::columns;

columns! {
    /// The particles that carry the physics.
    ///
    /// A position is the sum of two single-precision numbers. `position` is the sum rounded, `offset` what rounding cut off: near
    /// 40 m a single number moves in steps of 4 µm, too coarse for slow sand in short steps. Both are relative to the
    /// [`World`](crate::World)'s origin.
    pub struct Guides, row Guide {
        /// Stable number [-].
        id: u32,
        /// Center, rounded [m].
        position: Vec3,
        /// Rounding error of `position`, to be added to it [m].
        offset: Vec3,
        /// Velocity [m/s].
        velocity: Vec3,
        /// Radius [m].
        radius: f32,
        /// Mass [kg].
        mass: f32,
        /// Number of the material [-].
        material: u8,
    }
}

impl Guides {
    /// Returns the number of guides.
    pub fn len(&self) -> usize {
        self.id.len()
    }

    /// Returns true if there are no guides.
    pub fn is_empty(&self) -> bool {
        self.id.is_empty()
    }
}

/// Moves a place, the sum of `position` and `offset` [m], by `way` [m] without losing what a single number cannot hold.
#[inline]
pub fn displace(position: &mut Vec3, offset: &mut Vec3, way: Vec3) {
    let sum = *offset + way;
    let rounded = *position + sum;
    // Exact: the difference of two nearby numbers.
    *offset = sum - (rounded - *position);
    *position = rounded;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thousand_tiny_steps_far_from_the_origin_are_not_lost() {
        let mut guides = Guides::default();
        guides.push(Guide {
            position: Vec3::new(40.0, -40.0, 0.0),
            ..Guide::default()
        });
        for _ in 0..1000 {
            displace(
                &mut guides.position[0],
                &mut guides.offset[0],
                Vec3::new(1e-7, 0.0, -1e-7),
            );
        }
        let moved = guides.position[0].as_dvec3() + guides.offset[0].as_dvec3();
        assert!((moved.x - 40.0001).abs() < 1e-9, "{}", moved.x);
        assert!((moved.z + 0.0001).abs() < 1e-9, "{}", moved.z);
    }

    #[test]
    fn gathering_and_retaining_move_every_column() {
        let mut guides = Guides::default();
        for k in 0..5u8 {
            guides.push(Guide {
                id: u32::from(k),
                mass: f32::from(k),
                material: k,
                ..Guide::default()
            });
        }
        guides.gather(&[4, 2, 0], &mut crate::Spare::default());
        guides.retain(&[true, false, true]);
        assert_eq!(
            (guides.id, guides.mass, guides.material),
            (vec![4, 0], vec![4.0, 0.0], vec![4, 0])
        );
        assert_eq!(Guides::NAMES.len(), 7);
    }
}
