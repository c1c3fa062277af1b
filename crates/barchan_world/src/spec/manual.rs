//! Settings of a solver as text for the manual and for help.

use std::fmt::Write as _;

use barchan_geometry::text::short;

use super::{Kind, Setting, SolverSpec};

impl SolverSpec {
    /// Markdown of the manual: a table of the settings, and the presets.
    pub fn manual(&self) -> String {
        let mut text = String::from("| setting | default | allowed | meaning |\n| --- | --- | --- | --- |\n");
        for field in self.settings.fields {
            let default = field.need.value().map_or_else(String::new, |value| code(&value));
            let (key, allowed) = (field.key, field.kind.allowed());
            writeln!(text, "| `{key}` | {default} | {allowed} | {} |", field.help).expect("strings take any text");
        }
        for preset in self.presets {
            let settings: Vec<String> = preset
                .settings
                .iter()
                .map(|(key, value)| assignment(key, value))
                .collect();
            let (name, about) = (preset.name, preset.about);
            write!(text, "\nPreset `{name}`, {about}: `{}`.\n", settings.join(", ")).expect("strings take any text");
        }
        text
    }
}

impl Kind {
    /// Values of a setting, in words: a range, or a list of words.
    pub fn allowed(&self) -> String {
        match self {
            Self::Between(low, high) => format!("{} to {}", short(*low), short(*high)),
            Self::Count(low, high) => format!("{low} to {high}"),
            Self::Flag => "`true`, `false`".to_owned(),
            Self::Word(words) => words
                .iter()
                .map(|word| format!("`{word}`"))
                .collect::<Vec<_>>()
                .join(", "),
            Self::Vector(low, high) => format!("three from {} to {}", short(*low), short(*high)),
            _ => String::new(),
        }
    }
}

fn code(value: &Setting) -> String {
    match value {
        Setting::Number(x) => short(*x),
        Setting::Count(n) => n.to_string(),
        other => format!("`{other}`"),
    }
}

fn assignment(key: &str, value: &Setting) -> String {
    match value {
        Setting::Word(word) => format!("{key} = \"{word}\""),
        other => format!("{key} = {other}"),
    }
}
