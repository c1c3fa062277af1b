//! Hands in a running simulation, for windows and games: what lies under the mouse, tools that act on it, machines that are
//! driven.

mod machine;
mod ray;
mod toolbox;

pub use machine::Machine;
pub use ray::{Hit, Ray, Struck, strike};
pub use toolbox::{ITEMS, Tool, Toolbox, Touch};
