//! Runs experiments and judges them.

use std::time::Instant;

use barchan::SimulationError;

use crate::ValidateError;
use crate::experiment::{Check, Experiment, Twin, Variant};
use crate::expression::Parameters;
use crate::judge::Band;
use crate::measures::{line, mean};
use crate::plan::{Job, Options, Role, chosen, jobs, scene};
use crate::protocols::{Broken, protocol};
use crate::row::{Kind, Row};
use crate::stage::{Observation, Stage};

/// What is being done.
#[derive(Clone, Debug)]
pub struct Progress<'a> {
    /// Runs that are done.
    pub done: usize,
    /// Runs that there are.
    pub all: usize,
    /// What runs now.
    pub what: &'a str,
}

/// What the runs of a job showed.
struct Runs {
    parameters: Parameters,
    solver: String,
    seen: Vec<Observation>,
    seconds: f64,
}

/// Runs the experiments that `options` name. `tell` hears of each run, `give` gets each row as soon as it is known.
pub fn validate(
    options: &Options,
    tell: &mut dyn FnMut(Progress),
    give: &mut dyn FnMut(&Row),
) -> Result<Vec<Row>, ValidateError> {
    let experiments = chosen(options)?;
    let jobs: Vec<Vec<Job>> = experiments.iter().map(|e| jobs(e, options)).collect();
    let all: u64 = jobs.iter().flatten().map(|job| job.seeds).sum();
    let mut done = 0;
    let mut rows: Vec<Row> = Vec::new();
    for (experiment, jobs) in experiments.iter().zip(jobs) {
        let begin = rows.len();
        let mut laws: Vec<(&Variant, Runs)> = Vec::new();
        for job in jobs {
            let runs = work(&job, options, &mut |what| {
                tell(Progress {
                    done,
                    all: all as usize,
                    what,
                });
                done += 1;
            })?;
            let Some(runs) = runs else { continue };
            let new = match &job.role {
                Role::Law => law_rows(&job, &runs, options.quick)?,
                Role::Control(rejects) => control_row(&job, &runs, rejects)?,
                Role::Twin(twin) => twin_row(&job, &runs, twin, &laws)?,
            };
            new.iter().for_each(&mut *give);
            rows.extend(new);
            if let Role::Law = job.role {
                laws.push((job.variant, runs));
            }
        }
        let fits = fit_rows(experiment, options, &laws, &rows[begin..])?;
        fits.iter().for_each(&mut *give);
        rows.extend(fits);
    }
    Ok(rows)
}

/// Does a job for each of its seeds; nothing where the solver lacks a setting that it needs.
fn work(job: &Job, options: &Options, tell: &mut dyn FnMut(&str)) -> Result<Option<Runs>, ValidateError> {
    let Some(plan) = job.plan(options)? else {
        return Ok(None);
    };
    let experiment = job.experiment;
    let run = protocol(&experiment.protocol).ok_or_else(|| ValidateError::Experiment {
        file: experiment.file.clone(),
        reason: format!("there is no protocol `{}`", experiment.protocol),
    })?;
    let start = Instant::now();
    let what = format!("{} {}", experiment.case, job.variant.name);
    let (mut seen, mut solver) = (Vec::new(), String::new());
    for seed in 1..=job.seeds {
        tell(&what);
        let scene = scene(&plan.document.clone().with(format!("seed={seed}")))?;
        solver.clone_from(&scene.solver);
        let result = Stage::new(scene, plan.parameters.clone(), plan.change)
            .map_err(Broken::from)
            .and_then(|mut stage| run(&mut stage));
        seen.push(match result {
            Ok(observation) => observation,
            Err(Broken::Expression(source)) => {
                return Err(ValidateError::Expression {
                    file: experiment.file.clone(),
                    source,
                });
            }
            // A solver that gives up misses; the others go on.
            Err(Broken::Simulation(SimulationError::Advance(error))) => Observation {
                notes: vec![format!("broke off: {error}")],
                broken: true,
                ..Observation::default()
            },
            Err(Broken::Simulation(source)) => {
                let source = Box::new(source);
                return Err(ValidateError::Simulation { what, source });
            }
        });
    }
    Ok(Some(Runs {
        parameters: plan.parameters,
        solver,
        seen,
        seconds: start.elapsed().as_secs_f64(),
    }))
}

