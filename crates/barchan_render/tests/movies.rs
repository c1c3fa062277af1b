//! Movies of the built-in encoder, read back by a decoder.

use barchan_render::{Image, Movie, MovieEncoder, MovieError};
use openh264::decoder::Decoder;
use openh264::formats::YUVSource;
use std::path::Path;

fn plain(width: u32, height: u32, color: [u8; 3]) -> Image {
    Image {
        width,
        height,
        pixels: vec![color; (width * height) as usize],
    }
}

/// Returns the content of the box at the end of a path of names.
fn find<'a>(mut bytes: &'a [u8], path: &[&str]) -> &'a [u8] {
    for name in path {
        loop {
            let size = u32::from_be_bytes(bytes[..4].try_into().unwrap()) as usize;
            if &bytes[4..8] == name.as_bytes() {
                bytes = &bytes[8..size];
                break;
            }
            bytes = &bytes[size..];
        }
    }
    bytes
}

fn number(bytes: &[u8], at: usize) -> usize {
    u32::from_be_bytes(bytes[at..at + 4].try_into().unwrap()) as usize
}

/// Decodes the images of a movie: the mean brightness of each, and their size.
fn decode(movie: &[u8]) -> Vec<(f32, (usize, usize))> {
    let table = ["moov", "trak", "mdia", "minf", "stbl"];
    let table = find(movie, &table);
    let avcc = &find(table, &["stsd"])[8..];
    let place = avcc.windows(4).position(|w| w == b"avcC").unwrap() + 4;
    let config = &avcc[place..];
    let sps = usize::from(config[6]) << 8 | usize::from(config[7]);
    let pps_at = 8 + sps + 1;
    let pps = usize::from(config[pps_at]) << 8 | usize::from(config[pps_at + 1]);
    let start = [0, 0, 0, 1];
    let head = [
        &start[..],
        &config[8..8 + sps],
        &start,
        &config[pps_at + 2..pps_at + 2 + pps],
    ]
    .concat();

    let mut decoder = Decoder::new().unwrap();
    let _ = decoder.decode(&head);
    let sizes = find(table, &["stsz"]);
    let mut at = number(find(table, &["stco"]), 8);
    let mut images = Vec::new();
    for k in 0..number(sizes, 8) {
        let end = at + number(sizes, 12 + 4 * k);
        let mut stream = Vec::new();
        while at < end {
            let length = number(movie, at);
            stream.extend(start);
            stream.extend(&movie[at + 4..at + 4 + length]);
            at += 4 + length;
        }
        let image = decoder.decode(&stream).unwrap().expect("an image a sample");
        let (width, height) = image.dimensions();
        let rows = image.y().chunks(image.strides().0).take(height);
        let sum: f32 = rows.flat_map(|row| &row[..width]).map(|&y| f32::from(y)).sum();
        images.push((sum / (width * height) as f32, (width, height)));
    }
    images
}

#[test]
fn a_decoder_finds_every_image_of_an_odd_size_in_its_order() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("grey.mp4");
    let mut movie = Movie::create(&path, [65, 49], 30.0, MovieEncoder::BuiltIn).unwrap();
    let greys = [0u8, 255, 128, 128, 40, 200, 90];
    for grey in greys {
        movie.push(&plain(65, 49, [grey; 3])).unwrap();
    }
    assert!(!path.exists());
    movie.finish().unwrap();
    let images = decode(&std::fs::read(&path).unwrap());
    assert_eq!(images.len(), greys.len());
    for ((brightness, size), grey) in images.into_iter().zip(greys) {
        let expected = 16.0 + f32::from(grey) * 219.0 / 255.0;
        assert!((brightness - expected).abs() < 4.0, "{brightness}, not {expected}");
        assert_eq!(size, (66, 50));
    }
}

#[test]
fn a_movie_that_is_not_finished_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let mut movie = Movie::create(&folder.path().join("a.mp4"), [32, 32], 30.0, MovieEncoder::BuiltIn).unwrap();
    movie.push(&plain(32, 32, [9; 3])).unwrap();
    drop(movie);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn wrong_movies_are_errors() {
    let create = |path: &Path, rate| Movie::create(path, [32, 32], rate, MovieEncoder::BuiltIn);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.mp4");
    for rate in [0.0, -1.0, f64::NAN, 1e9] {
        assert!(matches!(create(&path, rate), Err(MovieError::FrameRate { .. })));
    }
    let nowhere = folder.path().join("no/such/folder.mp4");
    assert!(matches!(create(&nowhere, 30.0), Err(MovieError::File { .. })));
    let mut movie = create(&path, 30.0).unwrap();
    let size = movie.push(&plain(32, 31, [0; 3]));
    assert!(matches!(
        size,
        Err(MovieError::Size {
            expected: [32, 32],
            found: [32, 31]
        })
    ));
}
