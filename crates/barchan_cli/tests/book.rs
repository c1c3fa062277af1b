//! Pages of the book that come from the program, and scene texts in all of them.
//!
//! Text between `<!-- generated: NAME -->` and `<!-- end -->` is compared with that of the program. With `BARCHAN_WRITE_DOCS=1` in the
//! environment it is written instead.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use barchan::io::Cache;
use barchan::scene::{Document, parse_scene};
use barchan::world::{Column, Table};
use serde_json::Value;
use tempfile::tempdir;

fn docs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs")
}

/// Standard output of the program.
fn barchan(folder: &Path, words: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_barchan"))
        .args(words)
        .current_dir(folder)
        // Width of the help.
        .env("COLUMNS", "100")
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{words:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).unwrap()
}

/// Compares or replaces the generated parts of a page.
fn check(page: &str, name: &str, made: &str) {
    let path = docs().join(page);
    let text = fs::read_to_string(&path).unwrap();
    let start = format!("<!-- generated: {name} -->\n");
    let (head, rest) = text
        .split_once(&start)
        .unwrap_or_else(|| panic!("{page} has no {start}"));
    let (found, tail) = rest
        .split_once("<!-- end -->")
        .unwrap_or_else(|| panic!("{page}: {name} has no end"));
    if std::env::var_os("BARCHAN_WRITE_DOCS").is_some() {
        fs::write(&path, format!("{head}{start}{made}<!-- end -->{tail}")).unwrap();
    } else {
        assert!(
            found == made,
            "docs/{page} is out of date: BARCHAN_WRITE_DOCS=1 cargo test -p barchan_cli --test book\n{made}"
        );
    }
}

/// Cell of a Markdown table.
fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}

/// A number without a tail of zeros, and with four digits at most where it has an exponent.
fn number(value: &Value) -> String {
    match value.as_f64() {
        Some(x) if x != 0.0 && !(1e-3..1e5).contains(&x.abs()) => {
            let (exact, short) = (format!("{x:e}"), format!("{x:.3e}"));
            if exact.len() <= short.len() { exact } else { short }
        }
        Some(x) => x.to_string(),
        None => value.to_string(),
    }
}

/// Type and bounds of a value, in words.
fn kind(schema: &Value) -> String {
    let bounds = |schema: &Value| match (&schema["minimum"], &schema["maximum"]) {
        (Value::Null, _) | (_, Value::Null) => String::new(),
        (low, high) => format!(", {} to {}", number(low), number(high)),
    };
    if let Some(choices) = schema["anyOf"].as_array() {
        return choices.iter().map(kind).collect::<Vec<_>>().join("; or ");
    }
    if let Some(name) = schema["$ref"].as_str().and_then(|name| name.rsplit('/').next()) {
        return match name {
            "shape" => "[shape](shapes.md)".to_owned(),
            _ => "`[x, y, z]` or `{ axis, angle }`".to_owned(),
        };
    }
    match schema["type"].as_str() {
        Some("string") => match schema["enum"].as_array() {
            Some(words) => words
                .iter()
                .map(|word| format!("`{}`", word.as_str().unwrap()))
                .collect::<Vec<_>>()
                .join(", "),
            None => "text".to_owned(),
        },
        Some("boolean") => "`true` or `false`".to_owned(),
        Some("integer") => format!("integer{}", bounds(schema)),
        Some("number") => format!("number{}", bounds(schema)),
        Some("array") => {
            let items = &schema["items"];
            match (schema["minItems"].as_u64(), items["type"].as_str()) {
                (Some(n), Some("number")) => format!("{n} numbers{}", bounds(items)),
                (Some(n), _) => format!("{n} of: {}", kind(items)),
                (None, _) => format!("list of: {}", kind(items)),
            }
        }
        Some("object") => "table".to_owned(),
        _ => String::new(),
    }
}

