//! The type stubs name everything that the module exports. The module itself is tested from Python.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// Returns the names after each `start`, up to a character that is not part of a name.
fn names(text: &str, start: &str) -> BTreeSet<String> {
    let rest = text.split(start).skip(1);
    let is_name = |c: char| c.is_alphanumeric() || c == '_';
    rest.map(|rest| rest.chars().take_while(|c| is_name(*c)).collect())
        .collect()
}

#[test]
fn the_stubs_name_what_the_module_exports() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let read = |path: &str| fs::read_to_string(root.join(path)).unwrap();
    let module = read("src/lib.rs");
    let last = |path: &str| path.rsplit("::").next().unwrap_or_default().to_owned();
    let added = |start: &str| -> BTreeSet<String> {
        let rest = module.split(start).skip(1);
        rest.map(|rest| last(rest.split(['>', ',']).next().unwrap_or_default()))
            .collect()
    };
    let stubs = read("python/barchan/_barchan.pyi");
    // The iterator of a cache has no name for users.
    let mut classes: BTreeSet<String> = added("add_class::<")
        .into_iter()
        .filter(|name| name != "Frames")
        .collect();
    classes.extend(["Error", "InputError", "RunError"].map(str::to_owned));
    assert!(classes.len() > 5, "{classes:?}");
    assert_eq!(names(&stubs, "\nclass "), classes);
    let functions = added("wrap_pyfunction!(");
    assert!(functions.len() > 5, "{functions:?}");
    assert_eq!(names(&stubs, "\ndef "), functions);
}

#[test]
fn the_stubs_have_the_documentation_of_the_module() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let stubs = fs::read_to_string(root.join("python/barchan/_barchan.pyi")).unwrap();
    let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>().join(" ");
    let stubs = words(&stubs);
    let mut count = 0;
    for file in fs::read_dir(root.join("src")).unwrap() {
        let text = fs::read_to_string(file.unwrap().path()).unwrap();
        // Documented functions and properties of Python: comments above their attributes.
        let lines: Vec<&str> = text.lines().map(str::trim).collect();
        for (k, _) in lines.iter().enumerate().filter(|(_, line)| {
            ["#[getter]", "#[pyfunction]", "#[staticmethod]"].contains(line) || line.starts_with("#[pyo3(get)]")
        }) {
            let first = lines[..k]
                .iter()
                .rposition(|line| !line.starts_with("///"))
                .map_or(0, |at| at + 1);
            let doc: Vec<&str> = lines[first..k]
                .iter()
                .map(|line| line.trim_start_matches("///"))
                .collect();
            let doc = words(&doc.join(" "));
            // Protocols of other modules have no stubs.
            if !doc.is_empty() && !doc.starts_with("Describes the memory") {
                assert!(stubs.contains(&doc), "not in the stubs: {doc}");
                count += 1;
            }
        }
    }
    assert!(count > 30, "only {count} texts found: is the search broken?");
}
