//! Spanned TOML values to numbers, vectors and names; every mistake is noted, and none ends the reading.
//!
//! A reader returns `None` for a value that it could not read and continues. [`Table`] records the keys it was asked
//! for, which are the allowed ones, and [`Table::finish`] reports all others.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt::Display;
use std::ops::Range;

use glam::{DVec2, DVec3};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::overrides::Override;
use crate::{Diagnostic, Diagnostics, Document, Severity};
use barchan_world::spec::{DIRECTION, SolverSpec};

/// A TOML value with its location.
pub type Value<'d> = Spanned<DeValue<'d>>;

/// Reads one document and collects what is wrong with it.
#[derive(Debug)]
pub struct Reader<'d> {
    document: &'d Document,
    /// The text for TOML: that of the document, but with [`KEY`] before an inline table.
    source: Cow<'d, str>,
    /// Offset at which the key was inserted: later offsets are smaller in the document.
    inserted: Option<usize>,
    /// Each override with its value as TOML, after blanks as long as everything before it, so that places are right.
    overrides: Vec<Override<'d>>,
    found: RefCell<Vec<Diagnostic>>,
    /// Checksums of the files that were read, by their names.
    files: RefCell<BTreeMap<String, String>>,
    /// Solvers that a document may choose.
    solvers: &'d [&'static SolverSpec],
}

/// Makes an inline table a document, which TOML reads with comments and blanks around it.
pub(crate) const KEY: &str = "_=";

