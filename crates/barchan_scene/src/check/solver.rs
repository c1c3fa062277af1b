//! The solver and its settings.

use super::Check;
use crate::fields::Fields;
use crate::presets;
use crate::settings::{PBD, SOLVERS, Settings, table_of};

/// Most steps per frame that a setting may ask for [-].
const MOST_STEPS: f64 = 1e6;

impl Check<'_, '_> {
    pub(super) fn solver(&self) -> (String, Settings) {
        let silent = || ("pbd".to_owned(), Settings::defaults(&PBD));
        let Some(table) = self.fields.table("solver") else {
            return silent();
        };
        let Some(kind) = table.text("kind") else {
            return silent();
        };
        let available: Vec<&str> = SOLVERS.iter().filter(|s| s.1).map(|s| s.0).collect();
        if !available.contains(&kind) {
            let help = format!("available: {}", available.join(", "));
            self.error(
                table.place("kind"),
                format!("solver `{kind}` is not available yet"),
                &help,
            );
        }
        let settings = table
            .table(kind)
            .map_or_else(|| Settings::defaults(table_of(kind)), Settings::of_fields);
        let mut settings = settings;
        if let Some(table) = table.table(kind).filter(|_| kind == "sph") {
            apply_preset(table, &mut settings);
            self.unused_air(table, &settings);
        }
        if let Some(table) = table.table(kind) {
            self.steps(table);
        }
        (kind.to_owned(), settings)
    }

    /// Notes a `step` of `table` that cuts a frame into more parts than are worth waiting for.
    pub(super) fn steps(&self, table: &Fields) {
        let (Some(span), Some(step), Some(rate)) = (
            table.written("step"),
            table.number("step"),
            self.fields.number("frame_rate"),
        ) else {
            return;
        };
        let steps = 1.0 / (rate * step);
        if steps > MOST_STEPS {
            let message = format!("a step of {step} s makes {steps:.3e} steps per frame; allowed are {MOST_STEPS:e}");
            self.error(span, message, "lengthen it, or raise `frame_rate`");
        }
    }

    /// Warns of what is said of air that is not there.
    fn unused_air(&self, table: &Fields, settings: &Settings) {
        if settings.number("air_density") != Some(0.0) {
            return;
        }
        for key in ["air_viscosity", "wind", "grain_diameter"] {
            if let Some(span) = table.written(key) {
                let message = format!("`{key}` has no effect: there is no air");
                self.warn(span, message, "set air_density = 1.2041");
            }
        }
    }
}

/// Gives `settings` what the preset of `table` says, where nothing else was said.
fn apply_preset(table: &Fields, settings: &mut Settings) {
    let preset = presets::of(table.text("preset").unwrap_or_default());
    for (key, value) in preset {
        let instead = table.spec.exclusive.iter().find(|pair| pair.contains(key));
        let said = |key: &str| table.written(key).is_some();
        if !said(key) && !instead.is_some_and(|pair| pair.iter().any(|key| said(key))) {
            settings.set(key, value.clone());
        }
    }
}
