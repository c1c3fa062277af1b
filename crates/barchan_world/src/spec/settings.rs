//! Values of settings.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

use thiserror::Error;

use super::table::{Kind, Need, TableSpec};

/// Value of a setting.
#[derive(Clone, Debug, PartialEq)]
pub enum Setting {
    /// A number.
    Number(f64),
    /// A whole number.
    Count(u64),
    /// `true` or `false`.
    Flag(bool),
    /// A word.
    Word(Cow<'static, str>),
    /// Three numbers.
    Vector([f64; 3]),
}

impl Setting {
    /// A word, in a table of constants.
    pub const fn word(word: &'static str) -> Self {
        Self::Word(Cow::Borrowed(word))
    }
}

impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(x) => write!(f, "{x}"),
            Self::Count(n) => write!(f, "{n}"),
            Self::Flag(flag) => write!(f, "{flag}"),
            Self::Word(word) => f.write_str(word),
            Self::Vector([x, y, z]) => write!(f, "[{x}, {y}, {z}]"),
        }
    }
}

/// Settings of a solver or of the grains, defaults filled in.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Settings {
    values: BTreeMap<String, Setting>,
}

/// Setting that is missing or of another type.
#[derive(Clone, Debug, Error, PartialEq)]
#[error("`{key}` cannot be {}", found.as_ref().map_or_else(|| "left out".to_owned(), ToString::to_string))]
pub struct SettingError {
    /// Its key.
    pub key: String,
    /// Its value, if it has one.
    pub found: Option<Setting>,
}

/// Type that a setting can be read as.
pub trait FromSetting: Sized {
    /// Returns the value of a setting; nothing if it does not fit.
    fn from_setting(setting: Option<&Setting>) -> Option<Self>;
}

impl FromSetting for f64 {
    fn from_setting(setting: Option<&Setting>) -> Option<Self> {
        match setting? {
            Setting::Number(x) => Some(*x),
            Setting::Count(n) => Some(*n as Self),
            _ => None,
        }
    }
}

impl FromSetting for f32 {
    fn from_setting(setting: Option<&Setting>) -> Option<Self> {
        f64::from_setting(setting).map(|x| x as Self)
    }
}

impl FromSetting for u32 {
    fn from_setting(setting: Option<&Setting>) -> Option<Self> {
        match setting? {
            Setting::Count(n) => Self::try_from(*n).ok(),
            _ => None,
        }
    }
}

impl FromSetting for bool {
    fn from_setting(setting: Option<&Setting>) -> Option<Self> {
        match setting? {
            Setting::Flag(flag) => Some(*flag),
            _ => None,
        }
    }
}

impl FromSetting for [f64; 3] {
    fn from_setting(setting: Option<&Setting>) -> Option<Self> {
        match setting? {
            Setting::Vector(v) => Some(*v),
            _ => None,
        }
    }
}

/// A setting that may be left out.
impl<T: FromSetting> FromSetting for Option<T> {
    fn from_setting(setting: Option<&Setting>) -> Option<Self> {
        match setting {
            None => Some(None),
            given => T::from_setting(given).map(Some),
        }
    }
}

impl FromIterator<(String, Setting)> for Settings {
    fn from_iter<I: IntoIterator<Item = (String, Setting)>>(values: I) -> Self {
        Self {
            values: values.into_iter().collect(),
        }
    }
}

impl Settings {
    /// Returns the settings of `table` where nothing is given.
    pub fn defaults(table: &TableSpec) -> Self {
        let fields = table.fields.iter();
        fields
            .filter_map(|field| Some((field.key.to_owned(), field.need.value()?)))
            .collect()
    }

    /// Gives `key` another value.
    pub fn set(&mut self, key: &str, value: Setting) {
        self.values.insert(key.to_owned(), value);
    }

    /// Returns every setting with its value, by key.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Setting)> {
        self.values.iter().map(|(key, value)| (key.as_str(), value))
    }

    /// Reads the setting `key` as a `T`: a number, a flag, a vector, an enum of [`words!`](crate::words), or an `Option` of one.
    pub fn get<T: FromSetting>(&self, key: &str) -> Result<T, SettingError> {
        let found = self.values.get(key);
        T::from_setting(found).ok_or_else(|| SettingError {
            key: key.to_owned(),
            found: found.cloned(),
        })
    }

    /// Fails at a word that `table` does not have: a program may set any.
    pub fn check_words(&self, table: &TableSpec) -> Result<(), SettingError> {
        let is_unknown = |(key, value): &(&String, &Setting)| match (table.field(key).map(|f| &f.kind), value) {
            (Some(Kind::Word(words)), Setting::Word(word)) => !words.contains(&&**word),
            (Some(Kind::Word(_)), _) => true,
            _ => false,
        };
        match self.values.iter().find(is_unknown) {
            None => Ok(()),
            Some((key, value)) => Err(SettingError {
                key: key.clone(),
                found: Some(value.clone()),
            }),
        }
    }

    /// Returns the number `key`, whole or not, if it is given or has a default.
    pub fn number(&self, key: &str) -> Option<f64> {
        self.get(key).ok()
    }

    /// Returns the whole number `key`.
    pub fn count(&self, key: &str) -> Option<u64> {
        match self.values.get(key)? {
            Setting::Count(n) => Some(*n),
            _ => None,
        }
    }

    /// Returns the flag `key`.
    pub fn flag(&self, key: &str) -> Option<bool> {
        self.get(key).ok()
    }

    /// Returns the word `key`.
    pub fn word(&self, key: &str) -> Option<&str> {
        match self.values.get(key)? {
            Setting::Word(word) => Some(word),
            _ => None,
        }
    }
}

impl Need {
    /// Returns the value that a missing key counts as.
    pub fn value(&self) -> Option<Setting> {
        Some(match self {
            Self::Number(x) => Setting::Number(*x),
            Self::Count(n) => Setting::Count(*n),
            Self::Flag(flag) => Setting::Flag(*flag),
            Self::Word(word) => Setting::word(word),
            Self::Vector(v) => Setting::Vector(*v),
            Self::Required | Self::Optional => return None,
        })
    }
}
