//! Choice between static and kinetic friction of a contact.

use barchan_world::{Body, Friction, geometric_mean};
use rapier3d_f64::prelude::{ContactModificationContext, PhysicsHooks};

/// Surfaces that slide faster than this [m/s] are held by kinetic friction, others by static.
const SLIDING: f64 = 5e-3;

/// Gives each contact its friction: the geometric mean of both bodies' coefficients.
pub(crate) struct ContactFriction(Vec<Friction>);

impl ContactFriction {
    pub(crate) fn of(bodies: &[Body]) -> Self {
        Self(bodies.iter().map(|body| body.friction).collect())
    }
}

impl PhysicsHooks for ContactFriction {
    fn modify_solver_contacts(&self, context: &mut ContactModificationContext) {
        let (Some(first), Some(second)) = (context.rigid_body1, context.rigid_body2) else {
            return;
        };
        let (first, second) = (&context.bodies[first], &context.bodies[second]);
        let Some(contact) = context.rigid_mut() else { return };
        let both = geometric_mean(self.0[first.user_data as usize], self.0[second.user_data as usize]);
        let sliding = contact.solver_contacts.iter().any(|point| {
            let velocity = first.velocity_at_point(point.anchor1) - second.velocity_at_point(point.anchor1);
            velocity.reject_from_normalized(*contact.normal).length() > SLIDING
        });
        *contact.friction = f64::from(if sliding { both.kinetic } else { both.r#static });
    }
}
