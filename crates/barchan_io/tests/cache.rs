//! Frames are written and read back, also after errors.

mod common;

use std::fs;

use barchan_io::{Cache, CacheError, CacheSettings, CacheWriter, Part, folder_bytes};
use barchan_world::Column;
use common::{frame, run, written};
use glam::Vec3;

#[test]
fn frames_read_back_as_they_were() {
    let folder = written(0..4, CacheSettings::default());
    let cache = Cache::open(folder.path()).unwrap();
    assert_eq!(cache.manifest().run, run(0));
    let numbers: Vec<u64> = cache.frames().iter().map(|f| f.frame).collect();
    assert_eq!(numbers, [0, 1, 2, 3]);
    let stats = cache.stats().unwrap();
    for number in numbers {
        let expected = frame(number);
        assert_eq!(cache.read_guides(number).unwrap(), expected.guides);
        assert_eq!(cache.read_grains(number).unwrap(), expected.grains.unwrap());
        assert_eq!(cache.read_bodies(number).unwrap(), expected.bodies);
        let entry = &cache.frames()[number as usize];
        assert_eq!(
            (entry.time, entry.guides, entry.bodies),
            (expected.time, Some(100), Some(2))
        );
        let line = &stats[number as usize];
        assert_eq!((line.frame, line.time), (number, expected.time));
        assert_eq!(line.stats, expected.stats);
    }
}

#[test]
fn the_same_frames_make_the_same_bytes() {
    let settings = CacheSettings {
        parts: Part::ALL.to_vec(),
        ..CacheSettings::default()
    };
    let [first, second] = [(), ()].map(|()| written(0..3, settings.clone()));
    for part in Part::ALL {
        for number in 0..3 {
            let file = format!("{}/{number:06}.arrow", part.name());
            let bytes = |folder: &tempfile::TempDir| fs::read(folder.path().join(&file)).unwrap();
            assert_eq!(bytes(&first), bytes(&second), "{file}");
        }
    }
}

#[test]
fn contacts_and_fields_are_kept_if_they_are_asked_for() {
    let parts = vec![Part::Contacts, Part::Fields];
    let settings = CacheSettings {
        parts,
        ..CacheSettings::default()
    };
    let cache = Cache::open(written(0..2, settings).path()).unwrap();
    assert!(
        cache
            .frames()
            .iter()
            .all(|entry| entry.guides.is_none() && entry.contacts.is_some())
    );
    let usual = written(0..2, CacheSettings::default());
    let cache = Cache::open(usual.path()).unwrap();
    assert!(cache.read_contacts(1).is_err() && cache.read_fields(1).is_err());
    let every = CacheSettings {
        parts: Part::ALL.to_vec(),
        ..CacheSettings::default()
    };
    let folder = written(0..2, every);
    let cache = Cache::open(folder.path()).unwrap();
    assert_eq!(cache.read_contacts(1).unwrap(), frame(1).contacts.unwrap());
    assert_eq!(cache.read_fields(1).unwrap(), frame(1).fields.unwrap());
}

#[test]
fn grains_are_written_in_every_third_frame_after_the_first() {
    let folder = tempfile::tempdir().unwrap();
    let settings = CacheSettings {
        grains_every: 3,
        ..CacheSettings::default()
    };
    let mut writer = CacheWriter::create(folder.path(), run(1001), settings).unwrap();
    for number in 1001..1009 {
        writer.push(frame(number)).unwrap();
    }
    assert_eq!(writer.finish().unwrap().frames, 8);
    let cache = Cache::open(folder.path()).unwrap();
    let with_grains = cache.frames().iter().filter(|f| f.grains.is_some());
    assert_eq!(with_grains.map(|f| f.frame).collect::<Vec<_>>(), [1001, 1004, 1007]);
    let error = cache.read_grains(1002).unwrap_err().to_string();
    assert!(
        error.contains("no grains of frame 1002; it has 1001, 1004, 1007"),
        "{error}"
    );
    let error = cache.read_guides(7).unwrap_err().to_string();
    assert!(error.contains("no guides of frame 7; it has 1001-1008"), "{error}");
}

#[test]
fn only_what_is_asked_for_is_written() {
    let settings = CacheSettings {
        parts: vec![Part::Bodies],
        ..CacheSettings::default()
    };
    let folder = written(0..2, settings);
    for part in ["guides", "grains"] {
        assert!(!folder.path().join(part).exists(), "{part}");
    }
    let cache = Cache::open(folder.path()).unwrap();
    assert_eq!(cache.read_bodies(1).unwrap(), frame(1).bodies);
    assert!(cache.read_guides(1).unwrap_err().to_string().contains("it has none"));
}

