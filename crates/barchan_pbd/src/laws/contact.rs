//! Unilateral contacts: they push and never pull.

/// Normal impulse [kg m] after a pass: `max(before - stiffness · gap, 0)`, the projected form of [Sommer22] eq. (2). `gap` [m]
/// is negative in overlap, `stiffness` [kg] comes from the split masses.
#[inline(always)]
pub(crate) fn accumulated(before: f32, stiffness: f32, gap: f32) -> f32 {
    (before - stiffness * gap).max(0.0)
}

/// The same where every pass stands for itself: an overlap adds, a gap takes nothing back, [Sommer22] eq. (2).
#[inline(always)]
pub(crate) fn printed(before: f32, stiffness: f32, gap: f32) -> f32 {
    before + (-stiffness * gap).max(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_overlap_pushes_and_a_gap_takes_back_no_more_than_was_given() {
        assert_eq!(accumulated(0.0, 2.0, -0.5), 1.0);
        assert_eq!(accumulated(1.0, 2.0, 0.25), 0.5);
        assert_eq!(accumulated(1.0, 2.0, 3.0), 0.0);
        assert_eq!(printed(1.0, 2.0, 3.0), 1.0);
        assert_eq!(printed(1.0, 2.0, -0.5), 2.0);
    }
}
