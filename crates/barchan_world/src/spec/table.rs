//! Tables of a scene file as data: reading, checking, the JSON Schema and the tables of the manual follow from them.

/// A table: its keys.
#[derive(Debug)]
pub struct TableSpec {
    /// Name in error messages.
    pub name: &'static str,
    /// Its keys.
    pub fields: &'static [Field],
    /// Pairs of keys with the same meaning: only one of each pair may be set.
    pub exclusive: &'static [[&'static str; 2]],
}

/// A key.
#[derive(Debug)]
pub struct Field {
    /// The key.
    pub key: &'static str,
    /// Allowed values.
    pub kind: Kind,
    /// Treatment of a missing key.
    pub need: Need,
    /// Meaning in one line, with the unit in brackets after what it measures: `longest step [s]`.
    pub help: &'static str,
}

/// Allowed values of a key.
#[derive(Debug)]
pub enum Kind {
    /// A number from the first to the second. Every number has bounds: solvers compute in single precision, and work is finite.
    Between(f64, f64),
    /// A whole number from the first to the second.
    Count(u64, u64),
    /// `true` or `false`.
    Flag,
    /// Any string.
    Text,
    /// One of these strings.
    Word(&'static [&'static str]),
    /// `[x, y, z]`, each from the first to the second.
    Vector(f64, f64),
    /// The same, or one number for all three.
    Axes(f64, f64),
    /// `[x, y, z]`, not zero.
    Direction,
    /// `"#c2a06b"`: red, green and blue, two hexadecimal digits each.
    Color,
    /// `[low, high]`, each from the first to the second.
    Range(f64, f64),
    /// `[x, y, z]` degrees, or `{ axis, angle }`.
    Turn,
    /// A shape.
    Shape,
    /// A table.
    Table(&'static TableSpec),
    /// A number of the first kind, or a table.
    NumberOr(&'static Kind, &'static TableSpec),
    /// A list.
    List(&'static Kind),
    /// A list of two.
    Pair(&'static Kind),
    /// Tables by names of the user's choice.
    Named(&'static TableSpec),
    /// The choice of a solver: its name, and a table of settings for each solver that there is.
    Solver,
}

/// Treatment of a missing key.
#[derive(Debug)]
pub enum Need {
    /// Reports an error.
    Required,
    /// Leaves it unset.
    Optional,
    /// It counts as this number.
    Number(f64),
    /// It counts as this whole number.
    Count(u64),
    /// It counts as this.
    Flag(bool),
    /// It counts as this string.
    Word(&'static str),
    /// It counts as this vector.
    Vector([f64; 3]),
}

/// A key, in one line.
pub const fn field(key: &'static str, kind: Kind, need: Need, help: &'static str) -> Field {
    Field { key, kind, need, help }
}

/// Largest component of a direction [-], and the least that its largest component may be.
pub const DIRECTION: [f64; 2] = [1e-9, 1e9];
/// Largest angle of a turn [deg]: a million turns and more.
pub const TURN: f64 = 1e9;

impl TableSpec {
    /// Returns the key called `key`.
    pub fn field(&self, key: &str) -> Option<&'static Field> {
        self.fields.iter().find(|field| field.key == key)
    }
}

impl Field {
    /// Returns the unit, if the value has one: `-` for pure numbers.
    pub fn unit(&self) -> Option<&'static str> {
        let (_, rest) = self.help.split_once('[')?;
        rest.split_once(']').map(|(unit, _)| unit)
    }
}

impl Kind {
    /// Returns the table in a value of this kind: itself, an item of the list, or one of the named.
    pub fn table(&self) -> Option<&'static TableSpec> {
        match self {
            Self::Table(spec) | Self::NumberOr(_, spec) | Self::Named(spec) => Some(spec),
            Self::List(kind) | Self::Pair(kind) => kind.table(),
            _ => None,
        }
    }
}