/// A table of keys per table of a scene, depth first.
fn keys(title: &str, schema: &Value, text: &mut String) {
    let required: Vec<&str> = schema["required"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    writeln!(
        text,
        "\n## {title}\n\n| key | value | default | meaning |\n| --- | --- | --- | --- |"
    )
    .unwrap();
    let mut tables = Vec::new();
    for (key, value) in schema["properties"].as_object().unwrap() {
        let default = match &value["default"] {
            Value::Null if required.contains(&key.as_str()) => "required".to_owned(),
            Value::Null => String::new(),
            Value::Number(_) => number(&value["default"]),
            default => format!("`{default}`"),
        };
        let meaning = cell(value["description"].as_str().unwrap_or_default());
        writeln!(text, "| `{key}` | {} | {default} | {meaning} |", cell(&kind(value))).unwrap();
        let inside = match title {
            "The scene" => String::new(),
            title => format!("{title}, "),
        };
        let named = &value["additionalProperties"];
        if named.is_object() {
            tables.push((format!("{inside}`{key}.NAME`"), named));
        }
        let choices = value["anyOf"].as_array().into_iter().flatten();
        for table in choices.chain([value, &value["items"]]) {
            if table["properties"].is_object() {
                tables.push((format!("{inside}`{key}`"), table));
            }
        }
    }
    for (title, table) in tables {
        keys(&title, table, text);
    }
}

#[test]
fn every_key_is_listed() {
    let schema: Value = serde_json::from_str(&barchan(&docs(), &["schema"])).unwrap();
    let mut text = String::new();
    keys("The scene", &schema, &mut text);
    text.push('\n');
    check("keys.md", "keys", &text);
}

#[test]
fn every_shape_is_listed() {
    let schema: Value = serde_json::from_str(&barchan(&docs(), &["schema"])).unwrap();
    let shape = &schema["$defs"]["shape"];
    let names: Vec<&str> = shape["oneOf"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["required"][0].as_str().unwrap())
        .collect();
    let mut text = String::from("| key | value | fields |\n| --- | --- | --- |\n");
    for name in names {
        let entry = &shape["properties"][name];
        let choices = entry["anyOf"].as_array().into_iter().flatten();
        let fields: Vec<String> = choices
            .chain([entry])
            .filter_map(|table| table["properties"].as_object())
            .flatten()
            .map(|(key, value)| format!("`{key}`: {}", value["description"].as_str().unwrap_or_default()))
            .collect();
        let help = cell(entry["description"].as_str().unwrap_or_default());
        writeln!(text, "| `{name}` | {} | {} |", code(&help), cell(&fields.join("; "))).unwrap();
    }
    check("shapes.md", "shapes", &text);
}

/// Help of a shape with its notation as code: up to the bracket or quote that closes it.
fn code(help: &str) -> String {
    let mut depth = 0;
    for (k, c) in help.char_indices() {
        match c {
            '[' | '{' => depth += 1,
            ']' | '}' => depth -= 1,
            _ => (),
        }
        let is_end = match help.chars().next() {
            Some('"') => c == '"' && k > 0,
            _ => depth == 0,
        };
        if is_end {
            return format!("`{}`{}", &help[..=k], &help[k + 1..]);
        }
    }
    help.to_owned()
}

#[test]
fn every_command_is_listed() {
    let help = barchan(&docs(), &["--help"]);
    let mut text = format!("```text\n{}\n```\n", help.trim_end());
    let list = help.split("Commands:\n").nth(1).unwrap().split("\n\n").next().unwrap();
    let names: Vec<&str> = list
        .lines()
        .filter(|line| line.starts_with("  ") && !line.starts_with("   "))
        .filter_map(|line| line.split_whitespace().next())
        .filter(|name| *name != "help")
        .collect();
    assert!(names.len() > 8, "{names:?}");
    for name in names {
        let help = barchan(&docs(), &[name, "--help"]);
        writeln!(text, "\n## barchan {name}\n\n```text\n{}\n```", help.trim_end()).unwrap();
    }
    check("commands.md", "commands", &text);
}

#[test]
fn every_built_in_scene_is_listed() {
    let mut text = String::from("| scene | shows |\n| --- | --- |\n");
    for line in barchan(&docs(), &["scenes"]).lines() {
        let (name, about) = line.split_once(' ').unwrap();
        writeln!(text, "| [`{name}`](../scenes/{name}.toml) | {} |", cell(about.trim())).unwrap();
    }
    check("built-in.md", "scenes", &text);
}

const SCENE: &str = r#"
name = "small"
duration = 0.1
[materials.sand]
density = 1600
cohesion = 100
wetness = 0.5
[[fill]]
material = "sand"
radius = 0.04
clump = "tetrahedron"
shape = { box = { size = [0.3, 0.3, 0.3] }, at = [0, 0, 0.15] }
[[body]]
name = "floor"
shape = { box = { size = [1, 1, 0.2] }, at = [0, 0, -0.1] }
[refine]
radius = 0.02
"#;

/// Meaning of every column and of every figure in `stats.jsonl`. A new one belongs here.
const MEANINGS: &[(&str, &str)] = &[
    ("id", "number of the particle, the same in all frames"),
    ("position", "[m]"),
    ("velocity", "displacement over the frame divided by its time [m/s]"),
    ("radius", "[m]"),
    ("material", "number of the material"),
    ("density", "relative to settled sand [-]"),
    ("pressure", "[Pa]"),
    (
        "plastic",
        "what plastic flow left: logarithm of the volume gained by sand, compaction of snow where below 0 [-]",
    ),
    ("wetness", "part of all the water that it can hold [-]"),
    ("angular_velocity", "[rad/s]"),
    ("rotation", "rotation vector of a clump [rad]"),
];

fn type_of(column: &Column) -> &'static str {
    match column {
        Column::U8(_) => "u8",
        Column::U32(_) => "u32",
        Column::F32(_) => "f32",
        Column::Vec3(_) => "3 x f32",
    }
}