impl<'d> Reader<'d> {
    /// Creates a reader of `document`.
    pub fn new(document: &'d Document) -> Self {
        let text = &document.text;
        let start = begin_of_content(text);
        let (before, content) = text.split_at(start);
        let inserted = content.starts_with('{').then_some(start);
        let source: Cow<'d, str> = match inserted {
            Some(_) => format!("{before}{KEY}{content}").into(),
            None => text.into(),
        };
        let shift = source.len() - text.len();
        let overrides = (0..document.overrides.len())
            .map(|k| Override::new(&document.overrides[k], document.override_begin(k) + shift))
            .collect();
        Self {
            document,
            source,
            inserted,
            overrides,
            found: RefCell::default(),
            files: RefCell::default(),
            solvers: &[],
        }
    }

    /// The same for documents that may choose one of `solvers`.
    pub(crate) fn with_solvers(self, solvers: &'d [&'static SolverSpec]) -> Self {
        Self { solvers, ..self }
    }

    /// The solver called `name`.
    pub(crate) fn solver(&self, name: &str) -> Option<&'static SolverSpec> {
        self.solvers.iter().copied().find(|solver| solver.name == name)
    }

    /// Advice that shows an override.
    pub(crate) fn example(&self) -> String {
        let value = self.solvers.first().map_or("...", |solver| solver.name);
        format!("for example `solver.kind={value}`")
    }

    /// Solvers that the document may choose.
    pub(crate) fn solvers(&self) -> &'d [&'static SolverSpec] {
        self.solvers
    }

    /// Notes a file that the document names, with what was read from it.
    pub(crate) fn note_file(&self, name: &str, contents: crc32fast::Hasher) {
        let sum = format!("{:08x}", contents.finalize());
        self.files.borrow_mut().insert(name.to_owned(), sum);
    }

    /// Returns the checksums of the files that were noted, by their names.
    pub(crate) fn files(&self) -> BTreeMap<String, String> {
        self.files.borrow().clone()
    }

    /// Returns the text.
    pub fn document(&self) -> &'d Document {
        self.document
    }

    /// Returns the document as a value: the inline table it consists of, or else the table of its keys. `None` if it is
    /// not TOML.
    pub fn parse(&self) -> Option<Value<'_>> {
        let table = self.well_formed(DeTable::parse_recoverable(&self.source))?;
        if self.inserted.is_none() {
            return Some(Spanned::new(table.span(), DeValue::Table(table.into_inner())));
        }
        let mut entries = table.into_inner();
        let inline = entries.remove("_");
        for key in entries.keys() {
            self.error(key.span(), "nothing may follow the closing brace", None);
        }
        inline
    }

    /// Returns the overrides, each with its value: TOML, or a bare word.
    pub(crate) fn overrides(&self) -> impl Iterator<Item = (&Override<'d>, Value<'_>)> {
        self.overrides
            .iter()
            .filter_map(|said| Some((said, self.override_value(said)?)))
    }

    fn override_value<'r>(&'r self, said: &'r Override<'d>) -> Option<Value<'r>> {
        let Some(written) = said.value else {
            let help = self.example();
            self.error(said.span.clone(), "an override must be KEY=VALUE", Some(help));
            return None;
        };
        let (table, errors) = DeTable::parse_recoverable(&said.source);
        let mut entries = table.into_inner();
        if errors.is_empty() && entries.len() == 1 {
            return entries.remove("_");
        }
        if !written.is_empty() && !written.contains(['"', '\'', '[', ']', '{', '}', '=', '\n']) {
            let span = said.span.end - written.len()..said.span.end;
            return Some(Spanned::new(span, DeValue::String(written.into())));
        }
        self.well_formed(((), errors));
        None
    }

    /// The parsed text if it was without errors, which are noted.
    fn well_formed<T>(&self, (parsed, errors): (T, Vec<toml::de::Error>)) -> Option<T> {
        for error in &errors {
            let span = error.span().unwrap_or(0..0);
            self.error(span, error.message().replace('\n', ", "), None);
        }
        errors.is_empty().then_some(parsed)
    }

    /// Returns the location of the first character that is not part of a comment.
    pub fn begin(&self) -> Range<usize> {
        let start = begin_of_content(&self.document.text);
        start..start
    }

    /// Returns the location of a value in the document.
    pub fn place(&self, span: Range<usize>) -> Range<usize> {
        let Some(start) = self.inserted else { return span };
        let place = |offset: usize| {
            if offset > start {
                start.max(offset - KEY.len())
            } else {
                offset
            }
        };
        place(span.start)..place(span.end)
    }

    /// Notes an error.
    pub fn error(&self, span: Range<usize>, message: impl Into<String>, help: Option<String>) {
        self.note(Severity::Error, span, message.into(), help);
    }

    /// Notes a warning.
    pub fn warn(&self, span: Range<usize>, message: impl Into<String>, help: Option<String>) {
        self.note(Severity::Warning, span, message.into(), help);
    }

    /// Returns true if there is no error so far.
    pub(crate) fn is_good(&self) -> bool {
        !self.found.borrow().iter().any(|item| item.severity == Severity::Error)
    }

    fn note(&self, severity: Severity, span: Range<usize>, message: String, help: Option<String>) {
        let span = self.place(span);
        self.found.borrow_mut().push(Diagnostic {
            severity,
            message,
            span,
            help,
        });
    }

    /// Returns the warnings if there is no error, otherwise all diagnostics, in the order of the text.
    pub fn finish(self) -> Result<Vec<Diagnostic>, Diagnostics> {
        let mut items = self.found.into_inner();
        items.sort_by_key(|item| (item.span.start, item.span.end));
        items.dedup();
        if items.iter().all(|item| item.severity == Severity::Warning) {
            return Ok(items);
        }
        let document = self.document.clone();
        Err(Diagnostics { document, items })
    }

    /// Notes that `value` is not what `what` must be.
    pub(crate) fn refuse<T>(&self, what: &str, value: &Value<'_>, must_be: impl Display) -> Option<T> {
        self.refuse_with(what, value, must_be, None);
        None
    }

    /// Notes that `value` is not what `what` must be, and what to do.
    pub(crate) fn refuse_with(&self, what: &str, value: &Value<'_>, must_be: impl Display, help: Option<String>) {
        let message = format!("{what} must be {must_be}, got {}", self.describe(value));
        self.error(value.span(), message, help);
    }

    /// The value as written, shortened, and its type if that is not plain to see.
    fn describe(&self, value: &Value<'_>) -> String {
        const SHOWN: usize = 40;
        let kind = match value.get_ref() {
            DeValue::Table(_) => return "a table".into(),
            DeValue::Array(list) => return format!("a list of {}", list.len()),
            DeValue::String(_) => ", a string",
            DeValue::Datetime(_) => ", a date",
            _ => "",
        };
        let written = self.document.slice(&self.place(value.span()));
        let line = written.lines().next().unwrap_or_default();
        let short: String = line.chars().take(SHOWN).collect();
        let dots = if short.len() < written.len() { "..." } else { "" };
        format!("`{short}{dots}`{kind}")
    }

    /// Reads a finite number, written as an integer or a float.
    pub fn number(&self, what: &str, value: &Value<'_>) -> Option<f64> {
        let number = match value.get_ref() {
            DeValue::Integer(n) if n.radix() == 10 => n.as_str().parse().ok(),
            DeValue::Integer(n) => i128::from_str_radix(n.as_str(), n.radix()).ok().map(|n| n as f64),
            DeValue::Float(x) => x.as_str().parse().ok(),
            _ => return self.refuse(what, value, "a number"),
        };
        match number {
            Some(x) if f64::is_finite(x) => Some(x),
            _ => self.refuse(what, value, "a finite number"),
        }
    }

    /// Reads a finite number from `low` to `high`.
    pub fn between(&self, what: &str, value: &Value<'_>, low: f64, high: f64) -> Option<f64> {
        match self.number(what, value)? {
            x if (low..=high).contains(&x) => Some(x),
            _ => self.refuse(what, value, format_args!("{} to {}", bound(low), bound(high))),
        }
    }

    /// Reads a whole number from `least` to `most`.
    pub fn count(&self, what: &str, value: &Value<'_>, least: u64, most: u64) -> Option<u64> {
        let DeValue::Integer(n) = value.get_ref() else {
            return self.refuse(what, value, "a whole number");
        };
        match u64::from_str_radix(n.as_str(), n.radix()) {
            Ok(n) if (least..=most).contains(&n) => Some(n),
            _ => self.refuse(what, value, format_args!("a whole number from {least} to {most}")),
        }
    }

    /// Reads `true` or `false`.
    pub fn flag(&self, what: &str, value: &Value<'_>) -> Option<bool> {
        match value.get_ref() {
            DeValue::Boolean(flag) => Some(*flag),
            _ => self.refuse(what, value, "true or false"),
        }
    }

    /// Reads one of the words `allowed`.
    pub fn word(&self, what: &str, value: &Value<'_>, allowed: &[&'static str]) -> Option<&'static str> {
        let text = self.string(what, value)?;
        let found = allowed.iter().find(|word| **word == text);
        if found.is_none() {
            let message = format!("unknown {what} `{text}`");
            self.error(value.span(), message, Some(suggestion(&text, allowed)));
        }
        found.copied()
    }

    /// Reads two numbers from `least` to `most`, the second above the first, as `[low, high]`.
    pub fn range(&self, what: &str, value: &Value<'_>, least: f64, most: f64) -> Option<[f64; 2]> {
        match self.array(what, value, least, most)? {
            [low, high] if low < high => Some([low, high]),
            [low, high] => {
                let message = format!("{what} must be [low, high] with low below high, got [{low}, {high}]");
                self.error(value.span(), message, None);
                None
            }
        }
    }

    /// A list of `N` numbers, each from `low` to `high`.
    fn array<const N: usize>(&self, what: &str, value: &Value<'_>, low: f64, high: f64) -> Option<[f64; N]> {
        let list = match value.get_ref() {
            DeValue::Array(list) if list.len() == N => list,
            _ => return self.refuse(what, value, format_args!("a list of {N} numbers")),
        };
        let mut numbers = [0.0; N];
        let mut good = true;
        for (number, item) in numbers.iter_mut().zip(list.iter()) {
            match self.between(what, item, low, high) {
                Some(x) => *number = x,
                None => good = false,
            }
        }
        good.then_some(numbers)
    }

    /// Reads three numbers from `low` to `high`, as `[x, y, z]`.
    pub fn vec3(&self, what: &str, value: &Value<'_>, low: f64, high: f64) -> Option<DVec3> {
        self.array(what, value, low, high).map(DVec3::from_array)
    }

    /// Reads three numbers of which one is not zero, as `[x, y, z]`.
    pub fn direction(&self, what: &str, value: &Value<'_>) -> Option<DVec3> {
        let [least, most] = DIRECTION;
        match self.vec3(what, value, -most, most)? {
            direction if direction.abs().max_element() < least => {
                self.error(value.span(), format!("{what} must not be zero"), None);
                None
            }
            direction => Some(direction),
        }
    }

    /// Reads a point of a profile, as `[r, z]` with r zero or above, neither beyond `most`.
    pub fn profile_point(&self, what: &str, value: &Value<'_>, most: f64) -> Option<DVec2> {
        let [r, z] = self.array(what, value, -most, most)?;
        if r < 0.0 {
            self.error(
                value.span(),
                format!("{what} must have r zero or above, got r = {r}"),
                None,
            );
            return None;
        }
        Some(DVec2::new(r, z))
    }

    /// Reads a string.
    pub fn string(&self, what: &str, value: &Value<'_>) -> Option<String> {
        match value.get_ref() {
            DeValue::String(text) => Some(text.to_string()),
            _ => self.refuse(what, value, "a string"),
        }
    }

    /// Reads a list of any length, each item by `read`; every item is read, even after a wrong one.
    pub fn list<T>(
        &self,
        what: &str,
        value: &Value<'_>,
        mut read: impl FnMut(&Value<'_>) -> Option<T>,
    ) -> Option<Vec<T>> {
        let DeValue::Array(list) = value.get_ref() else {
            return self.refuse(what, value, "a list");
        };
        let items: Vec<_> = list.iter().map(&mut read).collect();
        items.into_iter().collect()
    }

    /// Reads a table, called `what` in errors.
    pub fn table<'r>(&'r self, what: &str, value: &'r Value<'d>) -> Option<Table<'r, 'd>> {
        match value.get_ref() {
            DeValue::Table(entries) => Some(Table {
                reader: self,
                name: what.to_string(),
                entries,
                span: value.span(),
                asked: RefCell::default(),
            }),
            _ => self.refuse(what, value, "a table"),
        }
    }
}

