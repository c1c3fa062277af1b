//! Movies by the program `ffmpeg`, fed through a pipe.

use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::{self, JoinHandle};

use super::MovieError;
use super::yuv::Yuv;

/// Returns true if there is an `ffmpeg` with x264.
pub(crate) fn is_installed() -> bool {
    let listed = Command::new("ffmpeg")
        .args(["-hide_banner", "-loglevel", "error", "-encoders"])
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output();
    listed.is_ok_and(|output| String::from_utf8_lossy(&output.stdout).contains("libx264"))
}

/// Largest part of `ffmpeg`'s messages that is kept [bytes].
const MAX_MESSAGES: u64 = 1 << 16;

/// A running `ffmpeg`.
pub(crate) struct Ffmpeg {
    child: Child,
    path: PathBuf,
    /// Collects its messages: a full pipe would block it.
    errors: Option<JoinHandle<String>>,
}

impl Ffmpeg {
    /// Starts a movie for `path`, which is written to the absolute path `part`.
    pub fn start(path: &Path, part: &Path, [width, height]: [u32; 2], frame_rate: f64) -> Result<Self, MovieError> {
        let (size, rate) = (format!("{width}x{height}"), frame_rate.to_string());
        let colors = [
            "-colorspace",
            "bt709",
            "-color_primaries",
            "bt709",
            "-color_trc",
            "bt709",
            "-color_range",
            "tv",
        ];
        // `file:` prevents it from reading a protocol in the name.
        let mut output = OsString::from("file:");
        output.push(part);
        let mut child = Command::new("ffmpeg")
            .args(["-hide_banner", "-loglevel", "error", "-nostdin", "-y"])
            .args([
                "-f",
                "rawvideo",
                "-pix_fmt",
                "yuv420p",
                "-video_size",
                &size,
                "-framerate",
                &rate,
            ])
            .args(colors)
            .args(["-i", "pipe:0", "-c:v", "libx264", "-crf", "18", "-preset", "medium"])
            .args(colors)
            .args(["-pix_fmt", "yuv420p", "-movflags", "+faststart", "-f", "mp4"])
            .arg(output)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|source| MovieError::NoFfmpeg { source })?;
        let errors = child.stderr.take().map(|errors| thread::spawn(move || listen(errors)));
        Ok(Self {
            child,
            path: path.to_owned(),
            errors,
        })
    }

    pub fn push(&mut self, yuv: &Yuv) -> Result<(), MovieError> {
        let pipe = self.child.stdin.as_mut();
        match pipe.map(|pipe| pipe.write_all(&yuv.bytes)) {
            Some(Ok(())) => Ok(()),
            // It closes the pipe when it fails, and has printed the reason.
            _ => Err(self.end().err().unwrap_or_else(|| self.failed("it stopped reading"))),
        }
    }

    pub fn finish(mut self) -> Result<(), MovieError> {
        self.end()
    }

    /// Waits for its end. Any message is a failure: version 5.1 exits with 0 when it cannot write the end of the file.
    fn end(&mut self) -> Result<(), MovieError> {
        drop(self.child.stdin.take());
        let said = self
            .errors
            .take()
            .and_then(|errors| errors.join().ok())
            .unwrap_or_default();
        let exited = self.child.wait().is_ok_and(|status| status.success());
        match said.trim().lines().last() {
            Some(line) => Err(self.failed(line)),
            None if !exited => Err(self.failed("it said nothing")),
            None => Ok(()),
        }
    }

    fn failed(&self, said: &str) -> MovieError {
        MovieError::Ffmpeg {
            path: self.path.clone(),
            said: said.to_owned(),
        }
    }
}

/// Reads to the end; keeps the first lines.
fn listen(mut errors: impl Read) -> String {
    let mut said = Vec::new();
    let _ = (&mut errors).take(MAX_MESSAGES).read_to_end(&mut said);
    let dropped = io::copy(&mut errors, &mut io::sink()).unwrap_or(0);
    let whole = said.iter().rposition(|byte| *byte == b'\n').filter(|_| dropped > 0);
    said.truncate(whole.unwrap_or(said.len()));
    String::from_utf8_lossy(&said).into_owned()
}

impl Drop for Ffmpeg {
    fn drop(&mut self) {
        // A process that has ended only has to be waited for.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
