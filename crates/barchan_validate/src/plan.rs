//! Selects the runs.

use barchan::scene::{Document, Scene, parse_scene};
use barchan::world::spec::STEP_DIVISOR;

use crate::ValidateError;
use crate::experiment::{Change, Experiment, Twin, Variant, experiments};
use crate::expression::{ExpressionError, Parameters};

/// Selection of runs.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Cases; all if empty.
    pub cases: Vec<String>,
    /// Only variants whose case and name contain this.
    pub only: Option<String>,
    /// Overrides of every scene, `KEY=VALUE`.
    pub set: Vec<String>,
    /// One seed, smallest sizes, one negative control.
    pub quick: bool,
    /// Largest number of seeds, if given.
    pub seeds: Option<u64>,
    /// Parallel runs, each on one thread; below two, runs are sequential and use all threads.
    pub jobs: usize,
    /// Run nothing: judge the existing results, of any build.
    pub join: bool,
    /// Identity of the program: results of another build are not continued.
    pub build: String,
}

/// Returns the names of all cases with their descriptions.
pub fn cases() -> Result<Vec<(String, String)>, ValidateError> {
    let mut cases: Vec<(String, String)> = Vec::new();
    for experiment in experiments()? {
        if !cases.iter().any(|case| case.0 == experiment.case) {
            cases.push((experiment.case, experiment.about));
        }
    }
    Ok(cases)
}

/// Returns the selected experiments.
pub(crate) fn chosen(options: &Options) -> Result<Vec<Experiment>, ValidateError> {
    let all = experiments()?;
    let mut names: Vec<&str> = all.iter().map(|e| e.case.as_str()).collect();
    names.dedup();
    if let Some(name) = options.cases.iter().find(|case| !names.contains(&case.as_str())) {
        return Err(ValidateError::NoCase {
            name: name.clone(),
            help: barchan::scene::reader::suggestion(name, &names),
        });
    }
    let wanted = |e: &Experiment| options.cases.is_empty() || options.cases.contains(&e.case);
    Ok(all.into_iter().filter(wanted).collect())
}

/// A run, to be repeated for each of its seeds.
pub(crate) struct Job<'e> {
    pub experiment: &'e Experiment,
    pub variant: &'e Variant,
    pub role: Role<'e>,
    pub seeds: u64,
}

pub(crate) enum Role<'e> {
    Law,
    Control(&'e str),
    Twin(&'e Twin),
}

/// Returns the runs of an experiment that `options` select.
pub(crate) fn jobs<'e>(experiment: &'e Experiment, options: &Options) -> Vec<Job<'e>> {
    let wanted = |variant: &Variant| {
        let name = format!("{} {}", experiment.case, variant.name);
        variant.sets.holds(options.quick) && options.only.as_ref().is_none_or(|only| name.contains(only.as_str()))
    };
    let job = |variant: &'e Variant, role| Job {
        experiment,
        variant,
        role,
        seeds: (if options.quick { 1 } else { variant.seeds }).min(options.seeds.unwrap_or(u64::MAX)),
    };
    let laws = experiment.variants.iter().map(|v| job(v, Role::Law));
    let controls = experiment
        .controls
        .iter()
        .map(|c| job(&c.variant, Role::Control(&c.rejects)));
    let twins = experiment.twins.iter().map(|t| job(&t.variant, Role::Twin(t)));
    let mut jobs: Vec<Job> = laws
        .chain(controls)
        .chain(twins)
        .filter(|job| wanted(job.variant))
        .collect();
    // A twin needs the run that it is compared with.
    let missing: Vec<&Variant> = jobs
        .iter()
        .filter_map(|job| match job.role {
            Role::Twin(twin) => experiment.variants.iter().find(|v| v.name == twin.of),
            _ => None,
        })
        .filter(|of| !jobs.iter().any(|job| std::ptr::eq(job.variant, *of)))
        .collect();
    for of in missing {
        if !jobs.iter().any(|job| std::ptr::eq(job.variant, of)) {
            jobs.insert(0, job(of, Role::Law));
        }
    }
    jobs
}

