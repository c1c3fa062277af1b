//! Checks that an MP4 file can be played: encoders may exit without a message when a disk is full.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

/// Checks that the movie at `path` is complete: its boxes fill the file, its index lists `images` samples, and the
/// media data holds all of them.
pub(crate) fn check(path: &Path, images: u64) -> io::Result<()> {
    let mut file = File::open(path)?;
    let end = file.metadata()?.len();
    let (mut index, mut media, mut at) = (None, 0, 0);
    while at < end {
        file.seek(SeekFrom::Start(at))?;
        let mut head = Vec::new();
        (&mut file).take(16).read_to_end(&mut head)?;
        let (kind, content, size) = header(&head, end - at).ok_or_else(|| broken("it is cut off"))?;
        match &kind {
            b"mdat" => media += size - content,
            b"moov" => {
                let mut bytes = Vec::new();
                file.seek(SeekFrom::Start(at + content))?;
                (&mut file).take(size - content).read_to_end(&mut bytes)?;
                index = Some(bytes);
            }
            _ => {}
        }
        at += size;
    }
    let index = index.ok_or_else(|| broken("it has no index"))?;
    let (count, bytes) = samples(&index).ok_or_else(|| broken("its index lists no images"))?;
    if count != images {
        return Err(broken(&format!("it holds {count} images, not {images}")));
    }
    if bytes > media {
        return Err(broken(&format!("{} bytes of its images are missing", bytes - media)));
    }
    Ok(())
}

fn broken(what: &str) -> io::Error {
    io::Error::other(what)
}

/// Returns type, start of the content and length [bytes] of the box that begins with `head`, if it ends within `left`
/// bytes.
fn header(head: &[u8], left: u64) -> Option<([u8; 4], u64, u64)> {
    let kind = head.get(4..8)?.try_into().ok()?;
    let (content, size) = match number(head, 0)? {
        0 => (8, left),
        1 => (16, u64::from_be_bytes(head.get(8..16)?.try_into().ok()?)),
        size => (8, u64::from(size)),
    };
    (content <= size && size <= left).then_some((kind, content, size))
}

/// Returns the number of samples that an index lists, and their total length [bytes].
fn samples(index: &[u8]) -> Option<(u64, u64)> {
    let path = [b"trak", b"mdia", b"minf", b"stbl", b"stsz"];
    let table = path.iter().try_fold(index, |bytes, name| find(bytes, name))?;
    let (size, count) = (u64::from(number(table, 4)?), number(table, 8)?);
    let listed = |k: u32| number(table, 12 + 4 * k as usize).map(u64::from);
    let bytes = match size {
        0 => (0..count).try_fold(0, |sum, k| Some(sum + listed(k)?))?,
        size => size * u64::from(count),
    };
    Some((u64::from(count), bytes))
}

/// Returns the content of the first box called `name`.
fn find<'a>(mut bytes: &'a [u8], name: &[u8; 4]) -> Option<&'a [u8]> {
    loop {
        let (kind, content, size) = header(bytes, bytes.len() as u64)?;
        if kind == *name {
            return bytes.get(content as usize..size as usize);
        }
        bytes = bytes.get(size as usize..)?;
    }
}

fn number(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_be_bytes(bytes.get(at..at.checked_add(4)?)?.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn boxed(name: &str, content: &[u8]) -> Vec<u8> {
        [&(content.len() as u32 + 8).to_be_bytes(), name.as_bytes(), content].concat()
    }

    /// A movie whose index lists samples of these lengths [bytes], with `media` bytes of media data.
    fn movie(sizes: &[u32], media: usize) -> Vec<u8> {
        let mut table = [0, 0, sizes.len() as u32].map(u32::to_be_bytes).concat();
        table.extend(sizes.iter().flat_map(|size| size.to_be_bytes()));
        let nested = ["stbl", "minf", "mdia", "trak", "moov"];
        let index = nested
            .iter()
            .fold(boxed("stsz", &table), |inner, name| boxed(name, &inner));
        [boxed("ftyp", b"isom"), index, boxed("mdat", &vec![0; media])].concat()
    }

    #[test]
    fn a_movie_that_lacks_anything_is_rejected() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.mp4");
        let tried = |bytes: &[u8], images| {
            fs::write(&path, bytes).unwrap();
            check(&path, images).map_err(|error| error.to_string())
        };
        let whole = movie(&[5, 7, 9], 21);
        assert_eq!(tried(&whole, 3), Ok(()));
        for length in 0..whole.len() {
            assert!(tried(&whole[..length], 3).is_err(), "the first {length} bytes");
        }
        assert_eq!(tried(&whole, 4), Err("it holds 3 images, not 4".to_owned()));
        let short = tried(&movie(&[5, 7, 9], 20), 3);
        assert_eq!(short, Err("1 bytes of its images are missing".to_owned()));
        assert_eq!(tried(&boxed("mdat", &[0; 9]), 0), Err("it has no index".to_owned()));
        let endless = [&[0, 0, 0, 1], &b"mdat"[..], &[0xff; 8]].concat();
        assert_eq!(tried(&endless, 1), Err("it is cut off".to_owned()));
    }
}
