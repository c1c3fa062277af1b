//! Settings without effect: each is a warning.

use barchan_world::spec::{Context, Idle, Unless, Weight};

use super::Check;
use crate::fields::Fields;
use crate::scene::Scene;

/// Settings of grains that have an effect only under a condition.
const OF_GRAINS: &[Idle] = &[
    in_mode_gated("spread"),
    in_mode_gated("flight"),
    in_mode_gated("separate"),
];

const fn in_mode_gated(key: &'static str) -> Idle {
    Idle {
        key,
        unless: Unless::Word("mode", &["gated"]),
    }
}

impl Check<'_, '_> {
    /// Warns of all that `scene` does not use.
    pub(super) fn idle(&self, scene: &Scene) {
        let context = Context {
            settings: &scene.solver_settings,
            contacts: &scene.contacts,
            material: None,
        };
        let choice = self.fields.table("solver");
        if let Some(table) = choice.and_then(|choice| choice.settings_of(scene.solver)) {
            self.idle_keys(scene.solver.idle, table, &context);
        }
        if let (Some(table), Some(refine)) = (self.fields.table("refine"), &scene.refine) {
            let settings = &refine.settings;
            self.idle_keys(OF_GRAINS, table, &Context { settings, ..context });
            self.idle_seeds(table, scene);
        }
        self.idle_materials(scene, &context);
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

    /// Warns of keys of `table` that have no effect by `rules`.
    fn idle_keys(&self, rules: &[Idle], table: &Fields, context: &Context) {
        for Idle { key, unless } in rules {
            let Some(span) = table.written(key) else { continue };
            let (is_idle, why, help) = match unless {
                Unless::Word(other, words) => {
                    let word = context.settings.word(other).unwrap_or_default();
                    let help = format!("set {other} = \"{}\", or remove it", words.join("\" or \""));
                    (!words.contains(&word), format!(" with {other} = \"{word}\""), help)
                }
                Unless::Given(other) => (
                    table.written(other).is_none(),
                    format!(" without `{other}`"),
                    String::new(),
                ),
                Unless::Missing(other) => (
                    table.written(other).is_some(),
                    format!(" beside `{other}`"),
                    "remove one of them".to_owned(),
                ),
                Unless::Holds { condition, why, help } => (!condition(context), (*why).to_owned(), (*help).to_owned()),
            };
            if is_idle {
                self.warn(span, format!("`{key}` has no effect{why}"), &help);
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

    fn idle_materials(&self, scene: &Scene, context: &Context) {
        let named = self.fields.named("materials").unwrap_or_default();
        for ((name, item), id) in named.iter().zip(0..) {
            let Some(table) = item.table() else { continue };
            let is_used = scene.fills.iter().any(|fill| fill.material == id)
                || scene.emitters.iter().any(|emitter| emitter.material == id);
            // What another run left is not known here.
            if !is_used && scene.start.is_none() {
                self.warn(
                    item.span.clone(),
                    format!("no fill or emitter is of material `{name}`"),
                    "",
                );
            }
            let is_bulk = scene.facts().weight == Weight::Bulk;
            if let Some(span) = table.written("grain_density").filter(|_| is_bulk) {
                let message = format!("`grain_density` has no effect with {}", scene.solver);
                self.warn(span, message, "guides weigh as much of the bulk as they stand for");
            }
            let own = Context {
                material: Some(usize::from(id)),
                ..*context
            };
            self.idle_keys(scene.solver.idle_materials, table, &own);
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
                self.warn(span, message, "that of grains is a key of their material");
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
