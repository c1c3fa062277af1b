//! A table of a scene as read by its [`TableSpec`].

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;

use barchan_world::Turn;
use glam::DVec3;
use toml::de::DeValue;

use crate::reader::{Reader, Table, Value, suggestion};
use crate::shapes::{PlacedShape, read_placed, read_turn};
use crate::tables::{SOLVER, SOLVER_KIND};
use barchan_world::spec::{Field, Kind, Need, Setting, Settings, SolverSpec, TableSpec};

/// The values of a table. What was wrong has been noted and is missing.
#[derive(Clone, Debug)]
pub(crate) struct Fields {
    pub spec: &'static TableSpec,
    /// Bytes of the table.
    pub span: Range<usize>,
    entries: BTreeMap<&'static str, Item>,
}

/// A value and its place.
#[derive(Clone, Debug)]
pub(crate) struct Item {
    /// Bytes of the value.
    pub span: Range<usize>,
    /// True if the scene file sets it.
    written: bool,
    /// The value; none if it was wrong.
    datum: Option<Datum>,
}

#[derive(Clone, Debug)]
pub(crate) enum Datum {
    Number(f64),
    Count(u64),
    Flag(bool),
    Text(String),
    Vector(DVec3),
    Color([u8; 3]),
    Range([f64; 2]),
    Turn(Turn),
    Shape(Box<PlacedShape>),
    Table(Fields),
    List(Vec<Item>),
    Named(Vec<(String, Item)>),
}

