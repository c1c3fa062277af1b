//! Failures of a command: invalid input (exit code 2) or failed work (exit code 1).

use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::{fmt, io};

use barchan::sampling::SamplingError;

/// Exit codes, for the help.
pub const EXIT_CODES: &str = "Exit codes: 0 done, 1 the work failed, 2 the input was wrong";

/// A message for the user, and its exit code.
#[derive(Debug)]
pub struct Failure {
    message: String,
    code: u8,
}

impl Failure {
    /// Reports invalid input.
    pub fn input(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            code: 2,
        }
    }

    /// Reports failed work.
    pub fn run(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            code: 1,
        }
    }

    /// Returns true if the input was invalid.
    pub fn is_input(&self) -> bool {
        self.code == 2
    }

    /// Names the part of the work that failed.
    #[must_use]
    pub fn within(self, part: &str) -> Self {
        Self {
            message: format!("{part}: {}", self.message),
            ..self
        }
    }

    pub fn exit_code(&self) -> ExitCode {
        self.code.into()
    }
}

/// Set once a write to standard output has failed.
static UNWRITTEN: AtomicBool = AtomicBool::new(false);

/// Records the result of a write to standard output.
pub fn note(written: io::Result<()>) {
    if written.is_err_and(|error| error.kind() != io::ErrorKind::BrokenPipe) {
        UNWRITTEN.store(true, Ordering::Relaxed);
    }
}

/// Fails if a recorded write has failed.
pub fn noted() -> Result<(), Failure> {
    match UNWRITTEN.load(Ordering::Relaxed) {
        true => Err(Failure::run("cannot write all output to standard output")),
        false => Ok(()),
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        // Diagnostics of texts have their own heading.
        if self.message.starts_with("error:") {
            write!(f, "{}", self.message)
        } else {
            write!(f, "error: {}", self.message)
        }
    }
}

impl From<SamplingError> for Failure {
    fn from(error: SamplingError) -> Self {
        Self::input(error.to_string())
    }
}
