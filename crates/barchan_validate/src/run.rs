//! Runs experiments and judges them.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::ValidateError;
use crate::experiment::{Check, Experiment, Twin, Variant};
use crate::expression::Parameters;
use crate::judge::Band;
use crate::measures::{line, mean};
use crate::plan::{Job, Options, Role, chosen, jobs, scene};
use crate::row::{Kind, Row};
use crate::stage::Observation;
use crate::store::Store;
use crate::task::{Finished, Task};
use crate::work::work;

/// Progress of a validation.
#[derive(Clone, Debug)]
pub struct Progress<'a> {
    /// Runs started before this one.
    pub done: usize,
    /// Total number of runs.
    pub all: usize,
    /// Name of the run that starts.
    pub what: &'a str,
}

/// Results of a validation.
#[derive(Clone, Debug)]
pub struct Results {
    /// The rows, in the order of the table.
    pub rows: Vec<Row>,
    /// Total time of all runs, on any machine [s].
    pub seconds: f64,
    /// Requested runs without a result.
    pub missing: usize,
}

/// A job with the runs of its seeds, by their indices.
struct Group<'e> {
    job: Job<'e>,
    parameters: Parameters,
    solver: String,
    tasks: Vec<usize>,
}

/// Observations of a job's runs.
struct Runs {
    parameters: Parameters,
    solver: String,
    seen: Vec<Observation>,
    seconds: f64,
}

/// Returns the runs that `options` select: name, and approximate number of guide steps.
pub fn runs(options: &Options) -> Result<Vec<(String, f64)>, ValidateError> {
    let experiments = chosen(options)?;
    let (_, tasks) = planned(&experiments, options)?;
    Ok(tasks.into_iter().map(|task| (task.what, task.cost)).collect())
}

/// Returns the jobs of each experiment, and the runs that they need.
fn planned<'e>(
    experiments: &'e [Experiment],
    options: &Options,
) -> Result<(Vec<Vec<Group<'e>>>, Vec<Task>), ValidateError> {
    let (mut groups, mut tasks): (Vec<Vec<Group>>, Vec<Task>) = (Vec::new(), Vec::new());
    let mut numbers: BTreeMap<String, usize> = BTreeMap::new();
    for experiment in experiments {
        let mut own = Vec::new();
        for job in jobs(experiment, options) {
            // The solver lacks a required setting.
            let Some(plan) = job.plan(options)? else { continue };
            let mut group = Group {
                solver: scene(&plan.document)?.solver.name.to_owned(),
                parameters: plan.parameters.clone(),
                tasks: Vec::new(),
                job,
            };
            for seed in 1..=group.job.seeds {
                let task = Task::new(&group.job, &plan, seed)?;
                // Two experiments may share a run.
                let number = *numbers.entry(task.key.clone()).or_insert(tasks.len());
                group.tasks.push(number);
                if number == tasks.len() {
                    tasks.push(task);
                }
            }
            own.push(group);
        }
        groups.push(own);
    }
    Ok((groups, tasks))
}

/// Runs the experiments that `options` name. `tell` is called for each run, `give` for each row as soon as it is known,
/// in the order of the table. Earlier results in `dir` are reused; new ones are stored there.
pub fn validate(
    options: &Options,
    dir: &Path,
    tell: &(dyn Fn(Progress) + Sync),
    give: &mut dyn FnMut(&Row),
) -> Result<Results, ValidateError> {
    let experiments = chosen(options)?;
    let store = Store::new(dir, &options.build, options.join)?;
    let (groups, tasks) = planned(&experiments, options)?;
    let mut finished: Vec<Option<Finished>> = tasks.iter().map(|task| store.get(task)).collect();
    let known = finished.iter().flatten().count();
    let left: Vec<(usize, &Task)> = tasks
        .iter()
        .enumerate()
        .filter(|(number, _)| !options.join && finished[*number].is_none())
        .collect();
    let mut table = RowTable::new(&experiments, &groups, options);
    table.go_on(&finished, false, give)?;
    let begun = AtomicUsize::new(known);
    let run = |task: &Task| {
        tell(Progress {
            done: begun.fetch_add(1, Ordering::Relaxed),
            all: tasks.len(),
            what: &task.what,
        });
        task.run(store.pause(task))
    };
    work(&left, options.jobs, &run, &mut |number, result| {
        store.put(&tasks[number], &result)?;
        finished[number] = Some(result);
        table.go_on(&finished, false, give)
    })?;
    table.go_on(&finished, true, give)?;
    Ok(Results {
        rows: table.rows,
        seconds: finished.iter().flatten().map(|f| f.seconds).sum(),
        missing: finished.iter().filter(|f| f.is_none()).count(),
    })
}

/// The table as far as it is known.
struct RowTable<'a> {
    experiments: &'a [Experiment],
    groups: &'a [Vec<Group<'a>>],
    options: &'a Options,
    rows: Vec<Row>,
    /// The next job: indices of the experiment and of the job in it.
    next: [usize; 2],
    /// First row of the experiment, and the observations of its laws.
    begin: usize,
    laws: Vec<(&'a Variant, Runs)>,
}

