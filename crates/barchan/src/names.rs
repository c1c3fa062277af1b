//! File names from names in scenes.

/// Longest file name that [`file_name`] returns [bytes]; leaves room for extensions and temporary suffixes.
const MAX_BYTES: usize = 100;

/// Converts a scene's or body's name, which may be any text, to a file name.
///
/// The result is one path component that no program mistakes for an option, a hidden file or an address: separators,
/// colons, control characters and those that Windows forbids become `-`; leading dots, dashes and spaces are removed.
/// It has 1 to 100 bytes.
///
/// ```
/// use barchan::file_name;
///
/// assert_eq!(file_name("Düne 2"), "Düne 2");
/// assert_eq!(file_name("tcp:localhost:80"), "tcp-localhost-80");
/// assert_eq!(file_name("../../etc/passwd"), "etc-passwd");
/// assert_eq!(file_name("--"), "scene");
/// ```
pub fn file_name(name: &str) -> String {
    let is_plain = |c: char| !(c.is_control() || r#"/\:*?"<>|"#.contains(c) || is_invisible(c));
    let plain: String = name.chars().map(|c| if is_plain(c) { c } else { '-' }).collect();
    let plain = plain.trim_start_matches(|c: char| c == '-' || c == '.' || c.is_whitespace());
    let short = &plain[..plain.floor_char_boundary(MAX_BYTES)];
    match short.trim_end_matches(|c: char| c == '.' || c.is_whitespace()) {
        "" => "scene".to_owned(),
        safe => safe.to_owned(),
    }
}

/// Returns true if `c` changes the display of the characters around it: line separators, directional marks and
/// overrides.
fn is_invisible(c: char) -> bool {
    matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_name_becomes_one_plain_component() {
        let long = "ü".repeat(400);
        let names = [
            "",
            ".",
            "..",
            "/",
            "-",
            "-report",
            "--x",
            ". .",
            "tcp:127.0.0.1:9",
            "file:x",
            "C:\\sand",
            "a/b/../c",
            "...hidden",
            " - .bashrc",
            "line\nbreak",
            "nul\0byte",
            "\u{7f}\u{85}",
            "\u{202e}gpj.exe",
            "a|b",
            "pipe:1",
            "*",
            "x.",
            "x ",
            long.as_str(),
            "-\u{200b}-",
        ];
        for name in names {
            let safe = file_name(name);
            let path = std::path::Path::new(&safe);
            assert!((1..=MAX_BYTES).contains(&safe.len()), "{name:?}: {safe:?}");
            assert_eq!(
                path.file_name().map(|n| n.to_str().unwrap()),
                Some(safe.as_str()),
                "{name:?}: {safe:?}"
            );
            assert!(
                !safe.starts_with(['-', '.', ' ']) && !safe.ends_with(['.', ' ']),
                "{name:?}: {safe:?}"
            );
            assert!(
                !safe.contains(|c: char| c.is_control() || ":/\\|".contains(c)),
                "{name:?}: {safe:?}"
            );
            assert_eq!(file_name(&safe), safe, "{name:?}");
        }
        for plain in ["hourglass", "my scene 2", "砂", "v1.2_final-b"] {
            assert_eq!(file_name(plain), plain);
        }
    }
}
