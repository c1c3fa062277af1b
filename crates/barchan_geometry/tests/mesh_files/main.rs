//! Mesh files: supported features, rejected files and their messages, and reports of cleaning.

mod bad;
mod build;
mod good;
mod report;
