//! The table of the papers' equations names files and tests that exist.

use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Words between backticks.
fn quoted(cell: &str) -> Vec<&str> {
    cell.split('`').skip(1).step_by(2).collect()
}

/// Returns true if `name` is a test of the file, or a case beside it.
fn is_test(file: &Path, name: &str) -> bool {
    let text = fs::read_to_string(file).unwrap();
    let cases = file.parent().unwrap().join("cases").join(format!("{name}.toml"));
    text.contains(&format!("#[test]\n    fn {name}("))
        || text.contains(&format!("#[test]\nfn {name}("))
        || cases.exists()
}

#[test]
fn every_file_and_test_in_the_table_of_equations_exists() {
    let page = fs::read_to_string(root().join("docs/papers.md")).unwrap();
    let rows: Vec<Vec<&str>> = page
        .lines()
        .filter(|line| line.starts_with("| ") && !line.starts_with("| ---") && !line.starts_with("| equation"))
        .map(|line| line.trim_matches('|').split('|').map(str::trim).collect())
        .collect();
    assert!(rows.len() > 60, "{} rows", rows.len());
    let mut wrong = Vec::new();
    for row in &rows {
        let [what, _, code, test] = row[..] else {
            panic!("a row of four cells: {row:?}")
        };
        for path in quoted(code) {
            if !root().join(path).exists() {
                wrong.push(format!("{what}: no {path}"));
            }
        }
        match quoted(test)[..] {
            [] => assert!(quoted(code).is_empty(), "{what}: code without a test"),
            [file] if root().join(file).exists() => (),
            [file, name] if root().join(file).exists() && is_test(&root().join(file), name) => (),
            _ => wrong.push(format!("{what}: no {test}")),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
