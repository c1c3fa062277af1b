//! The notation of shapes: meaning of every text, messages on wrong ones, and robustness against any text.

mod any_text;
mod right;
mod wrong;
