//! VTK XML poly data (.vtp): points and their data, as ParaView and others write them.
//!
//! Arrays may be text, base64 or appended (raw or base64), little-endian, and not compressed.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use crate::read_points::Columns;

pub(crate) fn parse(bytes: &[u8]) -> Result<Columns, String> {
    let file = Vtp::new(bytes)?;
    let points = section(&file.text, "Points").ok_or("there is no element `Points`")?;
    let mut columns = Columns::new();
    let places = arrays(points);
    let place = places.first().ok_or("there is no array of points")?;
    file.read(place, &["x", "y", "z"], &mut columns)?;
    for array in section(&file.text, "PointData").map(arrays).unwrap_or_default() {
        if !array.kind.starts_with("String") {
            let names: Vec<String> = match array.components {
                1 => vec![array.name.clone()],
                _ => ["x", "y", "z", "w"]
                    .map(|axis| format!("{}_{axis}", array.name))
                    .to_vec(),
            };
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            file.read(&array, &names[..names.len().min(array.components)], &mut columns)?;
        }
    }
    let rows = columns.first().map_or(0, |c| c.1.len());
    columns.retain(|c| c.1.len() == rows);
    Ok(columns)
}

struct Vtp<'a> {
    text: String,
    appended: &'a [u8],
    is_raw: bool,
    wide_header: bool,
}

/// An array's element, and what is written in it.
#[derive(Clone)]
struct Array {
    name: String,
    kind: String,
    components: usize,
    format: String,
    offset: usize,
    body: String,
}

impl<'a> Vtp<'a> {
    fn new(bytes: &'a [u8]) -> Result<Self, String> {
        let find = |what: &[u8]| bytes.windows(what.len()).position(|w| w == what);
        let start = find(b"<AppendedData").unwrap_or(bytes.len());
        let text = String::from_utf8_lossy(&bytes[..start]).into_owned();
        let root = tag(&text, "VTKFile").ok_or("it is no VTK XML file")?;
        if attribute(root, "type").as_deref() != Some("PolyData") {
            return Err("only files of type PolyData hold particles".to_owned());
        }
        if attribute(root, "compressor").is_some() {
            return Err("it is compressed; write it without a compressor".to_owned());
        }
        if attribute(root, "byte_order").as_deref() == Some("BigEndian") {
            return Err("it is big-endian; write it little-endian".to_owned());
        }
        let rest = &bytes[start..];
        let mark = rest.iter().position(|b| *b == b'_').map_or(rest.len(), |at| at + 1);
        let head = String::from_utf8_lossy(&rest[..mark]).into_owned();
        Ok(Self {
            wide_header: attribute(root, "header_type").as_deref() == Some("UInt64"),
            is_raw: attribute(&head, "encoding").as_deref() != Some("base64"),
            appended: &rest[mark..],
            text,
        })
    }

    /// Appends the components of `array` to `columns`, under `names`.
    fn read(&self, array: &Array, names: &[&str], columns: &mut Columns) -> Result<(), String> {
        let numbers = match array.format.as_str() {
            "ascii" => {
                let words = array.body.split_whitespace();
                words
                    .map(str::parse)
                    .collect::<Result<Vec<f64>, _>>()
                    .map_err(|_| format!("`{}` holds no numbers", array.name))?
            }
            "binary" => decode(&self.block(array.body.trim().as_bytes(), false)?, &array.kind)?,
            _ => {
                let from = self
                    .appended
                    .get(array.offset..)
                    .ok_or("an array lies beyond the end")?;
                decode(&self.block(from, self.is_raw)?, &array.kind)?
            }
        };
        for (k, name) in names.iter().enumerate() {
            let values = numbers.iter().skip(k).step_by(array.components).copied();
            columns.push(((*name).to_owned(), values.collect()));
        }
        Ok(())
    }

