//! Scene files: what they mean, what is said about wrong ones, what overrides do, and the worlds they make.

mod built_in;
mod doubts;
mod overrides;
mod right;
mod worlds;
mod wrong;
