//! USD crate files, version 0.8.0: binary USD as Pixar's `Usd_CrateFile` reads it.
//!
//! Values are written as they come; the tables of tokens, fields and paths follow at the end. Blocks of the tables are
//! LZ4 streams of literals only: the tables are small, and need no compressor.

use std::collections::HashMap;
use std::path::Path;

use glam::DMat4;

use super::super::bytes;
use crate::WriteError;
use crate::atomic::StagedFile;

/// Types of values, by their numbers in the file.
#[derive(Clone, Copy)]
#[repr(u64)]
pub enum Type {
    Int = 3,
    Int64 = 5,
    Float = 8,
    Double = 9,
    Token = 11,
    Matrix4d = 15,
    Vec3f = 24,
    PathListOp = 34,
    TokenVector = 41,
    Specifier = 42,
    Variability = 44,
    TimeSamples = 46,
    DoubleVector = 48,
}

/// A value: its type, and its offset in the file or itself.
pub type Rep = u64;

const IS_ARRAY: u64 = 1 << 63;
const IS_INLINED: u64 = 1 << 62;
/// A list of paths that is given as a whole: no additions to weaker layers.
const EXPLICIT_LIST: u8 = 0b11;
/// End of a set of fields.
const END_OF_SET: u32 = u32::MAX;

/// Kind of an entry of the scene.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub enum Kind {
    Attribute = 1,
    Prim = 6,
    Root = 7,
    Relationship = 8,
}

/// An entry of the scene: a prim, or a property of one.
pub struct Spec {
    pub name: String,
    pub kind: Kind,
    pub fields: Vec<(&'static str, Rep)>,
    pub children: Vec<Spec>,
    /// Paths that a relationship points to.
    pub targets: Vec<String>,
}

impl Spec {
    pub fn new(kind: Kind, name: &str) -> Self {
        Self {
            name: name.to_owned(),
            kind,
            fields: Vec::new(),
            children: Vec::new(),
            targets: Vec::new(),
        }
    }

    pub fn with(mut self, field: &'static str, value: Rep) -> Self {
        self.fields.push((field, value));
        self
    }
}

/// A crate file that is being written.
pub struct CrateFile {
    file: StagedFile,
    tokens: Vec<String>,
    token_numbers: HashMap<String, u32>,
    fields: Vec<(u32, Rep)>,
    field_numbers: HashMap<(u32, Rep), u32>,
}

/// Tables of entries, in the order of a walk from the root.
#[derive(Default)]
struct Tables {
    /// Index of the element's token; negative for properties.
    elements: Vec<i32>,
    /// Next entries: see [`CrateFile::walk`].
    jumps: Vec<i32>,
    /// First index of each entry's fields in `field_sets`.
    sets: Vec<u32>,
    kinds: Vec<u32>,
    field_sets: Vec<u32>,
}

impl CrateFile {
    pub fn create(path: &Path) -> Result<Self, WriteError> {
        let mut file = StagedFile::create(path)?;
        // The header is known at the end.
        file.put(&[0; 88])?;
        let mut this = Self {
            file,
            tokens: Vec::new(),
            token_numbers: HashMap::new(),
            fields: Vec::new(),
            field_numbers: HashMap::new(),
        };
        // Paths name a property by the negative index of its token, which must not be 0.
        this.index(";-)");
        Ok(this)
    }

    fn index(&mut self, token: &str) -> u32 {
        if let Some(&number) = self.token_numbers.get(token) {
            return number;
        }
        let number = self.tokens.len() as u32;
        self.tokens.push(token.to_owned());
        self.token_numbers.insert(token.to_owned(), number);
        number
    }

    pub fn token(&mut self, token: &str) -> Rep {
        rep(Type::Token, IS_INLINED | u64::from(self.index(token)))
    }

    fn token_numbers(&mut self, tokens: &[&str]) -> Result<u64, WriteError> {
        let numbers: Vec<u32> = tokens.iter().map(|token| self.index(token)).collect();
        self.counted(&numbers)
    }

    /// Writes the names of children.
    fn token_vector(&mut self, tokens: &[&str]) -> Result<Rep, WriteError> {
        Ok(rep(Type::TokenVector, self.token_numbers(tokens)?))
    }

    /// Writes a value of the type `token[]`.
    pub fn token_array(&mut self, tokens: &[&str]) -> Result<Rep, WriteError> {
        Ok(rep(Type::Token, IS_ARRAY | self.token_numbers(tokens)?))
    }

    /// Writes a number of elements, and the elements.
    fn counted<T: bytemuck::NoUninit>(&mut self, elements: &[T]) -> Result<u64, WriteError> {
        let at = self.file.put(&(elements.len() as u64).to_le_bytes())?;
        self.file.put(bytes(elements))?;
        Ok(at)
    }

