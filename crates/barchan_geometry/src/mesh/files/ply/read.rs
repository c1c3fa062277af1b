//! Header and body of a PLY file.

use super::super::super::{MeshError, Place};
use super::super::MeshFormat;
use super::super::text::{Words, excerpt};
use super::columns::{ByteOrder, Column, Element, Lists, Ply, Property, Values};

enum Encoding {
    Ascii,
    Binary(ByteOrder),
}

/// Reads all elements of the PLY file `bytes`.
pub fn read(bytes: &[u8]) -> Result<Ply, MeshError> {
    let mut header = Header::parse(bytes)?;
    // The type of a list's count is not needed later, so it is kept separately.
    let elements = header.ply.elements.iter_mut().zip(&mut header.counts);
    match header.encoding {
        Encoding::Ascii => {
            let mut words = Words::new(&bytes[header.length..], header.lines + 1);
            for (element, _) in elements {
                ascii(element, &mut words)?;
            }
        }
        Encoding::Binary(order) => {
            let mut body = Body {
                bytes,
                at: header.length,
                order,
            };
            for (element, counts) in elements {
                body.read(element, counts)?;
            }
        }
    }
    Ok(header.ply)
}

struct Header {
    ply: Ply,
    /// For each element and property, an empty column of the type of its lists' counts.
    counts: Vec<Vec<Option<Values>>>,
    encoding: Encoding,
    /// Length of the header [bytes].
    length: usize,
    /// Number of lines in the header.
    lines: usize,
}

impl Header {
    fn parse(bytes: &[u8]) -> Result<Self, MeshError> {
        let ending = line_ending(bytes)?;
        let mut header = Self {
            ply: Ply::default(),
            counts: Vec::new(),
            encoding: Encoding::Ascii,
            length: 3 + ending.len(),
            lines: 1,
        };
        let mut encoding = None;
        loop {
            header.lines += 1;
            let place = Place::Line(header.lines);
            let wrong = |reason: String| MeshError::syntax(place, reason);
            let rest = &bytes[header.length..];
            let end = rest
                .windows(ending.len())
                .position(|w| w == ending)
                .ok_or_else(|| MeshError::truncated(place, "\"end_header\" is missing"))?;
            header.length += end + ending.len();
            let line = String::from_utf8_lossy(&rest[..end]);
            let words: Vec<&str> = line.split_ascii_whitespace().collect();
            match words[..] {
                [] | ["obj_info", ..] => {}
                ["comment", ..] => {
                    let comment = line.trim().strip_prefix("comment").unwrap_or_default();
                    header.ply.comments.push(comment.trim().to_owned());
                }
                ["format", format, _version] => {
                    encoding = Some(match format {
                        "ascii" => Encoding::Ascii,
                        "binary_little_endian" => Encoding::Binary(ByteOrder::Little),
                        "binary_big_endian" => Encoding::Binary(ByteOrder::Big),
                        _ => return Err(wrong(format!("unknown format {format:?}"))),
                    });
                }
                ["element", name, count] => header.element(name, count).map_err(wrong)?,
                ["property", "list", count, value, name] => header.property(name, value, Some(count)).map_err(wrong)?,
                ["property", value, name] => header.property(name, value, None).map_err(wrong)?,
                ["end_header"] => break,
                _ => {
                    return Err(wrong(format!(
                        "{:?} is no line of a PLY header",
                        excerpt(line.as_bytes())
                    )));
                }
            }
        }
        header.encoding =
            encoding.ok_or_else(|| MeshError::syntax(Place::Line(2), "the line \"format\" is missing"))?;
        // Nothing in the body would bound such a count.
        match header
            .ply
            .elements
            .iter()
            .find(|e| e.properties.is_empty() && e.count > 0)
        {
            Some(e) => Err(MeshError::syntax(
                Place::Line(header.lines),
                format!("the element {:?} has {} rows but no property", e.name, e.count),
            )),
            None => Ok(header),
        }
    }

    fn element(&mut self, name: &str, count: &str) -> Result<(), String> {
        let count = count
            .parse()
            .map_err(|_| format!("{count:?} is not a number of rows"))?;
        self.ply.elements.push(Element {
            name: name.to_owned(),
            count,
            properties: Vec::new(),
        });
        self.counts.push(Vec::new());
        Ok(())
    }

    fn property(&mut self, name: &str, value: &str, count: Option<&str>) -> Result<(), String> {
        let values = |name: &str| Values::of_type(name).ok_or_else(|| format!("unknown type {name:?}"));
        let (Some(element), Some(counts)) = (self.ply.elements.last_mut(), self.counts.last_mut()) else {
            return Err(format!("the property {name:?} stands before any element"));
        };
        counts.push(count.map(values).transpose()?);
        let values = values(value)?;
        element.properties.push(Property {
            name: name.to_owned(),
            column: match count {
                None => Column::Scalar(values),
                Some(_) => Column::List(Lists {
                    ends: Vec::new(),
                    values,
                }),
            },
        });
        Ok(())
    }
}

