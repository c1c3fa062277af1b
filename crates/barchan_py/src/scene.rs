//! Scenes from Python: a name, a path, a text or a dictionary.

use std::path::PathBuf;

use barchan::doubts;
use barchan::scene::{BUILT_IN, Document, Scene, find, parse_scene};
use pyo3::exceptions::{PyTypeError, PyUserWarning};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyMapping, PySequence, PyString};
use serde_json::Value;

use crate::errors::input;

/// Deepest nesting of a dictionary.
const MAX_DEPTH: usize = 64;

/// Returns the document of a scene: the name of a built-in one, a path, a TOML text, or a dictionary.
pub fn document(source: &Bound<'_, PyAny>, set: Option<&Bound<'_, PyDict>>) -> PyResult<Document> {
    let document = if let Ok(table) = source.cast::<PyDict>() {
        Document::new("scene", dict_text(table)?)
    } else if let Ok(text) = source.extract::<String>() {
        let is_text = text.contains(['\n', '=']) && !std::path::Path::new(&text).exists();
        match is_text {
            true => Document::new("scene", text),
            false => find(&text).map_err(input)?,
        }
    } else if let Ok(path) = source.extract::<PathBuf>() {
        find(&path.to_string_lossy()).map_err(input)?
    } else {
        let kind = source.get_type().name()?;
        let what = format!("a scene is a name, a path, a TOML text or a dict, not {kind}");
        return Err(PyTypeError::new_err(what));
    };
    Ok(overrides(set)?.into_iter().fold(document, Document::with))
}

/// Returns the entries of a dictionary as overrides, `KEY=VALUE`.
pub fn overrides(set: Option<&Bound<'_, PyDict>>) -> PyResult<Vec<String>> {
    let entries = set.into_iter().flat_map(PyDictMethods::iter);
    entries
        .map(|(key, value)| Ok(format!("{}={}", key.extract::<String>()?, toml(&value, 0)?)))
        .collect()
}

/// Reads a scene, and passes its warnings to Python.
pub fn parse(py: Python<'_>, document: &Document) -> PyResult<Scene> {
    let parsed = py.detach(|| {
        let (scene, mut warnings) = parse_scene(document)?;
        warnings.extend(doubts(&scene));
        Ok::<_, barchan::scene::Diagnostics>((scene, warnings))
    });
    let (scene, warnings) = parsed.map_err(input)?;
    for warning in warnings {
        warn(py, &warning.render(document))?;
    }
    Ok(scene)
}

/// Issues a Python warning.
pub fn warn(py: Python<'_>, text: &str) -> PyResult<()> {
    let text = std::ffi::CString::new(text.replace('\0', "")).map_err(input)?;
    PyErr::warn(py, &py.get_type::<PyUserWarning>(), &text, 1)
}

/// Writes a dictionary as a TOML text, a line per key.
fn dict_text(table: &Bound<'_, PyDict>) -> PyResult<String> {
    let lines = table
        .iter()
        .map(|(key, value)| Ok(format!("{} = {}\n", toml_key(&key)?, toml(&value, 0)?)));
    lines.collect()
}

fn toml_key(key: &Bound<'_, PyAny>) -> PyResult<String> {
    let key: String = key.extract()?;
    let is_bare = !key.is_empty() && key.chars().all(|c| c.is_ascii_alphanumeric() || "_-".contains(c));
    Ok(if is_bare { key } else { quoted(&key) })
}

/// Quotes a text: a JSON string is a valid TOML string.
fn quoted(text: &str) -> String {
    Value::from(text).to_string().replace('\u{7f}', "\\u007f")
}

/// Writes a value as TOML.
pub fn toml(value: &Bound<'_, PyAny>, depth: usize) -> PyResult<String> {
    if depth > MAX_DEPTH {
        return Err(input(format!("a scene is nested deeper than {MAX_DEPTH} levels")));
    }
    if value.is_instance_of::<PyBool>() {
        return Ok(value.extract::<bool>()?.to_string());
    }
    if value.is_instance_of::<PyInt>() || value.is_instance_of::<PyString>() {
        return match value.extract::<String>() {
            Ok(text) => Ok(quoted(&text)),
            Err(_) => Ok(value.str()?.extract()?),
        };
    }
    if value.is_instance_of::<PyFloat>() {
        return Ok(format!("{:?}", value.extract::<f64>()?).to_lowercase());
    }
    if let Ok(table) = value.cast::<PyMapping>() {
        let mut entries = Vec::new();
        for entry in table.items()?.iter() {
            let (key, value) = entry.extract::<(Bound<'_, PyAny>, Bound<'_, PyAny>)>()?;
            entries.push(format!("{} = {}", toml_key(&key)?, toml(&value, depth + 1)?));
        }
        return Ok(format!("{{ {} }}", entries.join(", ")));
    }
    // Arrays and numbers of numpy.
    if let Ok(plain) = value.call_method0("tolist") {
        return toml(&plain, depth + 1);
    }
    if let Ok(path) = value.extract::<PathBuf>() {
        return Ok(quoted(&path.to_string_lossy()));
    }
    let wrong = || {
        let kind = value
            .get_type()
            .name()
            .map_or_else(|_| "object".to_owned(), |name| name.to_string());
        PyTypeError::new_err(format!("a value of a scene cannot be of type {kind}"))
    };
    // Not any iterable: some never end.
    let items = value.cast::<PySequence>().map_err(|_| wrong())?.try_iter()?;
    let items: PyResult<Vec<String>> = items.map(|item| toml(&item?, depth + 1)).collect();
    Ok(format!("[{}]", items?.join(", ")))
}

/// Returns the names of the built-in scenes with their descriptions.
#[pyfunction]
pub fn scenes() -> Vec<(&'static str, &'static str)> {
    BUILT_IN.iter().map(|scene| (scene.name, scene.about)).collect()
}

/// Checks a scene without running it, and returns its warnings.
#[pyfunction]
#[pyo3(signature = (scene, *, set = None))]
pub fn check(py: Python<'_>, scene: &Bound<'_, PyAny>, set: Option<&Bound<'_, PyDict>>) -> PyResult<Vec<String>> {
    let document = document(scene, set)?;
    py.detach(|| {
        let (scene, mut warnings) = parse_scene(&document).map_err(input)?;
        warnings.extend(doubts(&scene));
        barchan::try_start(&scene).map_err(crate::errors::of_simulation)?;
        Ok(warnings.iter().map(|warning| warning.render(&document)).collect())
    })
}
