//! Solids as signed distance: meshes, sampled fields, iso-surfaces, mass properties.

mod mesh_solid;
mod support;
