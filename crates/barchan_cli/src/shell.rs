//! Command lines that a user can paste into a shell.

use std::path::Path;

/// Quotes `word` for a POSIX shell.
pub fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "-_./=:,+".contains(c);
    match !word.is_empty() && word.chars().all(is_plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

/// Quotes `path` for a shell, so that no program mistakes it for an option.
pub fn quoted_path(path: &Path) -> String {
    let text = path.to_string_lossy();
    match text.starts_with('-') {
        true => quoted(&format!("./{text}")),
        false => quoted(&text),
    }
}

/// Joins words into a command line.
pub fn command(words: impl Iterator<Item = String>) -> String {
    words.map(|word| quoted(&word)).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_where_a_shell_would_split_or_expand_them() {
        for word in ["", "a b", "it's", "$HOME", "a*", "~", "x;y", "caches/a", "größe"] {
            let script = format!("printf %s {}", quoted(word));
            let output = std::process::Command::new("sh").args(["-c", &script]).output().unwrap();
            assert_eq!(String::from_utf8(output.stdout).unwrap(), word);
        }
        assert_eq!(quoted("caches/a-1.2"), "caches/a-1.2");
        assert_eq!(quoted_path(Path::new("-x")), "./-x");
    }
}
