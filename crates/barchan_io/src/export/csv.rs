//! Text: guides and grains as one file per frame, bodies as one table.

use super::files::{Notation, write_cloud};
use super::{Export, ExportError};

pub(super) fn export(export: &mut Export) -> Result<(), ExportError> {
    export.each_frame("csv", &|path, _, cloud| write_cloud(path, &cloud, Notation::Srgb), None)?;
    export.tables()
}
