//! Contacts push and never pull.

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

/// Overlap [m] that a contact of `overlap` [m] may keep in a step, for radii that sum to `reach` [m]: up to 1 % of the reach all of it,
/// which stabilisation undoes without giving speed. What is deeper is pushed out by forces too, which reach through a heap sooner: at
/// a rate of 2.15 a fall time, no faster than 0.043 reaches a fall time. `haste` [-] is the step in fall times √(d/g).
#[inline(always)]
pub(crate) fn kept(overlap: f32, reach: f32, haste: f32) -> f32 {
    let deep = (overlap - 0.01 * reach).max(0.0);
    overlap - (2.15 * haste * deep).min(0.043 * haste * reach)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shallow_overlaps_are_kept_and_deep_ones_shrink_no_faster_than_allowed() {
        assert_eq!(kept(0.0, 1.0, 0.05), 0.0);
        assert_eq!(kept(0.01, 1.0, 0.05), 0.01);
        assert!((kept(0.02, 1.0, 0.05) - (0.02 - 2.15 * 0.05 * 0.01)).abs() < 1e-7);
        assert!((kept(0.5, 1.0, 0.05) - (0.5 - 0.043 * 0.05)).abs() < 1e-7);
        assert_eq!(kept(0.5, 1.0, 0.0), 0.5);
    }

    #[test]
    fn an_overlap_pushes_and_a_gap_takes_back_no_more_than_was_given() {
        assert_eq!(accumulated(0.0, 2.0, -0.5), 1.0);
        assert_eq!(accumulated(1.0, 2.0, 0.25), 0.5);
        assert_eq!(accumulated(1.0, 2.0, 3.0), 0.0);
        assert_eq!(printed(1.0, 2.0, 3.0), 1.0);
        assert_eq!(printed(1.0, 2.0, -0.5), 2.0);
    }
}