/// A scene, its parameters and its change.
pub(crate) struct Plan {
    pub document: Document,
    pub parameters: Parameters,
    pub change: Option<Change>,
}

impl Job<'_> {
    /// Returns the plan for any seed; `None` if the solver lacks a required setting.
    pub fn plan(&self, options: &Options) -> Result<Option<Plan>, ValidateError> {
        let experiment = self.experiment;
        let (base, change) = match &self.role {
            Role::Twin(twin) => (experiment.variants.iter().find(|v| v.name == twin.of), twin.change),
            _ => (None, None),
        };
        let expression = |source: ExpressionError| ValidateError::Expression {
            file: experiment.file.clone(),
            source,
        };
        let mut parameters = experiment.parameters.clone();
        let mut set = Vec::new();
        for variant in base.into_iter().chain([self.variant]) {
            parameters = parameters.with(&variant.parameters);
            set.extend(&variant.set);
        }
        let text = parameters.fill(&experiment.scene).map_err(expression)?;
        let document = Document::new(&experiment.file, text);
        let mut document = options.set.iter().fold(document, Document::with);
        let asked = scene(&document)?;
        let needs = self.variant.needs.as_deref();
        if needs.is_some_and(|setting| !asked.solver_settings.iter().any(|s| s.0 == setting)) {
            return Ok(None);
        }
        for assignment in set {
            let own = assignment.replace("solver.*", &format!("solver.{}", asked.solver));
            document = document.with(parameters.fill(&own).map_err(expression)?);
        }
        Ok(finer(document, change)?.map(|document| Plan {
            document,
            parameters,
            change,
        }))
    }
}

/// Parses the scene in `document`.
pub(crate) fn scene(document: &Document) -> Result<Scene, ValidateError> {
    Ok(parse_scene(document).map_err(ValidateError::Scene)?.0)
}

