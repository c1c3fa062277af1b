//! Methods on the command line.

use barchan::SOLVERS;
use barchan::scene::reader::near_miss;
use barchan::world::spec::{Preset, SolverSpec};

use crate::failure::Failure;

/// A solver, with a preset if one is named.
#[derive(Clone, Copy)]
pub struct Method {
    solver: &'static SolverSpec,
    preset: Option<&'static Preset>,
}

impl PartialEq for Method {
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name()
    }
}

impl Method {
    /// Reads `SOLVER` or `SOLVER:PRESET`.
    pub fn of(text: &str) -> Result<Self, Failure> {
        let (name, preset) = match text.split_once(':') {
            Some((name, preset)) => (name, Some(preset)),
            None => (text, None),
        };
        let names: Vec<&str> = SOLVERS.iter().map(|solver| solver.name).collect();
        let solver = SOLVERS.iter().copied().find(|solver| solver.name == name);
        let solver = solver.ok_or_else(|| unknown("solver", name, &names))?;
        let presets: Vec<&str> = solver.presets.iter().map(|preset| preset.name).collect();
        let preset = match preset {
            None => None,
            Some(wanted) => {
                let known = solver.presets.iter().find(|preset| preset.name == wanted);
                Some(known.ok_or_else(|| unknown(&format!("preset of {name}"), wanted, &presets))?)
            }
        };
        Ok(Self { solver, preset })
    }

    /// Returns it as on the command line.
    pub fn name(&self) -> String {
        match self.preset {
            Some(preset) => format!("{}:{}", self.solver.name, preset.name),
            None => self.solver.name.to_owned(),
        }
    }

    /// Returns the name of its folder.
    pub fn folder(&self) -> String {
        self.name().replace(':', "-")
    }

    /// Returns a description of it.
    pub fn about(&self) -> &'static str {
        self.preset.map_or(self.solver.about, |preset| preset.about)
    }

    /// Returns the overrides that choose it in a scene.
    pub fn overrides(&self) -> Vec<String> {
        let solver = self.solver.name;
        let kind = format!("solver.kind={solver}");
        let preset = self
            .preset
            .map(|preset| format!("solver.{solver}.preset={}", preset.name));
        [Some(kind), preset].into_iter().flatten().collect()
    }
}

fn unknown(what: &str, name: &str, known: &[&str]) -> Failure {
    let meant = near_miss(name, known).map_or(String::new(), |name| format!("; did you mean `{name}`?"));
    let all = match known {
        [] => "there are none".to_owned(),
        _ => format!("there are {}", known.join(", ")),
    };
    Failure::input(format!("--methods: there is no {what} `{name}`, {all}{meant}"))
}
