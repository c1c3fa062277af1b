//! Animated PNG files, which browsers and code hosts play in place.

use std::io::{self, Write};

use super::MovieError;
use crate::Image;

/// Bytes that every PNG file starts with.
const SIGNATURE: [u8; 8] = *b"\x89PNG\r\n\x1a\n";

/// An animated PNG being made, which repeats forever. Compressed images stay in memory until it is written: their
/// number comes first in the file.
pub struct Animation {
    size: [u32; 2],
    /// Time that an image is shown [ms].
    delay: u16,
    /// Chunks between the signature and the first image, checksums included.
    head: Vec<u8>,
    /// Compressed pixels of each image.
    images: Vec<Vec<u8>>,
}

impl Animation {
    /// Starts an animation of `size` [px] with `frame_rate` images per second [1/s].
    pub fn new(size: [u32; 2], frame_rate: f64) -> Result<Self, MovieError> {
        if !(frame_rate > 0.0 && frame_rate <= 1000.0) {
            return Err(MovieError::FrameRate { frame_rate });
        }
        Ok(Self {
            size,
            delay: (1e3 / frame_rate).round().min(f64::from(u16::MAX)) as u16,
            head: Vec::new(),
            images: Vec::new(),
        })
    }

    /// Appends an image.
    pub fn push(&mut self, image: &Image) -> Result<(), MovieError> {
        let found = [image.width, image.height];
        if found != self.size {
            return Err(MovieError::Size {
                expected: self.size,
                found,
            });
        }
        let mut file = Vec::new();
        image
            .write_png(&mut file)
            .map_err(|reason| MovieError::Picture(Box::new(reason)))?;
        let mut pixels = Vec::new();
        let mut head = Vec::new();
        for (chunk, kind, data) in chunks(&file) {
            match kind {
                b"IDAT" => pixels.extend_from_slice(data),
                b"IEND" => (),
                _ => head.extend_from_slice(chunk),
            }
        }
        self.head = head;
        self.images.push(pixels);
        Ok(())
    }

    /// Writes the file.
    pub fn write(&self, to: &mut dyn Write) -> io::Result<()> {
        to.write_all(&SIGNATURE)?;
        to.write_all(&self.head)?;
        // 0 plays: forever.
        write_chunk(to, b"acTL", &[&count(self.images.len())?, &[0; 4]])?;
        let mut sequence = 0;
        let mut next = || {
            sequence += 1;
            count(sequence - 1)
        };
        for (k, pixels) in self.images.iter().enumerate() {
            let [width, height] = self.size.map(u32::to_be_bytes);
            let delay = [self.delay, 1000].map(u16::to_be_bytes);
            // Offset 0, 0; neither disposal nor blending.
            write_chunk(
                to,
                b"fcTL",
                &[&next()?, &width, &height, &[0; 8], delay.as_flattened(), &[0, 0]],
            )?;
            match k {
                0 => write_chunk(to, b"IDAT", &[pixels])?,
                _ => write_chunk(to, b"fdAT", &[&next()?, pixels])?,
            }
        }
        write_chunk(to, b"IEND", &[])
    }
}

/// Encodes a length or number as PNG does.
fn count(n: usize) -> io::Result<[u8; 4]> {
    let n = u32::try_from(n).map_err(io::Error::other)?;
    Ok(n.to_be_bytes())
}

/// Returns every chunk of a PNG file: all of it, its kind, its data.
fn chunks(file: &[u8]) -> impl Iterator<Item = (&[u8], &[u8; 4], &[u8])> {
    let mut rest = &file[SIGNATURE.len()..];
    std::iter::from_fn(move || {
        let (length, after) = rest.split_first_chunk::<4>()?;
        let length = u32::from_be_bytes(*length) as usize;
        let (kind, after) = after.split_first_chunk::<4>()?;
        let (chunk, others) = rest.split_at(12 + length);
        rest = others;
        Some((chunk, kind, &after[..length]))
    })
}

fn write_chunk(to: &mut dyn Write, kind: &[u8; 4], parts: &[&[u8]]) -> io::Result<()> {
    to.write_all(&count(parts.iter().map(|part| part.len()).sum())?)?;
    let mut sum = crc32fast::Hasher::new();
    for part in [kind.as_slice()].iter().chain(parts) {
        sum.update(part);
        to.write_all(part)?;
    }
    to.write_all(&sum.finalize().to_be_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn image(k: u8) -> Image {
        Image {
            width: 5,
            height: 3,
            pixels: (0..15).map(|i| [i * k, 255 - i, k]).collect(),
        }
    }

    #[test]
    fn an_animation_holds_every_image_for_its_time() {
        let mut animation = Animation::new([5, 3], 8.0).unwrap();
        for k in 1..4 {
            animation.push(&image(k)).unwrap();
        }
        let mut file = Vec::new();
        animation.write(&mut file).unwrap();
        let mut reader = png::Decoder::new(io::Cursor::new(file)).read_info().unwrap();
        let control = reader.info().animation_control.unwrap();
        assert_eq!((control.num_frames, control.num_plays), (3, 0));
        for k in 1..4 {
            let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
            reader.next_frame(&mut pixels).unwrap();
            assert_eq!(pixels, image(k).pixels.as_flattened());
            let shown = reader.info().frame_control.unwrap();
            assert_eq!((shown.delay_num, shown.delay_den), (125, 1000));
        }
    }

    #[test]
    fn an_image_of_another_size_is_refused() {
        let mut animation = Animation::new([5, 4], 8.0).unwrap();
        assert!(matches!(animation.push(&image(1)), Err(MovieError::Size { .. })));
        assert!(Animation::new([5, 4], 0.0).is_err());
    }
}
