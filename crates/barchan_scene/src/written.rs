//! Locations at which a scene's text sets each key, for later messages.

use std::ops::Range;
use std::sync::Arc;

use crate::fields::Fields;
use crate::reader::Reader;
use crate::{Diagnostic, Diagnostics, Document, Place, Scene, Severity};

/// A scene's text and the positions of its keys.
#[derive(Clone, Debug)]
pub(crate) struct Written {
    document: Arc<Document>,
    fields: Arc<Fields>,
}

impl Written {
    pub fn new(reader: &Reader<'_>, fields: &Fields) -> Self {
        Self {
            document: Arc::new(reader.document().clone()),
            fields: Arc::new(fields.clone()),
        }
    }
}

impl Scene {
    /// Bytes of the text that set the key `path`, such as `["fill", "0", "radius"]`, or else the innermost table around it.
    pub fn span(&self, path: &[&str]) -> Range<usize> {
        self.written.fields.span_of(path)
    }

    /// The same as `scene.toml:3:1`.
    pub fn place(&self, path: &[&str]) -> String {
        let document = &self.written.document;
        match document.place(self.span(path).start) {
            Place::Text { line, column } => format!("{}:{line}:{column}", document.name),
            Place::Override(assignment) => format!("--set {assignment}"),
        }
    }

    /// All that is wrong with the key `path`, as [`parse_scene_with`](crate::parse_scene_with) reports it.
    pub fn error(&self, path: &[&str], message: impl Into<String>, help: &str) -> Diagnostics {
        let error = Diagnostic {
            severity: Severity::Error,
            ..self.warning(path, message, help)
        };
        Diagnostics {
            document: (*self.written.document).clone(),
            items: vec![error],
        }
    }

    /// A warning about the key `path`.
    pub fn warning(&self, path: &[&str], message: impl Into<String>, help: &str) -> Diagnostic {
        Diagnostic {
            severity: Severity::Warning,
            message: message.into(),
            span: self.span(path),
            help: (!help.is_empty()).then(|| help.to_owned()),
        }
    }
}