#[test]
fn compact_positions_are_off_by_half_a_step_at_most() {
    let settings = CacheSettings {
        compact: true,
        ..CacheSettings::default()
    };
    let folder = written(0..1, settings);
    let cache = Cache::open(folder.path()).unwrap();
    let (read, exact) = (cache.read_guides(0).unwrap(), frame(0).guides);
    let (Some(Column::Vec3(read)), Some(Column::Vec3(exact))) = (read.column("position"), exact.column("position"))
    else {
        panic!("positions are vectors");
    };
    let low = exact.iter().copied().reduce(Vec3::min).unwrap();
    let high = exact.iter().copied().reduce(Vec3::max).unwrap();
    let half_a_step = (high - low) / f32::from(u16::MAX) / 2.0;
    let mut moved = 0;
    for (read, exact) in read.iter().zip(exact) {
        let error = (*read - *exact).abs();
        let rounding = f32::EPSILON * exact.abs();
        assert!(error.cmple(half_a_step + rounding).all(), "{exact} came back as {read}");
        moved += usize::from(read != exact);
    }
    assert!(moved > 0, "nothing was rounded: is it compact?");
    assert_eq!(
        cache.read_guides(0).unwrap().column("velocity"),
        frame(0).guides.column("velocity")
    );
}

#[test]
fn a_lost_folder_stops_with_its_path_and_keeps_what_is_finished() {
    let folder = tempfile::tempdir().unwrap();
    let mut writer = CacheWriter::create(folder.path(), run(0), CacheSettings::default()).unwrap();
    writer.push(frame(0)).unwrap();
    writer.push(frame(1)).unwrap();
    while !folder.path().join("bodies/000001.arrow").exists() {
        std::thread::yield_now();
    }
    // A file in place of the folder: nothing can be written below it, by any user.
    let (grains, away) = (folder.path().join("grains"), folder.path().join("away"));
    fs::rename(&grains, &away).unwrap();
    fs::write(&grains, "").unwrap();
    let error = (2..100)
        .find_map(|number| writer.push(frame(number)).err())
        .expect("an error");
    let CacheError::Write(error) = error else {
        panic!("{error}")
    };
    assert!(error.to_string().contains("grains"), "{error}");
    assert!(matches!(writer.finish(), Err(CacheError::Stopped)));

    fs::remove_file(&grains).unwrap();
    fs::rename(&away, &grains).unwrap();
    let cache = Cache::open(folder.path()).unwrap();
    let frames: Vec<u64> = cache.frames().iter().map(|f| f.frame).collect();
    assert_eq!(frames, [0, 1]);
    for number in frames {
        assert_eq!(cache.read_grains(number).unwrap(), frame(number).grains.unwrap());
    }
    assert_eq!(cache.stats().unwrap().len(), 2);
}

#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_stops_with_its_reason() {
    let folder = tempfile::tempdir().unwrap();
    let mut writer = CacheWriter::create(folder.path(), run(0), CacheSettings::default()).unwrap();
    std::os::unix::fs::symlink("/dev/full", folder.path().join("stats.jsonl")).unwrap();
    writer.push(frame(0)).unwrap();
    let error = writer.finish().unwrap_err().to_string();
    assert!(
        error.contains("stats.jsonl") && error.contains("No space left"),
        "{error}"
    );
    assert!(Cache::open(folder.path()).unwrap().frames().is_empty());
}

#[test]
fn a_resumed_run_leaves_the_folder_as_one_never_stopped() {
    let whole = written(0..6, CacheSettings::default());
    let folder = written(0..5, CacheSettings::default());
    let stats = folder.path().join("stats.jsonl");
    let mut lines = fs::read(&stats).unwrap();
    lines.extend_from_slice(b"{\"frame\":5,\"ti");
    fs::write(&stats, lines).unwrap();
    assert_eq!(
        Cache::open(folder.path()).unwrap().stats().unwrap().len(),
        5,
        "a torn line is skipped"
    );
    fs::write(folder.path().join("guides/.000005.arrow.123.part"), "half").unwrap();
    fs::create_dir(folder.path().join("checkpoint")).unwrap();
    fs::write(folder.path().join("checkpoint/.state.123.part"), "half").unwrap();
    fs::write(folder.path().join("guides/notes.txt"), "mine").unwrap();

    let mut writer = CacheWriter::resume(folder.path(), run(0), CacheSettings::default(), 2).unwrap();
    let cache = Cache::open(folder.path()).unwrap();
    assert_eq!(cache.frames().len(), 3);
    assert!(!folder.path().join("grains/000003.arrow").exists());
    for number in 3..6 {
        writer.push(frame(number)).unwrap();
    }
    writer.finish().unwrap();
    for file in [
        "manifest.json",
        "stats.jsonl",
        "guides/000005.arrow",
        "bodies/000003.arrow",
    ] {
        let text = |folder: &tempfile::TempDir| fs::read(folder.path().join(file)).unwrap();
        assert_eq!(text(&folder), text(&whole), "{file}");
    }
    let mut names: Vec<_> = fs::read_dir(folder.path().join("guides"))
        .unwrap()
        .map(|e| e.unwrap().file_name())
        .collect();
    names.sort();
    assert_eq!(names.len(), 7, "{names:?}");
    assert_eq!(names[6], "notes.txt");
    assert_eq!(fs::read_dir(folder.path().join("checkpoint")).unwrap().count(), 0);
}

