//! Contact candidates: search, pairs, near bodies, halos and impulses that outlive searches.

pub(crate) mod blocks;
pub(crate) mod candidates;
pub(crate) mod halo;
pub(crate) mod memory;
pub(crate) mod near;
pub(crate) mod nearby;
pub(crate) mod search;

use super::{CHUNK, guides, make_room, rows, rules, scene, simd, walls};
