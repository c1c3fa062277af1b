use std::fmt::{self, Display};
use std::ops::Range;

use crate::{Document, Place};

/// Severity of a diagnostic.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Severity {
    /// The text cannot be used.
    Error,
    /// The text can be used, but says something that has no effect or is likely not meant.
    Warning,
}

/// One thing that is wrong with a text, and where.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Diagnostic {
    /// Severity.
    pub severity: Severity,
    /// Message: the value found, and the allowed ones.
    pub message: String,
    /// Bytes of the text that it refers to.
    pub span: Range<usize>,
    /// Advice.
    pub help: Option<String>,
}

/// All that is wrong with a text, in its order; [`Display`] shows each with the line it is about.
#[derive(Clone, Debug, thiserror::Error)]
pub struct Diagnostics {
    /// The text.
    pub document: Document,
    /// All diagnostics, at least one of them an error.
    pub items: Vec<Diagnostic>,
}

impl Display for Diagnostics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rendered: Vec<_> = self.items.iter().map(|item| item.render(&self.document)).collect();
        f.write_str(&rendered.join("\n\n"))
    }
}

/// Longest part of a line that is shown, in characters.
const SHOWN: usize = 120;

/// Characters shown before the marked part of a longer line.
const LEAD: usize = 40;

impl Diagnostic {
    /// Formats the message with its location, the line of `document` and a mark under the part it refers to.
    pub fn render(&self, document: &Document) -> String {
        let severity = match self.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
        };
        let (line, column) = match document.place(self.span.start) {
            Place::Text { line, column } => (line, column),
            Place::Override(assignment) => {
                let help = self
                    .help
                    .as_ref()
                    .map_or(String::new(), |help| format!("\n  = help: {help}"));
                let shown: String = assignment.chars().map(printable).collect();
                return format!("{severity}: {}\n  --> --set {shown}{help}", self.message);
            }
        };
        let bytes = document.line_around(self.span.start);
        let characters: Vec<char> = document.slice(&bytes).chars().collect();
        let marked = document
            .slice(&(self.span.start..self.span.end.min(bytes.end)))
            .chars()
            .count();

        let cut = characters.len() > SHOWN && column > LEAD;
        let from = if cut { column - 1 - LEAD } else { 0 };
        let to = characters.len().min(from + SHOWN);
        let shown = |range: Range<usize>| characters[range].iter().map(|&c| printable(c)).collect::<String>();
        let before = if from > 0 { "…" } else { "" };
        let after = if to < characters.len() { "…" } else { "" };
        let lead = before.chars().count() + column - 1 - from;
        let width = marked.clamp(1, (to + 1).saturating_sub(column).max(1));

        let gutter = " ".repeat(line.to_string().len());
        let mut text = format!(
            "{severity}: {message}\n{gutter} --> {name}:{line}:{column}\n{gutter} |\n{line} | {before}{excerpt}{after}\n\
             {gutter} | {space}{mark}",
            message = self.message,
            name = document.name,
            excerpt = shown(from..to),
            space = " ".repeat(lead),
            mark = "^".repeat(width),
        );
        if let Some(help) = &self.help {
            text += &format!("\n{gutter} = help: {help}");
        }
        text
    }
}

/// One column wide: tabs as spaces, other control characters as a mark, or the caret would miss and a terminal might obey.
fn printable(c: char) -> char {
    match c {
        '\t' => ' ',
        c if c.is_control() => '\u{FFFD}',
        c => c,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(span: Range<usize>) -> Diagnostic {
        let (severity, message) = (Severity::Error, "bad".to_string());
        Diagnostic {
            severity,
            message,
            span,
            help: None,
        }
    }

    #[test]
    fn the_mark_is_under_the_part_also_after_tabs_and_other_alphabets() {
        let document = Document::new("scene.toml", "a = 1\n\tβ = wrong # ü\n");
        let start = document.text.find("wrong").unwrap();
        let expected = "error: bad\n  --> scene.toml:2:6\n  |\n2 |  β = wrong # ü\n  |      ^^^^^";
        assert_eq!(error(start..start + 5).render(&document), expected);
    }

    #[test]
    fn a_part_of_many_lines_is_marked_to_the_end_of_its_first() {
        let document = Document::new("t", "a = [1,\r\n 2]");
        assert!(error(4..12).render(&document).ends_with("1 | a = [1,\n  |     ^^^"));
    }

    #[test]
    fn long_lines_are_cut_around_the_mark() {
        let text = format!("{}wrong{}", "x".repeat(1000), "y".repeat(1000));
        let rendered = error(1000..1005).render(&Document::new("t", text));
        let lines: Vec<_> = rendered.lines().collect();
        assert_eq!(lines[1], "  --> t:1:1001");
        assert!(lines[3].chars().count() < 130);
        let column = lines[4].find('^').unwrap();
        let above: String = lines[3].chars().skip(column).take(5).collect();
        assert_eq!(above, "wrong");
    }

    #[test]
    fn a_mark_behind_carriage_returns_is_within_its_line() {
        let document = Document::new("t", format!("a{}\nb", "\r".repeat(300)));
        for at in [1, 150, 300, 301] {
            assert!(error(at..at + 1).render(&document).contains('^'));
        }
    }

    #[test]
    fn places_outside_the_text_or_inside_a_character_are_shown_too() {
        let document = Document::new("t", "é");
        for span in [0..0, 1..1, 1..2, 2..2, 7..9] {
            assert!(error(span).render(&document).contains('^'));
        }
        assert!(error(0..0).render(&Document::new("t", "")).contains("t:1:1"));
    }
}
