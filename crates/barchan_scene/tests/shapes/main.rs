//! The notation of shapes: what every text means, what is said about wrong ones, and that no text at all is too much.

mod any_text;
mod right;
mod wrong;
