//! Checks the rules of ARCHITECTURE.md.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use barchan::SOLVERS;
use barchan::scene::schema_with;
use serde_json::Value;

/// Allowed dependencies between our crates; arrows only go down. A crate that is not listed is not part of the design.
const ALLOWED: &[(&str, &[&str])] = &[
    ("barchan_simd", &[]),
    ("barchan_neighbors", &["barchan_simd"]),
    ("barchan_gpu", &[]),
    ("barchan_geometry", &["barchan_simd", "barchan_neighbors"]),
    ("barchan_world", &["barchan_neighbors", "barchan_geometry"]),
    // Only tests depend on it.
    ("barchan_testing", &["barchan_geometry", "barchan_world"]),
    (
        "barchan_bodies",
        &["barchan_neighbors", "barchan_geometry", "barchan_world"],
    ),
    (
        "barchan_pbd",
        &[
            "barchan_simd",
            "barchan_neighbors",
            "barchan_geometry",
            "barchan_world",
            "barchan_bodies",
            "barchan_testing",
        ],
    ),
    (
        "barchan_sph",
        &[
            "barchan_simd",
            "barchan_neighbors",
            "barchan_geometry",
            "barchan_world",
            "barchan_bodies",
            "barchan_testing",
        ],
    ),
    (
        "barchan_mpm",
        &[
            "barchan_simd",
            "barchan_geometry",
            "barchan_world",
            "barchan_bodies",
            "barchan_testing",
        ],
    ),
    (
        "barchan_dem",
        &[
            "barchan_simd",
            "barchan_neighbors",
            "barchan_geometry",
            "barchan_world",
            "barchan_bodies",
            "barchan_testing",
        ],
    ),
    (
        "barchan_refine",
        &["barchan_simd", "barchan_neighbors", "barchan_geometry", "barchan_world"],
    ),
    ("barchan_scene", &["barchan_geometry", "barchan_world"]),
    ("barchan_io", &["barchan_geometry", "barchan_world"]),
    ("barchan_render", &["barchan_geometry", "barchan_gpu"]),
    (
        "barchan",
        &[
            "barchan_simd",
            "barchan_neighbors",
            "barchan_geometry",
            "barchan_world",
            "barchan_bodies",
            "barchan_pbd",
            "barchan_sph",
            "barchan_dem",
            "barchan_mpm",
            "barchan_refine",
            "barchan_scene",
            "barchan_gpu",
            "barchan_io",
            "barchan_render",
        ],
    ),
    ("barchan_validate", &["barchan"]),
    ("barchan_viewer", &["barchan"]),
    ("barchan_cli", &["barchan", "barchan_validate", "barchan_viewer"]),
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn crate_names() -> BTreeSet<String> {
    let crates = fs::read_dir(root().join("crates")).unwrap();
    crates
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect()
}

/// Returns our crates among the dependencies of any kind in the crate's manifest.
fn arrows(name: &str) -> BTreeSet<String> {
    let text = fs::read_to_string(root().join("crates").join(name).join("Cargo.toml")).unwrap();
    let manifest = toml::de::DeTable::parse(&text).unwrap().into_inner();
    let entry = |key: &str| {
        manifest
            .iter()
            .find(|(k, _)| k.get_ref() == key)
            .map(|(_, value)| value.get_ref())
    };
    let package = entry("package").and_then(|p| p.as_table()).unwrap();
    let declared = package
        .iter()
        .find(|(k, _)| k.get_ref() == "name")
        .and_then(|(_, v)| v.get_ref().as_str());
    assert_eq!(declared, Some(name), "a folder carries its crate's name");
    let sections = manifest
        .iter()
        .filter(|(key, _)| key.get_ref().ends_with("dependencies"));
    let names = sections.flat_map(|(_, section)| section.get_ref().as_table().unwrap().keys());
    names
        .map(|n| n.get_ref().to_string())
        .filter(|n| n.starts_with("barchan"))
        .collect()
}

#[test]
fn crates_depend_only_on_those_below_them() {
    let designed: BTreeSet<String> = ALLOWED.iter().map(|a| a.0.to_owned()).collect();
    assert_eq!(crate_names(), designed);
    for (name, allowed) in ALLOWED {
        let allowed: BTreeSet<String> = allowed.iter().map(|&a| a.to_owned()).collect();
        let forbidden: Vec<_> = arrows(name).difference(&allowed).cloned().collect();
        assert!(forbidden.is_empty(), "{name} must not depend on {forbidden:?}");
    }
}

/// Returns the files below `folder` with this extension.
fn files(folder: &Path, ending: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path, ending));
        } else if path.extension().is_some_and(|e| e == ending) {
            found.push(path);
        }
    }
    found
}

