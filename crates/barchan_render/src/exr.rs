//! OpenEXR files: one part, scan lines, ZIP compression. Ours because the crate `exr` brings a vector library and every
//! compression, which cost more to build than the rest of this crate's files.
//!
//! Layout: <https://openexr.com/en/latest/OpenEXRFileLayout.html>.

use flate2::Compression;
use flate2::write::ZlibEncoder;
use rayon::prelude::*;
use std::io::{self, Write};

const MAGIC: u32 = 20_000_630;
/// Version 2 of the format, without flags: one part of scan lines.
const VERSION: u32 = 2;
/// Scan lines per chunk with ZIP compression.
const LINES: usize = 16;
/// Number of that compression.
const ZIP: u8 = 3;

/// A channel of 32-bit numbers, row by row from the top left.
pub(crate) struct Channel {
    pub name: &'static str,
    pub values: Values,
}

/// Values of a channel.
pub(crate) enum Values {
    Integers(Vec<u32>),
    Floats(Vec<f32>),
}

impl Values {
    /// Returns the number of the pixel type.
    fn kind(&self) -> u32 {
        match self {
            Self::Integers(_) => 0,
            Self::Floats(_) => 2,
        }
    }

    /// Appends the bytes of some values.
    fn put(&self, range: std::ops::Range<usize>, bytes: &mut Vec<u8>) {
        match self {
            Self::Integers(values) => bytes.extend(values[range].iter().flat_map(|v| v.to_le_bytes())),
            Self::Floats(values) => bytes.extend(values[range].iter().flat_map(|v| v.to_le_bytes())),
        }
    }
}

/// Writes channels of `width` x `height` values.
pub(crate) fn write(mut to: impl Write, [width, height]: [u32; 2], mut channels: Vec<Channel>) -> io::Result<()> {
    channels.sort_by_key(|channel| channel.name);
    let header = header([width, height], &channels);
    let (width, height) = (width as usize, height as usize);
    let chunk = |k: usize| {
        let rows = k * LINES..height.min((k + 1) * LINES);
        let mut bytes = Vec::new();
        for row in rows {
            let range = row * width..(row + 1) * width;
            channels
                .iter()
                .for_each(|channel| channel.values.put(range.clone(), &mut bytes));
        }
        compress(bytes)
    };
    let chunks: Vec<Vec<u8>> = (0..height.div_ceil(LINES)).into_par_iter().map(chunk).collect();

    to.write_all(&header)?;
    // Each chunk follows its first row and its length.
    let mut offset = header.len() + 8 * chunks.len();
    for chunk in &chunks {
        to.write_all(&(offset as u64).to_le_bytes())?;
        offset += 8 + chunk.len();
    }
    for (k, chunk) in chunks.iter().enumerate() {
        to.write_all(&((k * LINES) as u32).to_le_bytes())?;
        to.write_all(&(chunk.len() as u32).to_le_bytes())?;
        to.write_all(chunk)?;
    }
    Ok(())
}

fn header([width, height]: [u32; 2], channels: &[Channel]) -> Vec<u8> {
    let mut bytes = [MAGIC, VERSION].map(u32::to_le_bytes).concat();
    let mut put = |name: &str, kind: &str, value: &[u8]| {
        for text in [name, kind] {
            bytes.extend(text.as_bytes());
            bytes.push(0);
        }
        bytes.extend((value.len() as u32).to_le_bytes());
        bytes.extend(value);
    };
    let mut list = Vec::new();
    for channel in channels {
        list.extend(channel.name.as_bytes());
        list.push(0);
        // Pixel type, flags, and a sample in every column and row.
        list.extend([channel.values.kind(), 0, 1, 1].map(u32::to_le_bytes).concat());
    }
    list.push(0);
    let window = [0, 0, width - 1, height - 1].map(u32::to_le_bytes).concat();
    put("channels", "chlist", &list);
    put("compression", "compression", &[ZIP]);
    put("dataWindow", "box2i", &window);
    put("displayWindow", "box2i", &window);
    put("lineOrder", "lineOrder", &[0]);
    put("pixelAspectRatio", "float", &1f32.to_le_bytes());
    put("screenWindowCenter", "v2f", &[0; 8]);
    put("screenWindowWidth", "float", &1f32.to_le_bytes());
    bytes.push(0);
    bytes
}

