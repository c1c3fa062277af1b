//! VTK XML poly data (.vtp): points and their data, as ParaView and other programs write them.
//!
//! Arrays may be text, base64 or appended (raw or base64), plain or compressed by zlib, little-endian. Only the
//! required arrays are decoded, and no declared length is trusted before its bytes are present.

use std::borrow::Cow;
use std::io::Read;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::read::ZlibDecoder;

use crate::read_points::{Columns, Layout};

/// Largest number of particles in a file.
const MAX_POINTS: usize = 1 << 27;
/// Largest compression ratio of zlib.
const MAX_RATIO: usize = 1032;

pub(crate) fn parse(bytes: &[u8]) -> Result<Columns, String> {
    let file = Vtp::new(bytes)?;
    let mut all: Option<Columns> = None;
    for piece in elements(file.text, "Piece") {
        let columns = file.piece(&piece)?;
        match &mut all {
            None => all = Some(columns),
            Some(all) if all.names == columns.names => {
                for (values, more) in all.values.iter_mut().zip(columns.values) {
                    values.extend(more);
                }
            }
            Some(_) => return Err("its pieces have different arrays".to_owned()),
        }
    }
    all.ok_or_else(|| "there is no element `Piece`".to_owned())
}

struct Vtp<'a> {
    /// Everything before the appended data.
    text: &'a str,
    appended: &'a [u8],
    is_raw: bool,
    is_compressed: bool,
    /// Bytes per number in the headers of blocks.
    word: usize,
}

/// An element: its attributes, and the text between its tags.
#[derive(Clone, Copy)]
struct Element<'a> {
    head: &'a str,
    body: &'a str,
}

/// An array of numbers.
struct Array<'a> {
    name: String,
    kind: &'a str,
    components: usize,
    element: Element<'a>,
}

impl<'a> Vtp<'a> {
    fn new(bytes: &'a [u8]) -> Result<Self, String> {
        let mark = b"<AppendedData";
        let start = bytes.windows(mark.len()).position(|w| w == mark).unwrap_or(bytes.len());
        let (text, rest) = bytes.split_at(start);
        let text = std::str::from_utf8(text).map_err(|_| "it is no VTK XML file: it is no text")?;
        let (root, _) = tag(text, "VTKFile").ok_or("it is no VTK XML file")?;
        if attribute(root, "type") != Some("PolyData") {
            return Err("only files of type PolyData hold particles".to_owned());
        }
        let is_compressed = match attribute(root, "compressor") {
            None | Some("") => false,
            Some("vtkZLibDataCompressor") => true,
            Some(other) => {
                return Err(format!(
                    "it is compressed by {other}; write it with ZLib or without a compressor"
                ));
            }
        };
        if attribute(root, "byte_order") == Some("BigEndian") {
            return Err("it is big-endian; write it little-endian".to_owned());
        }
        let begin = rest.iter().position(|b| *b == b'_').unwrap_or(rest.len());
        let head = String::from_utf8_lossy(&rest[..begin]);
        let encoding = tag(&head, "AppendedData").and_then(|(head, _)| attribute(head, "encoding"));
        Ok(Self {
            text,
            appended: rest.get(begin + 1..).unwrap_or_default(),
            is_raw: encoding != Some("base64"),
            is_compressed,
            word: if attribute(root, "header_type") == Some("UInt64") {
                8
            } else {
                4
            },
        })
    }

    /// Reads the required columns of a piece.
    fn piece(&self, piece: &Element<'a>) -> Result<Columns, String> {
        let count = attribute(piece.head, "NumberOfPoints").and_then(|n| n.trim().parse::<usize>().ok());
        let count = count.ok_or("a piece does not say its NumberOfPoints")?;
        if count > MAX_POINTS {
            return Err(format!("it declares {count} particles; {MAX_POINTS} can be read"));
        }
        let section = |name| elements(piece.body, name).next();
        let points = section("Points").ok_or("there is no element `Points`")?;
        let mut arrays: Vec<Array> = arrays(points).take(1).collect();
        let positions = arrays.first_mut().ok_or("there is no array of points")?;
        positions.name = "Points".to_owned();
        if positions.components != 3 {
            return Err(format!("points have {} coordinates, not 3", positions.components));
        }
        arrays.extend(section("PointData").into_iter().flat_map(self::arrays));
        let mut names: Vec<String> = Vec::new();
        for (k, array) in arrays.iter().enumerate() {
            let axes = ["x", "y", "z", "w"].iter();
            match (k, array.components) {
                (0, _) => names.extend(axes.take(3).map(|&axis| axis.to_owned())),
                (_, 1) => names.push(array.name.clone()),
                (_, n) => names.extend(axes.take(n).map(|axis| format!("{}_{axis}", array.name))),
            }
        }
        let layout = Layout::of(&names)?;
        let mut columns = Columns::default();
        let mut next = 0;
        for array in &arrays {
            let own = array.components.min(4);
            let read: Vec<usize> = (0..own).filter(|k| layout.has(next + k)).collect();
            if !read.is_empty() {
                let numbers = self
                    .numbers(array, count)
                    .map_err(|why| format!("array `{}`: {why}", array.name))?;
                for k in read {
                    columns.names.push(names[next + k].clone());
                    let values = numbers.iter().skip(k).step_by(array.components);
                    columns.values.push(values.copied().collect());
                }
            }
            next += own;
        }
        Ok(columns)
    }

