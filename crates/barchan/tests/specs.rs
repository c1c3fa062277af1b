//! Specifications of solvers hold together, and the manual shows what they say.

use std::fs;
use std::path::Path;

use barchan::SOLVERS;
use barchan::scene::{Document, parse_scene, schema};
use barchan::world::spec::{Idle, Kind, Need, PRESET, Setting, TableSpec, Unless};

fn fits(kind: &Kind, value: &Setting) -> bool {
    match (kind, value) {
        (Kind::Between(low, high), Setting::Number(x)) => (low..=high).contains(&x),
        (Kind::Count(low, high), Setting::Count(n)) => (low..=high).contains(&n),
        (Kind::Flag, Setting::Flag(_)) => true,
        (Kind::Word(words), Setting::Word(word)) => words.contains(&&**word),
        (Kind::Vector(low, high), Setting::Vector(v)) => v.iter().all(|x| (low..=high).contains(&x)),
        _ => false,
    }
}

fn rule_fits(rule: &Idle, table: &TableSpec, settings: &TableSpec) -> bool {
    let has = |key: &str| table.field(key).is_some();
    has(rule.key)
        && match &rule.unless {
            Unless::Word(other, words) => settings.field(other).is_some_and(|field| {
                let mut words = words.iter().map(|&word| Setting::word(word));
                words.all(|word| fits(&field.kind, &word))
            }),
            Unless::Given(other) | Unless::Missing(other) => has(other),
            Unless::Holds { why, .. } => why.starts_with([' ', ':']),
        }
}

#[test]
fn defaults_presets_and_rules_fit_their_tables() {
    let materials = barchan::scene::SCENE
        .field("materials")
        .and_then(|field| field.kind.table())
        .unwrap();
    for solver in SOLVERS {
        let settings = &solver.settings;
        assert_eq!(settings.name, format!("solver.{solver}"));
        for field in settings.fields {
            let default = field.need.value();
            let is_fit = default.is_none_or(|value| fits(&field.kind, &value));
            assert!(
                is_fit && !matches!(field.need, Need::Required),
                "{solver}.{}",
                field.key
            );
            let needs_unit = matches!(field.kind, Kind::Between(..) | Kind::Vector(..));
            assert!(
                field.unit().is_some() || !needs_unit,
                "{solver}.{} has no unit",
                field.key
            );
        }
        for preset in solver.presets {
            for (key, value) in preset.settings {
                let field = settings.field(key).unwrap_or_else(|| panic!("{solver} has no {key}"));
                assert!(fits(&field.kind, value), "{solver}: {key} of {}", preset.name);
            }
        }
        let names: Vec<&str> = solver.presets.iter().map(|preset| preset.name).collect();
        let chosen = settings.field(PRESET).map(|field| &field.kind);
        let is_known = match chosen {
            Some(Kind::Word(words)) => *words == names,
            _ => names.is_empty(),
        };
        assert!(is_known, "{solver}: {PRESET}");
        for rule in solver.idle {
            assert!(rule_fits(rule, settings, settings), "{solver}: {rule:?}");
        }
        for rule in solver.idle_materials {
            assert!(
                solver.reads(rule.key) && rule_fits(rule, materials, settings),
                "{solver}: {rule:?}"
            );
        }
        for key in solver.materials {
            assert!(materials.field(key).is_some(), "{solver} reads {key}");
        }
        let facts = (solver.facts)(&solver.defaults());
        assert!(facts.steepest > 0.0 && facts.guide_bytes > 0.0, "{solver}: {facts:?}");
        for key in facts
            .passes
            .iter()
            .flat_map(|passes| [Some(passes.most), passes.fewest])
            .flatten()
        {
            assert!(solver.defaults().count(key).is_some(), "{solver}: {key}");
        }
    }
}

/// A scene in which a solver has guides to refuse.
const SAND: &str = "duration = 1\n[materials.sand]\ndensity = 1600\n[[fill]]\nmaterial = \"sand\"\nradius = 0.02\n\
    shape = { box = { size = [0.2, 0.2, 0.2] } }\n[[body]]\nname = \"ground\"\nshape = { half_space = { normal = [0, 0, 1], offset = -1 } }\n";

#[test]
fn every_word_of_every_setting_reaches_its_solver() {
    for solver in SOLVERS {
        for field in solver.settings.fields {
            let Kind::Word(words) = &field.kind else { continue };
            for word in *words {
                let document = Document::new("scene", SAND)
                    .with(format!("solver.kind={solver}"))
                    .with(format!("solver.{solver}.{}={word:?}", field.key));
                let (scene, _) = parse_scene(&document).unwrap_or_else(|problems| panic!("{problems}"));
                barchan::check_settings(&scene).unwrap_or_else(|refusal| panic!("{} = {word}: {refusal}", field.key));
            }
            let (mut scene, _) =
                parse_scene(&Document::new("scene", SAND).with(format!("solver.kind={solver}"))).unwrap();
            scene.solver_settings.set(field.key, Setting::word("nonsense"));
            let refusal = barchan::check_settings(&scene).unwrap_err();
            assert_eq!(
                refusal.reason,
                format!("`{}` cannot be nonsense", field.key),
                "{solver}"
            );
        }
    }
}

#[test]
fn the_schema_names_who_reads_a_key() {
    let schema = schema();
    let of =
        |table: &serde_json::Value, key: &str| table["properties"][key]["description"].as_str().unwrap().to_owned();
    let materials = &schema["properties"]["materials"]["additionalProperties"];
    assert!(of(materials, "cohesion").ends_with("; with sph, dem, mpm"));
    assert!(of(materials, "density").ends_with("[kg/m³]"));
    assert!(of(&schema["properties"]["pair"]["items"], "restitution").ends_with("; with dem"));
}

/// The manual's pages have the settings of each solver between two markers. `BARCHAN_WRITE_DOCS=1` rewrites them.
#[test]
fn the_manual_has_the_settings_of_every_solver() {
    for solver in SOLVERS {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../docs/{solver}.md"));
        let page = fs::read_to_string(&path).unwrap();
        let (begin, end) = (format!("<!-- settings: {solver} -->\n"), "<!-- end of settings -->");
        let (before, rest) = page
            .split_once(&begin)
            .unwrap_or_else(|| panic!("{solver}.md has no {begin}"));
        let (found, after) = rest
            .split_once(end)
            .unwrap_or_else(|| panic!("{solver}.md has no {end}"));
        let wanted = format!("\n{}\n", solver.manual());
        if std::env::var_os("BARCHAN_WRITE_DOCS").is_some() {
            fs::write(&path, format!("{before}{begin}{wanted}{end}{after}")).unwrap();
        } else {
            assert!(
                found == wanted,
                "docs/{solver}.md is stale: run this test with BARCHAN_WRITE_DOCS=1"
            );
        }
    }
}
