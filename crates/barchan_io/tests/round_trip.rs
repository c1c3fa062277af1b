//! Any table and any archive reads back unchanged; any damage is detected.

mod common;

use std::fs;
use std::path::Path;

use barchan_io::{Cache, CacheError, CacheSettings, CacheWriter, read_checkpoint, write_checkpoint};
use barchan_world::{Archive, Column, Frame, Table};
use common::{frame, particles, run, written};
use glam::Vec3;
use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use proptest::{num, sample};

fn write_one(folder: &Path, guides: Table, settings: CacheSettings) -> Cache {
    let mut writer = CacheWriter::create(folder, run(0), settings).unwrap();
    let only = Frame {
        guides,
        ..Frame::default()
    };
    writer.push(only).unwrap();
    writer.finish().unwrap();
    Cache::open(folder).unwrap()
}

fn any_vector() -> impl Strategy<Value = Vec3> {
    [num::f32::ANY, num::f32::ANY, num::f32::ANY].prop_map(Vec3::from)
}

fn any_column(rows: usize) -> impl Strategy<Value = Column> {
    prop_oneof![
        vec(any::<u8>(), rows).prop_map(Column::U8),
        vec(any::<u32>(), rows).prop_map(Column::U32),
        vec(num::f32::ANY, rows).prop_map(Column::F32),
        num::f32::ANY.prop_map(move |value| Column::F32(vec![value; rows])),
        vec(any_vector(), rows).prop_map(Column::Vec3),
    ]
}

fn any_table() -> impl Strategy<Value = Table> {
    let columns = |rows| {
        (
            btree_map("[a-z_ é]{1,12}", any_column(rows), 0..6),
            vec(any_vector(), rows),
        )
    };
    (0_usize..50)
        .prop_flat_map(columns)
        .prop_map(|(mut columns, positions)| {
            columns.insert("position".to_owned(), Column::Vec3(positions));
            Table {
                columns: columns.into_iter().collect(),
            }
        })
}

/// Converts floats to bits, so that a NaN equals itself.
fn bits(table: &Table) -> Vec<(String, Vec<u32>)> {
    let column = |column: &Column| match column {
        Column::U8(values) => values.iter().map(|&v| u32::from(v)).collect(),
        Column::U32(values) => values.clone(),
        Column::F32(values) => values.iter().map(|v| v.to_bits()).collect(),
        Column::Vec3(values) => values.iter().flat_map(Vec3::to_array).map(f32::to_bits).collect(),
    };
    table
        .columns
        .iter()
        .map(|(name, values)| (name.clone(), column(values)))
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_table_comes_back_bit_for_bit(table in any_table()) {
        let folder = tempfile::tempdir().unwrap();
        let cache = write_one(folder.path(), table.clone(), CacheSettings::default());
        let read = cache.read_guides(0).unwrap();
        prop_assert_eq!(bits(&read), bits(&table));
    }

    #[test]
    fn any_positions_can_be_compact(points in vec([num::f32::ANY, num::f32::ANY, num::f32::ANY], 0..20)) {
        let folder = tempfile::tempdir().unwrap();
        let settings = CacheSettings { compact: true, ..CacheSettings::default() };
        let finite = points.iter().flatten().all(|v| v.is_finite());
        let mut table = Table::default();
        table.push("position", Column::Vec3(points.into_iter().map(Vec3::from).collect()));
        let read = write_one(folder.path(), table.clone(), settings).read_guides(0).unwrap();
        prop_assert_eq!(read.len(), table.len());
        if !finite {
            prop_assert_eq!(bits(&read), bits(&table));
        }
    }

    #[test]
    fn any_archive_comes_back(entries in btree_map(".{0,8}", vec(any::<u8>(), 0..200), 0..8), frame: u64) {
        let folder = tempfile::tempdir().unwrap();
        let archive = Archive { entries };
        write_checkpoint(folder.path(), &archive, frame).unwrap();
        prop_assert_eq!(read_checkpoint(folder.path()).unwrap(), (frame, archive));
    }
}

/// Kinds of damage to a file.
#[derive(Clone, Debug)]
enum Damage {
    Change(Vec<(sample::Index, u8)>),
    CutOff(sample::Index),
    Remove(sample::Index, usize),
    Insert(sample::Index, Vec<u8>),
    Replace(Vec<u8>),
}

fn any_damage() -> impl Strategy<Value = Damage> {
    prop_oneof![
        4 => vec((any::<sample::Index>(), 1..=u8::MAX), 1..4).prop_map(Damage::Change),
        2 => any::<sample::Index>().prop_map(Damage::CutOff),
        1 => (any::<sample::Index>(), 1_usize..100).prop_map(|(at, count)| Damage::Remove(at, count)),
        1 => (any::<sample::Index>(), vec(any::<u8>(), 1..20)).prop_map(|(at, bytes)| Damage::Insert(at, bytes)),
        1 => vec(any::<u8>(), 0..200).prop_map(Damage::Replace),
    ]
}

