//! Interaction with a running simulation, for windows and games: picking with the mouse, tools, driven machines.

mod machine;
mod ray;
mod toolbox;

pub use machine::Machine;
pub use ray::{Hit, Ray, Struck, strike};
pub use toolbox::{ITEMS, Tool, Toolbox, Touch};
