//! What was said without effect: each is a warning.

use super::Check;
use crate::fields::Fields;
use crate::scene::Scene;
use crate::settings::Settings;

/// Settings of a solver, or of grains, that count only where another one is one of these words.
const BY_WORD: &[(&str, &str, &str, &[&str])] = &[
    ("sph", "friction_iterations", "pressure", &["iisph"]),
    ("dem", "steps_per_contact", "integrator", &["verlet"]),
    ("dem", "tolerance", "integrator", &["rkf45"]),
    ("dem", "duration", "normal", &["linear"]),
    ("dem", "shear_viscosity", "shear", &["viscous", "capped"]),
    ("refine", "spread", "mode", &["gated"]),
];

/// Keys of a material that only `dem` has, and only with a liquid.
const OF_LIQUID: &[&str] = &["surface_tension", "contact_angle"];

impl Check<'_, '_> {
    /// Warns of all that `scene` does not use.
    pub(super) fn idle(&self, scene: &Scene) {
        if let Some(table) = self.fields.table("solver").and_then(|table| table.table(&scene.solver)) {
            self.idle_words(&scene.solver, table, &scene.solver_settings);
            match scene.solver.as_str() {
                "sph" => self.idle_times(table, scene),
                "dem" => self.idle_steps(table),
                _ => {}
            }
        }
        if let (Some(table), Some(refine)) = (self.fields.table("refine"), &scene.refine) {
            self.idle_words("refine", table, &refine.settings);
            self.idle_seeds(table, scene);
        }
        self.idle_materials(scene);
        self.idle_bodies();
        self.idle_clumps();
        let output = self.fields.table("output");
        if let Some(span) = output.and_then(|table| table.written("settling"))
            && scene.output.settling
            && scene.settle() == 0.0
        {
            let message = "`settling` has no effect: no fill settles";
            self.warn(span, message, "add `settle = ...` to a `[[fill]]`");
        }
        if let Some(span) = self.output_of_grains().filter(|_| scene.refine.is_none()) {
            self.warn(
                span,
                "`grains_every` has no effect: the scene has no grains",
                "add `[refine]`",
            );
        }
    }

    fn idle_words(&self, name: &str, table: &Fields, settings: &Settings) {
        for (_, key, other, words) in BY_WORD.iter().filter(|rule| rule.0 == name) {
            let word = settings.word(other).unwrap_or_default();
            if let Some(span) = table.written(key).filter(|_| !words.contains(&word)) {
                let message = format!("`{key}` has no effect with {other} = \"{word}\"");
                let help = format!("set {other} = \"{}\", or remove it", words.join("\" or \""));
                self.warn(span, message, &help);
            }
        }
    }

    fn idle_steps(&self, table: &Fields) {
        if let (Some(span), Some(_)) = (table.written("steps_per_contact"), table.written("step")) {
            self.warn(
                span,
                "`steps_per_contact` has no effect beside `step`",
                "remove one of them",
            );
        }
        if let (Some(span), None) = (
            table.written("body_poisson_ratio"),
            table.written("body_youngs_modulus"),
        ) {
            self.warn(
                span,
                "`body_poisson_ratio` has no effect without `body_youngs_modulus`",
                "",
            );
        }
    }

    /// Warns of wetness that nothing follows from: it scales cohesion, and viscosity between its dry and wet values. Wetness that
    /// spreads may do so in another material.
    fn idle_wetness(&self, table: &Fields, scene: &Scene, id: usize) {
        let own = &scene.contacts[id..=id];
        let felt = match scene.solver_settings.number("wetting_time") {
            Some(_) => &scene.contacts[..],
            None => own,
        };
        let is_felt = felt
            .iter()
            .any(|contact| contact.cohesion.is_some_and(|cohesion| cohesion > 0.0) || contact.wet_viscosity.is_some());
        if let Some(span) = table.written("wetness").filter(|_| !is_felt) {
            let message = "`wetness` has no effect without `cohesion` or `wet_viscosity`";
            self.warn(span, message, "add one of them, or remove it");
        }
    }

