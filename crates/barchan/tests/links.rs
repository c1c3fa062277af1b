//! Pages for users: links resolve, every page is in the book, no diary.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Returns the Markdown files below `folder`, relative to the root of the repository.
fn pages_below(folder: &str) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(root().join(folder)).unwrap() {
        let entry = entry.unwrap();
        let path = format!("{folder}/{}", entry.file_name().to_str().unwrap());
        if entry.path().is_dir() {
            found.extend(pages_below(&path));
        } else if path.ends_with(".md") {
            found.push(path);
        }
    }
    found
}

fn pages() -> Vec<String> {
    let top = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md"];
    let mut pages: Vec<String> = top.map(str::to_owned).into();
    pages.extend(pages_below("docs"));
    pages.extend(pages_below("integrations"));
    pages
}

/// Returns the lines outside of fenced code blocks.
fn prose(text: &str) -> Vec<&str> {
    let mut in_code = false;
    let mut lines = Vec::new();
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            in_code = !in_code;
        } else if !in_code {
            lines.push(line);
        }
    }
    lines
}

/// Removes the text between backticks.
fn without_code(line: &str) -> String {
    line.split('`').step_by(2).collect()
}

/// Returns the targets of the links and pictures of a page.
fn links(text: &str) -> Vec<String> {
    let lines: Vec<String> = prose(text).into_iter().map(without_code).collect();
    let starts = lines.iter().flat_map(|line| line.split("](").skip(1));
    starts
        .filter_map(|rest| rest.split_once(')'))
        .map(|(target, _)| target.to_owned())
        .collect()
}

/// Returns the anchors of the headings of a page, as code hosts and mdBook make them.
fn anchors(text: &str) -> BTreeSet<String> {
    let headings = prose(text).into_iter().filter(|line| line.starts_with('#'));
    let anchor = |heading: &str| {
        let title = heading.trim_start_matches('#').trim().to_lowercase();
        let kept = title.chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
        kept.map(|c| if c == ' ' { '-' } else { c }).collect()
    };
    headings.map(anchor).collect()
}

#[test]
fn links_and_their_anchors_resolve() {
    let mut count = 0;
    for page in pages() {
        let text = fs::read_to_string(root().join(&page)).unwrap();
        for link in links(&text) {
            if link.starts_with("https://") || link.starts_with("http://") {
                continue;
            }
            count += 1;
            let (path, anchor) = link.split_once('#').unwrap_or((&link, ""));
            let folder = root().join(Path::new(&page).parent().unwrap());
            let target = if path.is_empty() {
                root().join(&page)
            } else {
                folder.join(path)
            };
            assert!(target.exists(), "{page} links to {link}");
            if !anchor.is_empty() {
                let there = anchors(&fs::read_to_string(&target).unwrap());
                assert!(there.contains(anchor), "{page} links to {link}; headings: {there:?}");
            }
        }
    }
    assert!(count > 50, "only {count} links found: is the search broken?");
}

#[test]
fn the_book_has_every_page_once() {
    let summary = fs::read_to_string(root().join("docs/SUMMARY.md")).unwrap();
    let mut listed = links(&summary);
    listed.sort();
    let mut pages: Vec<String> = pages_below("docs")
        .iter()
        .map(|page| page["docs/".len()..].to_owned())
        .filter(|page| page != "SUMMARY.md")
        .collect();
    pages.sort();
    assert_eq!(listed, pages);
}

/// Returns true if a word looks like a commit hash.
fn is_hash(word: &str) -> bool {
    (7..=40).contains(&word.len())
        && word.chars().all(|c| c.is_ascii_digit() || ('a'..='f').contains(&c))
        && word.contains(|c: char| c.is_ascii_digit())
        && word.contains(|c: char| c.is_ascii_lowercase())
}

#[test]
fn pages_name_no_commits() {
    for page in pages() {
        let text = fs::read_to_string(root().join(&page)).unwrap();
        let hash = text
            .split(|c: char| !c.is_ascii_alphanumeric())
            .find(|word| is_hash(word));
        assert_eq!(hash, None, "{page}");
    }
}

#[test]
fn the_readme_is_short() {
    let text = fs::read_to_string(root().join("README.md")).unwrap();
    let words: usize = text
        .lines()
        .filter(|line| !line.starts_with('|'))
        .map(|line| line.split_whitespace().count())
        .sum();
    assert!(words <= 600, "{words} words besides tables");
}

/// Returns the names of Markdown files in `text`, with their folders.
fn named_pages(text: &str) -> Vec<&str> {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '.' | '/' | '_' | '-');
    let words = text.split(|c: char| !is_part(c)).map(|word| word.trim_end_matches('.'));
    words.filter(|word| word.len() > 3 && word.ends_with(".md")).collect()
}

/// Returns the text files below `folder`.
fn texts_below(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let ending = path.extension().and_then(|e| e.to_str()).unwrap_or_default();
        if path.is_dir() {
            found.extend(texts_below(&path));
        } else if ["rs", "md", "toml", "wgsl"].contains(&ending) {
            found.push(path);
        }
    }
    found
}

/// Pages that programs write and that are no part of the repository.
const WRITTEN: &[&str] = &["table.md"];

#[test]
fn documents_that_comments_and_pages_name_exist() {
    let known: Vec<String> = pages();
    let exists = |name: &str| {
        known
            .iter()
            .any(|page| page == name || page.ends_with(&format!("/{name}")))
    };
    let folders = ["crates", "docs", "scenes"].map(|folder| texts_below(&root().join(folder)));
    let top = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md"].map(|page| root().join(page));
    let (mut named, mut methods) = (0, Vec::new());
    for file in folders.into_iter().flatten().chain(top) {
        // This file names some that do not exist, to test the search.
        if file.ends_with("tests/links.rs") {
            continue;
        }
        let text = fs::read_to_string(&file).unwrap();
        for name in named_pages(&text) {
            let name = name
                .trim_start_matches("../")
                .trim_start_matches("./")
                .trim_start_matches('/');
            assert!(
                exists(name) || WRITTEN.contains(&name),
                "{} names {name}",
                file.display()
            );
            named += 1;
        }
        // A numbered section of a document that is not here: "methods 6.4", "methods F-B2".
        for (_, rest) in text
            .match_indices("methods ")
            .map(|(at, word)| (at, &text[at + word.len()..]))
        {
            let next: Vec<char> = rest.chars().take(3).collect();
            let is_section = matches!(next[..], [a, '.', b] if a.is_ascii_digit() && b.is_ascii_digit())
                || matches!(next[..], [a, '-', b] if a.is_ascii_uppercase() && b.is_ascii_uppercase());
            if is_section {
                methods.push(file.clone());
            }
        }
    }
    assert!(named > 50, "only {named} names found: is the search broken?");
    assert!(
        methods.is_empty(),
        "sections of a document that is not here: {methods:?}"
    );
}

#[test]
fn names_of_pages_are_found_in_prose_and_links() {
    let text = "see docs/cache.md, [book](../design.md#top) and `README.md`. Not .md, not a.mdx";
    assert_eq!(named_pages(text), ["docs/cache.md", "../design.md", "README.md"]);
}
