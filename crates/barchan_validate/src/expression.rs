//! Arithmetic in experiment files: laws, bands and lengths of scenes as expressions of named parameters.
//!
//! `+ - * / ^`, parentheses, `sqrt sin cos tan atan exp ln abs min max less` and the constants `pi` and `g` = 9.81 m/s². Angles are
//! degrees, as in scene files: `tan(30)` is 0.577. `less(x, y)` is 1 where x < y and 0 elsewhere, for laws of two parts.

use std::collections::BTreeMap;

use thiserror::Error;

/// Gravitational acceleration [m/s²].
pub const GRAVITY: f64 = 9.81;

/// A text that is not an expression, or has no value.
#[derive(Clone, Debug, Error, PartialEq)]
#[error("`{text}`: {reason}")]
pub struct ExpressionError {
    /// The expression.
    pub text: String,
    /// The error.
    pub reason: String,
}

/// Named values, each an expression of the others.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Parameters(BTreeMap<String, String>);

/// Largest depth of nested names.
const MAX_DEPTH: usize = 20;

impl Parameters {
    /// Sets or replaces `name`.
    pub fn set(&mut self, name: &str, expression: impl Into<String>) {
        self.0.insert(name.to_owned(), expression.into());
    }

    /// Returns these parameters, with those of `others` on top.
    #[must_use]
    pub fn with(&self, others: &Self) -> Self {
        let mut all = self.0.clone();
        all.extend(others.0.iter().map(|(k, v)| (k.clone(), v.clone())));
        Self(all)
    }

    /// Evaluates `text`.
    pub fn value(&self, text: &str) -> Result<f64, ExpressionError> {
        self.value_at(text, 0).map_err(|reason| ExpressionError {
            text: text.to_owned(),
            reason,
        })
    }

    fn value_at(&self, text: &str, depth: usize) -> Result<f64, String> {
        if depth > MAX_DEPTH {
            return Err("its names lead in a circle".to_owned());
        }
        let mut parser = Parser {
            rest: text,
            names: self,
            depth,
        };
        let value = parser.sum()?;
        match parser.rest.trim_start() {
            "" => Ok(value),
            rest => Err(format!("does not end before `{rest}`")),
        }
    }

    /// Replaces every `$(expression)` in `text` by its value.
    pub fn fill(&self, text: &str) -> Result<String, ExpressionError> {
        let mut filled = String::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once("$(") {
            filled.push_str(before);
            let mut open = 1;
            let end = after.find(|c| {
                open += match c {
                    '(' => 1,
                    ')' => -1,
                    _ => 0,
                };
                open == 0
            });
            let end = end.ok_or_else(|| ExpressionError {
                text: after.chars().take(20).collect(),
                reason: "has no closing parenthesis".to_owned(),
            })?;
            filled.push_str(&self.value(&after[..end])?.to_string());
            rest = &after[end + 1..];
        }
        Ok(filled + rest)
    }
}

struct Parser<'a> {
    rest: &'a str,
    names: &'a Parameters,
    depth: usize,
}

impl<'a> Parser<'a> {
    fn take(&mut self, signs: &[char]) -> Option<char> {
        self.rest = self.rest.trim_start();
        let found = self.rest.chars().next().filter(|c| signs.contains(c))?;
        self.rest = &self.rest[1..];
        Some(found)
    }

    fn sum(&mut self) -> Result<f64, String> {
        let mut value = self.product()?;
        while let Some(sign) = self.take(&['+', '-']) {
            let next = self.product()?;
            value += if sign == '+' { next } else { -next };
        }
        Ok(value)
    }

    fn product(&mut self) -> Result<f64, String> {
        let mut value = self.power()?;
        while let Some(sign) = self.take(&['*', '/']) {
            let next = self.power()?;
            value = if sign == '*' { value * next } else { value / next };
        }
        Ok(value)
    }

    fn power(&mut self) -> Result<f64, String> {
        if self.take(&['-']).is_some() {
            return Ok(-self.power()?);
        }
        let base = self.atom()?;
        match self.take(&['^']) {
            Some(_) => Ok(base.powf(self.power()?)),
            None => Ok(base),
        }
    }

    fn atom(&mut self) -> Result<f64, String> {
        if self.take(&['(']).is_some() {
            let value = self.sum()?;
            return self.close().map(|()| value);
        }
        let word = self.word();
        if word.starts_with(|c: char| c.is_ascii_digit() || c == '.') {
            return word.parse().map_err(|_| format!("`{word}` is no number"));
        }
        if word.is_empty() {
            return Err(format!("a value is missing before `{}`", self.rest));
        }
        if self.take(&['(']).is_none() {
            return self.name(word);
        }
        let first = self.sum()?;
        let second = match self.take(&[',']) {
            Some(_) => Some(self.sum()?),
            None => None,
        };
        self.close()?;
        call(word, first, second)
    }

