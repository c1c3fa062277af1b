//! What makes heaps of spheres as steep as a material's angle of repose says: measured, not derived (methods F-B5).

/// Angle of repose [°], friction [-] and resistance to rolling [-] that give it: heaps of 8,000 spheres whose radii differ by a fifth, poured on
/// plane ground. The first and the last row are guesses: spheres that do not roll at all rest at 36° whatever their friction.
const TABLE: [[f64; 3]; 6] = [
    [0.0, 0.0, 0.0],
    [16.4, 0.4, 0.06],
    [21.3, 0.5, 0.1],
    [28.9, 0.5, 0.2],
    [36.0, 0.8, 0.5],
    [60.0, 4.0, 4.0],
];

/// Friction [-] and resistance to rolling [-] of spheres that rest at `angle` [rad].
pub(crate) fn friction_of(angle: f64) -> [f64; 2] {
    let degrees = angle.to_degrees();
    let above = TABLE
        .iter()
        .position(|row| row[0] >= degrees)
        .unwrap_or(TABLE.len() - 1)
        .max(1);
    let (low, high) = (TABLE[above - 1], TABLE[above]);
    let share = ((degrees - low[0]) / (high[0] - low[0])).clamp(0.0, 1.0);
    [1, 2].map(|k| low[k] + share * (high[k] - low[k]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steeper_heaps_need_more_of_both() {
        let mut before = friction_of(0.0);
        assert_eq!(before, [0.0, 0.0]);
        for degrees in 1..=60 {
            let now = friction_of(f64::from(degrees).to_radians());
            assert!(now[0] >= before[0] && now[1] > before[1], "{degrees}: {now:?}");
            before = now;
        }
    }
}
