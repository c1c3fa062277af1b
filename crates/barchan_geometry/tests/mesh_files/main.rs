//! Mesh files: what each format may hold, what is refused and in which words, and what cleaning reports.

mod bad;
mod build;
mod good;
mod report;