/// Compresses a chunk: even bytes before odd ones, differences of neighbors, deflated. A chunk that does not get smaller
/// stays as it is.
fn compress(bytes: Vec<u8>) -> Vec<u8> {
    let even = bytes.iter().step_by(2);
    let mut last = 128u8;
    let differences = even
        .chain(bytes.iter().skip(1).step_by(2))
        .enumerate()
        .map(|(k, &byte)| {
            let difference = if k == 0 {
                byte
            } else {
                byte.wrapping_sub(last).wrapping_add(128)
            };
            last = byte;
            difference
        });
    let differences: Vec<u8> = differences.collect();
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::fast());
    let deflated = encoder.write_all(&differences).and_then(|()| encoder.finish());
    match deflated {
        Ok(deflated) if deflated.len() < bytes.len() => deflated,
        _ => bytes,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::read::ZlibDecoder;
    use std::io::Read;

    /// Reads a number at the front.
    fn number(bytes: &mut &[u8]) -> u32 {
        let (front, rest) = bytes.split_at(4);
        *bytes = rest;
        u32::from_le_bytes(front.try_into().unwrap())
    }

    /// Reads text up to a zero at the front.
    fn text(bytes: &mut &[u8]) -> String {
        let end = bytes.iter().position(|&b| b == 0).unwrap();
        let (front, rest) = bytes.split_at(end);
        *bytes = &rest[1..];
        String::from_utf8(front.to_vec()).unwrap()
    }

    /// Undoes [`compress`] by the words of the format's description.
    fn expand(chunk: &[u8], length: usize) -> Vec<u8> {
        if chunk.len() == length {
            return chunk.to_vec();
        }
        let mut bytes = Vec::new();
        ZlibDecoder::new(chunk).read_to_end(&mut bytes).unwrap();
        for k in 1..bytes.len() {
            bytes[k] = (i32::from(bytes[k - 1]) + i32::from(bytes[k]) - 128) as u8;
        }
        let half = bytes.len().div_ceil(2);
        (0..bytes.len())
            .map(|k| bytes[k / 2 + if k % 2 == 1 { half } else { 0 }])
            .collect()
    }

    #[test]
    fn a_file_reads_back() {
        let (width, height) = (37usize, 41usize);
        let count = width * height;
        let smooth: Vec<f32> = (0..count).map(|k| k as f32 * 0.01).collect();
        let noise: Vec<u32> = (0..count).map(|k| crate::hash::bits(k as u32)).collect();
        let mut file = Vec::new();
        let channels = vec![
            Channel {
                name: "Z",
                values: Values::Floats(smooth.clone()),
            },
            Channel {
                name: "A",
                values: Values::Integers(noise.clone()),
            },
        ];
        write(&mut file, [width as u32, height as u32], channels).unwrap();

        let mut rest = &file[..];
        assert_eq!([number(&mut rest), number(&mut rest)], [MAGIC, VERSION]);
        let mut names = Vec::new();
        loop {
            let name = text(&mut rest);
            if name.is_empty() {
                break;
            }
            text(&mut rest);
            let length = number(&mut rest) as usize;
            let (mut value, after) = rest.split_at(length);
            if name == "channels" {
                assert_eq!((text(&mut value).as_str(), number(&mut value)), ("A", 0));
                value = &value[12..];
                assert_eq!((text(&mut value).as_str(), number(&mut value)), ("Z", 2));
                assert_eq!(value.len(), 12 + 1);
            }
            names.push(name);
            rest = after;
        }
        assert_eq!(names.len(), 8);
        for k in 0..height.div_ceil(LINES) {
            let offset = number(&mut rest) as usize;
            assert_eq!(number(&mut rest), 0);
            let mut chunk = &file[offset..];
            assert_eq!(number(&mut chunk) as usize, k * LINES);
            let length = number(&mut chunk) as usize;
            let rows = LINES.min(height - k * LINES);
            let bytes = expand(&chunk[..length], rows * width * 8);
            for (row, line) in bytes.chunks(8 * width).enumerate() {
                let first = (k * LINES + row) * width;
                let (integers, floats) = line.split_at(4 * width);
                for x in 0..width {
                    let part = |bytes: &[u8]| <[u8; 4]>::try_from(&bytes[4 * x..4 * x + 4]).unwrap();
                    assert_eq!(u32::from_le_bytes(part(integers)), noise[first + x]);
                    assert_eq!(f32::from_le_bytes(part(floats)), smooth[first + x]);
                }
            }
        }
    }
}