/// Halves the steps of a document, whatever limits them, or doubles its iterations; returns nothing where the solver has no
/// setting for it.
fn finer(document: Document, change: Option<Change>) -> Result<Option<Document>, ValidateError> {
    let scene = scene(&document)?;
    let key = match change {
        Some(Change::HalfStep) => Some(STEP_DIVISOR),
        // Passes that end when an error is small are no more by a higher bound.
        Some(Change::TwiceTheIterations) => scene.facts().passes.filter(|p| p.fewest.is_none()).map(|p| p.most),
        _ => return Ok(Some(document)),
    };
    let twice = |key: &str| {
        let number = scene.solver_settings.count(key)?;
        Some(
            document
                .clone()
                .with(format!("solver.{}.{key}={}", scene.solver, 2 * number)),
        )
    };
    Ok(key.and_then(twice))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocols::protocol;
    use barchan::SOLVERS;

    #[test]
    fn every_run_of_every_experiment_has_a_scene_a_law_and_a_protocol() {
        for quick in [true, false] {
            let options = Options {
                quick,
                ..Options::default()
            };
            let mut controls = 0;
            for experiment in experiments().unwrap() {
                let file = &experiment.file;
                assert!(
                    protocol(&experiment.protocol).is_some(),
                    "{file}: {}",
                    experiment.protocol
                );
                assert!(!experiment.checks.is_empty() && !experiment.source.is_empty(), "{file}");
                let checked = |quantity: &str| experiment.checks.iter().any(|c| c.quantity == quantity);
                assert!(experiment.fits.iter().all(|fit| checked(&fit.quantity)), "{file}");
                let axis = experiment.plot.iter().map(|axis| axis.parameter.as_str());
                let jobs = jobs(&experiment, &options);
                assert!(quick || !jobs.is_empty(), "{file}");
                for job in jobs {
                    let name = &job.variant.name;
                    let plan = job.plan(&options).unwrap_or_else(|e| panic!("{file} {name}: {e}"));
                    let Some(plan) = plan else { continue };
                    scene(&plan.document).unwrap_or_else(|e| panic!("{file} {name}: {e}"));
                    for check in &experiment.checks {
                        let value = |text: &str| {
                            let value = plan.parameters.value(text);
                            value.unwrap_or_else(|e| panic!("{file} {name}: {e}"))
                        };
                        value(&check.expected);
                        let bands = SOLVERS.iter().map(|solver| check.band(solver.name));
                        let judging: Vec<_> = bands.filter(|band| *band != (None, None)).collect();
                        assert!(!judging.is_empty(), "{file} {}: no band", check.quantity);
                        for (low, high) in judging {
                            // A quantity that cannot be negative is not bounded by 0.
                            let accepts_all = high.is_none() && low.map(value) == Some(0.0);
                            assert!(!accepts_all, "{file} {}: any value passes", check.quantity);
                            high.map(value);
                        }
                    }
                    for text in axis.clone().chain(experiment.fits.iter().map(|fit| fit.over.as_str())) {
                        plan.parameters
                            .value(text)
                            .unwrap_or_else(|e| panic!("{file} {name}: {e}"));
                    }
                    match job.role {
                        Role::Law => (),
                        Role::Control(rejects) => {
                            controls += 1;
                            assert!(checked(rejects), "{file} {name}: no check of {rejects}");
                        }
                        Role::Twin(twin) => {
                            assert!(checked(&twin.quantity), "{file} {name}");
                            assert!(experiment.variants.iter().any(|v| v.name == twin.of), "{file} {name}");
                            plan.parameters.value(&twin.within).unwrap();
                        }
                    }
                }
            }
            assert!(controls >= if quick { 4 } else { 8 }, "{controls} controls");
        }
    }

    /// Returns the steps of the first `frames` frames of `experiment`'s first law and of its twin with half the step,
    /// with `set` as overrides.
    fn steps_with_twin(file: &str, set: &[String], frames: usize) -> [u32; 2] {
        let all = experiments().unwrap();
        let experiment = all.iter().find(|e| e.file == file).unwrap();
        let options = Options {
            set: set.to_vec(),
            ..Options::default()
        };
        let jobs = jobs(experiment, &options);
        let is_half = |job: &&Job| matches!(job.role, Role::Twin(twin) if twin.change == Some(Change::HalfStep));
        let twin = jobs.iter().find(is_half).unwrap();
        let Role::Twin(Twin { of, .. }) = twin.role else {
            unreachable!()
        };
        let law = jobs.iter().find(|job| job.variant.name == *of).unwrap();
        [law, twin].map(|job| {
            let plan = job.plan(&options).unwrap().unwrap();
            let mut simulation = barchan::Simulation::new(&scene(&plan.document).unwrap()).unwrap();
            let step = |_| {
                simulation.advance().unwrap();
                simulation.report().steps
            };
            (0..frames).map(step).sum()
        })
    }

    #[test]
    fn half_a_step_is_half_of_what_each_solver_takes() {
        for solver in SOLVERS {
            let [all, twice] = steps_with_twin("momentum_fall", &[format!("solver.kind={solver}")], 3);
            assert_eq!(twice, 2 * all, "{solver}");
        }
        // Fast guides limit the step here, and the twin halves their limit.
        let fast = "fill.0.velocity=[30, 0, 0]".to_owned();
        let [all, twice] = steps_with_twin("momentum_fall", &[fast], 1);
        assert_eq!(twice, 2 * all);
    }

    #[test]
    fn a_misspelt_case_is_told_what_was_meant() {
        let options = Options {
            cases: vec!["repos".to_owned()],
            ..Options::default()
        };
        let message = chosen(&options).map(|_| ()).unwrap_err().to_string();
        assert!(message.contains("did you mean `repose`"), "{message}");
    }
}
