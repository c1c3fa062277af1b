//! Joints, as rapier has them.

use barchan_world::{Body, Joint, JointKind};
use glam::{DQuat, DVec3};
use rapier3d_f64::math::Pose as Frame;
use rapier3d_f64::prelude::{GenericJoint, GenericJointBuilder, JointAxesMask, RopeJointBuilder};

use crate::BodiesError;

/// A joint between bodies that are where they are now: a hinge's axis and a fixed joint's angle are those of now.
pub(crate) fn build(place: usize, joint: &Joint, bodies: &[Body]) -> Result<GenericJoint, BodiesError> {
    let refuse = |reason: String| BodiesError::Joint { joint: place, reason };
    let [first, second] = joint.bodies;
    if let Some(missing) = joint.bodies.into_iter().find(|&body| body >= bodies.len()) {
        return Err(refuse(format!("holds body {missing} of {}", bodies.len())));
    }
    if first == second {
        return Err(refuse(format!("holds body `{}` twice", bodies[first].name)));
    }
    if let Some(anchor) = joint.anchors.into_iter().find(|anchor| !anchor.is_finite()) {
        return Err(refuse(format!("has its anchor at {anchor} m")));
    }
    let seen_from_second = bodies[second].pose.rotation.inverse() * bodies[first].pose.rotation;
    let held = |axes: JointAxesMask, frame: DQuat| -> GenericJoint {
        // Bodies held together overlap at the joint; contact would fight it.
        GenericJointBuilder::new(axes)
            .contacts_enabled(false)
            .local_frame1(Frame::from_parts(joint.anchors[0], frame))
            .local_frame2(Frame::from_parts(joint.anchors[1], seen_from_second * frame))
            .build()
    };
    match joint.kind {
        JointKind::Hinge { axis } => {
            let axis = axis
                .try_normalize()
                .ok_or_else(|| refuse(format!("has no axis: {axis}")))?;
            Ok(held(
                JointAxesMask::LOCKED_REVOLUTE_AXES,
                DQuat::from_rotation_arc(DVec3::X, axis),
            ))
        }
        JointKind::Ball => Ok(held(JointAxesMask::LOCKED_SPHERICAL_AXES, DQuat::IDENTITY)),
        JointKind::Fixed => Ok(held(JointAxesMask::LOCKED_FIXED_AXES, DQuat::IDENTITY)),
        JointKind::Rope { length } if length > 0.0 && length.is_finite() => Ok(RopeJointBuilder::new(length)
            .local_anchor1(joint.anchors[0])
            .local_anchor2(joint.anchors[1])
            .build()
            .into()),
        JointKind::Rope { length } => Err(refuse(format!("is a rope of {length} m"))),
    }
}
