//! Discharge of sand through a hole or a slot.

use std::f64::consts::PI;

use glam::DVec3;

use super::Broken;
use crate::expression::GRAVITY;
use crate::measures::{discharge, mean};
use crate::stage::{Observation, Stage, values};

/// Coefficient k [-] of Beverloo's empty annulus: an opening of width D acts as one of D - k d.
const EMPTY_ANNULUS: f64 = 1.4;

/// Opening in the floor z = 0, about the origin.
#[derive(Clone, Copy)]
enum Outlet {
    /// Round hole of this diameter [m].
    Hole(f64),
    /// Slot of this width along x [m], and of this length along y [m], with sand beyond its ends.
    Slot(f64, f64),
}

impl Outlet {
    /// Returns the width of the opening [m].
    fn width(self) -> f64 {
        match self {
            Self::Hole(width) | Self::Slot(width, _) => width,
        }
    }

    /// Checks whether `p` [m] is in the block of sand above the opening that is as high as the opening is wide.
    fn is_under(self, p: &DVec3) -> bool {
        let aside = match self {
            Self::Hole(_) => p.truncate().length(),
            Self::Slot(..) => p.x.abs(),
        };
        p.z > 0.0 && p.z < self.width() && aside < 0.5 * self.width()
    }

    /// Returns the volume of that block [m³].
    fn volume(self) -> f64 {
        match self {
            Self::Hole(width) => PI / 4.0 * width.powi(3),
            Self::Slot(width, length) => width.powi(2) * length,
        }
    }

    /// Returns the volume rate without its constant [m³/s] for guides of diameter `d` [m]: √g (D - k d)^5/2, or
    /// √g L (D - k d)^3/2 for a slot.
    fn scale(self, d: f64) -> f64 {
        let clear = (self.width() - EMPTY_ANNULUS * d).max(0.0);
        let area = match self {
            Self::Hole(_) => clear.powi(2),
            Self::Slot(_, length) => length * clear,
        };
        area * (GRAVITY * clear).sqrt()
    }
}

/// Empties a silo through the hole `hole` [m] in its floor.
pub(super) fn run_out(stage: &mut Stage) -> Result<Observation, Broken> {
    let outlet = Outlet::Hole(stage.value("hole")?);
    discharged(stage, outlet)
}

/// Empties a silo through a slot of width `slot` [m] in its floor, `length` [m] long.
pub(super) fn run_out_of_slot(stage: &mut Stage) -> Result<Observation, Broken> {
    let outlet = Outlet::Slot(stage.value("slot")?, stage.value("length")?);
    discharged(stage, outlet)
}

/// Runs until no guide has come out for half a second, until `limit` [s] at most. Guides above z = 0 are inside.
/// Beverloo's constant uses the packing just above the opening, in a block as wide and as high as it: flowing sand is
/// looser than sand at rest.
fn discharged(stage: &mut Stage, outlet: Outlet) -> Result<Observation, Broken> {
    let (limit, d) = (stage.value("limit")?, stage.value("d")?);
    let inside = |stage: &Stage| stage.positions().iter().filter(|p| p.z > 0.0).count() as f64;
    let mut seen = Observation {
        guides: stage.guides(),
        ..Observation::default()
    };
    let mass = f64::from(stage.simulation().world().guides.mass.iter().sum::<f32>()) / seen.guides as f64;
    let above_outlet = |stage: &Stage| stage.positions().iter().filter(|p| outlet.is_under(p)).count() as f64;
    let mut remaining = vec![[0.0, inside(stage)]];
    let mut flowing = vec![above_outlet(stage)];
    let mut changed = 0.0;
    while stage.time() < limit {
        stage.advance()?;
        let now = inside(stage);
        if now < remaining[remaining.len() - 1][1] {
            changed = stage.time();
        } else if stage.time() - changed > 0.5 {
            break;
        }
        remaining.push([stage.time(), now]);
        flowing.push(above_outlet(stage));
    }
    if stage.time() >= limit {
        seen.notes.push(format!("still running after {limit:.0} s"));
    }
    // The last trickle from the banks is not part of the discharge.
    let all = remaining[0][1] - remaining[remaining.len() - 1][1];
    let end = remaining.iter().position(|p| remaining[0][1] - p[1] >= 0.95 * all);
    remaining.truncate(end.map_or(remaining.len(), |end| end + 1));
    let Some(found) = discharge(&remaining) else {
        seen.notes.push("nothing came out".to_owned());
        seen.values = values([("rate", 0.0), ("head", f64::NAN)]);
        return Ok(seen);
    };
    let share = |p: &[f64; 2]| (remaining[0][1] - p[1]) / all;
    let steady = |p: &[f64; 2]| (0.2..0.8).contains(&share(p));
    let counts: Vec<f64> = remaining
        .iter()
        .zip(&flowing)
        .filter(|(p, _)| steady(p))
        .map(|(_, n)| *n)
        .collect();
    let density = mean(&counts) * mass / outlet.volume();
    let rate = found.rate * mass;
    seen.values = values([
        ("rate", rate),
        ("head", found.head),
        ("constant", rate / (density * outlet.scale(d))),
        ("density", density),
    ]);
    match found.variation {
        Some(variation) => seen.values.push(("variation".into(), variation)),
        None => seen.notes.push("too few guides for the rate's scatter".to_owned()),
    }
    Ok(seen)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outlets_scale_as_their_laws_and_count_what_lies_above_them() {
        let (hole, slot) = (Outlet::Hole(0.2), Outlet::Slot(0.2, 0.5));
        let clear: f64 = 0.2 - 1.4 * 0.02;
        assert!((hole.scale(0.02) / (9.81f64.sqrt() * clear.powf(2.5)) - 1.0).abs() < 1e-12);
        assert!((slot.scale(0.02) / (9.81f64.sqrt() * 0.5 * clear.powf(1.5)) - 1.0).abs() < 1e-12);
        assert_eq!(hole.scale(1.0), 0.0);
        let aside = DVec3::new(0.05, 0.4, 0.1);
        assert!(slot.is_under(&aside) && !hole.is_under(&aside));
        assert!(!slot.is_under(&DVec3::new(0.05, 0.4, 0.3)) && !slot.is_under(&DVec3::new(0.15, 0.4, 0.1)));
        assert!((slot.volume() - 0.02).abs() < 1e-12);
    }
}
