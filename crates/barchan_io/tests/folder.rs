//! Exclusive access to a folder, protection of foreign files, and constant cost per frame.

mod common;

use std::fs;
use std::path::Path;

use barchan_io::{
    Cache, CacheError, CacheFolder, CacheSettings, CacheWriter, GrainsWriter, has_checkpoint, read_checkpoint,
    write_checkpoint,
};
use barchan_world::{Archive, Frame};
use common::{frame, particles, run, written};

fn bare() -> CacheSettings {
    CacheSettings {
        parts: Vec::new(),
        ..CacheSettings::default()
    }
}

fn tiny(number: u64) -> Frame {
    Frame {
        number,
        time: number as f64 / 60.0,
        ..Frame::default()
    }
}

#[test]
fn a_second_writer_is_refused_and_told_of_the_first() {
    let folder = tempfile::tempdir().unwrap();
    let mut writer = CacheWriter::create(folder.path(), run(0), CacheSettings::default()).unwrap();
    writer.push(frame(0)).unwrap();
    let refused = [
        CacheFolder::create(folder.path(), false).err(),
        CacheFolder::create(folder.path(), true).err(),
        CacheFolder::open(folder.path()).err(),
    ];
    for error in refused {
        let error = error.expect("an error");
        assert!(matches!(error, CacheError::Locked { .. }), "{error}");
        let text = error.to_string();
        assert!(
            text.contains(&format!("process {} for 0 s", std::process::id())),
            "{text}"
        );
    }
    writer.finish().unwrap();
    CacheFolder::open(folder.path()).unwrap();
}

#[test]
fn a_cache_with_frames_is_replaced_only_by_force() {
    let folder = written(0..3, CacheSettings::default());
    let mut writer = CacheWriter::resume(folder.path(), run(0), CacheSettings::default(), 2).unwrap();
    writer.checkpoint(2, Archive::default()).unwrap();
    writer.finish().unwrap();
    let error = CacheFolder::create(folder.path(), false).unwrap_err();
    assert!(matches!(error, CacheError::Exists { .. }), "{error}");
    assert_eq!(Cache::open(folder.path()).unwrap().frames().len(), 3);

    // Nothing changes until the new run writes.
    let claimed = CacheFolder::create(folder.path(), true).unwrap();
    assert_eq!(Cache::open(folder.path()).unwrap().frames().len(), 3);
    let mut writer = CacheWriter::create_in(claimed, run(0), CacheSettings::default()).unwrap();
    writer.push(frame(0)).unwrap();
    writer.finish().unwrap();
    assert_eq!(fs::read_dir(folder.path().join("guides")).unwrap().count(), 1);
    assert_eq!(Cache::open(folder.path()).unwrap().stats().unwrap().len(), 1);
    assert!(matches!(
        read_checkpoint(folder.path()),
        Err(CacheError::NoCheckpoint { .. })
    ));
    assert!(!has_checkpoint(folder.path()));
}

#[test]
fn what_a_killed_run_left_before_its_first_frame_can_be_used_again() {
    let folder = tempfile::tempdir().unwrap();
    let lock = folder.path().join(".barchan.lock");
    let held = r#"{"barchan":"0.1.0","process":7,"since":5,"command":"barchan run a"}"#;
    fs::write(&lock, held).unwrap();
    drop(CacheFolder::create(folder.path(), false).unwrap());
    fs::create_dir(folder.path().join("guides")).unwrap();
    drop(CacheFolder::create(folder.path(), false).unwrap());
    drop(CacheWriter::create(folder.path(), run(0), bare()).unwrap());
    let mut writer = CacheWriter::create(folder.path(), run(0), bare()).unwrap();
    writer.push(tiny(0)).unwrap();
    writer.finish().unwrap();
    assert_eq!(Cache::open(folder.path()).unwrap().frames().len(), 1);
}

#[test]
fn a_folder_that_was_made_for_nothing_is_removed() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("new");
    drop(CacheFolder::create(&dir, false).unwrap());
    assert!(!dir.exists());
}

/// Returns every file below a folder with its contents.
fn contents(dir: &Path) -> Vec<(String, Vec<u8>)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => found.extend(contents(&path)),
            false => found.push((path.display().to_string(), fs::read(&path).unwrap())),
        }
    }
    found.sort();
    found
}

#[test]
fn files_of_others_are_never_replaced_or_removed() {
    for name in [
        "stats.jsonl",
        "guides/000001.arrow",
        "checkpoint/state",
        "frames.jsonl",
        "meshes/mine.ply",
        "stage.json",
        "manifest.json",
        ".barchan.lock",
    ] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, r#"{ "name": "app", "format": 3 }"#).unwrap();
        let before = contents(folder.path());
        for replace in [false, true] {
            let error = CacheFolder::create(folder.path(), replace).unwrap_err().to_string();
            assert!(error.contains(name.split('/').next().unwrap()), "{name}: {error}");
            assert!(CacheFolder::open(folder.path()).is_err(), "{name}");
        }
        let now = contents(folder.path());
        let others: Vec<_> = now.into_iter().filter(|file| before.contains(file)).collect();
        assert_eq!(others, before, "{name}");
    }
    // Other names are allowed, also in a cache that is replaced.
    let folder = written(0..2, CacheSettings::default());
    for name in [".work.part", "notes.txt", "guides/mine.arrow", "guides/.a.b.part"] {
        fs::write(folder.path().join(name), name).unwrap();
    }
    let claimed = CacheFolder::create(folder.path(), true).unwrap();
    CacheWriter::create_in(claimed, run(0), bare())
        .unwrap()
        .finish()
        .unwrap();
    for name in [".work.part", "notes.txt", "guides/mine.arrow", "guides/.a.b.part"] {
        assert_eq!(fs::read_to_string(folder.path().join(name)).unwrap(), name);
    }
}

