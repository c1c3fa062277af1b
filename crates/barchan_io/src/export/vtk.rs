//! VTK XML: one .vtp file per frame for guides, grains and bodies, and for each of them a .pvd file with the times.
//! Bodies are the triangles of their surfaces, posed; the table of bodies is included.

use std::io::{self, Write};

use super::surfaces::BodySurfaces;
use super::{Export, ExportError, Written};
use crate::{Part, write_atomically};

pub(super) fn export(export: &mut Export) -> Result<(), ExportError> {
    let surfaces = BodySurfaces::load(export.cache.dir())?;
    let written = export.frames("vtp", Some(&|path, bodies| surfaces.write(path, bodies)))?;
    export.body_table()?;
    for part in Part::ALL {
        let files: Vec<&Written> = written.iter().filter(|w| w.part == part).collect();
        if !files.is_empty() {
            let path = export.out.join(format!("{}.pvd", part.name()));
            write_atomically(&path, |out| collection(out, &files))?;
        }
    }
    Ok(())
}

fn collection(out: &mut impl Write, files: &[&Written]) -> io::Result<()> {
    writeln!(out, r#"<?xml version="1.0"?>"#)?;
    writeln!(
        out,
        r#"<VTKFile type="Collection" version="1.0" byte_order="LittleEndian">"#
    )?;
    writeln!(out, "<Collection>")?;
    for Written { time, file, .. } in files {
        writeln!(out, r#"<DataSet timestep="{time}" part="0" file="{file}"/>"#)?;
    }
    writeln!(out, "</Collection>\n</VTKFile>")
}
