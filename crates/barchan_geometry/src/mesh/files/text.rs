//! Words and numbers of text files, with their line numbers.

use super::super::error::{MeshError, Place};

/// Iterates over bytes word by word and counts lines. Bytes, because names and comments may be in any encoding.
pub(crate) struct Words<'a> {
    bytes: &'a [u8],
    at: usize,
    line: usize,
}

impl<'a> Words<'a> {
    /// Starts at the first byte, on line `line`.
    pub(crate) fn new(bytes: &'a [u8], line: usize) -> Self {
        Self { bytes, at: 0, line }
    }

    /// Returns the line of the last word, from 1.
    pub(crate) fn line(&self) -> usize {
        self.line
    }

    /// Returns the line of the last word as a position in a file.
    pub(crate) fn place(&self) -> Place {
        Place::Line(self.line)
    }

    /// Returns the next word, on any line.
    pub(crate) fn word(&mut self) -> Option<&'a [u8]> {
        while let Some(byte) = self.bytes.get(self.at) {
            if !is_blank(*byte) {
                return Some(self.take_word());
            }
            self.line += usize::from(*byte == b'\n');
            self.at += 1;
        }
        None
    }

    /// Returns the next word on this line. A backslash at the end of a line continues it on the next one.
    pub(crate) fn word_in_line(&mut self) -> Option<&'a [u8]> {
        loop {
            match self.bytes[self.at..] {
                [b'\\', b'\n', ..] => (self.at, self.line) = (self.at + 2, self.line + 1),
                [b'\\', b'\r', b'\n', ..] => (self.at, self.line) = (self.at + 3, self.line + 1),
                [] | [b'\n', ..] => return None,
                [byte, ..] if is_blank(byte) => self.at += 1,
                _ => return Some(self.take_word()),
            }
        }
    }

    /// Moves to the beginning of the next line; returns false at the end of the file. A backslash does not continue the
    /// line here: a comment may end with one.
    pub(crate) fn next_line(&mut self) -> bool {
        match self.bytes[self.at..].iter().position(|&b| b == b'\n') {
            Some(end) => {
                self.at += end + 1;
                self.line += 1;
                true
            }
            None => {
                self.at = self.bytes.len();
                false
            }
        }
    }

    /// Returns the next word as a number, on any line.
    pub(crate) fn number(&mut self) -> Result<f64, MeshError> {
        let word = self
            .word()
            .ok_or_else(|| MeshError::truncated(self.place(), "a number is missing"))?;
        self.parse_number(word)
    }

    /// Returns the next word on this line as a number.
    pub(crate) fn number_in_line(&mut self) -> Result<f64, MeshError> {
        let word = self
            .word_in_line()
            .ok_or_else(|| MeshError::syntax(self.place(), "a number is missing"))?;
        self.parse_number(word)
    }

    /// Parses `word`, the last one read, as a number.
    pub(crate) fn parse_number(&self, word: &[u8]) -> Result<f64, MeshError> {
        std::str::from_utf8(word)
            .ok()
            .and_then(|word| word.parse().ok())
            .ok_or_else(|| MeshError::syntax(self.place(), format!("{:?} is not a number", excerpt(word))))
    }

    fn take_word(&mut self) -> &'a [u8] {
        let rest = &self.bytes[self.at..];
        let joins = |at: usize| rest[at] == b'\\' && matches!(rest[at + 1..], [b'\n', ..] | [b'\r', b'\n', ..]);
        let mut length = 1;
        while length < rest.len() && !is_blank(rest[length]) && !joins(length) {
            length += 1;
        }
        self.at += length;
        &rest[..length]
    }
}

/// Returns the beginning of `bytes` as text for a message.
pub(crate) fn excerpt(bytes: &[u8]) -> String {
    const LONGEST: usize = 32;
    let text = String::from_utf8_lossy(&bytes[..bytes.len().min(LONGEST)]).into_owned();
    if bytes.len() > LONGEST { text + "…" } else { text }
}

fn is_blank(byte: u8) -> bool {
    byte.is_ascii_whitespace() || byte == 0x0b
}
