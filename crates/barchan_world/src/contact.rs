//! Contacts at the end of a frame.

use glam::{DVec3, Vec3};

use crate::{Column, Table};

/// The second of two that touch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Partner {
    /// Id of a guide.
    Guide(u32),
    /// Index of a body in the world.
    Body(u32),
}

/// A contact of a guide, and its force.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Contact {
    /// Id of the first guide.
    pub guide: u32,
    /// The other guide, or the body.
    pub partner: Partner,
    /// Point of contact [m].
    pub point: DVec3,
    /// Normal, from the guide to its partner [-].
    pub normal: DVec3,
    /// Overlap [m]; negative at a liquid bridge.
    pub overlap: f64,
    /// Force on the guide [N].
    pub force: DVec3,
}

impl Contact {
    /// Returns the normal force [N]; positive if it pushes the guide away from its partner.
    pub fn normal_force(&self) -> f64 {
        -self.force.dot(self.normal)
    }

    /// Returns the tangential force on the guide [N].
    pub fn shear_force(&self) -> DVec3 {
        self.force - self.force.dot(self.normal) * self.normal
    }

    /// Returns contacts as a table, one row each.
    pub fn table(contacts: &[Self]) -> Table {
        let vectors = |value: &dyn Fn(&Self) -> DVec3| -> Vec<Vec3> {
            contacts.iter().map(|contact| value(contact).as_vec3()).collect()
        };
        let partners = contacts.iter().map(|contact| match contact.partner {
            Partner::Guide(id) => (id, 0),
            Partner::Body(index) => (index, 1),
        });
        let (others, is_body): (Vec<u32>, Vec<u8>) = partners.unzip();
        let mut table = Table::default();
        table.push(
            "guide",
            Column::U32(contacts.iter().map(|contact| contact.guide).collect()),
        );
        table.push("other", Column::U32(others));
        table.push("is_body", Column::U8(is_body));
        table.push("point", Column::Vec3(vectors(&|contact| contact.point)));
        table.push("normal", Column::Vec3(vectors(&|contact| contact.normal)));
        let overlaps = contacts.iter().map(|contact| contact.overlap as f32);
        table.push("overlap", Column::F32(overlaps.collect()));
        let forces = contacts.iter().map(|contact| contact.normal_force() as f32);
        table.push("normal_force", Column::F32(forces.collect()));
        table.push("shear_force", Column::Vec3(vectors(&Self::shear_force)));
        table
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forces_are_split_along_the_normal() {
        let contact = Contact {
            guide: 7,
            partner: Partner::Body(2),
            point: DVec3::ZERO,
            normal: DVec3::NEG_Z,
            overlap: 1e-4,
            force: DVec3::new(0.5, 0.0, 2.0),
        };
        assert_eq!(
            (contact.normal_force(), contact.shear_force()),
            (2.0, DVec3::new(0.5, 0.0, 0.0))
        );
        let table = Contact::table(&[contact]);
        assert_eq!(table.column("is_body"), Some(&Column::U8(vec![1])));
        assert_eq!(table.column("normal_force"), Some(&Column::F32(vec![2.0])));
    }
}
