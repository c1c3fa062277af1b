//! Stanford PLY: guides and grains a file a frame. It has no words, so bodies are a table beside.

use super::{Export, ExportError};
use crate::Part;

pub(super) fn export(export: &mut Export) -> Result<(), ExportError> {
    export.points(&[Part::Guides, Part::Grains], "ply")?;
    export.body_table()
}