/// Returns the line ending of the first line. All header lines must have it: after a lone carriage return, the body of
/// a binary file may begin with the byte of a line feed.
fn line_ending(bytes: &[u8]) -> Result<&'static [u8], MeshError> {
    match bytes {
        [b'p', b'l', b'y', b'\r', b'\n', ..] => Ok(b"\r\n"),
        [b'p', b'l', b'y', b'\n', ..] => Ok(b"\n"),
        [b'p', b'l', b'y', b'\r', ..] => Ok(b"\r"),
        _ => Err(MeshError::NotThisFormat {
            format: MeshFormat::Ply,
            reason: format!("it begins with {:?} instead of a line \"ply\"", excerpt(bytes)),
        }),
    }
}

fn ascii(element: &mut Element, words: &mut Words<'_>) -> Result<(), MeshError> {
    let Element {
        name,
        count,
        properties,
    } = element;
    for row in 0..*count {
        for property in &mut *properties {
            let mut number = |values: &mut Values| {
                let Some(word) = words.word() else {
                    let missing = format!("the element {name:?} promises {count} rows, {row} are there");
                    return Err(MeshError::truncated(words.place(), missing));
                };
                let number = words.parse_number(word)?;
                if !values.push(number) {
                    let reason = format!("{number} does not fit the type of {:?}", property.name);
                    return Err(MeshError::syntax(words.place(), reason));
                }
                Ok(number)
            };
            match &mut property.column {
                Column::Scalar(values) => {
                    number(values)?;
                }
                Column::List(lists) => {
                    let length = number(&mut Values::U32(Vec::new()))?;
                    for _ in 0..length as usize {
                        number(&mut lists.values)?;
                    }
                    lists.ends.push(lists.values.len());
                }
            }
        }
    }
    Ok(())
}

/// The binary part of a file.
struct Body<'a> {
    bytes: &'a [u8],
    at: usize,
    order: ByteOrder,
}

impl<'a> Body<'a> {
    fn read(&mut self, element: &mut Element, counts: &mut [Option<Values>]) -> Result<(), MeshError> {
        if counts.iter().any(Option::is_some) {
            self.rows(element, counts)
        } else {
            self.table(element)
        }
    }

    /// Reads rows of fixed length, column by column.
    fn table(&mut self, element: &mut Element) -> Result<(), MeshError> {
        let size = |p: &Property| match &p.column {
            Column::Scalar(values) => values.size(),
            Column::List(lists) => lists.values.size(),
        };
        let stride: usize = element.properties.iter().map(size).sum();
        let there = (self.bytes.len() - self.at) / stride.max(1);
        if there < element.count {
            let missing = format!(
                "the element {:?} promises {} rows of {stride} bytes, {there} are there",
                element.name, element.count
            );
            return Err(MeshError::truncated(Place::Byte(self.bytes.len()), missing));
        }
        let rows = self.take(element.count * stride).expect("just measured");
        let mut offset = 0;
        for property in &mut element.properties {
            let width = size(property);
            if let Column::Scalar(values) = &mut property.column
                && !rows.is_empty()
            {
                values.extend(&rows[offset..], stride, self.order);
            }
            offset += width;
        }
        Ok(())
    }

    /// Reads rows with lists, which have any length.
    fn rows(&mut self, element: &mut Element, counts: &mut [Option<Values>]) -> Result<(), MeshError> {
        let Element {
            name,
            count,
            properties,
        } = element;
        for row in 0..*count {
            for (property, length) in properties.iter_mut().zip(&mut *counts) {
                let start = self.at;
                let cut = || {
                    let missing = format!("the element {name:?} promises {count} rows, row {row} is cut");
                    MeshError::truncated(Place::Byte(start), missing)
                };
                match (&mut property.column, length) {
                    (Column::List(lists), Some(length)) => {
                        let number = self.number(length).ok_or_else(cut)?;
                        if number < 0.0 || number.fract() != 0.0 {
                            let reason = format!("{number} is not the length of a list");
                            return Err(MeshError::syntax(Place::Byte(start), reason));
                        }
                        let size = lists.values.size();
                        let bytes = (number as usize)
                            .checked_mul(size)
                            .and_then(|n| self.take(n))
                            .ok_or_else(cut)?;
                        lists.values.extend(bytes, size, self.order);
                        lists.ends.push(lists.values.len());
                    }
                    (Column::Scalar(values), _) => {
                        let bytes = self.take(values.size()).ok_or_else(cut)?;
                        values.extend(bytes, bytes.len(), self.order);
                    }
                    (Column::List(_), None) => unreachable!("every list has a type of count"),
                }
            }
        }
        Ok(())
    }

    /// Reads the next number, of the type of `scratch`.
    fn number(&mut self, scratch: &mut Values) -> Option<f64> {
        let bytes = self.take(scratch.size())?;
        scratch.clear();
        scratch.extend(bytes, bytes.len(), self.order);
        Some(scratch.get(0))
    }

    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let taken = self.bytes[self.at..].get(..count)?;
        self.at += count;
        Some(taken)
    }
}