fn damaged(whole: &[u8], damage: Damage) -> Vec<u8> {
    let mut bytes = whole.to_vec();
    match damage {
        Damage::Change(places) => places.iter().for_each(|(at, by)| *at.get_mut(&mut bytes) ^= by),
        Damage::CutOff(at) => bytes.truncate(at.index(whole.len())),
        Damage::Remove(at, count) => {
            let start = at.index(whole.len());
            bytes.drain(start..whole.len().min(start + count));
        }
        Damage::Insert(at, more) => {
            let start = at.index(whole.len());
            bytes.splice(start..start, more);
        }
        Damage::Replace(all) => bytes = all,
    }
    bytes
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn damaged_frames_are_found_out(damages in vec(any_damage(), 16)) {
        let folder = written(0..1, CacheSettings { compact: true, ..CacheSettings::default() });
        let cache = Cache::open(folder.path()).unwrap();
        let (guides, bodies) = (cache.read_guides(0).unwrap(), cache.read_bodies(0).unwrap());
        for part in ["guides", "bodies"] {
            let path = folder.path().join(part).join("000000.arrow");
            let whole = fs::read(&path).unwrap();
            for damage in &damages {
                fs::write(&path, damaged(&whole, damage.clone())).unwrap();
                // Parts of the footer are for other readers; damage there changes nothing for us.
                let unnoticed = match part {
                    "guides" => cache.read_guides(0).is_ok_and(|read| read != guides),
                    _ => cache.read_bodies(0).is_ok_and(|read| read != bodies),
                };
                prop_assert!(!unnoticed, "{} after {:?}", part, damage);
            }
        }
    }

    #[test]
    fn damaged_lists_never_panic(damages in vec(any_damage(), 16)) {
        let folder = written(0..3, CacheSettings::default());
        for file in ["manifest.json", "stats.jsonl"] {
            let path = folder.path().join(file);
            let whole = fs::read(&path).unwrap();
            for damage in &damages {
                fs::write(&path, damaged(&whole, damage.clone())).unwrap();
                let _ = Cache::open(folder.path()).and_then(|cache| cache.stats());
            }
            fs::write(&path, &whole).unwrap();
        }
    }

    #[test]
    fn damaged_checkpoints_are_refused(damages in vec(any_damage(), 16)) {
        let folder = tempfile::tempdir().unwrap();
        let mut archive = Archive::default();
        archive.put("position", &[1.0_f64, 2.0, 3.0]);
        archive.put("seed", &[7_u64; 40]);
        write_checkpoint(folder.path(), &archive, 42).unwrap();
        let path = folder.path().join("checkpoint/state");
        let whole = fs::read(&path).unwrap();
        for bytes in damages.into_iter().map(|damage| damaged(&whole, damage)).filter(|bytes| *bytes != whole) {
            fs::write(&path, bytes).unwrap();
            let error = read_checkpoint(folder.path()).unwrap_err();
            let expected = matches!(
                error,
                CacheError::Damaged { .. } | CacheError::Foreign { .. } | CacheError::Format { .. }
            );
            prop_assert!(expected, "{}", error);
        }
    }
}

#[test]
fn tables_of_many_batches_come_back() {
    let folder = tempfile::tempdir().unwrap();
    let table = particles(200_000, 0.5);
    let cache = write_one(folder.path(), table.clone(), CacheSettings::default());
    assert_eq!(cache.read_guides(0).unwrap(), table);
}

#[test]
fn a_constant_column_costs_next_to_nothing() {
    let length = |table: Table| {
        let folder = tempfile::tempdir().unwrap();
        write_one(folder.path(), table, CacheSettings::default());
        fs::metadata(folder.path().join("guides/000000.arrow")).unwrap().len()
    };
    let with = particles(200_000, 0.0);
    let mut without = with.clone();
    without.columns.retain(|c| c.0 != "radius");
    let (with, without) = (length(with), length(without));
    assert!(
        with - without < 200_000 * 4 / 500,
        "{with} bytes with it, {without} without"
    );
}

#[test]
fn the_state_stays_until_the_next_one_is_whole() {
    let folder = tempfile::tempdir().unwrap();
    let mut first = Archive::default();
    first.put("time", &[0.5_f64]);
    write_checkpoint(folder.path(), &first, 1).unwrap();
    // A temporary file of a killed run.
    fs::write(folder.path().join("checkpoint/.state.123.part"), "half").unwrap();
    assert_eq!(read_checkpoint(folder.path()).unwrap(), (1, first));
    write_checkpoint(folder.path(), &Archive::default(), 2).unwrap();
    assert_eq!(read_checkpoint(folder.path()).unwrap().0, 2);
}

#[test]
fn a_checkpoint_follows_its_frame() {
    let folder = tempfile::tempdir().unwrap();
    let mut writer = CacheWriter::create(folder.path(), run(0), CacheSettings::default()).unwrap();
    writer.push(frame(0)).unwrap();
    writer.checkpoint(0, Archive::default()).unwrap();
    while read_checkpoint(folder.path()).is_err() {
        std::thread::yield_now();
    }
    assert_eq!(Cache::open(folder.path()).unwrap().frames().len(), 1);
    writer.finish().unwrap();
}

#[test]
fn particles_without_positions_are_refused_by_their_file() {
    for column in [None, Some(Column::F32(vec![0.0; 5]))] {
        let mut table = particles(5, 0.0);
        table.columns.retain(|c| c.0 != "position");
        table
            .columns
            .extend(column.map(|column| ("position".to_owned(), column)));
        let folder = tempfile::tempdir().unwrap();
        let cache = write_one(folder.path(), table, CacheSettings::default());
        let error = cache.read_guides(0).unwrap_err().to_string();
        assert!(
            error.contains("guides/000000.arrow") && error.contains("`position`"),
            "{error}"
        );
    }
}
