//! Equations, without loops and storage.

pub(crate) mod contact;
pub(crate) mod depth;
pub(crate) mod friction;
pub(crate) mod mass;
pub(crate) mod repose;