impl Job<'_> {
    fn band(&self, check: &Check, runs: &Runs) -> Result<Band, ValidateError> {
        let value = |text: &str| {
            runs.parameters.value(text).map_err(|source| ValidateError::Expression {
                file: self.experiment.file.clone(),
                source,
            })
        };
        let (low, high) = check.band(&runs.solver);
        Ok(Band {
            expected: value(&check.expected)?,
            low: low.map(value).transpose()?,
            high: high.map(value).transpose()?,
        })
    }

    fn check(&self, quantity: &str) -> Result<&Check, ValidateError> {
        let found = self.experiment.checks.iter().find(|c| c.quantity == quantity);
        found.ok_or_else(|| ValidateError::Experiment {
            file: self.experiment.file.clone(),
            reason: format!("there is no check of `{quantity}`"),
        })
    }

    fn row(&self, runs: &Runs, kind: Kind, check: &Check, band: Band) -> Row {
        let values = runs.values(&check.quantity);
        let mut verdict = band.judge(&values);
        if runs.broken() {
            verdict.pass = Some(false);
        } else if runs.seen.iter().any(|seen| seen.value(&check.quantity).is_none()) {
            verdict.pass = None;
            verdict.note = Some("inconclusive: not measured".to_owned());
        }
        let mut notes: Vec<&str> = verdict.note.iter().map(String::as_str).collect();
        for note in runs.seen.iter().flat_map(|seen| &seen.notes) {
            if !notes.contains(&note.as_str()) {
                notes.push(note);
            }
        }
        let axis = self.experiment.plot.as_ref();
        Row {
            case: self.experiment.case.clone(),
            experiment: self.experiment.file.clone(),
            variant: self.variant.name.clone(),
            kind,
            solver: runs.solver.clone(),
            quantity: check.quantity.clone(),
            unit: check.unit.clone(),
            measured: verdict.measured,
            band,
            pass: verdict.pass,
            spread: verdict.spread,
            seeds: values.len(),
            seconds: runs.seconds,
            guides: runs.seen.first().map_or(0, |seen| seen.guides),
            note: notes.join("; "),
            x: axis.and_then(|axis| runs.parameters.value(&axis.parameter).ok()),
        }
    }
}

impl Runs {
    /// Whether a simulation broke off.
    fn broken(&self) -> bool {
        self.seen.iter().any(|seen| seen.broken)
    }

    /// A quantity, by seed; what was not measured is NaN.
    fn values(&self, quantity: &str) -> Vec<f64> {
        let value = |seen: &Observation| seen.value(quantity).unwrap_or(f64::NAN);
        self.seen.iter().map(value).collect()
    }
}

fn law_rows(job: &Job, runs: &Runs, is_quick: bool) -> Result<Vec<Row>, ValidateError> {
    let checks = job.experiment.checks.iter().filter(|check| check.sets.holds(is_quick));
    checks
        .map(|check| Ok(job.row(runs, Kind::Law, check, job.band(check, runs)?)))
        .collect()
}

fn control_row(job: &Job, runs: &Runs, rejects: &str) -> Result<Vec<Row>, ValidateError> {
    let check = job.check(rejects)?;
    let mut row = job.row(runs, Kind::Control, check, job.band(check, runs)?);
    // What could not be told is not rejected.
    let told = row.pass.filter(|_| !runs.broken());
    row.pass = told.map(|_| !row.band.accepts(row.measured));
    Ok(vec![row])
}

fn twin_row(job: &Job, runs: &Runs, twin: &Twin, laws: &[(&Variant, Runs)]) -> Result<Vec<Row>, ValidateError> {
    let wrong = |reason: String| ValidateError::Experiment {
        file: job.experiment.file.clone(),
        reason,
    };
    let base = laws.iter().find(|law| law.0.name == twin.of);
    let (_, base) = base.ok_or_else(|| wrong(format!("there is no variant `{}`", twin.of)))?;
    let within = runs.parameters.value(&twin.within).map_err(|e| wrong(e.to_string()))?;
    let expected = mean(&base.values(&twin.quantity));
    let band = Band {
        expected,
        low: Some(expected - within),
        high: Some(expected + within),
    };
    Ok(vec![job.row(runs, Kind::Twin, job.check(&twin.quantity)?, band)])
}

/// The exponents of power laws through all variants.
fn fit_rows(
    experiment: &Experiment,
    options: &Options,
    laws: &[(&Variant, Runs)],
    rows: &[Row],
) -> Result<Vec<Row>, ValidateError> {
    let mut found = Vec::new();
    for fit in experiment.fits.iter().filter(|fit| fit.sets.holds(options.quick)) {
        let value = |parameters: &Parameters, text: &str| {
            parameters.value(text).map_err(|source| ValidateError::Expression {
                file: experiment.file.clone(),
                source,
            })
        };
        let mut points = Vec::new();
        for (_, runs) in laws {
            let x = value(&runs.parameters, &fit.over)?;
            let y = mean(&runs.values(&fit.quantity));
            if x >= fit.from && x <= fit.to && y > 0.0 {
                points.push([x.ln(), y.ln()]);
            }
        }
        let (Some(line), Some(model)) = (line(&points), rows.iter().find(|r| r.quantity == fit.quantity)) else {
            continue;
        };
        let bound = |text: &Option<String>| text.as_ref().map(|t| value(&experiment.parameters, t)).transpose();
        let band = Band {
            expected: value(&experiment.parameters, &fit.expected)?,
            low: bound(&fit.low)?,
            high: bound(&fit.high)?,
        };
        found.push(Row {
            variant: format!("{} points", points.len()),
            quantity: fit.name.clone(),
            unit: String::new(),
            measured: line.slope,
            band,
            pass: Some(band.accepts(line.slope)),
            spread: 0.0,
            seconds: 0.0,
            note: format!("R² {:.3}", line.r2),
            x: None,
            ..model.clone()
        });
    }
    Ok(found)
}
