//! Clumps (guides of several spheres) in pictures.

use std::borrow::Cow;
use std::ops::Range;

use barchan_geometry::MassProperties;
use barchan_geometry::clump::{Clump, ClumpError};
use barchan_scene::Scene;
use barchan_world::{Column, Table, World};
use glam::{DMat3, DVec3, Quat, Vec3};
use serde::{Deserialize, Serialize};

/// A clump and the ids of its guides; kept beside a cache, so that it can be drawn without its scene.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct ClumpPlan {
    /// Ids of the guides.
    ids: Range<u32>,
    /// Position [m] and radius [m] of each sphere, for a guide of radius 1 m.
    members: Vec<[f32; 4]>,
    /// Inertia about the center of mass per mass, by columns [m²]; old stages have none.
    #[serde(default)]
    inertia: Option<[f64; 9]>,
}

/// Returns the clumps of `scene` with the ids of their guides in `world`, which was just built.
pub(crate) fn of_scene(scene: &Scene, world: &World) -> Vec<(Range<u32>, Clump)> {
    let ends = world.fill_ends.iter().copied();
    let ids = [0].into_iter().chain(ends.clone()).zip(ends);
    let inherited = scene.inherited().into_iter().flat_map(|inherited| &inherited.groups);
    let clumps = scene.fills.iter().map(|fill| &fill.clump);
    let clumped = clumps.chain(inherited.map(|group| &group.clump)).zip(ids);
    clumped
        .filter_map(|(clump, (start, end))| Some((start..end, (**clump.as_ref()?).clone())))
        .collect()
}

impl ClumpPlan {
    pub(crate) fn new(ids: Range<u32>, clump: &Clump) -> Self {
        let member = |m: &barchan_geometry::clump::Member| m.offset.as_vec3().extend(m.radius as f32).to_array();
        Self {
            ids,
            members: clump.members().iter().map(member).collect(),
            inertia: Some(clump.inertia().to_cols_array()),
        }
    }

    /// Returns the ids of its guides.
    pub(crate) fn ids(&self) -> Range<u32> {
        self.ids.clone()
    }

    /// Returns the clump, to the precision of single-precision numbers.
    pub(crate) fn clump(&self) -> Result<Clump, ClumpError> {
        let member = |[x, y, z, radius]: &[f32; 4]| (Vec3::new(*x, *y, *z).as_dvec3(), f64::from(*radius));
        let spheres: Vec<(DVec3, f64)> = self.members.iter().map(member).collect();
        let Some(inertia) = &self.inertia else {
            return Clump::of_spheres(&spheres);
        };
        let volume = 4.0 / 3.0 * std::f64::consts::PI;
        let whole = MassProperties {
            volume,
            center: DVec3::ZERO,
            inertia: DMat3::from_cols_array(inertia) * volume,
        };
        Clump::of_solid(&whole, &spheres)
    }
}

/// The spheres to draw for a table: one per row, or those of its clump.
pub(crate) struct Drawn<'a> {
    pub positions: Cow<'a, [Vec3]>,
    pub radii: Cow<'a, [f32]>,
    /// Row of each sphere; `None` if each row is one sphere.
    rows: Option<Vec<u32>>,
}

impl<'a> Drawn<'a> {
    /// Creates the spheres of `table`, whose rows are at `positions` [m] and have `radii` [m].
    pub(crate) fn new(plans: &[ClumpPlan], table: &Table, positions: Cow<'a, [Vec3]>, radii: &'a [f32]) -> Self {
        let (Some(Column::Vec3(turns)), Some(Column::U32(ids))) = (table.column("rotation"), table.column("id")) else {
            return Self {
                positions,
                radii: Cow::Borrowed(radii),
                rows: None,
            };
        };
        let (mut centers, mut sizes, mut rows) = (Vec::new(), Vec::new(), Vec::new());
        for (i, id) in ids.iter().enumerate() {
            let size = radii[i];
            let Some(plan) = plans.iter().find(|plan| plan.ids.contains(id)) else {
                centers.push(positions[i]);
                sizes.push(size);
                rows.push(i as u32);
                continue;
            };
            let turn = Quat::from_scaled_axis(turns[i]);
            for &[x, y, z, radius] in &plan.members {
                centers.push(positions[i] + turn * (size * Vec3::new(x, y, z)));
                sizes.push(size * radius);
                rows.push(i as u32);
            }
        }
        Self {
            positions: Cow::Owned(centers),
            radii: Cow::Owned(sizes),
            rows: Some(rows),
        }
    }

    /// Repeats a value per row for each sphere.
    pub(crate) fn spread<'b, T: Copy>(&self, values: &'b [T]) -> Cow<'b, [T]> {
        match &self.rows {
            Some(rows) => rows.iter().map(|&row| values[row as usize]).collect(),
            None => Cow::Borrowed(values),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clump_is_the_same_after_a_stage() {
        let clump = Clump::of_spheres(&[(DVec3::X, 1.0), (-DVec3::X, 1.0), (2.0 * DVec3::Y, 0.5)]).unwrap();
        let kept = ClumpPlan::new(0..1, &clump).clump().unwrap();
        for (a, b) in clump.members().iter().zip(kept.members()) {
            assert!((a.offset - b.offset).length() < 1e-6 && (a.radius - b.radius).abs() < 1e-6);
        }
        let (inertia, again) = (clump.inertia(), kept.inertia());
        assert!(inertia.abs_diff_eq(again, 1e-12), "{inertia} {again}");
        assert_eq!(clump.is_round(), kept.is_round());
    }

    #[test]
    fn a_turned_dumbbell_is_drawn_as_its_two_spheres() {
        let clump = Clump::of_spheres(&[(DVec3::X, 1.0), (-DVec3::X, 1.0)]).unwrap();
        let plan = ClumpPlan::new(1..2, &clump);
        let mut table = Table::default();
        table.push("id", Column::U32(vec![0, 1]));
        let turn = Vec3::new(0.0, 0.0, std::f32::consts::FRAC_PI_2);
        table.push("rotation", Column::Vec3(vec![Vec3::ZERO, turn]));
        let positions = [Vec3::ZERO, Vec3::new(5.0, 0.0, 0.0)];
        let drawn = Drawn::new(&[plan], &table, Cow::Borrowed(&positions), &[1.0, 2.0]);
        assert_eq!(drawn.positions.len(), 3);
        assert_eq!(drawn.spread(&[7, 8])[..], [7, 8, 8]);
        // Two touching spheres with the total volume of one of radius 2 have radius 2/∛2 each.
        let reach = 2.0 / 2f32.cbrt();
        assert!((drawn.radii[1] - reach).abs() < 1e-3);
        let centers = [drawn.positions[1], drawn.positions[2]];
        assert!((centers[0] - Vec3::new(5.0, reach, 0.0)).length() < 1e-3, "{centers:?}");
        assert!(
            (centers[1] - Vec3::new(5.0, -reach, 0.0)).length() < 1e-3,
            "{centers:?}"
        );
    }
}
