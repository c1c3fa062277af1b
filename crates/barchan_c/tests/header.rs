//! The committed header is that of the source. With `BARCHAN_WRITE_DOCS=1` in the environment it is written instead.

use std::fs;
use std::path::Path;

use cbindgen::{Builder, Config};

#[test]
fn the_header_fits_the_source() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let config = Config::from_file(root.join("cbindgen.toml")).unwrap();
    let sources = ["src/handle.rs", "src/lib.rs"].map(|file| root.join(file));
    let builder = sources.iter().fold(Builder::new(), Builder::with_src);
    let mut made = Vec::new();
    builder.with_config(config).generate().unwrap().write(&mut made);
    let made = String::from_utf8(made).unwrap();
    let path = root.join("include/barchan.h");
    if std::env::var_os("BARCHAN_WRITE_DOCS").is_some() {
        fs::write(path, made).unwrap();
    } else {
        let found = fs::read_to_string(path).unwrap();
        assert!(
            found == made,
            "include/barchan.h is out of date: BARCHAN_WRITE_DOCS=1 cargo test -p barchan_c --test header"
        );
    }
}