    /// Decodes the numbers of an array for `count` particles.
    fn numbers(&self, array: &Array, count: usize) -> Result<Vec<f64>, String> {
        let Element { head, body } = array.element;
        // Further elements may follow the values of the array.
        let body = body.split('<').next().unwrap_or_default();
        let wanted = count.checked_mul(array.components).ok_or_else(cut_off)?;
        if wanted == 0 {
            return Ok(Vec::new());
        }
        let size = size_of_kind(array.kind).ok_or_else(|| format!("arrays of type {} are not read", array.kind))?;
        let bytes = wanted.checked_mul(size).ok_or_else(cut_off)?;
        let data = match attribute(head, "format") {
            Some("appended") => {
                let offset = attribute(head, "offset").and_then(|n| n.trim().parse::<usize>().ok());
                let from = offset.and_then(|offset| self.appended.get(offset..));
                let from = from.ok_or("it lies beyond the end of the file")?;
                match self.is_raw {
                    true => self.block(Stream::Raw(from), bytes)?,
                    false => self.block(Stream::Base64(from), bytes)?,
                }
            }
            Some("binary") => self.block(Stream::Base64(body.as_bytes()), bytes)?,
            _ => {
                let number = |word: &str| word.parse().map_err(|_| format!("`{word}` is no number"));
                let numbers = body.split_whitespace().map(number).collect::<Result<Vec<f64>, _>>()?;
                return match numbers.len() == wanted {
                    true => Ok(numbers),
                    false => Err(format!("it holds {} numbers where {wanted} are needed", numbers.len())),
                };
            }
        };
        Ok(decode(&data, array.kind))
    }

    /// Decodes the `bytes` of a block.
    fn block<'s>(&self, mut stream: Stream<'s>, bytes: usize) -> Result<Cow<'s, [u8]>, String> {
        let word = self.word;
        let declared = |found: usize| match found == bytes {
            true => Ok(()),
            false => Err(format!("it holds {found} bytes where {bytes} are needed")),
        };
        if !self.is_compressed {
            // The length, then the data. In base64 both are encoded together, or each with its own padding.
            let start = stream.clone();
            let (length, is_padded) = stream.take(word)?;
            declared(number(&length))?;
            if is_padded {
                return Ok(stream.take(bytes)?.0);
            }
            stream = start;
            let whole = stream.take(word.checked_add(bytes).ok_or_else(cut_off)?)?.0;
            return Ok(match whole {
                Cow::Borrowed(whole) => Cow::Borrowed(&whole[word..]),
                Cow::Owned(mut whole) => Cow::Owned(whole.split_off(word)),
            });
        }
        // Number of blocks, length of a block, length of the last one if it is shorter, compressed lengths; then all
        // blocks.
        let blocks = number(&stream.clone().take(word)?.0);
        let words = blocks
            .checked_add(3)
            .and_then(|words| words.checked_mul(word))
            .ok_or_else(cut_off)?;
        let header = stream.take(words)?.0;
        let header: Vec<usize> = header.chunks(word).map(number).collect();
        let (full, last) = (header[1], header[2]);
        let size = |k: usize| if k + 1 == blocks && last > 0 { last } else { full };
        let total = (0..blocks).try_fold(0usize, |sum, k| sum.checked_add(size(k)));
        declared(total.ok_or_else(cut_off)?)?;
        let packed = header[3..].iter().try_fold(0usize, |sum, n| sum.checked_add(*n));
        let packed = stream.take(packed.ok_or_else(cut_off)?)?.0;
        if bytes / MAX_RATIO > packed.len() {
            return Err(format!("{} bytes cannot hold {bytes}", packed.len()));
        }
        let mut data = Vec::with_capacity(bytes);
        let mut rest = &packed[..];
        for (k, &length) in header[3..].iter().enumerate() {
            let (block, after) = rest.split_at(length);
            let before = data.len();
            let limit = size(k) as u64 + 1;
            let read = ZlibDecoder::new(block).take(limit).read_to_end(&mut data);
            if read.is_err() || data.len() - before != size(k) {
                return Err(format!("compressed block {} is damaged", k + 1));
            }
            rest = after;
        }
        Ok(Cow::Owned(data))
    }
}

fn cut_off() -> String {
    "it ends too early".to_owned()
}

