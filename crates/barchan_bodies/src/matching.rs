//! Rigid motion as position-based dynamics has it: points of a body move on freely, then the body is fitted to them.

use barchan_world::{Body, Pose, Twist};
use glam::{DMat3, DQuat, DVec3};

use crate::mobility::inertia;
use crate::motion::placed;

/// Turns by which a fit gets nearer at most.
const MOST_TURNS: u32 = 100;

/// The pose that fits points best: of equal numbers of `places` [m], where they are, `rest` offsets [m] from their center of mass,
/// and masses [kg]. `near` is where the search for the rotation begins.
///
/// c = Σ m x / Σ m, A = Σ m (x - c) x₀ᵀ = R U, section 3 of [Sommer22]. Gives c [m] and R.
///
/// # Panics
/// If the numbers differ.
pub fn fit(places: &[DVec3], rest: &[DVec3], masses: &[f64], near: DQuat) -> (DVec3, DQuat) {
    assert!(
        places.len() == rest.len() && rest.len() == masses.len(),
        "one mass a point"
    );
    let all = || places.iter().zip(rest).zip(masses);
    let mass: f64 = masses.iter().sum();
    let center = all().map(|((&x, _), &m)| m * x).sum::<DVec3>() / mass;
    let moments = all().fold(DMat3::ZERO, |sum, ((&x, &offset), &m)| {
        sum + outer(m * (x - center), offset)
    });
    (center, rotation_of(moments, near))
}

/// The rotation R of A = R U, sought from `near` on by turns ω = Σ Rₖ × Aₖ / |Σ Rₖ · Aₖ| over the columns: it is never a reflection,
/// and a flat body has one too.
pub fn rotation_of(a: DMat3, near: DQuat) -> DQuat {
    let mut q = near;
    for _ in 0..MOST_TURNS {
        let r = DMat3::from_quat(q);
        let columns = [(r.x_axis, a.x_axis), (r.y_axis, a.y_axis), (r.z_axis, a.z_axis)];
        let across: DVec3 = columns.iter().map(|(r, a)| r.cross(*a)).sum();
        let along: f64 = columns.iter().map(|(r, a)| r.dot(*a)).sum();
        let turn = across / (along.abs() + 1e-9 * across.length()).max(f64::MIN_POSITIVE);
        q = (DQuat::from_scaled_axis(turn) * q).normalize();
        if turn.length() < 1e-12 {
            break;
        }
    }
    q
}

/// Returns the pose and the velocity of a dynamic body after `dt` [s] if only `gravity` [m/s²] acts on it, by Algorithm
/// 1 of [Sommer22]: each of its points moves on by its last displacement, x + Δt v with v = (x - x₋) / Δt, and the body
/// is fitted to them. Of its points only the sum Σ m x₀ x₀ᵀ counts, which is that of the solid. Spin is damped, by a
/// share (ω Δt)² per step.
///
/// Bodies that are not dynamic stay.
pub fn matched_motion(body: &Body, gravity: DVec3, dt: f64) -> (Pose, Twist) {
    if !body.is_dynamic() {
        return (body.pose, body.twist);
    }
    let now = body.pose.rotation;
    let before = DQuat::from_scaled_axis(-dt * body.twist.angular) * now;
    let inertia = inertia(body);
    let spread = DMat3::from_diagonal(DVec3::splat(
        0.5 * (inertia.x_axis.x + inertia.y_axis.y + inertia.z_axis.z),
    )) - inertia;
    let ahead = DMat3::from_quat(now) * 2.0 - DMat3::from_quat(before);
    let rotation = rotation_of(ahead * spread, now);
    let linear = body.twist.linear + dt * gravity;
    let turn = rotation * now.inverse();
    let shorter = if turn.w < 0.0 { -turn } else { turn };
    let twist = Twist {
        linear,
        angular: shorter.to_scaled_axis() / dt,
    };
    (
        placed(body.mass_properties.center, body.center() + dt * linear, rotation),
        twist,
    )
}

fn outer(a: DVec3, b: DVec3) -> DMat3 {
    DMat3::from_cols(a * b.x, a * b.y, a * b.z)
}

#[cfg(test)]
mod tests {
    use barchan_geometry::random::Stream;

    use super::*;

    /// Points of a body, their offsets from its center of mass, and their masses.
    fn points() -> (Vec<DVec3>, Vec<f64>) {
        let masses: Vec<f64> = (0..50).map(|k| 0.5 + Stream::new(1, k).unit()).collect();
        let mut rest: Vec<DVec3> = (0..50)
            .map(|k| (Stream::new(2, k).unit_cube() - 0.5) * DVec3::new(1.0, 2.0, 0.3))
            .collect();
        let total: f64 = masses.iter().sum();
        let center = rest.iter().zip(&masses).map(|(x, m)| *m * *x).sum::<DVec3>() / total;
        rest.iter_mut().for_each(|x| *x -= center);
        (rest, masses)
    }

    #[test]
    fn a_body_that_was_turned_and_moved_is_found_where_it_is() {
        let (rest, masses) = points();
        let shift = DVec3::new(1.0, -2.0, 3.0);
        for turn in [0.0, 1e-7, 0.3, 1.5, 3.0] {
            let rotation = DQuat::from_axis_angle(DVec3::new(1.0, 2.0, -2.0) / 3.0, turn);
            let places: Vec<DVec3> = rest.iter().map(|x| shift + rotation * *x).collect();
            let (center, found) = fit(&places, &rest, &masses, DQuat::IDENTITY);
            assert!((center - shift).length() < 1e-12);
            assert!(found.angle_between(rotation) < 1e-7, "{turn}: {found} {rotation}");
        }
    }

    #[test]
    fn stretched_flat_and_mirrored_points_are_fitted_by_a_rotation() {
        let (rest, masses) = points();
        let rotation = DQuat::from_rotation_z(0.7);
        // A = R U with a symmetric U: the fit finds R whatever the stretch.
        let stretch = DMat3::from_diagonal(DVec3::new(1.2, 0.7, 1.0));
        let moments = rest
            .iter()
            .zip(&masses)
            .fold(DMat3::ZERO, |sum, (x, m)| sum + outer(*m * *x, *x));
        let a = DMat3::from_quat(rotation) * stretch * moments * stretch;
        assert!(rotation_of(a, DQuat::IDENTITY).angle_between(rotation) < 1e-7);
        let flat: Vec<DVec3> = rest.iter().map(|x| x.with_z(0.0)).collect();
        let places: Vec<DVec3> = flat.iter().map(|x| rotation * *x).collect();
        let (_, found) = fit(&places, &flat, &masses, DQuat::IDENTITY);
        assert!(found.angle_between(rotation) < 1e-7, "{found}");
        let mirrored: Vec<DVec3> = rest.iter().map(|x| *x * DVec3::new(1.0, 1.0, -1.0)).collect();
        let (_, found) = fit(&mirrored, &rest, &masses, DQuat::IDENTITY);
        assert!((DMat3::from_quat(found).determinant() - 1.0).abs() < 1e-12);
    }
}