impl<'a> RowTable<'a> {
    fn new(experiments: &'a [Experiment], groups: &'a [Vec<Group<'a>>], options: &'a Options) -> Self {
        Self {
            experiments,
            groups,
            options,
            rows: Vec::new(),
            next: [0, 0],
            begin: 0,
            laws: Vec::new(),
        }
    }

    /// Judges jobs in order, up to the first with a missing run; if `is_all`, every job with results.
    fn go_on(
        &mut self,
        finished: &[Option<Finished>],
        is_all: bool,
        give: &mut dyn FnMut(&Row),
    ) -> Result<(), ValidateError> {
        while let Some(groups) = self.groups.get(self.next[0]) {
            let known = self.rows.len();
            if let Some(group) = groups.get(self.next[1]) {
                let there: Vec<&Finished> = group.tasks.iter().filter_map(|&n| finished[n].as_ref()).collect();
                if there.len() < group.tasks.len() && !is_all {
                    return Ok(());
                }
                self.next[1] += 1;
                if !there.is_empty() {
                    self.judge(group, &there)?;
                }
            } else {
                let experiment = &self.experiments[self.next[0]];
                let fits = fit_rows(experiment, self.options, &self.laws, &self.rows[self.begin..])?;
                self.rows.extend(fits);
                self.laws.clear();
                self.begin = self.rows.len();
                self.next = [self.next[0] + 1, 0];
            }
            self.rows[known..].iter().for_each(&mut *give);
        }
        Ok(())
    }

    fn judge(&mut self, group: &Group<'a>, there: &[&Finished]) -> Result<(), ValidateError> {
        let job = &group.job;
        let runs = Runs {
            parameters: group.parameters.clone(),
            solver: group.solver.clone(),
            seen: there.iter().map(|f| f.seen.clone()).collect(),
            seconds: there.iter().map(|f| f.seconds).sum(),
        };
        let mut rows = match &job.role {
            Role::Law => law_rows(job, &runs, self.options.quick)?,
            Role::Control(rejects) => control_row(job, &runs, rejects)?,
            Role::Twin(twin) => twin_row(job, &runs, twin, &self.laws)?,
        };
        if there.len() < group.tasks.len() {
            let note = format!("{} of {} seeds", there.len(), group.tasks.len());
            for row in &mut rows {
                let before = std::mem::take(&mut row.note);
                row.note = if before.is_empty() {
                    note.clone()
                } else {
                    format!("{note}; {before}")
                };
            }
        }
        self.rows.extend(rows);
        if let Role::Law = job.role {
            self.laws.push((job.variant, runs));
        }
        Ok(())
    }
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
    /// Returns true if a simulation stopped early.
    fn broken(&self) -> bool {
        self.seen.iter().any(|seen| seen.broken)
    }

    /// Returns a quantity by seed; NaN where it was not measured.
    fn values(&self, quantity: &str) -> Vec<f64> {
        let value = |seen: &Observation| seen.value(quantity).unwrap_or(f64::NAN);
        self.seen.iter().map(value).collect()
    }
}

fn law_rows(job: &Job, runs: &Runs, is_quick: bool) -> Result<Vec<Row>, ValidateError> {
    let is_asked = |check: &&Check| check.sets.holds(is_quick) && check.band(&runs.solver) != (None, None);
    let checks = job.experiment.checks.iter().filter(is_asked);
    checks
        .map(|check| Ok(job.row(runs, Kind::Law, check, job.band(check, runs)?)))
        .collect()
}

fn control_row(job: &Job, runs: &Runs, rejects: &str) -> Result<Vec<Row>, ValidateError> {
    let check = job.check(rejects)?;
    let mut row = job.row(runs, Kind::Control, check, job.band(check, runs)?);
    // An undecided control is not rejected.
    let decided = row.pass.filter(|_| !runs.broken());
    row.pass = decided.map(|_| !row.band.accepts(row.measured));
    Ok(vec![row])
}

fn twin_row(job: &Job, runs: &Runs, twin: &Twin, laws: &[(&Variant, Runs)]) -> Result<Vec<Row>, ValidateError> {
    let wrong = |reason: String| ValidateError::Experiment {
        file: job.experiment.file.clone(),
        reason,
    };
    // Joined parts may lack the run to compare with.
    let Some((_, base)) = laws.iter().find(|law| law.0.name == twin.of) else {
        return Ok(Vec::new());
    };
    let within = runs.parameters.value(&twin.within).map_err(|e| wrong(e.to_string()))?;
    let expected = mean(&base.values(&twin.quantity));
    let band = Band {
        expected,
        low: Some(expected - within),
        high: Some(expected + within),
    };
    Ok(vec![job.row(runs, Kind::Twin, job.check(&twin.quantity)?, band)])
}

/// Returns rows for the exponents of power laws through all variants.
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
