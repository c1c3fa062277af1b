//! Movies that cannot be written, and names that must not reach an encoder.
#![cfg(unix)]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tempfile::{TempDir, tempdir};

fn scene(name: &str) -> String {
    format!(
        r#"
name = {name:?}
duration = 0.1
frame_rate = 60
[materials.sand]
density = 1600
[[fill]]
material = "sand"
radius = 0.02
packing = "lattice"
shape = {{ box = {{ size = [0.1, 0.1, 0.1] }}, at = [0, 0, 0.3] }}
"#
    )
}

/// Creates a folder with a scene of that name, and a folder `bin` with an `ffmpeg` that records its arguments, then
/// runs `script`.
fn stage(name: &str, script: &str) -> TempDir {
    let folder = tempdir().unwrap();
    fs::write(folder.path().join("scene.toml"), scene(name)).unwrap();
    let bin = folder.path().join("bin");
    fs::create_dir(&bin).unwrap();
    let text = format!(
        "#!/bin/sh\ncase \" $* \" in *' -encoders '*) echo libx264; exit 0;; esac\n\
         for last; do :; done\nprintf '%s' \"$last\" > {}/last\ncat > /dev/null\n{script}\n",
        bin.display()
    );
    fs::write(bin.join("ffmpeg"), text).unwrap();
    fs::set_permissions(bin.join("ffmpeg"), fs::Permissions::from_mode(0o755)).unwrap();
    folder
}

fn render(folder: &Path, path: &str, words: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_barchan"))
        .current_dir(folder)
        .env("PATH", path)
        .args([
            "render",
            "scene.toml",
            "--frames",
            "3",
            "--size",
            "32x18",
            "--engine",
            "cpu",
        ])
        .args(words)
        .output()
        .unwrap()
}

fn with_fake(folder: &Path, words: &[&str]) -> (i32, String) {
    let output = render(
        folder,
        &format!("{}:/usr/bin:/bin", folder.join("bin").display()),
        words,
    );
    let said = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
    (output.status.code().expect("no signal"), said)
}

/// Returns the names in the folder besides those that [`stage`] created.
fn left(folder: &Path) -> Vec<String> {
    let names = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name());
    let mut names: Vec<String> = names.map(|name| name.into_string().unwrap()).collect();
    names.retain(|name| name != "scene.toml" && name != "bin");
    names.sort();
    names
}

/// Returns the absolute path that the fake received, without `file:`.
fn given(folder: &Path) -> PathBuf {
    let last = fs::read_to_string(folder.join("bin/last")).unwrap();
    PathBuf::from(last.strip_prefix("file:").expect("an address of a file"))
}

#[test]
fn an_encoder_gets_the_absolute_path_of_a_file_whatever_the_name() {
    for (name, words) in [
        ("tcp:127.0.0.1:9", &[][..]),
        ("-report", &[]),
        ("pipe:1", &[]),
        ("../../evil", &[]),
        (" .hidden\t", &[]),
        ("", &[]),
        ("plain", &["-o", "tcp:127.0.0.1:9.mp4"]),
        ("plain", &["-o=-report.mp4"]),
        ("plain", &["-o", "file:x.mp4"]),
    ] {
        let folder = stage(name, "exit 1");
        let (code, said) = with_fake(folder.path(), words);
        assert_eq!(code, 1, "{name}: {said}");
        let (given, here) = (given(folder.path()), fs::canonicalize(folder.path()).unwrap());
        let parent = fs::canonicalize(given.parent().unwrap()).unwrap();
        assert!(given.is_absolute() && parent == here, "{name}: {}", given.display());
        assert_eq!(left(folder.path()), [""; 0], "{name}");
    }
}

#[test]
fn a_movie_lies_in_the_folder_whatever_its_scene_is_called() {
    for (name, file) in [
        ("tcp:127.0.0.1:9", "tcp-127.0.0.1-9.mp4"),
        ("-report", "report.mp4"),
        ("../../evil", "evil.mp4"),
        ("", "scene.mp4"),
    ] {
        let folder = stage(name, "exit 1");
        let output = render(folder.path(), "", &[]);
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        assert_eq!(left(folder.path()), [file], "{name}");
    }
}

#[test]
fn an_encoder_that_fails_without_an_exit_code_leaves_nothing() {
    let flood = "i=0; while [ $i -lt 20000 ]; do echo 'av_interleaved_write_frame(): No space' >&2; i=$((i+1)); done";
    for (script, reason) in [
        (
            "echo 'Error writing trailer: No space left on device' >&2; exit 0",
            "No space left",
        ),
        ("exit 0", "would not play"),
        (
            "printf '\\000\\000\\000\\020ftypisom' > \"${last#file:}\"; exit 0",
            "would not play",
        ),
        ("rm \"${last#file:}\"; exit 0", "would not play"),
        ("exit 3", "it said nothing"),
        (flood, "No space"),
    ] {
        let folder = stage("sand", script);
        fs::write(folder.path().join("old.mp4"), "old").unwrap();
        let (code, said) = with_fake(folder.path(), &["-o", "old.mp4"]);
        assert_eq!(code, 1, "{script}: {said}");
        assert!(said.contains(reason) && said.contains("old.mp4"), "{script}: {said}");
        assert_eq!(left(folder.path()), ["old.mp4"], "{script}");
        assert_eq!(fs::read(folder.path().join("old.mp4")).unwrap(), b"old", "{script}");
    }
}

/// Files may grow to 1 KiB only: a movie is larger, and its end cannot be written. `ffmpeg` 5.1 exits with 0 then.
#[test]
fn a_movie_that_does_not_fit_is_a_failure_of_any_encoder() {
    for path in ["", "/usr/local/bin:/usr/bin:/bin"] {
        let folder = stage("sand", "exit 1");
        let program = env!("CARGO_BIN_EXE_barchan");
        let words = format!("trap '' XFSZ; ulimit -f 2; exec {program} render scene.toml --size 320x180 --engine cpu");
        let mut shell = Command::new("/bin/sh");
        let output = shell
            .current_dir(folder.path())
            .env("PATH", path)
            .args(["-c", &words])
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(1), "{path}: {output:?}");
        assert_eq!(left(folder.path()), [""; 0], "{path}");
    }
}

#[test]
fn pictures_and_movies_that_cannot_be_written_are_failures_of_the_work() {
    let folder = stage("sand", "exit 1");
    fs::write(folder.path().join("file"), "").unwrap();
    for output in ["file/p.png", "file/m.mp4", "file/pictures"] {
        let done = render(folder.path(), "", &["-o", output]);
        assert_eq!(done.status.code(), Some(1), "{output}: {done:?}");
    }
}