    /// The bytes of a block: its length, then as many bytes.
    fn block(&self, from: &[u8], raw: bool) -> Result<Vec<u8>, String> {
        let header = if self.wide_header { 8 } else { 4 };
        let cut_off = || "it ends too early".to_owned();
        let length = |bytes: &[u8]| bytes.iter().rev().fold(0usize, |sum, b| sum << 8 | usize::from(*b));
        if raw {
            let bytes = length(from.get(..header).ok_or_else(cut_off)?);
            return Ok(from.get(header..header + bytes).ok_or_else(cut_off)?.to_vec());
        }
        // Header and data are encoded as one, or one after the other with padding between.
        let letters: Vec<u8> = from
            .iter()
            .copied()
            .take_while(|b| !b"<\"".contains(b))
            .filter(|b| !b.is_ascii_whitespace())
            .collect();
        let decoded = |letters: &[u8]| STANDARD.decode(letters).map_err(|_| "its base64 is damaged".to_owned());
        let first = (header.div_ceil(3) * 4).min(letters.len());
        let bytes = length(decoded(&letters[..first])?.get(..header).ok_or_else(cut_off)?);
        let padded = letters[..first].ends_with(b"=");
        let wanted = if padded { bytes } else { header + bytes };
        let data = letters.get(if padded { first } else { 0 }..).unwrap_or_default();
        let data = data.get(..wanted.div_ceil(3) * 4).ok_or_else(cut_off)?;
        let data = decoded(data)?;
        Ok(data.get(wanted - bytes..wanted).ok_or_else(cut_off)?.to_vec())
    }
}

/// Numbers of type `kind`.
#[allow(
    clippy::cast_lossless,
    reason = "one expression for all types; 64-bit ones have no lossless cast"
)]
fn decode(bytes: &[u8], kind: &str) -> Result<Vec<f64>, String> {
    fn widen<const N: usize>(bytes: &[u8], of: impl Fn([u8; N]) -> f64) -> Vec<f64> {
        bytes.as_chunks().0.iter().map(|b| of(*b)).collect()
    }
    macro_rules! numbers {
        ($($name:literal => $type:ty),*) => {
            match kind {
                $($name => Ok(widen(bytes, |b| <$type>::from_le_bytes(b) as f64)),)*
                _ => Err(format!("arrays of type {kind} are not read")),
            }
        };
    }
    numbers!("Float32" => f32, "Float64" => f64, "Int8" => i8, "UInt8" => u8, "Int16" => i16, "UInt16" => u16,
        "Int32" => i32, "UInt32" => u32, "Int64" => i64, "UInt64" => u64)
}

/// What is between the first `<name ...>` and its end.
fn section<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    let open = text
        .find(&format!("<{name}>"))
        .or_else(|| text.find(&format!("<{name} ")))?;
    let start = open + text[open..].find('>')? + 1;
    let end = start + text[start..].find(&format!("</{name}>"))?;
    Some(&text[start..end])
}

/// The first `<name ...>`, without its brackets.
fn tag<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    let open = text.find(&format!("<{name}"))?;
    Some(&text[open..open + text[open..].find('>')?])
}

fn attribute(tag: &str, name: &str) -> Option<String> {
    let start = tag.find(&format!(" {name}=\""))? + name.len() + 3;
    Some(tag[start..start + tag[start..].find('"')?].to_owned())
}

fn arrays(section: &str) -> Vec<Array> {
    let mut found = Vec::new();
    let mut rest = section;
    while let Some(open) = rest.find("<DataArray") {
        let Some(length) = rest[open..].find('>') else { break };
        let head = &rest[open..open + length];
        let after = &rest[open + length + 1..];
        let is_empty = head.ends_with('/');
        let end = if is_empty {
            0
        } else {
            after.find("</DataArray>").unwrap_or(after.len())
        };
        let number = |name: &str, default| attribute(head, name).and_then(|n| n.parse().ok()).unwrap_or(default);
        found.push(Array {
            name: attribute(head, "Name").unwrap_or_default(),
            kind: attribute(head, "type").unwrap_or_default(),
            components: number("NumberOfComponents", 1usize).max(1),
            format: attribute(head, "format").unwrap_or_else(|| "ascii".to_owned()),
            offset: number("offset", 0),
            body: after[..end].to_owned(),
        });
        rest = &after[end..];
    }
    found
}