/// A bound as scene files write it: 0.5, 60, 1e-7.
pub(crate) fn bound(x: f64) -> String {
    match x == 0.0 || (1e-3..1e5).contains(&x.abs()) {
        true => x.to_string(),
        false => format!("{x:e}"),
    }
}

/// Returns the offset of the first character after blanks and comments.
fn begin_of_content(text: &str) -> usize {
    let mut rest = text.trim_start();
    while rest.starts_with('#') {
        rest = rest.split_once('\n').map_or("", |(_, next)| next.trim_start());
    }
    text.len() - rest.len()
}

/// A table being read: it records which keys were read.
#[derive(Debug)]
pub struct Table<'r, 'd> {
    reader: &'r Reader<'d>,
    name: String,
    entries: &'r DeTable<'d>,
    span: Range<usize>,
    asked: RefCell<Vec<&'static str>>,
}

impl<'r, 'd> Table<'r, 'd> {
    /// Returns the bytes of the table.
    pub fn span(&self) -> Range<usize> {
        self.span.clone()
    }

    /// Returns the keys in the table, with their locations.
    pub fn keys(&self) -> impl Iterator<Item = (&'r str, Range<usize>)> {
        self.entries.keys().map(|key| (&**key.get_ref(), key.span()))
    }

    /// Returns the entries of the table: keys with their locations, and values.
    pub fn entries(&self) -> impl Iterator<Item = (&'r str, Range<usize>, &'r Value<'d>)> {
        self.entries
            .iter()
            .map(|(key, value)| (&**key.get_ref(), key.span(), value))
    }

