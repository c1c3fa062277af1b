use barchan_scene::{Document, parse_shape};
use glam::DVec3;
use proptest::prelude::*;

use crate::right::{RIGHT, distance};
use crate::wrong::WRONG;

#[test]
fn deep_nesting_is_an_error() {
    let inline = |depth: usize| {
        let (open, close) = ("{ union = [".repeat(depth), "] }".repeat(depth));
        format!("{open}{{ sphere = {{ radius = 1 }} }}{close}")
    };
    assert_eq!(distance(&inline(30), [3.0, 0.0, 0.0]), 2.0);
    for depth in [60, 10_000] {
        assert!(parse_shape(&Document::new("shape", inline(depth))).is_err());
    }
    // Headers reach deeper than brackets before TOML itself stops them.
    let headers = |depth: usize| {
        let header = |k: usize| format!("[[{}]]\n", vec!["union"; k].join("."));
        let all: String = (1..depth).map(header).collect();
        all + "sphere.radius = 1"
    };
    assert_eq!(distance(&headers(64), [3.0, 0.0, 0.0]), 2.0);
    let problems = parse_shape(&Document::new("shape", headers(65))).unwrap_err();
    assert_eq!(
        problems.items[0].message,
        "shapes may be nested 64 deep, this is one more"
    );
}

/// Reads a text; whatever is wrong with it can be shown, and its places lie in the text.
fn survives(text: String) {
    let document = Document::new("shape", text);
    match parse_shape(&document) {
        Ok(parsed) => {
            let bounds = parsed.shape.bounds();
            assert!(!bounds.min.is_nan() && !bounds.max.is_nan());
            assert!(!parsed.shape.normal(DVec3::new(0.1, 0.2, 0.3)).is_nan());
        }
        Err(problems) => {
            assert!(!problems.items.is_empty() && problems.to_string().contains("error: "));
            assert!(problems.items.iter().all(|item| item.span.start <= document.text.len()));
        }
    }
}

fn any_case() -> impl Strategy<Value = &'static str> {
    let texts: Vec<_> = RIGHT
        .iter()
        .map(|case| case.0)
        .chain(WRONG.iter().map(|case| case.0))
        .collect();
    prop::sample::select(texts)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn no_text_makes_it_panic(text in any::<String>()) {
        survives(text);
    }

    #[test]
    fn no_text_of_toml_characters_makes_it_panic(text in "[a-z0-9={}\\[\\]\",.\\-_#é\n ]{0,60}") {
        survives(text);
    }

    #[test]
    fn no_mutation_of_a_text_makes_it_panic(
        text in any_case(), cuts in prop::collection::vec((any::<prop::sample::Index>(), 0usize..4, "[-\\[\\]{}=,.0-9\"enül\n]{0,3}"), 1..4),
    ) {
        let mut characters: Vec<char> = text.chars().collect();
        for (at, removed, inserted) in cuts {
            let start = at.index(characters.len() + 1);
            let end = (start + removed).min(characters.len());
            characters.splice(start..end, inserted.chars());
        }
        survives(characters.into_iter().collect());
    }

    #[test]
    fn no_splice_of_two_texts_makes_it_panic(one in any_case(), other in any_case(), cut: prop::sample::Index) {
        let both = format!("{one}{other}");
        let at = both.floor_char_boundary(cut.index(both.len() + 1));
        survives(format!("{}{}", &both[at..], &both[..at]));
    }
}
