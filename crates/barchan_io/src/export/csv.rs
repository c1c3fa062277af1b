//! Text: guides and grains a file a frame, bodies as one table.

use super::{Export, ExportError};
use crate::Part;

pub(super) fn export(export: &mut Export) -> Result<(), ExportError> {
    export.points(&[Part::Guides, Part::Grains], "csv")?;
    export.body_table()
}