/// Decodes a little-endian number; saturates at the largest `usize`.
fn number(bytes: &[u8]) -> usize {
    let number = bytes.iter().rev().fold(0u64, |sum, b| sum << 8 | u64::from(*b));
    usize::try_from(number).unwrap_or(usize::MAX)
}

/// Bytes read from front to back.
#[derive(Clone)]
enum Stream<'a> {
    Raw(&'a [u8]),
    /// Base64 characters, possibly separated by white space.
    Base64(&'a [u8]),
}

impl<'a> Stream<'a> {
    /// Takes the next `count` bytes, which in base64 are encoded together; returns true if padding follows them.
    fn take(&mut self, count: usize) -> Result<(Cow<'a, [u8]>, bool), String> {
        match self {
            Self::Raw(rest) => {
                let taken = rest.get(..count).ok_or_else(cut_off)?;
                *rest = &rest[count..];
                Ok((Cow::Borrowed(taken), true))
            }
            Self::Base64(rest) => {
                let wanted = count.div_ceil(3).checked_mul(4).filter(|n| *n <= rest.len());
                let wanted = wanted.ok_or_else(cut_off)?;
                let mut letters = Vec::with_capacity(wanted);
                let mut used = 0;
                while letters.len() < wanted {
                    let letter = *rest.get(used).ok_or_else(cut_off)?;
                    if !letter.is_ascii_whitespace() {
                        letters.push(letter);
                    }
                    used += 1;
                }
                *rest = &rest[used..];
                let is_padded = letters.ends_with(b"=");
                let mut bytes = STANDARD
                    .decode(&letters)
                    .map_err(|_| "its base64 is damaged".to_owned())?;
                if bytes.len() < count {
                    return Err(cut_off());
                }
                bytes.truncate(count);
                Ok((Cow::Owned(bytes), is_padded))
            }
        }
    }
}

/// Decodes numbers of type `kind`.
macro_rules! kinds {
    ($($name:literal => $type:ty),*) => {
        fn size_of_kind(kind: &str) -> Option<usize> {
            match kind {
                $($name => Some(size_of::<$type>()),)*
                _ => None,
            }
        }

        #[allow(clippy::cast_lossless, reason = "one expression for all types; 64-bit ones have no lossless cast")]
        fn decode(bytes: &[u8], kind: &str) -> Vec<f64> {
            fn widen<const N: usize>(bytes: &[u8], of: impl Fn([u8; N]) -> f64) -> Vec<f64> {
                bytes.as_chunks().0.iter().map(|b| of(*b)).collect()
            }
            match kind {
                $($name => widen(bytes, |b| <$type>::from_le_bytes(b) as f64),)*
                _ => Vec::new(),
            }
        }
    };
}

kinds!("Float32" => f32, "Float64" => f64, "Int8" => i8, "UInt8" => u8, "Int16" => i16, "UInt16" => u16,
    "Int32" => i32, "UInt32" => u32, "Int64" => i64, "UInt64" => u64);

/// Returns the elements `name` of a text, in order; they are not nested.
fn elements<'a>(text: &'a str, name: &'static str) -> impl Iterator<Item = Element<'a>> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let (head, after) = tag(rest, name)?;
        if let Some(head) = head.strip_suffix('/') {
            rest = after;
            return Some(Element { head, body: "" });
        }
        let end = after.find(&format!("</{name}")).unwrap_or(after.len());
        rest = &after[end..];
        let body = &after[..end];
        Some(Element { head, body })
    })
}

/// Returns the attributes of the first tag `<name ...>`, and the text after the tag.
fn tag<'a>(text: &'a str, name: &str) -> Option<(&'a str, &'a str)> {
    let open = format!("<{name}");
    let mut rest = text;
    loop {
        rest = &rest[rest.find(&open)? + open.len()..];
        if rest.starts_with(|c: char| c.is_whitespace() || c == '>' || c == '/') {
            return rest.split_once('>');
        }
    }
}

fn attribute<'a>(head: &'a str, name: &str) -> Option<&'a str> {
    let mut rest = head;
    loop {
        let (key, after) = rest.split_once('=')?;
        let after = after.trim_start();
        let quote = after.chars().next().filter(|c| *c == '"' || *c == '\'')?;
        let (value, more) = after[1..].split_once(quote)?;
        if key.trim() == name {
            return Some(value);
        }
        rest = more;
    }
}

fn arrays(section: Element<'_>) -> impl Iterator<Item = Array<'_>> {
    elements(section.body, "DataArray").map(|element| {
        let components = attribute(element.head, "NumberOfComponents").and_then(|n| n.trim().parse().ok());
        Array {
            name: attribute(element.head, "Name").unwrap_or_default().to_owned(),
            kind: attribute(element.head, "type").unwrap_or_default(),
            components: components.unwrap_or(1).max(1),
            element,
        }
    })
}