    fn close(&mut self) -> Result<(), String> {
        self.take(&[')'])
            .map(|_| ())
            .ok_or_else(|| "has no closing parenthesis".to_owned())
    }

    /// Reads a number or a name.
    fn word(&mut self) -> &'a str {
        self.rest = self.rest.trim_start();
        let number = self.rest.starts_with(|c: char| c.is_ascii_digit() || c == '.');
        let mut last = ' ';
        let end = self.rest.find(|c: char| {
            let exponent = number && "+-".contains(c) && "eE".contains(last);
            last = c;
            !(c.is_ascii_alphanumeric() || c == '_' || c == '.' || exponent)
        });
        let (word, rest) = self.rest.split_at(end.unwrap_or(self.rest.len()));
        self.rest = rest;
        word
    }

    fn name(&self, name: &str) -> Result<f64, String> {
        match self.names.0.get(name) {
            Some(text) => self.names.value_at(text, self.depth + 1),
            None => match name {
                "pi" => Ok(std::f64::consts::PI),
                "g" => Ok(GRAVITY),
                _ => Err(format!("there is no `{name}`")),
            },
        }
    }
}

fn call(function: &str, x: f64, y: Option<f64>) -> Result<f64, String> {
    match (function, y) {
        ("sqrt", None) => Ok(x.sqrt()),
        ("sin", None) => Ok(x.to_radians().sin()),
        ("cos", None) => Ok(x.to_radians().cos()),
        ("tan", None) => Ok(x.to_radians().tan()),
        ("atan", None) => Ok(x.atan().to_degrees()),
        ("exp", None) => Ok(x.exp()),
        ("ln", None) => Ok(x.ln()),
        ("abs", None) => Ok(x.abs()),
        ("min", Some(y)) => Ok(x.min(y)),
        ("max", Some(y)) => Ok(x.max(y)),
        ("less", Some(y)) => Ok(f64::from(u8::from(x < y))),
        _ => Err(format!("there is no function `{function}` of that many values")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(pairs: &[(&str, &str)]) -> Parameters {
        let mut parameters = Parameters::default();
        for (name, expression) in pairs {
            parameters.set(name, *expression);
        }
        parameters
    }

    #[test]
    fn arithmetic_follows_its_rules() {
        let none = Parameters::default();
        let cases = [
            ("1 + 2 * 3 - 4 / 2", 5.0),
            ("-2^2", -4.0),
            ("2^-1^2 + 2^3^2", 512.5),
            ("(1 + 2) * -3", -9.0),
            ("1e-3 + 2.5E+2", 250.001),
            ("sqrt(16) + min(3, 2) + max(1, abs(-7))", 13.0),
            ("tan(45) + atan(1) + sin(30) + cos(60)", 47.0),
            ("ln(exp(2)) * g", 19.62),
            ("less(1, 2) * 5 + less(2, 2) * 7", 5.0),
        ];
        for (text, expected) in cases {
            let value = none.value(text).unwrap();
            assert!((value - expected).abs() < 1e-12, "{text} = {value}");
        }
    }

    #[test]
    fn names_are_expressions_of_names() {
        let parameters = of(&[("d", "2 * r"), ("r", "0.01"), ("height", "15 * d")]);
        assert!((parameters.value("height / d").unwrap() - 15.0).abs() < 1e-12);
        let smaller = parameters.with(&of(&[("r", "0.005")]));
        assert!((smaller.value("height").unwrap() - 0.15).abs() < 1e-12);
    }

    #[test]
    fn mistakes_are_told_and_never_panic() {
        let circle = of(&[("a", "b"), ("b", "a")]);
        for text in [
            "a",
            "1 +",
            "(1",
            "2 3",
            "nothing",
            "sqrt(1, 2)",
            "é",
            "1.2.3",
            "",
            "f(",
            "1e",
        ] {
            assert!(circle.value(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_scene_is_filled_with_values() {
        let parameters = of(&[("d", "0.02")]);
        let filled = parameters.fill("radius = $(d / (1 + 1)), at = [0, 0, $(3*d)]").unwrap();
        assert_eq!(filled, "radius = 0.01, at = [0, 0, 0.06]");
        assert!(parameters.fill("$(d").is_err());
    }
}