    /// Writes an array.
    pub fn array<T: bytemuck::NoUninit>(&mut self, kind: Type, elements: &[T]) -> Result<Rep, WriteError> {
        Ok(rep(
            kind,
            match elements {
                [] => IS_ARRAY,
                _ => IS_ARRAY | self.counted(elements)?,
            },
        ))
    }

    pub fn double(&mut self, value: f64) -> Result<Rep, WriteError> {
        Ok(rep(Type::Double, self.file.put(&value.to_le_bytes())?))
    }

    /// Writes a transform. USD multiplies rows from the left, so that its rows are the columns here.
    pub fn matrix(&mut self, matrix: DMat4) -> Result<Rep, WriteError> {
        Ok(rep(Type::Matrix4d, self.file.put(bytes(&matrix.to_cols_array()))?))
    }

    /// Writes values by time.
    pub fn samples(&mut self, times: &[f64], values: &[Rep]) -> Result<Rep, WriteError> {
        let list = self.counted(times)?;
        let list = rep(Type::DoubleVector, list);
        // Both parts follow their offsets, which are relative to themselves.
        let at = self.file.put(bytes(&[8, list, 8]))?;
        self.counted(values)?;
        Ok(rep(Type::TimeSamples, at))
    }

    /// Writes the tables of `root` and everything below, and moves the file to its path.
    pub fn finish(mut self, mut root: Spec) -> Result<(), WriteError> {
        let mut paths = HashMap::new();
        number(&root, "", &mut paths);
        self.resolve(&mut root, &paths)?;
        let mut tables = Tables::default();
        self.walk(&root, false, &mut tables);
        let text: Vec<u8> = self.tokens.iter().flat_map(|t| t.bytes().chain([0])).collect();
        let mut tokens = Vec::from(bytes(&[self.tokens.len() as u64, text.len() as u64]));
        push_block(&mut tokens, &text);
        let values: Vec<Rep> = self.fields.iter().map(|field| field.1).collect();
        let names: Vec<i32> = self.fields.iter().map(|field| field.0 as i32).collect();
        let mut fields = counts(self.fields.len(), 1);
        push_integers(&mut fields, &names);
        push_block(&mut fields, bytes(&values));
        let mut sets = counts(tables.field_sets.len(), 1);
        push_integers(&mut sets, bytemuck::cast_slice(&tables.field_sets));
        let entries = tables.kinds.len();
        let order: Vec<i32> = (0..entries as i32).collect();
        let mut paths = counts(entries, 2);
        push_integers(&mut paths, &order);
        push_integers(&mut paths, &tables.elements);
        push_integers(&mut paths, &tables.jumps);
        let mut specs = counts(entries, 1);
        push_integers(&mut specs, &order);
        push_integers(&mut specs, bytemuck::cast_slice(&tables.sets));
        push_integers(&mut specs, bytemuck::cast_slice(&tables.kinds));
        let mut contents = Vec::new();
        let sections = [
            ("TOKENS", tokens),
            ("STRINGS", counts(0, 1)),
            ("FIELDS", fields),
            ("FIELDSETS", sets),
            ("PATHS", paths),
            ("SPECS", specs),
        ];
        contents.extend((sections.len() as u64).to_le_bytes());
        for (name, section) in &sections {
            let at = self.file.put(section)?;
            let mut padded = [0; 16];
            padded[..name.len()].copy_from_slice(name.as_bytes());
            contents.extend(padded);
            contents.extend(bytes(&[at, section.len() as u64]));
        }
        let at = self.file.put(&contents)?;
        self.file.patch(0, b"PXR-USDC\0\x08\0\0\0\0\0\0")?;
        self.file.patch(16, &at.to_le_bytes())?;
        self.file.finish()
    }

    /// Adds to each entry the fields that name its children and targets.
    fn resolve(&mut self, spec: &mut Spec, paths: &HashMap<String, u32>) -> Result<(), WriteError> {
        for (field, is_prim) in [("primChildren", true), ("properties", false)] {
            let names = spec
                .children
                .iter()
                .filter(|child| (child.kind == Kind::Prim) == is_prim);
            let names: Vec<&str> = names.map(|child| child.name.as_str()).collect();
            if !names.is_empty() {
                let value = self.token_vector(&names)?;
                spec.fields.push((field, value));
            }
        }
        if !spec.targets.is_empty() {
            let targets: Vec<u32> = spec.targets.iter().map(|path| paths[path]).collect();
            let at = self.file.put(&[EXPLICIT_LIST])?;
            self.counted(&targets)?;
            spec.fields.push(("targetPaths", rep(Type::PathListOp, at)));
        }
        spec.children
            .iter_mut()
            .try_for_each(|child| self.resolve(child, paths))
    }

