//! Rows of benchmarks as Markdown, for documents.

use barchan_validate::{machine, today};
use serde_json::Value;

use crate::validate::command;

/// Returns machine, date, load and command.
pub fn provenance() -> String {
    format!("{}. {}; `{}`{}.\n", machine(), today(), command(), load())
}

/// Returns the load of the machine before the run, where the system reports it: other work slows every row down.
fn load() -> String {
    let text = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let load = text.split_whitespace().next();
    load.map_or(String::new(), |load| format!("; load average {load} before the run"))
}

/// Returns a table with one column per row and one line per quantity. Nested values are omitted; figures of papers and
/// of other programs are followed by their ratio to ours.
pub fn table(rows: &[Value]) -> String {
    let mut keys: Vec<&str> = Vec::new();
    for (key, value) in rows.iter().filter_map(Value::as_object).flatten() {
        let is_plain = value.is_number() || value.is_string();
        if is_plain && key != "name" && !keys.contains(&key.as_str()) {
            keys.push(key);
        }
    }
    let line = |first: &str, cells: Vec<String>| format!("| {first} | {} |\n", cells.join(" | "));
    let mut text = line("", rows.iter().map(|row| plain(&row["name"])).collect());
    text += &line("---", vec!["---".to_owned(); rows.len()]);
    for key in keys {
        text += &line(key, rows.iter().map(|row| cell(row, key)).collect());
    }
    text
}

fn cell(row: &Value, key: &str) -> String {
    let ours = match key.strip_prefix("paper_") {
        Some(key) => &row[key],
        None if key.starts_with("peer_") => &row["median_ms"],
        None => &Value::Null,
    };
    let ratio = row[key].as_f64().zip(ours.as_f64()).filter(|(_, ours)| *ours > 0.0);
    let ratio = ratio.map_or(String::new(), |(theirs, ours)| format!(" ({:.1} times)", theirs / ours));
    format!("{}{ratio}", plain(&row[key]))
}

/// Formats a number with four digits or with separated thousands, or a text.
fn plain(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        _ => match value.as_f64() {
            Some(x) if x.abs() >= 1e3 => thousands(x.round() as i64),
            Some(x) if value.is_f64() => format!(
                "{x:.prec$}",
                prec = (2 - x.abs().max(1e-3).log10().floor() as i32).max(0) as usize
            ),
            _ => value.to_string(),
        },
    }
}

fn thousands(n: i64) -> String {
    let digits = n.unsigned_abs().to_string();
    let groups: Vec<&str> = digits
        .as_bytes()
        .rchunks(3)
        .rev()
        .map(|group| std::str::from_utf8(group).unwrap_or(""))
        .collect();
    format!("{}{}", if n < 0 { "-" } else { "" }, groups.join(","))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn rows_become_columns_with_ratios() {
        let rows = [
            json!({ "name": "a", "guides": 12_345, "guide_ms": 6.5, "stages": { "x": 1 }, "paper_guide_ms": 47.4 }),
            json!({ "name": "b", "guides": 2, "guide_ms": 0.0123, "rate": 1.5e7 }),
        ];
        let expected = "|  | a | b |\n| --- | --- | --- |\n| guides | 12,345 | 2 |\n| guide_ms | 6.50 | 0.0123 |\n\
            | paper_guide_ms | 47.4 (7.3 times) |  |\n| rate |  | 15,000,000 |\n";
        assert_eq!(table(&rows), expected);
    }
}