macro_rules! getters {
    ($($(#[$doc:meta])* $name:ident: $variant:ident => $type:ty, $convert:expr;)*) => {
        impl Fields {
            $($(#[$doc])* pub fn $name(&self, key: &str) -> Option<$type> {
                self.item(key)?.$name()
            })*
        }

        impl Item {
            $($(#[$doc])* pub fn $name(&self) -> Option<$type> {
                match self.datum.as_ref()? {
                    Datum::$variant(value) => Some($convert(value)),
                    _ => None,
                }
            })*
        }
    };
}

getters! {
    /// A number.
    number: Number => f64, |x: &f64| *x;
    /// A whole number.
    count: Count => u64, |x: &u64| *x;
    /// `true` or `false`.
    flag: Flag => bool, |x: &bool| *x;
    /// A string.
    text: Text => &str, String::as_str;
    /// Three numbers.
    vector: Vector => DVec3, |x: &DVec3| *x;
    /// Red, green and blue, sRGB.
    color: Color => [u8; 3], |x: &[u8; 3]| *x;
    /// Two numbers, ascending.
    range: Range => [f64; 2], |x: &[f64; 2]| *x;
    /// A rotation.
    turn: Turn => Turn, |x: &Turn| *x;
    /// A shape.
    shape: Shape => &PlacedShape, Box::as_ref;
    /// A table.
    table: Table => &Fields, std::convert::identity;
    /// A list.
    list: List => &[Item], Vec::as_slice;
    /// Tables by name.
    named: Named => &[(String, Item)], Vec::as_slice;
}

impl Fields {
    /// Reads `value` by `spec`, and notes its errors.
    pub fn read<'d>(reader: &Reader<'d>, spec: &'static TableSpec, value: &Value<'d>) -> Option<Self> {
        let table = reader.table(spec.name, value)?;
        let fields = Self::of_table(reader, spec, &table);
        table.finish();
        Some(fields)
    }

    /// Reads the keys of `spec` from `table`, which may have others.
    pub fn of_table<'r, 'd>(reader: &'r Reader<'d>, spec: &'static TableSpec, table: &Table<'r, 'd>) -> Self {
        let mut entries = BTreeMap::new();
        for field in spec.fields {
            if let Some(item) = read_field(reader, table, spec, field) {
                entries.insert(field.key, item);
            }
        }
        let mut fields = Self {
            spec,
            span: table.span(),
            entries,
        };
        for [one, other] in spec.exclusive {
            if let (Some(first), Some(second)) = (fields.written(one), fields.written(other)) {
                let later = if first.start > second.start { first } else { second };
                let help = format!("remove `{one}` or `{other}`");
                reader.error(later, format!("`{one}` and `{other}` exclude each other"), Some(help));
            }
            // What was said leaves no room for the other's default.
            for (said, silent) in [(one, other), (other, one)] {
                if fields.written(said).is_some() && fields.written(silent).is_none() {
                    fields.entries.remove(silent);
                }
            }
        }
        fields
    }

    fn item(&self, key: &str) -> Option<&Item> {
        assert!(self.spec.field(key).is_some(), "{} has no field {key}", self.spec.name);
        self.entries.get(key)
    }

    /// Returns the location of the value of `key`, if it is set.
    pub fn written(&self, key: &str) -> Option<Range<usize>> {
        self.item(key).filter(|item| item.written).map(|item| item.span.clone())
    }

    /// Returns the location of the value of `key`, or else that of the table.
    pub fn place(&self, key: &str) -> Range<usize> {
        self.written(key).unwrap_or(self.span.clone())
    }

    /// Returns the location of the key `path`, of keys and indices of items, or else that of the innermost table around
    /// it.
    pub fn span_of(&self, path: &[&str]) -> Range<usize> {
        let mut parts = path.iter();
        let mut here = parts.next().and_then(|key| self.entries.get(key));
        let mut span = self.span.clone();
        while let Some(item) = here.filter(|item| item.written) {
            span = item.span.clone();
            here = parts.next().and_then(|part| item.child(part));
        }
        span
    }

    /// Returns the table of settings of `solver`, in the choice of a solver.
    pub fn settings_of(&self, solver: &SolverSpec) -> Option<&Fields> {
        self.entries.get(solver.name)?.table()
    }

    /// Returns every valid value of a setting.
    pub fn settings(&self) -> Settings {
        let setting = |(key, item): (&&str, &Item)| {
            let value = match item.datum.as_ref()? {
                Datum::Number(x) => Setting::Number(*x),
                Datum::Count(n) => Setting::Count(*n),
                Datum::Flag(flag) => Setting::Flag(*flag),
                Datum::Text(word) => Setting::Word(Cow::Owned(word.clone())),
                Datum::Vector(v) => Setting::Vector(v.to_array()),
                _ => return None,
            };
            Some(((*key).to_owned(), value))
        };
        self.entries.iter().filter_map(setting).collect()
    }

    /// Returns the tables in the list `key`; none if the list is missing.
    pub fn tables(&self, key: &str) -> impl Iterator<Item = &Fields> {
        self.list(key).unwrap_or_default().iter().filter_map(Item::table)
    }
}

impl Item {
    /// The value called `part` in a table, or the item of that number in a list.
    fn child(&self, part: &str) -> Option<&Self> {
        match self.datum.as_ref()? {
            Datum::Table(fields) => fields.entries.get(part),
            Datum::List(items) => items.get(part.parse::<usize>().ok()?),
            Datum::Named(tables) => tables.iter().find(|(name, _)| name == part).map(|(_, item)| item),
            _ => None,
        }
    }
}

fn read_field<'r, 'd>(
    reader: &'r Reader<'d>,
    table: &Table<'r, 'd>,
    spec: &TableSpec,
    field: &'static Field,
) -> Option<Item> {
    let missing = |datum: Datum| {
        Some(Item {
            span: table.span(),
            written: false,
            datum: Some(datum),
        })
    };
    if let Some(value) = table.get(field.key) {
        return Some(Item {
            span: value.span(),
            written: true,
            datum: read_kind(reader, field.key, &field.kind, value),
        });
    }
    match field.need {
        Need::Optional => None,
        Need::Required => {
            let message = format!("{} must have the key `{}`", spec.name, field.key);
            let help = format!("add `{} = ...`: {}", field.key, field.help);
            reader.error(table.span(), message, Some(help));
            None
        }
        Need::Number(x) => missing(Datum::Number(x)),
        Need::Count(n) => missing(Datum::Count(n)),
        Need::Flag(flag) => missing(Datum::Flag(flag)),
        Need::Word(word) => missing(Datum::Text(word.to_owned())),
        Need::Vector(vector) => missing(Datum::Vector(vector.into())),
    }
}

fn read_kind<'d>(reader: &Reader<'d>, what: &'static str, kind: &'static Kind, value: &Value<'d>) -> Option<Datum> {
    match kind {
        Kind::Between(low, high) => reader.between(what, value, *low, *high).map(Datum::Number),
        Kind::Count(least, most) => reader.count(what, value, *least, *most).map(Datum::Count),
        Kind::Flag => reader.flag(what, value).map(Datum::Flag),
        Kind::Text => reader.string(what, value).map(Datum::Text),
        Kind::Word(words) => reader.word(what, value, words).map(|word| Datum::Text(word.to_owned())),
        Kind::Vector(low, high) => reader.vec3(what, value, *low, *high).map(Datum::Vector),
        Kind::Axes(low, high) => match value.get_ref() {
            DeValue::Array(_) => reader.vec3(what, value, *low, *high),
            _ => reader.between(what, value, *low, *high).map(DVec3::splat),
        }
        .map(Datum::Vector),
        Kind::Direction => reader.direction(what, value).map(Datum::Vector),
        Kind::Color => match reader.string(what, value)? {
            text if parse_color(&text).is_some() => parse_color(&text).map(Datum::Color),
            _ => reader.refuse(what, value, "a color such as \"#c2a06b\" or \"#a33\""),
        },
        Kind::Range(low, high) => reader.range(what, value, *low, *high).map(Datum::Range),
        Kind::Turn => read_turn(reader, what, value).map(Datum::Turn),
        Kind::Shape => read_placed(reader, value).map(|shape| Datum::Shape(Box::new(shape))),
        Kind::Table(spec) => Fields::read(reader, spec, value).map(Datum::Table),
        Kind::NumberOr(number, spec) => match value.get_ref() {
            DeValue::Integer(_) | DeValue::Float(_) => read_kind(reader, what, number, value),
            DeValue::Table(_) => Fields::read(reader, spec, value).map(Datum::Table),
            _ => reader.refuse(what, value, "a number or a table"),
        },
        Kind::List(item) => read_list(reader, what, item, value).map(Datum::List),
        Kind::Pair(item) => match read_list(reader, what, item, value)? {
            items if items.len() == 2 => Some(Datum::List(items)),
            _ => reader.refuse(what, value, "a list of two"),
        },
        Kind::Named(spec) => read_named(reader, what, spec, value).map(Datum::Named),
        Kind::Solver => read_solver(reader, value).map(Datum::Table),
    }
}

