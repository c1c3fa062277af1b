use std::ops::Range;
use std::path::{Path, PathBuf};

/// A text and where it came from.
#[derive(Clone, Debug)]
pub struct Document {
    /// Name in error messages: a path, or a word for a text without a file.
    pub name: String,
    /// The text.
    pub text: String,
    /// Base folder of relative paths in the text.
    pub folder: PathBuf,
    /// Overrides of values in the text: `fill.0.radius=0.01`, as for `--set`.
    pub overrides: Vec<String>,
}

/// Location of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place<'d> {
    /// In the text: line and column, both from 1, the column in characters.
    Text {
        /// Line.
        line: usize,
        /// Column.
        column: usize,
    },
    /// In an override.
    Override(&'d str),
}

/// Names the first byte that is not UTF-8.
fn not_text(error: std::string::FromUtf8Error) -> std::io::Error {
    let good = error.utf8_error().valid_up_to();
    let before = String::from_utf8_lossy(&error.as_bytes()[..good]);
    let (line, column) = Document::new("", before).line_and_column(good);
    let message = format!("line {line}, column {column} is not UTF-8");
    std::io::Error::new(std::io::ErrorKind::InvalidData, message)
}

impl Document {
    /// Creates a document without a file; its paths are relative to the current folder.
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            text: text.into(),
            folder: PathBuf::new(),
            overrides: Vec::new(),
        }
    }

    /// Reads a file; its paths are relative to the file's folder.
    pub fn read(path: &Path) -> std::io::Result<Self> {
        Ok(Self {
            name: path.display().to_string(),
            text: String::from_utf8(std::fs::read(path)?).map_err(not_text)?,
            folder: path.parent().unwrap_or(Path::new("")).to_path_buf(),
            overrides: Vec::new(),
        })
    }

    /// Returns the same document with the override `KEY=VALUE`.
    #[must_use]
    pub fn with(mut self, assignment: impl Into<String>) -> Self {
        self.overrides.push(assignment.into());
        self
    }

    /// Returns the location of a byte: in the text, or in one of the overrides, which follow the text one after the
    /// other.
    pub fn place(&self, offset: usize) -> Place<'_> {
        match self.override_at(offset) {
            Some((_, assignment)) => Place::Override(assignment),
            None => {
                let (line, column) = self.line_and_column(offset);
                Place::Text { line, column }
            }
        }
    }

    /// The byte at which override `k` begins, beyond the text.
    pub(crate) fn override_begin(&self, k: usize) -> usize {
        let before: usize = self.overrides[..k].iter().map(|o| o.len() + 1).sum();
        self.text.len() + 1 + before
    }

    /// The override that holds a byte, and where it begins.
    fn override_at(&self, offset: usize) -> Option<(usize, &str)> {
        (0..self.overrides.len())
            .map(|k| (self.override_begin(k), self.overrides[k].as_str()))
            .rfind(|(begin, _)| *begin <= offset)
    }

    /// Returns the line and column of a byte of the text, both from 1, the column in characters.
    pub fn line_and_column(&self, offset: usize) -> (usize, usize) {
        let before = &self.text[..self.boundary(offset)];
        let line = before.matches('\n').count() + 1;
        let column = before.chars().rev().take_while(|&c| c != '\n').count() + 1;
        (line, column)
    }

    /// The bytes of the line, without its end, that holds a byte of the text.
    pub(crate) fn line_around(&self, offset: usize) -> Range<usize> {
        let offset = self.boundary(offset);
        let start = self.text[..offset].rfind('\n').map_or(0, |at| at + 1);
        let end = self.text[offset..].find('\n').map_or(self.text.len(), |at| offset + at);
        let line = &self.text[start..end];
        start..start + line.strip_suffix('\r').unwrap_or(line).len()
    }

    /// The part of the text or of an override in `span`, whatever it is.
    pub(crate) fn slice(&self, span: &Range<usize>) -> &str {
        if let Some((begin, assignment)) = self.override_at(span.start) {
            let start = assignment.floor_char_boundary(span.start - begin);
            let end = assignment.floor_char_boundary(span.end.max(span.start) - begin);
            return &assignment[start..end];
        }
        let start = self.boundary(span.start);
        let end = self.boundary(span.end).max(start);
        &self.text[start..end]
    }

    /// The last place at or before a byte where a character begins.
    pub(crate) fn boundary(&self, offset: usize) -> usize {
        self.text.floor_char_boundary(offset)
    }
}