    /// Returns the value of `key`, which is allowed from now on.
    pub fn get(&self, key: &'static str) -> Option<&'r Value<'d>> {
        self.asked.borrow_mut().push(key);
        self.entries.get(key)
    }

    /// Reads the value of `key` by `read`; an error if it is missing.
    pub fn required<T>(
        &self,
        key: &'static str,
        read: impl FnOnce(&'r Reader<'d>, &str, &'r Value<'d>) -> Option<T>,
    ) -> Option<T> {
        match self.get(key) {
            Some(value) => read(self.reader, key, value),
            None => {
                let message = format!("{} must have the key `{key}`", self.name);
                self.reader
                    .error(self.span(), message, Some(format!("add `{key} = ...`")));
                None
            }
        }
    }

    /// Reads the value of `key` by `read`, or returns `default` if it is missing; `None` only if it is wrong.
    pub fn optional<T>(
        &self,
        key: &'static str,
        read: impl FnOnce(&'r Reader<'d>, &str, &'r Value<'d>) -> Option<T>,
        default: T,
    ) -> Option<T> {
        match self.get(key) {
            Some(value) => read(self.reader, key, value),
            None => Some(default),
        }
    }

    /// Notes every key that was not read.
    pub fn finish(&self) {
        let mut allowed = self.asked.borrow().clone();
        allowed.sort_unstable();
        allowed.dedup();
        for (key, span) in self.keys().filter(|(key, _)| !allowed.contains(key)) {
            let message = format!("unknown key `{key}` in {}", self.name);
            self.reader.error(span, message, Some(suggestion(key, &allowed)));
        }
    }
}