#[test]
fn no_run_goes_on_from_a_frame_that_is_not_there() {
    let folder = written(0..3, CacheSettings::default());
    let error = CacheWriter::resume(folder.path(), run(0), CacheSettings::default(), 7)
        .err()
        .unwrap();
    assert!(error.to_string().contains("no files of frame 7; it has 0-2"), "{error}");
}

#[test]
fn bad_folders_are_told_apart() {
    let folder = tempfile::tempdir().unwrap();
    let message = |name: &str| Cache::open(&folder.path().join(name)).unwrap_err().to_string();
    assert!(message("nowhere").contains("does not exist"));
    fs::write(folder.path().join("file"), "").unwrap();
    assert!(message("file").contains("it is a file"));
    assert!(message("").contains("has no manifest.json"));
    fs::write(
        folder.path().join("manifest.json"),
        r#"{ "format": 99, "solver": "pbd", "version": "9.9.9" }"#,
    )
    .unwrap();
    assert!(message("").contains("has format 99; this version reads format 1"));
    fs::write(folder.path().join("manifest.json"), r#"{ "format": 1 }"#).unwrap();
    assert!(message("").contains("is damaged: missing field"));
}

#[test]
fn missing_and_foreign_frame_files_are_named() {
    let folder = written(0..3, CacheSettings::default());
    let cache = Cache::open(folder.path()).unwrap();
    fs::remove_file(folder.path().join("guides/000000.arrow")).unwrap();
    fs::write(folder.path().join("guides/000001.arrow"), "ply\nformat ascii 1.0\n").unwrap();
    fs::copy(
        folder.path().join("bodies/000002.arrow"),
        folder.path().join("guides/000002.arrow"),
    )
    .unwrap();
    let message = |number| cache.read_guides(number).unwrap_err().to_string();
    assert!(message(0).contains("000000.arrow is missing"), "{}", message(0));
    assert!(
        message(1).contains("000001.arrow was not written by barchan: it is no Arrow file"),
        "{}",
        message(1)
    );
    assert!(
        message(2).contains("000002.arrow is damaged: it has 2 rows, the manifest lists 100"),
        "{}",
        message(2)
    );
    let manifest = folder.path().join("manifest.json");
    let text = fs::read_to_string(&manifest).unwrap();
    fs::write(&manifest, text.replace("\"guides\":100", "\"guides\":2")).unwrap();
    let cache = Cache::open(folder.path()).unwrap();
    let message = cache.read_guides(2).unwrap_err().to_string();
    assert!(
        message.contains("000002.arrow") && message.contains("column `name` is of type"),
        "{message}"
    );
}

#[test]
#[should_panic(expected = "frame 3 after frame Some(3)")]
fn frames_come_in_order() {
    let folder = tempfile::tempdir().unwrap();
    let mut writer = CacheWriter::create(folder.path(), run(0), CacheSettings::default()).unwrap();
    writer.push(frame(3)).unwrap();
    let _ = writer.push(frame(3));
}

#[test]
fn a_dropped_writer_still_writes_what_it_was_given() {
    let folder = tempfile::tempdir().unwrap();
    let mut writer = CacheWriter::create(folder.path(), run(0), CacheSettings::default()).unwrap();
    (0..3).for_each(|number| writer.push(frame(number)).unwrap());
    drop(writer);
    assert_eq!(Cache::open(folder.path()).unwrap().frames().len(), 3);
}

#[test]
fn bytes_are_counted() {
    let folder = tempfile::tempdir().unwrap();
    let mut writer = CacheWriter::create(folder.path(), run(0), CacheSettings::default()).unwrap();
    let empty = fs::metadata(folder.path().join("manifest.json")).unwrap().len();
    writer.push(frame(0)).unwrap();
    let report = writer.finish().unwrap();
    let files = [
        "guides/000000.arrow",
        "grains/000000.arrow",
        "bodies/000000.arrow",
        "stats.jsonl",
        "manifest.json",
    ];
    let length = |file: &str| fs::metadata(folder.path().join(file)).unwrap().len();
    let kept = files.map(length).iter().sum::<u64>();
    assert_eq!(folder_bytes(folder.path()).unwrap(), kept);
    // The line of the journal is moved to the manifest.
    let line = report.bytes - kept - empty;
    assert!((20..200).contains(&line), "{line}");
}