#[test]
#[cfg(unix)]
fn links_are_not_followed() {
    let folder = written(0..2, CacheSettings::default());
    let guides = folder.path().join("guides");
    let elsewhere = folder.path().join("elsewhere");
    fs::rename(&guides, &elsewhere).unwrap();
    std::os::unix::fs::symlink(&elsewhere, &guides).unwrap();
    let refused = [
        CacheFolder::create(folder.path(), true).err(),
        CacheFolder::open(folder.path()).err(),
    ];
    for error in refused {
        let error = error.expect("an error");
        assert!(matches!(error, CacheError::Link { .. }), "{error}");
        assert!(error.to_string().contains("guides"), "{error}");
    }
    assert_eq!(fs::read_dir(&elsewhere).unwrap().count(), 2);
    // It can still be read.
    assert!(Cache::open(folder.path()).unwrap().read_guides(1).is_ok());
}

#[test]
fn a_frame_costs_the_same_however_many_there_are() {
    let bytes_per_frame = |frames: u64| {
        let folder = tempfile::tempdir().unwrap();
        let mut writer = CacheWriter::create(folder.path(), run(0), bare()).unwrap();
        for number in 0..frames {
            writer.push(tiny(number)).unwrap();
        }
        let report = writer.finish().unwrap();
        assert_eq!(Cache::open(folder.path()).unwrap().frames().len() as u64, frames);
        assert!(!folder.path().join("frames.jsonl").exists());
        report.bytes as f64 / frames as f64
    };
    let (few, many) = (bytes_per_frame(500), bytes_per_frame(20_000));
    assert!(many < 1.1 * few, "{few:.0} bytes per frame of 500, {many:.0} of 20,000");
}

/// A cache as a killed run leaves it: the manifest lists nothing yet, the journal everything, its last line torn.
fn killed(frames: u64) -> tempfile::TempDir {
    let folder = written(0..frames, CacheSettings::default());
    let path = folder.path().join("manifest.json");
    let mut manifest: serde_json::Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    let entries = manifest["frames"].as_array_mut().unwrap();
    let mut lines: String = entries.drain(..).map(|entry| format!("{entry}\n")).collect();
    lines.push_str("{\"frame\":9,\"ti");
    fs::write(&path, manifest.to_string()).unwrap();
    fs::write(folder.path().join("frames.jsonl"), lines).unwrap();
    folder
}

#[test]
fn frames_of_a_killed_run_are_read_from_the_journal() {
    let folder = killed(4);
    let cache = Cache::open(folder.path()).unwrap();
    assert_eq!(cache.frames().iter().map(|f| f.frame).collect::<Vec<_>>(), [0, 1, 2, 3]);
    assert_eq!(cache.read_guides(3).unwrap(), frame(3).guides);
    assert!(matches!(
        CacheFolder::create(folder.path(), false),
        Err(CacheError::Exists { .. })
    ));

    let mut writer = CacheWriter::resume(folder.path(), run(0), CacheSettings::default(), 2).unwrap();
    assert_eq!(Cache::open(folder.path()).unwrap().frames().len(), 3);
    writer.push(frame(3)).unwrap();
    writer.finish().unwrap();
    let whole = written(0..4, CacheSettings::default());
    let manifest = |dir: &Path| fs::read(dir.join("manifest.json")).unwrap();
    assert_eq!(manifest(folder.path()), manifest(whole.path()));
    assert!(!folder.path().join("frames.jsonl").exists());

    let folder = killed(2);
    let mut grains = GrainsWriter::open(CacheFolder::open(folder.path()).unwrap(), false).unwrap();
    grains.push(1, particles(7, 0.0), 1.0).unwrap();
    grains.finish().unwrap();
    assert_eq!(Cache::open(folder.path()).unwrap().frames()[1].grains, Some(7));
}

#[test]
fn a_run_does_not_go_on_after_frames_that_are_gone() {
    for gone in ["guides", "bodies/000001.arrow"] {
        let folder = written(0..3, CacheSettings::default());
        let path = folder.path().join(gone);
        match path.is_dir() {
            true => fs::remove_dir_all(&path).unwrap(),
            false => fs::remove_file(&path).unwrap(),
        }
        let error = CacheWriter::resume(folder.path(), run(0), CacheSettings::default(), 2)
            .err()
            .unwrap()
            .to_string();
        assert!(error.contains(gone) && error.contains("is missing"), "{error}");
        assert_eq!(Cache::open(folder.path()).unwrap().frames().len(), 3);
    }
}

#[test]
fn a_checkpoint_that_grows_without_end_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let mut archive = Archive::default();
    archive.put("guides.id", &vec![0_u8; 200 << 20]);
    write_checkpoint(folder.path(), &archive, 0).unwrap();
    let found = read_checkpoint(folder.path()).unwrap_err().to_string();
    assert!(
        found.contains("checkpoint/state") && found.contains("unpack to"),
        "{found}"
    );
}
