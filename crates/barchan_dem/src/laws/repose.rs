//! Calibration: from a material's angle of repose to the friction of spheres.

/// Angle of repose [°], friction [-] and resistance to rolling [-] that give it: heaps of 15,000 spheres whose radii differ by a fifth, poured on
/// plane ground as `barchan validate repose --quick` does. Many pairs give one angle; these have little friction, so that sand runs out of silos
/// as it should, and particles that do not roll on slopes that heaps have. The last row but one is a heap of 8,000 spheres, 36.6° steep, plus the 3° by
/// which such a heap is flatter in the row before. The first and the last row are guesses.
const TABLE: [[f64; 3]; 7] = [
    [0.0, 0.0, 0.0],
    [20.5, 0.1, 0.36],
    [30.5, 0.2, 0.5],
    [31.8, 0.237, 0.537],
    [35.7, 0.3, 0.6],
    [39.6, 0.45, 0.7],
    [60.0, 4.0, 4.0],
];

/// Steepest slope of a heap that can be set [deg]: that of the last measured row.
pub const STEEPEST: f64 = 40.0;

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
