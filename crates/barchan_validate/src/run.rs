//! Runs experiments and judges them.

use std::time::Instant;

use barchan::scene::{Document, Scene, parse_scene};
use serde_json::{Value, json};

use crate::ValidateError;
use crate::experiment::{Change, Check, Experiment, Twin, Variant, experiments};
use crate::expression::{ExpressionError, Parameters};
use crate::judge::Band;
use crate::measures::{line, mean};
use crate::protocols::{Broken, protocol};
use crate::stage::{Observation, Stage};

/// What to run.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Cases; all if none is named.
    pub cases: Vec<String>,
    /// Only variants whose case and name hold this.
    pub only: Option<String>,
    /// What is said beside every scene, `KEY=VALUE`.
    pub set: Vec<String>,
    /// One seed, smallest sizes, one negative control.
    pub quick: bool,
}

/// What a row is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A law.
    Law,
    /// A wrong material, which passes when the band rejects it.
    Control,
    /// A change that must change nothing.
    Twin,
}

impl Kind {
    /// As rows say it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Law => "law",
            Self::Control => "control",
            Self::Twin => "twin",
        }
    }
}

/// A line of the table.
#[derive(Clone, Debug)]
pub struct Row {
    /// The case.
    pub case: String,
    /// The experiment's file.
    pub experiment: String,
    /// Which run of it.
    pub variant: String,
    /// What it is about.
    pub kind: Kind,
    /// What moved the guides.
    pub solver: String,
    /// What was measured.
    pub quantity: String,
    /// Its unit.
    pub unit: String,
    /// Mean over the seeds.
    pub measured: f64,
    /// What it should be and may be.
    pub band: Band,
    /// Right, wrong, or not to be told.
    pub pass: Option<bool>,
    /// Standard deviation over the seeds.
    pub spread: f64,
    /// Number of seeds.
    pub seeds: usize,
    /// Seconds that its runs took.
    pub seconds: f64,
    /// Guides of a run.
    pub guides: usize,
    /// What a reader should know.
    pub note: String,
    /// Where it lies on the plot's axis.
    pub x: Option<f64>,
}

impl Row {
    /// As one JSON object.
    pub fn json(&self) -> Value {
        json!({
            "case": self.case,
            "variant": self.variant,
            "kind": self.kind.word(),
            "quantity": self.quantity,
            "unit": self.unit,
            "solver": self.solver,
            "measured": number(self.measured),
            "expected": number(self.band.expected),
            "low": self.band.low,
            "high": self.band.high,
            "pass": self.pass,
            "spread": self.spread,
            "seeds": self.seeds,
            "guides": self.guides,
            "seconds": self.seconds,
            "note": self.note,
        })
    }
}

/// JSON has no NaN.
fn number(x: f64) -> Value {
    if x.is_finite() { json!(x) } else { Value::Null }
}

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

/// Names of all cases and what each shows.
pub fn cases() -> Result<Vec<(String, String)>, ValidateError> {
    let mut cases: Vec<(String, String)> = Vec::new();
    for experiment in experiments()? {
        if !cases.iter().any(|case| case.0 == experiment.case) {
            cases.push((experiment.case, experiment.about));
        }
    }
    Ok(cases)
}

/// Experiments that were asked for.
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

/// A run to be done for each of its seeds.
struct Job<'e> {
    experiment: &'e Experiment,
    variant: &'e Variant,
    role: Role<'e>,
    seeds: u64,
}