#[test]
fn every_column_is_listed() {
    let folder = tempdir().unwrap();
    fs::write(folder.path().join("small.toml"), SCENE).unwrap();
    // Part and column, by type and the solvers that have it.
    let mut found: BTreeMap<(usize, usize), (String, String, Vec<&str>)> = BTreeMap::new();
    let mut note = |part: usize, name: &str, table: &Table, solver: &'static str| {
        for (column, values) in &table.columns {
            let row = MEANINGS.iter().position(|meaning| meaning.0 == column);
            let row = row.unwrap_or_else(|| panic!("describe the column {column} in MEANINGS"));
            let entry = found
                .entry((part, row))
                .or_insert_with(|| (name.to_owned(), type_of(values).to_owned(), Vec::new()));
            entry.2.push(solver);
        }
    };
    let mut bodies = String::new();
    for solver in ["pbd", "sph", "dem", "mpm"] {
        let set = format!("solver.kind={solver}");
        let words = [
            "run",
            "small.toml",
            "-o",
            solver,
            "--frames",
            "2",
            "--threads",
            "1",
            "--set",
            &set,
            "--export",
            "csv",
        ];
        barchan(folder.path(), &words);
        let cache = Cache::open(&folder.path().join(solver)).unwrap();
        note(0, "guides", &cache.read_guides(2).unwrap(), solver);
        note(1, "grains", &cache.read_grains(2).unwrap(), solver);
        bodies = fs::read_to_string(folder.path().join(solver).join("csv/bodies.csv")).unwrap();
    }
    let mut text = String::from("| table | column | type | solvers | meaning |\n| --- | --- | --- | --- | --- |\n");
    for ((_, row), (part, kind, solvers)) in found {
        let (column, meaning) = MEANINGS[row];
        let solvers = if solvers.len() == 4 {
            "all".to_owned()
        } else {
            solvers.join(", ")
        };
        writeln!(text, "| `{part}` | `{column}` | {kind} | {solvers} | {meaning} |").unwrap();
    }
    let header = bodies.lines().next().unwrap();
    let names = header
        .split(',')
        .map(|name| format!("`{name}`"))
        .collect::<Vec<_>>()
        .join(", ");
    let words = ["info", "pbd", "--json"];
    let line = barchan(folder.path(), &words);
    let row: Value = serde_json::from_str(line.lines().next().unwrap()).unwrap();
    let body = row["bodies"][0].as_object().unwrap();
    let body = body.keys().map(|key| format!("`{key}`")).collect::<Vec<_>>().join(", ");
    writeln!(
        text,
        "\nColumns of `bodies`: {body}.\n\nColumns of `bodies.csv` of exports: {names}."
    )
    .unwrap();
    let stats = fs::read_to_string(folder.path().join("sph/stats.jsonl")).unwrap();
    let row: Value = serde_json::from_str(stats.lines().next_back().unwrap()).unwrap();
    let figures = row
        .as_object()
        .unwrap()
        .keys()
        .map(|key| format!("`{key}`"))
        .collect::<Vec<_>>()
        .join(", ");
    writeln!(text, "\nFigures of `stats.jsonl` with `sph`: {figures}.").unwrap();
    check("cache.md", "columns", &text);
}

/// Markdown files below a folder.
fn pages(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(pages(&path));
        } else if path.extension().is_some_and(|ending| ending == "md") {
            found.push(path);
        }
    }
    found
}

#[test]
fn scene_texts_of_pages_can_be_read() {
    let folder = tempdir().unwrap();
    // Meshes that texts name.
    let mesh = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n";
    for name in ["pyramid.obj", "stone.obj"] {
        fs::write(folder.path().join(name), mesh).unwrap();
    }
    let mut pages = pages(&docs());
    pages.push(docs().join("../README.md"));
    let mut count = 0;
    for page in pages {
        let text = fs::read_to_string(&page).unwrap();
        for block in text.split("```toml\n").skip(1) {
            let block = block.split("\n```").next().unwrap();
            // A part of a scene, with what it needs to be one.
            let mut scene = String::new();
            if !block.contains("duration =") && !block.contains("[shape]") {
                scene += "duration = 1\n";
            }
            scene += block;
            scene.push('\n');
            if !block.contains("[materials.") && !block.contains("[shape]") {
                scene += "[materials.sand]\ndensity = 1600\n[materials.gravel]\ndensity = 1600\n[materials.nut]\ndensity = 1600\n";
            }
            let path = folder.path().join("scene.toml");
            fs::write(&path, &scene).unwrap();
            if block.contains("[shape]") {
                barchan(
                    folder.path(),
                    &["sample", "scene.toml", "--radius", "0.05", "-o", "points.ply"],
                );
            } else if let Err(errors) = parse_scene(&Document::read(&path).unwrap()) {
                panic!("{}:\n{block}\n{errors}", page.display());
            }
            count += 1;
        }
    }
    assert!(count > 10, "only {count} scene texts found: is the search broken?");
}
