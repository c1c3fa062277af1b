//! The runs of a sweep.

use std::str::FromStr;

use barchan_scene::{Diagnostic, Document, Scene};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{Row, SweepError};
use crate::scene::parse_scene;

/// Largest number of runs.
const MAX_RUNS: usize = 100_000;

/// Version of the program: another one may compute other results.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// A key of scene files and its values, as for `--set`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Vary {
    /// The key: `materials.sand.angle_of_repose`.
    pub key: String,
    /// The values, as TOML or a bare word.
    pub values: Vec<String>,
}

impl FromStr for Vary {
    type Err = SweepError;

    /// Parses `KEY=A,B,C`. Commas within brackets, braces and quotes belong to a value.
    fn from_str(text: &str) -> Result<Self, SweepError> {
        let wrong = || SweepError::Values(format!("`{text}` must be KEY=A,B,C"));
        let (key, values) = text.split_once('=').ok_or_else(wrong)?;
        let vary = Self {
            key: key.trim().to_owned(),
            values: split_values(values),
        };
        match vary.key.is_empty() || vary.values.iter().any(String::is_empty) {
            true => Err(wrong()),
            false => Ok(vary),
        }
    }
}

fn split_values(text: &str) -> Vec<String> {
    let (mut values, mut value) = (Vec::new(), String::new());
    let (mut depth, mut quote) = (0_i32, None);
    for c in text.chars() {
        match (c, quote) {
            (_, Some(open)) if c == open => quote = None,
            ('"' | '\'', None) => quote = Some(c),
            ('[' | '{', None) => depth += 1,
            (']' | '}', None) => depth -= 1,
            (',', None) if depth == 0 => {
                values.push(std::mem::take(&mut value).trim().to_owned());
                continue;
            }
            _ => {}
        }
        value.push(c);
    }
    values.push(value.trim().to_owned());
    values
}

/// A scene, and the values of the keys to vary. Run 0 has the first value of each key; the last key changes fastest.
#[derive(Clone, Debug)]
pub struct Plan {
    document: Document,
    vary: Vec<Vary>,
    /// Frames of each run after the first; by default the duration of the scene.
    pub frames: Option<u64>,
}

impl PartialEq for Plan {
    fn eq(&self, other: &Self) -> bool {
        self.to_json() == other.to_json()
    }
}

impl Plan {
    /// Creates a plan, without reading the scenes.
    pub fn new(document: Document, vary: Vec<Vary>, frames: Option<u64>) -> Result<Self, SweepError> {
        let wrong = |what: String| Err(SweepError::Values(what));
        if vary.is_empty() {
            return wrong("a sweep needs at least one key to vary".to_owned());
        }
        for (k, one) in vary.iter().enumerate() {
            if one.values.is_empty() {
                return wrong(format!("`{}` has no values", one.key));
            }
            if vary[..k].iter().any(|other| other.key == one.key) {
                return wrong(format!("`{}` is varied twice", one.key));
            }
        }
        let count = vary.iter().try_fold(1_usize, |n, one| n.checked_mul(one.values.len()));
        if count.is_none_or(|count| count > MAX_RUNS) {
            return wrong(format!("these are more than {MAX_RUNS} runs"));
        }
        // Every process of the sweep finds the files that the scene names.
        let folder = std::path::absolute(&document.folder).unwrap_or_else(|_| document.folder.clone());
        Ok(Self {
            document: Document { folder, ..document },
            vary,
            frames,
        })
    }

    /// Returns the number of runs.
    pub fn len(&self) -> usize {
        self.vary.iter().map(|one| one.values.len()).product()
    }

    /// Returns true if there are no runs, which [`Plan::new`] rejects.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the name of the scene's document.
    pub fn name(&self) -> &str {
        &self.document.name
    }

    /// Returns the keys with their values in run `number`.
    fn point(&self, number: usize) -> Vec<(&str, &str)> {
        let mut rest = number;
        let mut point: Vec<_> = (self.vary.iter().rev())
            .map(|one| {
                let value = &one.values[rest % one.values.len()];
                rest /= one.values.len();
                (one.key.as_str(), value.as_str())
            })
            .collect();
        point.reverse();
        point
    }

    /// Returns a name of run `number` for people: `run 0003 (seed=2)`.
    pub fn title(&self, number: usize) -> String {
        let point = self.point(number).into_iter();
        let point: Vec<String> = point.map(|(key, value)| format!("{key}={value}")).collect();
        format!("run {number:04} ({})", point.join(", "))
    }

    /// Returns number and values of a run, the first columns of its row.
    pub(super) fn values(&self, number: usize) -> Row {
        let mut row = Row::new();
        row.insert("run".to_owned(), Value::from(number));
        for (key, value) in self.point(number) {
            let parsed = value.parse::<f64>().ok().filter(|number| number.is_finite());
            let bare = value.trim_matches(['"', '\'']);
            row.insert(key.to_owned(), parsed.map_or_else(|| Value::from(bare), Value::from));
        }
        row
    }