enum Role<'e> {
    Law,
    Control(&'e str),
    Twin(&'e Twin),
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
            let new = match &job.role {
                Role::Law => law_rows(&job, &runs)?,
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

fn jobs<'e>(experiment: &'e Experiment, options: &Options) -> Vec<Job<'e>> {
    let wanted = |variant: &Variant| {
        let name = format!("{} {}", experiment.case, variant.name);
        variant.sets.holds(options.quick) && options.only.as_ref().is_none_or(|only| name.contains(only.as_str()))
    };
    let job = |variant: &'e Variant, role| Job {
        experiment,
        variant,
        role,
        seeds: if options.quick { 1 } else { variant.seeds },
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
    // A twin needs what it is compared with.
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

fn work(job: &Job, options: &Options, tell: &mut dyn FnMut(&str)) -> Result<Runs, ValidateError> {
    let experiment = job.experiment;
    let base = match &job.role {
        Role::Twin(twin) => experiment.variants.iter().find(|v| v.name == twin.of),
        _ => None,
    };
    let mut parameters = experiment.parameters.clone();
    let mut set = options.set.clone();
    for variant in base.into_iter().chain([job.variant]) {
        parameters = parameters.with(&variant.parameters);
        set.extend(variant.set.iter().cloned());
    }
    let change = match &job.role {
        Role::Twin(twin) => twin.change,
        _ => None,
    };
    let expression = |source: ExpressionError| ValidateError::Expression {
        file: experiment.file.clone(),
        source,
    };
    let text = parameters.fill(&experiment.scene).map_err(expression)?;
    let document = set.iter().fold(Document::new(&experiment.file, text), Document::with);
    let document = finer(document, change)?;
    let run = protocol(&experiment.protocol).ok_or_else(|| ValidateError::Experiment {
        file: experiment.file.clone(),
        reason: format!("there is no protocol `{}`", experiment.protocol),
    })?;
    let start = Instant::now();
    let what = format!("{} {}", experiment.case, job.variant.name);
    let (mut seen, mut solver) = (Vec::new(), String::new());
    for seed in 1..=job.seeds {
        tell(&what);
        let scene = scene(&document.clone().with(format!("seed={seed}")))?;
        solver.clone_from(&scene.solver);
        let result = Stage::new(scene, parameters.clone(), change)
            .map_err(Broken::from)
            .and_then(|mut stage| run(&mut stage));
        seen.push(result.map_err(|broken| match broken {
            Broken::Expression(source) => expression(source),
            Broken::Simulation(source) => ValidateError::Simulation {
                what: what.clone(),
                source,
            },
        })?);
    }
    Ok(Runs {
        parameters,
        solver,
        seen,
        seconds: start.elapsed().as_secs_f64(),
    })
}

fn scene(document: &Document) -> Result<Scene, ValidateError> {
    Ok(parse_scene(document).map_err(ValidateError::Scene)?.0)
}

/// The document with steps half as long, or passes twice as many, as it says.
fn finer(document: Document, change: Option<Change>) -> Result<Document, ValidateError> {
    let scene = scene(&document)?;
    let (kind, settings) = (&scene.solver, &scene.solver_settings);
    Ok(match change {
        Some(Change::HalfStep) => match (settings.number("substeps"), settings.number("step")) {
            (Some(n), _) => document.with(format!("solver.{kind}.substeps={}", 2.0 * n)),
            (None, Some(step)) => document.with(format!("solver.{kind}.step={:?}", 0.5 * step)),
            _ => document,
        },
        Some(Change::TwiceTheIterations) => match settings.count("iterations") {
            Some(n) => document.with(format!("solver.{kind}.iterations={}", 2 * n)),
            None => document,
        },
        _ => document,
    })
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
        let verdict = band.judge(&values);
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
    /// A quantity, by seed; what was not measured is NaN.
    fn values(&self, quantity: &str) -> Vec<f64> {
        let value = |seen: &Observation| seen.value(quantity).unwrap_or(f64::NAN);
        self.seen.iter().map(value).collect()
    }
}

fn law_rows(job: &Job, runs: &Runs) -> Result<Vec<Row>, ValidateError> {
    let checks = job.experiment.checks.iter();
    checks
        .map(|check| Ok(job.row(runs, Kind::Law, check, job.band(check, runs)?)))
        .collect()
}

fn control_row(job: &Job, runs: &Runs, rejects: &str) -> Result<Vec<Row>, ValidateError> {
    let check = job.check(rejects)?;
    let mut row = job.row(runs, Kind::Control, check, job.band(check, runs)?);
    row.pass = Some(!row.band.accepts(row.measured));
    Ok(vec![row])
}

fn twin_row(job: &Job, runs: &Runs, twin: &Twin, laws: &[(&Variant, Runs)]) -> Result<Vec<Row>, ValidateError> {
    if twin.solver.as_ref().is_some_and(|solver| *solver != runs.solver) {
        return Ok(Vec::new());
    }
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
