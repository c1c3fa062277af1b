//! Overrides of a text by `KEY=VALUE`.
//!
//! A key is a path with dots: keys of tables, and for lists the index of an item, from 0, or its `name`: `solver.kind`,
//! `materials.sand.density`, `fill.0.radius`, `body.glass.friction`. Values are TOML, or a bare word. Setting one of
//! two keys that exclude each other removes the other.

use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::reader::{KEY, Reader, Value, suggestion};
use crate::tables::SCENE;
use barchan_world::spec::{Kind, TableSpec};

/// A key and a value that override the text.
#[derive(Debug)]
pub(crate) struct Override<'d> {
    /// The key, with dots.
    pub key: &'d str,
    /// Bytes of the whole override.
    pub span: Range<usize>,
    /// First byte of the key.
    pub begin: usize,
    /// The value as written; none if there is no equals sign.
    pub value: Option<&'d str>,
    /// The value as a document.
    pub source: String,
}

impl<'d> Override<'d> {
    /// Parses `KEY=VALUE`, which begins at the byte `begin`.
    pub fn new(assignment: &'d str, begin: usize) -> Self {
        let (key, value) = match assignment.split_once('=') {
            Some((key, value)) => (key, Some(value)),
            None => (assignment, None),
        };
        let end = begin + assignment.len();
        let written = value.map(str::trim_start).unwrap_or_default();
        // What has no key or no value is refused whole, wherever its value would be.
        let blanks = (end - written.len()).saturating_sub(KEY.len());
        Self {
            key: key.trim(),
            span: begin..end,
            begin,
            value: value.map(str::trim),
            source: format!("{}{KEY}{written}", " ".repeat(blanks)),
        }
    }
}

/// Puts every override into the scene `root`.
pub(crate) fn apply<'r>(reader: &'r Reader<'_>, root: &mut Value<'r>) {
    for (said, value) in reader.overrides() {
        if let Err((message, help)) = put(reader, said, root, value) {
            reader.error(said.span.clone(), message, help);
        }
    }
}

type Refusal = (String, Option<String>);

fn put<'r>(reader: &Reader<'_>, said: &Override<'_>, root: &mut Value<'r>, value: Value<'r>) -> Result<(), Refusal> {
    let parts: Vec<&str> = said.key.split('.').collect();
    if parts.iter().any(|part| part.is_empty()) {
        return Err((format!("`{}` is no key", said.key), Some(reader.example())));
    }
    let (last, way) = parts.split_last().expect("a split has at least one part");
    let mut here = root;
    let mut spec = Some(&SCENE);
    let mut is_solver = false;
    let mut path = String::new();
    for part in way {
        let kind = spec.and_then(|spec| spec.field(part)).map(|field| &field.kind);
        // Items of a list and tables by name have the table of their list.
        let within = match here.get_ref() {
            _ if is_solver => reader.solver(part).map(|solver| &solver.settings),
            DeValue::Table(_) if kind.is_some() => kind.and_then(Kind::table),
            _ => spec,
        };
        here = step(here, part, &path, &said.span)?;
        spec = within;
        is_solver = matches!(kind, Some(Kind::Solver));
        path = if path.is_empty() {
            (*part).to_owned()
        } else {
            format!("{path}.{part}")
        };
    }
    set(here, last, &path, said, spec, value)
}

/// The value called `part` in `here`; a table that is missing is made.
fn step<'v, 'r>(
    here: &'v mut Value<'r>,
    part: &str,
    path: &str,
    span: &Range<usize>,
) -> Result<&'v mut Value<'r>, Refusal> {
    let whole = describe(here);
    match here.get_mut() {
        DeValue::Table(entries) => {
            if !entries.contains_key(part) {
                if path == "materials" {
                    return Err(no_such("material", part, &keys(entries)));
                }
                let table = Spanned::new(span.clone(), DeValue::Table(DeTable::new()));
                entries.insert(Spanned::new(span.clone(), part.to_owned().into()), table);
            }
            Ok(entries.get_mut(part).expect("it is there or was put there"))
        }
        DeValue::Array(list) => {
            let at = item(list, part, path)?;
            Ok(&mut list.as_mut()[at])
        }
        _ => Err((format!("`{path}` is {whole}, there is no `{part}` in it"), None)),
    }
}

fn set<'r>(
    here: &mut Value<'r>,
    key: &str,
    path: &str,
    said: &Override<'_>,
    spec: Option<&TableSpec>,
    value: Value<'r>,
) -> Result<(), Refusal> {
    let whole = describe(here);
    match here.get_mut() {
        DeValue::Table(entries) => {
            let pairs = spec.map_or(&[][..], |spec| spec.exclusive);
            for [one, other] in pairs {
                if key == *one {
                    entries.remove(*other);
                } else if key == *other {
                    entries.remove(*one);
                }
            }
            // Removed first: a map keeps its old key, and with it the old place.
            entries.remove(key);
            let end = said.begin + said.key.len();
            entries.insert(Spanned::new(end - key.len()..end, key.to_owned().into()), value);
            Ok(())
        }
        DeValue::Array(list) => {
            let at = item(list, key, path)?;
            list.as_mut()[at] = value;
            Ok(())
        }
        _ => Err((format!("`{path}` is {whole}, there is no `{key}` in it"), None)),
    }
}

/// The place of an item of a list, by its number or by its name.
fn item(list: &[Value<'_>], part: &str, path: &str) -> Result<usize, Refusal> {
    let by_number = part.parse().ok().filter(|at| *at < list.len());
    let names: Vec<&str> = list.iter().filter_map(name).collect();
    let by_name = || list.iter().position(|item| name(item) == Some(part));
    by_number.or_else(by_name).ok_or_else(|| {
        let items = match list.len() {
            0 => "no items".to_owned(),
            1 => "one item, 0".to_owned(),
            n => format!("{n} items, 0 to {}", n - 1),
        };
        let help = (!names.is_empty()).then(|| suggestion(part, &names));
        (format!("`{path}` has {items}; there is no `{part}`"), help)
    })
}

fn name<'v>(item: &'v Value<'_>) -> Option<&'v str> {
    let DeValue::Table(entries) = item.get_ref() else {
        return None;
    };
    match entries.get("name")?.get_ref() {
        DeValue::String(name) => Some(name),
        _ => None,
    }
}

fn keys<'v>(entries: &'v DeTable<'_>) -> Vec<&'v str> {
    entries.keys().map(|key| &**key.get_ref()).collect()
}

fn no_such(what: &str, name: &str, names: &[&str]) -> Refusal {
    (format!("there is no {what} `{name}`"), Some(suggestion(name, names)))
}

fn describe(value: &Value<'_>) -> &'static str {
    match value.get_ref() {
        DeValue::String(_) => "a string",
        DeValue::Integer(_) | DeValue::Float(_) => "a number",
        DeValue::Boolean(_) => "true or false",
        DeValue::Datetime(_) => "a date",
        DeValue::Array(_) => "a list",
        DeValue::Table(_) => "a table",
    }
}
