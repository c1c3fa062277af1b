//! The contents of a PLY file, column by column.

use std::ops::Range;

/// The contents of a PLY file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ply {
    /// Comments of the header, without the word `comment`.
    pub comments: Vec<String>,
    /// The elements in the file's order.
    pub elements: Vec<Element>,
}

/// A table: rows of the same properties.
#[derive(Clone, Debug, PartialEq)]
pub struct Element {
    /// Its name: `vertex`, `face`, or any other.
    pub name: String,
    /// Number of rows, the length of every column.
    pub count: usize,
    /// Its columns in the file's order.
    pub properties: Vec<Property>,
}

/// One named column of an element.
#[derive(Clone, Debug, PartialEq)]
pub struct Property {
    /// Its name.
    pub name: String,
    /// Its values.
    pub column: Column,
}

/// The values of a property, one for each row.
#[derive(Clone, Debug, PartialEq)]
pub enum Column {
    /// One number per row.
    Scalar(Values),
    /// One list of numbers per row.
    List(Lists),
}

/// Lists of numbers, concatenated.
#[derive(Clone, Debug, PartialEq)]
pub struct Lists {
    /// End of each row's list in `values`; it begins at the end of the previous one.
    pub ends: Vec<usize>,
    /// The numbers of all lists.
    pub values: Values,
}

impl Ply {
    /// Returns the first element called `name`.
    pub fn element(&self, name: &str) -> Option<&Element> {
        self.elements.iter().find(|e| e.name == name)
    }
}

impl Element {
    /// Returns the first column called `name`.
    pub fn column(&self, name: &str) -> Option<&Column> {
        self.properties.iter().find(|p| p.name == name).map(|p| &p.column)
    }

    /// Returns the column called `name`, if it has one number per row.
    pub fn scalars(&self, name: &str) -> Option<&Values> {
        match self.column(name)? {
            Column::Scalar(values) => Some(values),
            Column::List(_) => None,
        }
    }

    /// Returns the column called `name`, if it has one list per row.
    pub fn lists(&self, name: &str) -> Option<&Lists> {
        match self.column(name)? {
            Column::List(lists) => Some(lists),
            Column::Scalar(_) => None,
        }
    }
}

impl Lists {
    /// Returns the number of lists.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Returns true if there is no list.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Returns the range of `values` of list `row`.
    pub fn row(&self, row: usize) -> Range<usize> {
        let start = if row == 0 { 0 } else { self.ends[row - 1] };
        start..self.ends[row]
    }
}

/// Byte order of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ByteOrder {
    Little,
    Big,
}

macro_rules! values {
    ($($kind:ident $type:ident $size:literal $($name:literal)|+: $doc:literal;)*) => {
        /// Numbers of one type.
        #[derive(Clone, Debug, PartialEq)]
        pub enum Values {
            $(#[doc = $doc] $kind(Vec<$type>),)*
        }

        impl Values {
            /// Creates an empty column of the type that a header calls `name`.
            pub(super) fn of_type(name: &str) -> Option<Self> {
                match name {
                    $($($name)|+ => Some(Self::$kind(Vec::new())),)*
                    _ => None,
                }
            }

            /// Returns the bytes per number.
            pub(super) fn size(&self) -> usize {
                match self {
                    $(Self::$kind(_) => $size,)*
                }
            }

            pub(super) fn clear(&mut self) {
                match self {
                    $(Self::$kind(v) => v.clear(),)*
                }
            }

            /// Returns the number of values.
            pub fn len(&self) -> usize {
                match self {
                    $(Self::$kind(v) => v.len(),)*
                }
            }

            /// Returns number `i`; every type fits into `f64` without loss.
            pub fn get(&self, i: usize) -> f64 {
                match self {
                    $(Self::$kind(v) => f64::from(v[i]),)*
                }
            }

            /// Returns all numbers as `f64`.
            pub fn to_f64(&self) -> Vec<f64> {
                match self {
                    $(Self::$kind(v) => v.iter().map(|&n| f64::from(n)).collect(),)*
                }
            }

            /// Appends the first number of every `stride` bytes. `bytes` begins with the first of them.
            pub(super) fn extend(&mut self, bytes: &[u8], stride: usize, order: ByteOrder) {
                match self {
                    $(Self::$kind(v) => v.extend(bytes.chunks(stride).map(|chunk| {
                        let raw = *chunk.first_chunk().expect("the caller cut whole rows");
                        match order {
                            ByteOrder::Little => $type::from_le_bytes(raw),
                            ByteOrder::Big => $type::from_be_bytes(raw),
                        }
                    })),)*
                }
            }

            /// Appends a number from text; returns false if the type cannot hold it.
            pub(super) fn push(&mut self, number: f64) -> bool {
                let is_float = matches!(self, Self::F32(_) | Self::F64(_));
                match self {
                    $(Self::$kind(v) => {
                        // Casts saturate, so an integer that does not convert back was out of range; floats only lose
                        // digits.
                        let cast = number as $type;
                        v.push(cast);
                        is_float || f64::from(cast) == number
                    })*
                }
            }
        }
    };
}

values! {
    I8 i8 1 "char" | "int8": "8-bit signed.";
    U8 u8 1 "uchar" | "uint8": "8-bit unsigned.";
    I16 i16 2 "short" | "int16": "16-bit signed.";
    U16 u16 2 "ushort" | "uint16": "16-bit unsigned.";
    I32 i32 4 "int" | "int32": "32-bit signed.";
    U32 u32 4 "uint" | "uint32": "32-bit unsigned.";
    F32 f32 4 "float" | "float32": "32-bit float.";
    F64 f64 8 "double" | "float64": "64-bit float.";
}

impl Values {
    /// Returns true if there is no number.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}
