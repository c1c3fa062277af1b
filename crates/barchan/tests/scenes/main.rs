//! Scene files: their meaning, error messages, overrides, and worlds.

mod built_in;
mod doubts;
mod overrides;
mod right;
mod worlds;
mod wrong;