    /// Lists an entry and everything below it. The jump of an entry is -2 if neither a child nor a sibling follows, -1 if
    /// only its first child does, 0 if only its sibling does, and otherwise the distance to its sibling.
    fn walk(&mut self, spec: &Spec, has_sibling: bool, tables: &mut Tables) {
        let at = tables.kinds.len();
        let element = match spec.kind {
            Kind::Root => 0,
            Kind::Prim => self.index(&spec.name) as i32,
            Kind::Attribute | Kind::Relationship => -(self.index(&spec.name) as i32),
        };
        tables.elements.push(element);
        tables.kinds.push(spec.kind as u32);
        tables.sets.push(tables.field_sets.len() as u32);
        for &(name, value) in &spec.fields {
            let key = (self.index(name), value);
            let next = self.fields.len() as u32;
            let number = *self.field_numbers.entry(key).or_insert(next);
            if number == next {
                self.fields.push(key);
            }
            tables.field_sets.push(number);
        }
        tables.field_sets.push(END_OF_SET);
        tables.jumps.push(0);
        for (k, child) in spec.children.iter().enumerate() {
            self.walk(child, k + 1 < spec.children.len(), tables);
        }
        tables.jumps[at] = match (spec.children.is_empty(), has_sibling) {
            (true, false) => -2,
            (false, false) => -1,
            (true, true) => 0,
            (false, true) => (tables.kinds.len() - at) as i32,
        };
    }
}

/// Numbers the paths in the order of [`CrateFile::walk`].
fn number(spec: &Spec, above: &str, paths: &mut HashMap<String, u32>) {
    let path = match spec.kind {
        Kind::Root => String::new(),
        Kind::Prim => format!("{above}/{}", spec.name),
        Kind::Attribute | Kind::Relationship => format!("{above}.{}", spec.name),
    };
    paths.insert(path.clone(), paths.len() as u32);
    spec.children.iter().for_each(|child| number(child, &path, paths));
}

fn rep(kind: Type, payload: u64) -> Rep {
    (kind as u64) << 48 | payload
}

/// Returns a value that fits into its representation.
pub fn inlined(kind: Type, value: u32) -> Rep {
    rep(kind, IS_INLINED | u64::from(value))
}

fn counts(count: usize, times: usize) -> Vec<u8> {
    (count as u64).to_le_bytes().repeat(times)
}

/// Returns `data` as one LZ4 block of literals, in one chunk.
fn lz4(data: &[u8]) -> Vec<u8> {
    let mut packed = vec![0, (data.len().min(15) << 4) as u8];
    if let Some(mut rest) = data.len().checked_sub(15) {
        while rest >= 255 {
            packed.push(255);
            rest -= 255;
        }
        packed.push(rest as u8);
    }
    packed.extend(data);
    packed
}

fn push_block(section: &mut Vec<u8>, data: &[u8]) {
    let packed = lz4(data);
    section.extend((packed.len() as u64).to_le_bytes());
    section.extend(packed);
}

/// Appends integers as their differences: the most common one, a code of two bits each, and the others in 8, 16 or 32 bits.
fn push_integers(section: &mut Vec<u8>, numbers: &[i32]) {
    let before = [0].into_iter().chain(numbers.iter().copied());
    let steps: Vec<i32> = numbers.iter().zip(before).map(|(a, b)| a.wrapping_sub(b)).collect();
    let mut sorted = steps.clone();
    sorted.sort_unstable();
    let runs = sorted.chunk_by(|a, b| a == b);
    let common = runs.max_by_key(|run| run.len()).map_or(0, |run| run[0]);
    let mut codes = vec![0u8; (2 * steps.len()).div_ceil(8)];
    let mut values = Vec::new();
    for (k, &step) in steps.iter().enumerate() {
        let code = if step == common {
            0
        } else if let Ok(byte) = i8::try_from(step) {
            values.extend(byte.to_le_bytes());
            1
        } else if let Ok(short) = i16::try_from(step) {
            values.extend(short.to_le_bytes());
            2
        } else {
            values.extend(step.to_le_bytes());
            3
        };
        codes[k / 4] |= code << (2 * (k % 4));
    }
    push_block(section, &[&common.to_le_bytes()[..], &codes, &values].concat());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_of_literals_carry_their_length() {
        assert_eq!(lz4(b"sand"), b"\0\x40sand");
        for count in [14, 15, 269, 270, 271, 1000] {
            let packed = lz4(&vec![7; count]);
            let extra = &packed[2..packed.len() - count];
            let length = usize::from(packed[1] >> 4) + extra.iter().map(|&b| usize::from(b)).sum::<usize>();
            assert_eq!(length, count);
            assert_eq!(extra.is_empty(), count < 15);
        }
    }

    #[test]
    fn integers_are_steps_with_codes() {
        let mut section = Vec::new();
        push_integers(&mut section, &[1, 2, 3, 103, 1103, 101_103]);
        let expected = [
            &1i32.to_le_bytes()[..],
            &[0b0100_0000, 0b0000_1110],
            &[100],
            &1000i16.to_le_bytes(),
            &100_000i32.to_le_bytes(),
        ];
        assert_eq!(section[8..], lz4(&expected.concat()));
    }
}
