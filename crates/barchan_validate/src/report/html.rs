//! The HTML page.

use std::fmt::Write;

use super::{Drawing, Report, gauge::gauge, machine, short, today};
use crate::experiment::Experiment;
use crate::row::{Kind, Row};

/// Escapes `text` for HTML.
pub(super) fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}

/// Returns the whole page, which needs no other file.
pub(super) fn page(report: &Report, experiments: &[Experiment], drawings: &[Drawing]) -> String {
    let count = |pass: Option<bool>| report.rows.iter().filter(|row| row.pass == pass).count();
    let (passed, missed, open) = (count(Some(true)), count(Some(false)), count(None));
    let solver = report.rows.first().map_or("", |row| row.solver.as_str());
    let set = if report.options.quick { "quick set" } else { "full set" };
    let mut page = format!(
        r#"<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>barchan validate: {solver}</title><style>{STYLE}</style></head><body><main><header><h1>barchan <span>validate</span></h1><p class="lead">How sand of the solver <b>{solver}</b> compares with experiments and closed forms.</p><div class="tiles"><div class="tile pass"><b>{passed}</b> pass</div><div class="tile miss"><b>{missed}</b> miss</div><div class="tile open"><b>{open}</b> inconclusive</div></div>"#
    );
    let facts = [
        ("command", format!("<code>{}</code>", escape(&report.command))),
        ("set", set.to_owned()),
        ("version", format!("barchan {}", env!("CARGO_PKG_VERSION"))),
        ("machine", escape(&machine())),
        ("threads a run", report.threads.to_string()),
        ("date", today()),
        ("duration", format!("{:.0} s, all runs together", report.seconds)),
    ];
    page += "<dl>";
    for (name, value) in facts {
        let _ = write!(page, "<dt>{name}</dt><dd>{value}</dd>");
    }
    page += "</dl></header>";
    let mut cases: Vec<&str> = experiments.iter().map(|e| e.case.as_str()).collect();
    cases.dedup();
    for case in cases {
        let parts: Vec<&Experiment> = experiments.iter().filter(|e| e.case == case).collect();
        section(&mut page, report, case, &parts, drawings);
    }
    page + LEGEND + "</main></body></html>\n"
}

fn section(page: &mut String, report: &Report, case: &str, parts: &[&Experiment], drawings: &[Drawing]) {
    let of =
        |part: &Experiment| -> Vec<&Row> { report.rows.iter().filter(|row| row.experiment == part.file).collect() };
    if parts.iter().all(|part| of(part).is_empty()) {
        return;
    }
    let _ = write!(page, r#"<section id="{case}"><h2>{case}</h2>"#);
    for part in parts {
        let rows = of(part);
        if rows.is_empty() {
            continue;
        }
        let _ = write!(
            page,
            r#"<p class="about">{}.</p><p class="source">{}.</p>"#,
            escape(&part.about),
            escape(&part.source)
        );
        let pictures: Vec<&Drawing> = drawings.iter().filter(|d| d.experiment == part.file).collect();
        if !pictures.is_empty() {
            *page += r#"<div class="charts">"#;
            pictures.iter().for_each(|picture| *page += &picture.svg);
            *page += "</div>";
        }
        table(page, &rows);
    }
    *page += "</section>";
}

fn table(page: &mut String, rows: &[&Row]) {
    *page += r#"<div class="scroll"><table><thead><tr><th>run</th><th>quantity</th><th class="n">measured</th><th class="n">expected</th><th class="n">band</th><th></th><th>verdict</th></tr></thead><tbody>"#;
    for row in rows {
        let kind = match row.kind {
            Kind::Law => String::new(),
            kind => format!(r#" <i class="kind">{}</i>"#, kind.word()),
        };
        let about = format!("{} guides, {} seeds, {:.1} s", row.guides, row.seeds, row.seconds);
        let note = match row.note.as_str() {
            "" => String::new(),
            note => format!(r#"<div class="note">{}</div>"#, escape(note)),
        };
        let _ = write!(
            page,
            r#"<tr class="{class}"><td title="{about}">{}{kind}{note}</td><td>{}</td><td class="n"><b>{}</b></td><td class="n">{}</td><td class="n">{}</td><td>{}</td><td><span class="chip {class}">{}</span></td></tr>"#,
            escape(&row.variant),
            escape(&row.quantity),
            escape(&row.measured_text()),
            short(row.band.expected),
            escape(&row.band_text()),
            gauge(row),
            row.verdict(),
            class = row.verdict_class(),
        );
    }
    *page += "</tbody></table></div>";
}

const LEGEND: &str = r#"<footer><p>Bars and shaded areas are bands, lines the law, dots what was measured: the mean over the seeds, with two standard deviations. A run is <b>inconclusive</b> when two standard deviations exceed half the band. A <b>control</b> is a wrong material and passes when the band rejects it; a <b>twin</b> is a change that must change nothing.</p></footer>"#;

const STYLE: &str = include_str!("style.css");