/// Returns "did you mean ...?" if `word` is a near miss of an allowed word, and all allowed words.
pub fn suggestion(word: &str, allowed: &[&str]) -> String {
    let guess = near_miss(word, allowed).map_or(String::new(), |near| format!("did you mean `{near}`? "));
    format!("{guess}allowed: {}", allowed.join(", "))
}

/// Returns the one of `words` that was most likely meant by `word`, if it differs by few letters.
pub fn near_miss<'a>(word: &str, words: &[&'a str]) -> Option<&'a str> {
    let word = word.to_lowercase();
    // Short words are often a few letters apart without meaning the same: `mass` and `ease`.
    let most = |candidate: &str| match word.chars().count().max(candidate.chars().count()) {
        0..=2 => 0,
        3..=5 => 1,
        6..=11 => 2,
        _ => 3,
    };
    let near = words
        .iter()
        .map(|&candidate| (strsim::damerau_levenshtein(&word, &candidate.to_lowercase()), candidate))
        .filter(|&(mistakes, candidate)| mistakes <= most(candidate));
    near.min().map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_near_misses_are_suggested() {
        let keys = [
            "color",
            "density",
            "ease",
            "friction",
            "motion",
            "opacity",
            "angle_of_repose",
            "at",
        ];
        for (word, meant) in [
            ("mass", None),
            ("speed", None),
            ("prismatic", None),
            ("it", None),
            ("colour", Some("color")),
            ("Color", Some("color")),
            ("desnity", Some("density")),
            ("frictoin", Some("friction")),
            ("eas", Some("ease")),
            ("att", Some("at")),
            ("angel_of_repos", Some("angle_of_repose")),
        ] {
            assert_eq!(near_miss(word, &keys), meant, "{word}");
        }
    }
}