/// Returns citations in comments such as `[Sommer22]`: a name and a year.
fn citations(text: &str) -> BTreeSet<String> {
    let text = &text
        .lines()
        .filter_map(|line| line.split_once("//"))
        .map(|(_, comment)| comment)
        .collect::<Vec<_>>()
        .join("\n");
    let words = text
        .split('[')
        .skip(1)
        .filter_map(|rest| rest.split_once(']'))
        .map(|(word, _)| word);
    let is_key = |word: &&str| {
        let name = word.trim_end_matches(|c: char| c.is_ascii_digit());
        word.len() == name.len() + 2
            && name.len() > 2
            && name.chars().all(char::is_alphanumeric)
            && name.starts_with(char::is_uppercase)
    };
    words.filter(is_key).map(str::to_owned).collect()
}

#[test]
fn cited_papers_are_in_the_bibliography() {
    let bibliography = fs::read_to_string(root().join("docs/refs.bib")).unwrap();
    let mut cited = 0;
    for file in files(&root().join("crates"), "rs") {
        for key in citations(&fs::read_to_string(&file).unwrap()) {
            assert!(
                bibliography.contains(&format!("{{{key},")),
                "{key} in {} is not in docs/refs.bib",
                file.display()
            );
            cited += 1;
        }
    }
    assert!(cited > 5, "only {cited} citations found: is the search broken?");
}

#[test]
fn paths_named_in_the_architecture_exist() {
    let text = fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    let named: Vec<&str> = text
        .split('`')
        .skip(1)
        .step_by(2)
        .filter(|word| word.contains('/') && !word.contains(char::is_whitespace))
        .collect();
    assert!(!named.is_empty());
    for path in named {
        assert!(root().join(path).exists(), "ARCHITECTURE.md names {path}");
    }
}

/// Keys and words that a JSON Schema names.
fn words_of(schema: &Value, words: &mut BTreeSet<String>) {
    let Value::Object(entries) = schema else {
        return schema
            .as_array()
            .into_iter()
            .flatten()
            .for_each(|item| words_of(item, words));
    };
    let keys = schema["properties"]
        .as_object()
        .into_iter()
        .flat_map(|keys| keys.keys().cloned());
    let listed = schema["enum"].as_array().into_iter().flatten();
    let listed = listed.filter_map(|word| word.as_str().map(str::to_owned));
    words.extend(keys.chain(listed));
    entries.values().for_each(|value| words_of(value, words));
}

/// Text of a source file without its comments and its tests.
fn code(path: &Path) -> String {
    let text = fs::read_to_string(path).unwrap();
    let shipped = text.split("#[cfg(test)]").next().unwrap_or_default();
    let lines = shipped.lines().map(|line| line.split("//").next().unwrap_or_default());
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn scene_files_know_no_solver_and_no_setting_of_one() {
    let mut general = BTreeSet::new();
    words_of(&schema_with(&[]), &mut general);
    let keys = SOLVERS
        .iter()
        .flat_map(|solver| solver.settings.fields)
        .map(|field| field.key);
    let names = SOLVERS.iter().map(|solver| solver.name);
    let foreign: BTreeSet<&str> = keys.chain(names).filter(|word| !general.contains(*word)).collect();
    assert!(foreign.len() > 30, "only {foreign:?}: is the search broken?");
    let files = files(&root().join("crates/barchan_scene/src"), "rs");
    assert!(files.len() > 15);
    for file in files {
        let code = code(&file);
        for word in &foreign {
            assert!(
                !code.contains(&format!("\"{word}\"")),
                "\"{word}\" in {}",
                file.display()
            );
        }
        for solver in SOLVERS {
            let is_named = code
                .split(|c: char| !c.is_alphanumeric())
                .any(|word| word == solver.name);
            assert!(!is_named, "{solver} in {}", file.display());
        }
    }
}
