//! The page `compare.html`.

use std::fmt::Write;

use barchan::scene::Document;
use barchan_validate::{machine, today};

use super::Run;
use super::row::{HEADS, Row};
use crate::validate::command;

/// Returns the page, beside `compare.png` and, if there `is_movie`, `compare.mp4`.
pub fn page(runs: &[Run], rows: &[Row], document: &Document, is_movie: bool) -> String {
    let name = escape(&runs[0].scene.name);
    let mut page = format!(
        "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\">\
         <title>barchan compare: {name}</title><style>{STYLE}</style></head><body><h1>{name}</h1>\n"
    );
    page += "<img src=\"compare.png\" alt=\"The last frame of each method\">\n";
    if is_movie {
        page += "<video src=\"compare.mp4\" controls loop muted></video>\n";
    }
    page += "<table><tr>";
    HEADS.iter().for_each(|head| {
        let _ = write!(page, "<th>{head}</th>");
    });
    page += "</tr>\n";
    for row in rows {
        page += "<tr>";
        row.cells().iter().for_each(|cell| {
            let _ = write!(page, "<td>{}</td>", escape(cell));
        });
        page += "</tr>\n";
    }
    page += "</table>\n<p>Run-out: mean distance of the front from the center of the sand at the start. Height: of sand that touches sand, above its lowest \
             point. Angle: of the flank, where the sand is a heap. Overlap: the largest of all frames, of a radius. Lost: kinetic and potential energy since \
             the first frame. Times: mean of all frames.</p>\n<dl>";
    for (run, row) in runs.iter().zip(rows) {
        let broken = row
            .broken
            .as_ref()
            .map(|reason| format!(" Broke off: {}.", escape(reason)));
        let (method, about) = (escape(&row.method), escape(run.method.about()));
        let _ = write!(page, "<dt>{method}</dt><dd>{about}.{}</dd>", broken.unwrap_or_default());
    }
    let _ = write!(
        page,
        "</dl>\n<p><code>{}</code><br>barchan {}; {}; {}</p>\n<pre>{}</pre></body></html>\n",
        escape(&command()),
        env!("CARGO_PKG_VERSION"),
        escape(&machine()),
        today(),
        escape(&document.text)
    );
    page
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

const STYLE: &str = "body{font:16px/1.5 system-ui,sans-serif;max-width:75rem;margin:2rem auto;padding:0 1rem}\
                     img,video{max-width:100%;display:block;margin:1rem 0}\
                     table{border-collapse:collapse}td,th{padding:.2rem .8rem;text-align:right;border-bottom:1px solid #ccc}\
                     td:first-child,th:first-child{text-align:left}pre{background:#f4f4f4;padding:1rem;overflow:auto}";
