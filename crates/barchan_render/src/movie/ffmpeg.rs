//! Movies by the program `ffmpeg`, which is fed through a pipe.

use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use super::MovieError;
use super::yuv::Yuv;

/// Whether there is an `ffmpeg` that has x264.
pub(crate) fn is_installed() -> bool {
    let listed = Command::new("ffmpeg")
        .args(["-hide_banner", "-loglevel", "error", "-encoders"])
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output();
    listed.is_ok_and(|output| String::from_utf8_lossy(&output.stdout).contains("libx264"))
}

/// An `ffmpeg` at work.
pub(crate) struct Ffmpeg {
    child: Child,
    path: PathBuf,
}

impl Ffmpeg {
    pub fn start(path: &Path, [width, height]: [u32; 2], frame_rate: f64) -> Result<Self, MovieError> {
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
        let child = Command::new("ffmpeg")
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
            .arg(path)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|source| MovieError::NoFfmpeg { source })?;
        Ok(Self {
            child,
            path: path.to_owned(),
        })
    }

    pub fn push(&mut self, yuv: &Yuv) -> Result<(), MovieError> {
        let pipe = self.child.stdin.as_mut();
        match pipe.map(|pipe| pipe.write_all(&yuv.bytes)) {
            Some(Ok(())) => Ok(()),
            // It closes the pipe when it gives up, and has said why.
            _ => Err(self.gave_up()),
        }
    }

    pub fn finish(mut self) -> Result<(), MovieError> {
        drop(self.child.stdin.take());
        match self.child.wait() {
            Ok(status) if status.success() => Ok(()),
            _ => Err(self.gave_up()),
        }
    }

    fn gave_up(&mut self) -> MovieError {
        drop(self.child.stdin.take());
        let mut said = String::new();
        if let Some(mut errors) = self.child.stderr.take() {
            let _ = errors.read_to_string(&mut said);
        }
        MovieError::Ffmpeg {
            path: self.path.clone(),
            said: said.trim().lines().last().unwrap_or("it said nothing").to_owned(),
        }
    }
}

impl Drop for Ffmpeg {
    fn drop(&mut self) {
        // One that is done only has to be waited for.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
