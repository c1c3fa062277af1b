//! The look of materials in pictures: kind, color and wetness of their grains.

use barchan_render::{GrainKind, GrainMaterial, linear};
use barchan_scene::Scene;
use barchan_world::{ContactProperties, Frame, Table};
use serde::{Deserialize, Serialize};

use crate::coloring;

/// Liquid on particles that makes them look fully wet, as a fraction of their own volume [-].
const WET_LIQUID: f64 = 0.05;
/// Column of guides with the share of the water that they can hold.
const WETNESS: &str = "wetness";

/// Look of a material; kept beside a cache.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct MaterialPlan {
    /// Name of a [`GrainKind`].
    look: String,
    /// Wetness at first [-]; `None` for a material without water.
    wetness: Option<f32>,
}

/// Returns the looks of a scene's materials, by number.
pub(crate) fn plans(scene: &Scene) -> Vec<MaterialPlan> {
    let looks = scene.looks.iter().zip(&scene.contacts);
    let plan = |(look, contact): (&&str, &ContactProperties)| MaterialPlan {
        look: (*look).to_owned(),
        wetness: wetness_at_first(contact).map(|wetness| wetness as f32),
    };
    looks.map(plan).collect()
}

/// Returns the wetness of a material [-]: cohesion is that of the wet material.
fn wetness_at_first(contact: &ContactProperties) -> Option<f64> {
    let cohesive = contact.cohesion.is_some_and(|cohesion| cohesion > 0.0);
    let film = contact.liquid.map(|liquid| (liquid / WET_LIQUID).min(1.0));
    contact.wetness.or(film).or(cohesive.then_some(1.0))
}

/// Returns the name of a look that does not exist.
pub(crate) fn unknown(plans: &[MaterialPlan]) -> Option<&str> {
    let looks = plans.iter().map(|plan| plan.look.as_str());
    looks.into_iter().find(|look| GrainKind::of_name(look).is_none())
}

/// Returns the materials of grains, at least one. `colors`: sRGB, where given.
pub(crate) fn materials(plans: &[MaterialPlan], colors: &[Option<[u8; 3]>]) -> Vec<GrainMaterial> {
    let count = plans.len().max(colors.len()).max(1);
    let material = |k: usize| {
        let plan = plans.get(k);
        let kind = plan.and_then(|plan| GrainKind::of_name(&plan.look)).unwrap_or_default();
        GrainMaterial {
            kind,
            color: colors.get(k).copied().flatten().map_or(kind.color(), linear),
            wetness: plan.and_then(|plan| plan.wetness).unwrap_or(0.0),
        }
    };
    (0..count).map(material).collect()
}

/// Returns true if any material can be wet, so that guides may have a column of wetness.
pub(crate) fn any_wet(plans: &[MaterialPlan]) -> bool {
    plans.iter().any(|plan| plan.wetness.is_some())
}

/// Returns the wetness of each row of `table`, if the frame has it; 0 for materials without water. `kinds`: the
/// materials of the rows.
pub(crate) fn wetness(plans: &[MaterialPlan], frame: &Frame, table: &Table, kinds: Option<&[u8]>) -> Option<Vec<f32>> {
    if !any_wet(plans) {
        return None;
    }
    let own = coloring::values(table, WETNESS);
    let mut wetness = own.or_else(|| coloring::follow(frame, table, WETNESS))?;
    for (row, wetness) in wetness.iter_mut().enumerate() {
        let kind = kinds.map_or(0, |kinds| usize::from(kinds[row]));
        if plans.get(kind).is_some_and(|plan| plan.wetness.is_none()) {
            *wetness = 0.0;
        }
    }
    Some(wetness)
}

#[cfg(test)]
mod tests {
    use super::*;
    use barchan_world::Column;
    use glam::Vec3;

    #[test]
    fn scenes_and_pictures_know_the_same_looks() {
        assert!(barchan_scene::LOOKS.iter().copied().eq(GrainKind::names()));
    }

    #[test]
    fn grains_are_as_wet_as_their_guides_unless_their_material_has_no_water() {
        let plan = |wetness| MaterialPlan {
            look: "soil".to_owned(),
            wetness,
        };
        let plans = [plan(None), plan(Some(1.0))];
        let mut frame = Frame::default();
        let positions = |x: &[f32]| Column::Vec3(x.iter().map(|&x| Vec3::X * x).collect());
        frame.guides.push("position", positions(&[0.0, 1.0]));
        let mut grains = Table::default();
        grains.push("position", positions(&[0.1, 0.9, 0.8]));
        // Without the column it is that of the materials.
        assert_eq!(wetness(&plans, &frame, &grains, Some(&[0, 1, 0])), None);
        frame.guides.push("wetness", Column::F32(vec![0.7, 0.4]));
        assert_eq!(
            wetness(&plans, &frame, &grains, Some(&[0, 1, 0])),
            Some(vec![0.0, 0.4, 0.0])
        );
        assert_eq!(wetness(&plans[..1], &frame, &grains, None), None);
        let looks = materials(&plans, &[None, Some([255, 0, 0])]);
        assert_eq!(looks[0].color, GrainKind::Soil.color());
        assert_eq!((looks[1].color, looks[1].wetness), ([1.0, 0.0, 0.0], 1.0));
        assert_eq!(materials(&[], &[]), [GrainMaterial::new(GrainKind::Sand)]);
    }

    #[test]
    fn liquid_and_cohesion_make_a_material_wet() {
        let dry = ContactProperties::default();
        assert_eq!(wetness_at_first(&dry), None);
        let film = ContactProperties {
            liquid: Some(0.01),
            ..dry
        };
        let film = wetness_at_first(&film).unwrap();
        assert!((film - 0.2).abs() < 1e-12, "{film}");
        let castle = ContactProperties {
            cohesion: Some(500.0),
            ..dry
        };
        assert_eq!(wetness_at_first(&castle), Some(1.0));
        let said = ContactProperties {
            wetness: Some(0.3),
            ..castle
        };
        assert_eq!(wetness_at_first(&said), Some(0.3));
    }
}