fn read_list<'d>(reader: &Reader<'d>, what: &'static str, kind: &'static Kind, value: &Value<'d>) -> Option<Vec<Item>> {
    let DeValue::Array(list) = value.get_ref() else {
        let help = match kind {
            Kind::Table(_) => Some(format!("write `[[{what}]]` above each of them")),
            _ => None,
        };
        reader.refuse_with(what, value, "a list", help);
        return None;
    };
    let item = |value: &Value<'d>| Item {
        span: value.span(),
        written: true,
        datum: read_kind(reader, what, kind, value),
    };
    Some(list.iter().map(item).collect())
}

fn read_named<'d>(
    reader: &Reader<'d>,
    what: &'static str,
    spec: &'static TableSpec,
    value: &Value<'d>,
) -> Option<Vec<(String, Item)>> {
    let table = reader.table(what, value)?;
    let mut named: Vec<_> = table.entries().collect();
    named.sort_by_key(|(_, place, _)| place.start);
    let item = |(name, place, value): (&str, Range<usize>, &Value<'d>)| {
        let item = Item {
            span: place,
            written: true,
            datum: Fields::read(reader, spec, value).map(Datum::Table),
        };
        (name.to_owned(), item)
    };
    Some(named.into_iter().map(item).collect())
}

/// Reads the choice of a solver: its name, that of the first one by default, and a table of settings for each.
fn read_solver<'d>(reader: &Reader<'d>, value: &Value<'d>) -> Option<Fields> {
    let table = reader.table(SOLVER.name, value)?;
    let names: Vec<&'static str> = reader.solvers().iter().map(|solver| solver.name).collect();
    let kind = match table.get(SOLVER_KIND) {
        Some(value) => Item {
            span: value.span(),
            written: true,
            datum: reader
                .word(SOLVER_KIND, value, &names)
                .map(|name| Datum::Text(name.to_owned())),
        },
        None => Item {
            span: table.span(),
            written: false,
            datum: names.first().map(|&name| Datum::Text(name.to_owned())),
        },
    };
    let mut entries = BTreeMap::from([(SOLVER_KIND, kind)]);
    for solver in reader.solvers() {
        if let Some(value) = table.get(solver.name) {
            let item = Item {
                span: value.span(),
                written: true,
                datum: Fields::read(reader, &solver.settings, value).map(Datum::Table),
            };
            entries.insert(solver.name, item);
        }
    }
    table.finish();
    Some(Fields {
        spec: &SOLVER,
        span: table.span(),
        entries,
    })
}

/// Returns `#rrggbb` or `#rgb`, short for `#rrggbb` with each digit twice, as three bytes.
fn parse_color(text: &str) -> Option<[u8; 3]> {
    let digits: Option<Vec<u32>> = text.strip_prefix('#')?.chars().map(|c| c.to_digit(16)).collect();
    let byte = |high: u32, low: u32| (16 * high + low) as u8;
    match digits?[..] {
        [r, g, b] => Some([byte(r, r), byte(g, g), byte(b, b)]),
        [r, s, g, h, b, c] => Some([byte(r, s), byte(g, h), byte(b, c)]),
        _ => None,
    }
}

/// The place of `name` among `names`, or an error at `span` that says what there is.
pub(crate) fn look_up(
    reader: &Reader<'_>,
    what: &str,
    name: &str,
    names: &[&str],
    span: Range<usize>,
) -> Option<usize> {
    let found = names.iter().position(|known| *known == name);
    if found.is_none() {
        let help = match names {
            [] => format!("there is no {what} at all"),
            _ => suggestion(name, names),
        };
        reader.error(span, format!("there is no {what} `{name}`"), Some(help));
    }
    found
}