    fn idle_times(&self, table: &Fields, scene: &Scene) {
        let has = |of: fn(&crate::ContactProperties) -> Option<f64>| {
            scene.contacts.iter().filter_map(of).any(|value| value > 0.0)
        };
        let is_wet = has(|contact| contact.wetness);
        let is_viscous = has(|contact| contact.viscosity) || has(|contact| contact.wet_viscosity);
        let rules = [
            ("drying_time", is_wet, "no material has `wetness`"),
            ("wetting_time", is_wet, "no material has `wetness`"),
            ("sound_speed", is_viscous, "no material has `viscosity`"),
        ];
        for (key, counts, why) in rules {
            if let Some(span) = table.written(key).filter(|_| !counts) {
                self.warn(span, format!("`{key}` has no effect: {why}"), "");
            }
        }
    }

    fn idle_seeds(&self, table: &Fields, scene: &Scene) {
        let about_guides = table.text("seeding") == Some("support")
            || !scene.emitters.is_empty()
            || self.fields.tables("fill").any(|fill| fill.written("from").is_some());
        if let Some(span) = table.written("per_guide").filter(|_| !about_guides) {
            let message = "`per_guide` has no effect: no grains are seeded about guides";
            self.warn(span, message, "set seeding = \"support\", or remove it");
        }
    }

    fn idle_materials(&self, scene: &Scene) {
        let named = self.fields.named("materials").unwrap_or_default();
        for ((name, item), id) in named.iter().zip(0..) {
            let Some(table) = item.table() else { continue };
            let is_used = scene.fills.iter().any(|fill| fill.material == id)
                || scene.emitters.iter().any(|emitter| emitter.material == id);
            if !is_used {
                self.warn(
                    item.span.clone(),
                    format!("no fill or emitter is of material `{name}`"),
                    "",
                );
            }
            if let Some(span) = table.written("grain_density").filter(|_| scene.solver != "dem") {
                let message = format!("`grain_density` has no effect with {}", scene.solver);
                self.warn(span, message, "guides weigh as much of the bulk as they stand for");
            }
            if scene.solver == "sph" {
                self.idle_wetness(table, scene, usize::from(id));
            }
            let is_moist = table.number("liquid").is_some_and(|liquid| liquid > 0.0);
            for key in OF_LIQUID.iter().filter(|_| scene.solver == "dem" && !is_moist) {
                if let Some(span) = table.written(key) {
                    self.warn(span, format!("`{key}` has no effect without `liquid`"), "");
                }
            }
        }
    }

    fn idle_bodies(&self) {
        let motion = |table: &Fields| table.text("motion").unwrap_or_default().to_owned();
        let some_dynamic = self.fields.tables("body").any(|table| motion(table) == "dynamic");
        for table in self.fields.tables("body") {
            let motion = motion(table);
            if let Some(span) = table.written("density").filter(|_| motion != "dynamic") {
                self.warn(span, format!("`density` has no effect on a {motion} body"), "");
            }
            if let Some(span) = table.written("restitution").filter(|_| !some_dynamic) {
                let message = "`restitution` has no effect: no body is dynamic";
                self.warn(span, message, "that of grains is a key of their material, with dem");
            }
        }
    }

    fn idle_clumps(&self) {
        let fills: Vec<&str> = self
            .fields
            .tables("fill")
            .filter_map(|fill| fill.text("clump"))
            .collect();
        for (name, item) in self.fields.named("clumps").unwrap_or_default() {
            if !fills.contains(&name.as_str()) {
                self.warn(item.span.clone(), format!("no fill is of clump `{name}`"), "");
            }
        }
    }

    fn output_of_grains(&self) -> Option<std::ops::Range<usize>> {
        self.fields.table("output")?.written("grains_every")
    }
}
