//! Finished runs are not repeated, wherever they ran.

use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};

use barchan_validate::{Options, Results, validate};

/// A folder that is removed at the end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("barchan_validate_{name}_{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        std::fs::remove_dir_all(&self.0).ok();
    }
}

fn options(jobs: usize, build: &str) -> Options {
    Options {
        cases: vec!["momentum".to_owned()],
        only: Some("free fall".to_owned()),
        jobs,
        build: build.to_owned(),
        ..Options::default()
    }
}

/// Returns the results, the number of runs started, and the number of rows.
fn run(folder: &Folder, options: &Options) -> (Results, usize, usize) {
    let begun = AtomicUsize::new(0);
    let mut given = 0;
    let tell = |_: barchan_validate::Progress| {
        begun.fetch_add(1, Ordering::Relaxed);
    };
    let results = validate(options, &folder.0, &tell, &mut |_| given += 1).unwrap();
    (results, begun.into_inner(), given)
}

fn measured(results: &Results) -> Vec<(String, u64)> {
    let row = |row: &barchan_validate::Row| (row.variant.clone(), row.measured.to_bits());
    results.rows.iter().map(row).collect()
}

#[test]
fn a_run_goes_on_where_it_stopped_and_side_by_side_nothing_changes() {
    let (one, two) = (Folder::new("one"), Folder::new("two"));
    let (first, begun, given) = run(&one, &options(1, "a"));
    assert_eq!((begun, given, first.missing), (2, 2, 0));
    assert!(first.rows.iter().all(|row| row.pass == Some(true)), "{:?}", first.rows);

    let (side_by_side, _, _) = run(&two, &options(2, "a"));
    assert_eq!(measured(&side_by_side), measured(&first));

    let (again, begun, _) = run(&one, &options(1, "a"));
    assert_eq!(begun, 0, "all was known");
    assert_eq!(measured(&again), measured(&first));
    assert_eq!(again.seconds, first.seconds, "what the runs took is kept");

    let (_, begun, _) = run(&one, &options(2, "b"));
    assert_eq!(begun, 2, "another build may measure something else");
}

#[test]
fn joined_parts_are_judged_and_what_lacks_is_counted() {
    let folder = Folder::new("parts");
    let part = Options {
        only: Some("free fall, half".to_owned()),
        ..options(1, "a")
    };
    let join = Options {
        join: true,
        ..options(1, "b")
    };
    let (nothing, begun, _) = run(&folder, &join);
    assert_eq!((nothing.rows.len(), nothing.missing, begun), (0, 2, 0));

    let (_, begun, _) = run(&folder, &part);
    assert_eq!(begun, 2, "a twin needs what it is compared with");
    let (all, begun, _) = run(&folder, &join);
    assert_eq!((all.rows.len(), all.missing, begun), (2, 0, 0));

    let runs = std::fs::read_dir(folder.0.join("runs")).unwrap();
    let files: Vec<PathBuf> = runs.map(|entry| entry.unwrap().path()).collect();
    std::fs::write(&files[0], "{").unwrap();
    let (rest, _, _) = run(&folder, &join);
    assert_eq!(rest.missing, 1, "half a file is no result");
}
