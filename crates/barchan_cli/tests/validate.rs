//! `barchan validate` from a user's view.

use assert_cmd::Command;
use serde_json::Value;

fn validate(arguments: &[&str]) -> std::process::Output {
    let mut command = Command::cargo_bin("barchan").unwrap();
    command.arg("validate").args(arguments).output().unwrap()
}

#[test]
fn a_row_has_what_scripts_read_and_a_report_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().to_str().unwrap();
    let done = validate(&["momentum", "--only", "free fall", "--quick", "--json", "-o", dir]);
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let rows = String::from_utf8(done.stdout).unwrap();
    assert_eq!(rows.lines().count(), 1, "{rows}");
    let row: Value = serde_json::from_str(rows.trim()).unwrap();
    assert_eq!(row["case"], "momentum");
    assert_eq!(row["solver"], "pbd");
    assert_eq!(row["pass"], true);
    for key in ["measured", "expected", "low", "high", "seconds"] {
        assert!(row[key].is_number(), "{key} in {row}");
    }
    let page = std::fs::read_to_string(folder.path().join("report.html")).unwrap();
    assert!(
        page.contains("free fall") && page.contains("barchan validate momentum"),
        "{page}"
    );
}

#[test]
fn wrong_input_is_told_with_exit_code_2() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().to_str().unwrap();
    let misspelt = validate(&["repos", "-o", dir]);
    assert_eq!(misspelt.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&misspelt.stderr).contains("did you mean `repose`"));
    let setting = validate(&["momentum", "--quick", "--set", "solver.pbd.iteration=3", "-o", dir]);
    assert_eq!(setting.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&setting.stderr).contains("iterations"));
}

#[test]
fn a_miss_fails_with_exit_code_1() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().to_str().unwrap();
    // A ramp without friction: the block slides down too fast.
    let missed = validate(&[
        "incline",
        "--only",
        "block, 35°",
        "--quick",
        "--set",
        "body.0.friction=0",
        "-o",
        dir,
    ]);
    assert_eq!(
        missed.status.code(),
        Some(1),
        "{}",
        String::from_utf8_lossy(&missed.stderr)
    );
    assert!(String::from_utf8_lossy(&missed.stdout).contains("MISS"));
}
