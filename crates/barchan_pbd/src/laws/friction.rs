//! Tangential correction by friction.

/// Factor on a tangential impulse of squared length `squared` [kg² m²] that keeps it in Coulomb's disc: 1 up to
/// `r#static · normal`, else down to `kinetic · normal`, with `normal` [kg m] the normal impulse of the step.
#[inline(always)]
pub(crate) fn coulomb(squared: f32, normal: f32, r#static: f32, kinetic: f32) -> f32 {
    let most = r#static * normal;
    // The smallest number keeps 0/0 out where there is no impulse at all.
    let slide = kinetic * normal / squared.max(f32::MIN_POSITIVE).sqrt();
    if squared <= most * most { 1.0 } else { slide }
}

/// Share of a tangential motion of squared length `squared` [m²] that is undone in a pass, [Sommer22] eq. (4): all of it below
/// `r#static · length`, else `kinetic · length` of it. The friction length [m] is the guides' size as printed, the depth of
/// the contact in [Macklin14].
#[inline(always)]
pub(crate) fn of_length(squared: f32, length: f32, r#static: f32, kinetic: f32) -> f32 {
    let most = r#static * length;
    let slide = (kinetic * length / squared.max(f32::MIN_POSITIVE).sqrt()).min(1.0);
    if squared < most * most { 1.0 } else { slide }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_impulse_within_the_static_disc_is_kept_and_one_beyond_is_cut_to_the_kinetic_disc() {
        assert_eq!(coulomb(0.09, 1.0, 0.35, 0.3), 1.0);
        assert_eq!(coulomb(4.0, 1.0, 0.35, 0.3), 0.15);
        assert_eq!(coulomb(4.0, 0.0, 0.35, 0.3), 0.0);
        assert_eq!(coulomb(0.0, 0.0, 0.35, 0.3), 1.0);
    }

    #[test]
    fn a_motion_below_the_static_length_is_undone_and_a_longer_one_in_part() {
        assert_eq!(of_length(0.01 * 0.01, 0.04, 0.35, 0.3), 1.0);
        assert!((of_length(0.024 * 0.024, 0.04, 0.35, 0.3) - 0.5).abs() < 1e-6);
        assert_eq!(of_length(1.0, 0.0, 0.35, 0.3), 0.0);
    }
}