    /// Returns the checked scene of run `number`, its document, and its warnings.
    pub fn scene(&self, number: usize) -> Result<(Scene, Document, Vec<Diagnostic>), SweepError> {
        let point = self.point(number).into_iter();
        let document = point.fold(self.document.clone(), |document, (key, value)| {
            document.with(format!("{key}={value}"))
        });
        match parse_scene(&document) {
            Ok((scene, warnings)) => Ok((scene, document, warnings)),
            Err(errors) => Err(SweepError::Scene {
                run: self.title(number),
                errors: Box::new(errors),
            }),
        }
    }

    /// Checks the scenes of all runs.
    pub fn check(&self) -> Result<(), SweepError> {
        (0..self.len()).try_for_each(|number| self.scene(number).map(drop))
    }

    /// Returns the first run that settles as run `number` does, if there are several.
    pub(super) fn leader(&self, number: usize) -> Option<usize> {
        if !self
            .vary
            .iter()
            .any(|one| one.values.len() > 1 && !touches_settling(&one.key))
        {
            return None;
        }
        let (mut rest, mut leader, mut weight) = (number, 0, 1);
        for one in self.vary.iter().rev() {
            if touches_settling(&one.key) {
                leader += weight * (rest % one.values.len());
            }
            rest /= one.values.len();
            weight *= one.values.len();
        }
        Some(leader)
    }

    /// Returns the plan for its file.
    pub(super) fn to_json(&self) -> Value {
        json!({
            "version": VERSION,
            "name": self.document.name,
            "folder": self.document.folder,
            "text": self.document.text,
            "set": self.document.overrides,
            "vary": self.vary,
            "frames": self.frames,
        })
    }

    /// Reads a plan of this version.
    pub(super) fn from_json(value: &Value) -> Option<Self> {
        #[derive(Deserialize)]
        struct Stored {
            version: String,
            name: String,
            folder: std::path::PathBuf,
            text: String,
            set: Vec<String>,
            vary: Vec<Vary>,
            frames: Option<u64>,
        }
        let stored: Stored = serde_json::from_value(value.clone()).ok()?;
        let document = Document {
            name: stored.name,
            text: stored.text,
            folder: stored.folder,
            overrides: stored.set,
        };
        let plan = Self::new(document, stored.vary, stored.frames).ok()?;
        (stored.version == VERSION).then_some(plan)
    }
}

/// Returns false if a key has no effect before time 0, or only one that does not depend on settling: grains are seeded
/// after it, and dynamic bodies receive their velocities then.
fn touches_settling(key: &str) -> bool {
    let parts: Vec<&str> = key.split('.').collect();
    !matches!(
        parts[..],
        ["name" | "duration"] | ["output" | "camera" | "refine", ..] | ["body", _, "velocity" | "angular_velocity"]
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(vary: &[&str]) -> Plan {
        let vary = vary.iter().map(|one| one.parse().unwrap()).collect();
        Plan::new(Document::new("s", ""), vary, None).unwrap()
    }

    #[test]
    fn values_are_split_at_commas_outside_of_brackets_and_quotes() {
        let vary: Vary = r#"gravity=[0,0,-9.81], [0,0,-1.62],"a,b""#.parse().unwrap();
        assert_eq!(vary.values, ["[0,0,-9.81]", "[0,0,-1.62]", "\"a,b\""]);
        for wrong in ["seed", "=1", "seed=", "seed=1,,2"] {
            assert!(wrong.parse::<Vary>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn the_last_key_changes_fastest() {
        let plan = plan(&["seed=1,2", "materials.sand.angle_of_repose=25,30,35"]);
        assert_eq!(plan.len(), 6);
        assert_eq!(plan.title(4), "run 0004 (seed=2, materials.sand.angle_of_repose=30)");
        assert_eq!(plan.values(4)["seed"], 2.0);
    }

    #[test]
    fn runs_share_the_settled_guides_of_the_first_that_settles_as_they_do() {
        let leaders = |vary: &[&str]| (0..plan(vary).len()).map(|k| plan(vary).leader(k)).collect::<Vec<_>>();
        assert_eq!(leaders(&["seed=1,2"]), [None, None]);
        let shared = leaders(&["refine.radius=1,2", "seed=1,2"]);
        assert_eq!(shared, [Some(0), Some(1), Some(0), Some(1)]);
        assert_eq!(leaders(&["body.0.velocity=[0,0,1],[0,0,2]"]), [Some(0), Some(0)]);
        assert_eq!(leaders(&["fill.0.velocity=[0,0,1],[0,0,2]"]), [None, None]);
    }

    #[test]
    fn wrong_plans_are_refused_and_a_stored_one_reads_back() {
        let refused = |vary: &[&str]| {
            let vary = vary.iter().map(|one| one.parse().unwrap()).collect();
            Plan::new(Document::new("s", ""), vary, None).unwrap_err().to_string()
        };
        assert!(refused(&[]).contains("at least one key"));
        assert!(refused(&["seed=1", "seed=2"]).contains("twice"));
        let many = format!("a={}", vec!["1"; 1000].join(","));
        assert!(refused(&[&many, &many.replace('a', "b")]).contains("100000 runs"));
        let plan = plan(&["seed=1,2"]);
        assert_eq!(Plan::from_json(&plan.to_json()), Some(plan.clone()));
        let mut other = plan.to_json();
        other["version"] = Value::from("0.0.0");
        assert_eq!(Plan::from_json(&other), None);
    }
}
