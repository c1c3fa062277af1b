//! `barchan check`, `barchan scenes`, `barchan schema`: commands on scenes that run nothing.

use barchan::geometry::text::counted;
use barchan::scene::{BUILT_IN, Diagnostic, Document, Place, Severity, parse_scene, schema};
use barchan::{Forecast, doubts, mass_note, mesh_bytes, surface_bytes, try_start};
use clap::Args;
use serde_json::json;

use crate::disk::size;
use crate::failure::Failure;
use crate::memory;
use crate::scene::SceneArguments;

/// Check a scene without running it.
#[derive(Args)]
pub struct CheckArguments {
    #[command(flatten)]
    scene: SceneArguments,

    /// Print one JSON object per problem
    #[arg(long)]
    json: bool,
}

pub fn check(arguments: &CheckArguments) -> Result<(), Failure> {
    let document = arguments.scene.document()?;
    let mut found = Found {
        document: &document,
        is_json: arguments.json,
        errors: 0,
        warnings: 0,
    };
    let (scene, items) = match parse_scene(&document) {
        Ok((scene, warnings)) => (Some(scene), warnings),
        Err(errors) => (None, errors.items),
    };
    items.iter().for_each(|item| found.print(item));
    if let Some(scene) = &scene {
        doubts(scene).iter().for_each(|item| found.print(item));
        match try_start(scene) {
            Ok((world, mut needs)) => {
                world.warnings.iter().for_each(|text| found.warn(text));
                needs.cache += surface_bytes(mesh_bytes(&world));
                print_needs(&needs, arguments.json);
            }
            Err(reason) => found.reject(reason.place(), &reason.to_string()),
        }
    }
    found.finish()
}

/// Problems of a scene, printed as they are found.
struct Found<'a> {
    document: &'a Document,
    is_json: bool,
    errors: usize,
    warnings: usize,
}

impl Found<'_> {
    fn print(&mut self, item: &Diagnostic) {
        let is_error = item.severity == Severity::Error;
        self.errors += usize::from(is_error);
        self.warnings += usize::from(!is_error);
        if !self.is_json {
            tell!("{}\n", item.render(self.document));
            return;
        }
        let place = match self.document.place(item.span.start) {
            Place::Text { line, column } => Some([line, column]),
            Place::Override(_) => None,
        };
        self.row(is_error, place, &item.message, item.help.as_deref());
    }

    /// Prints a warning of the build, which begins with its place.
    fn warn(&mut self, text: &str) {
        self.warnings += 1;
        if self.is_json {
            self.row(false, self.place_of(Some(text)), text, None);
        } else {
            tell!("warning: {text}\n");
        }
    }

    /// Line and column that `text` begins with, as `FILE:LINE:COLUMN`.
    fn place_of(&self, text: Option<&str>) -> Option<[usize; 2]> {
        let numbers = text?.strip_prefix(self.document.name.as_str())?.strip_prefix(':')?;
        let mut numbers = numbers.split(':').map(|number| number.parse().ok());
        Some([numbers.next()??, numbers.next()??])
    }

    /// Prints the reason why a run would be rejected; `place` is `FILE:LINE:COLUMN`.
    fn reject(&mut self, place: Option<&str>, reason: &str) {
        self.errors += 1;
        if !self.is_json {
            match place {
                Some(_) => tell!("error: {reason}\n"),
                None => tell!("error: {}: {reason}\n", self.document.name),
            }
            return;
        }
        self.row(true, self.place_of(place), reason, None);
    }

    fn row(&self, is_error: bool, place: Option<[usize; 2]>, message: &str, help: Option<&str>) {
        let row = json!({
            "severity": if is_error { "error" } else { "warning" },
            "file": self.document.name,
            "line": place.map(|place| place[0]),
            "column": place.map(|place| place[1]),
            "message": message,
            "help": help,
        });
        say!("{row}");
    }

    fn finish(self) -> Result<(), Failure> {
        let Self {
            document,
            is_json,
            errors,
            warnings,
        } = self;
        if errors > 0 {
            let counts = [counted(errors, "error"), counted(warnings, "warning")];
            return Err(Failure::input(format!("{}: {}", document.name, counts.join(", "))));
        }
        if !is_json {
            say!("{}: good, {}", document.name, counted(warnings, "warning"));
        }
        Ok(())
    }
}

/// Prints the resources of a run.
fn print_needs(needs: &Forecast, is_json: bool) {
    let guides = needs.filled + needs.emitted;
    if is_json {
        let row = json!({
            "frames": needs.frames,
            "guides": guides.round(),
            "emitted_guides": needs.emitted.round(),
            "grains": needs.grains.round(),
            "memory_bytes": needs.memory.round(),
            "cache_bytes": needs.cache,
            "fill_kg": needs.masses.map(|masses| masses[0]),
            "bulk_kg": needs.masses.map(|masses| masses[1]),
        });
        say!("{row}");
        return;
    }
    let of_emitters = match needs.emitted > 0.0 {
        true => format!(" ({} from emitters)", about(needs.emitted)),
        false => String::new(),
    };
    say!(
        "about {}{of_emitters}, {}, {} of memory; {}, {} of cache",
        about_counted(guides, "guide"),
        about_counted(needs.grains, "grain"),
        size(needs.memory as u64),
        counted(needs.frames, "frame"),
        size(needs.cache)
    );
    if let Some(note) = needs.masses.and_then(|[mass, bulk]| mass_note(mass, bulk)) {
        say!("about: {note}");
    }
    if let Some(free) = memory::available().filter(|&free| needs.memory > free as f64) {
        tell!("warning: {} of memory are free", size(free));
    }
}

/// Formats a number to three digits, with its noun.
fn about_counted(count: f64, noun: &str) -> String {
    let text = about(count);
    let ending = if text == "1" { "" } else { "s" };
    format!("{text} {noun}{ending}")
}

/// Formats a number to three digits.
fn about(count: f64) -> String {
    let digits = count.max(1.0).log10().floor() as i32 - 2;
    let unit = 10f64.powi(digits.max(0));
    let text = format!("{:.0}", (count / unit).round() * unit);
    let groups: Vec<&str> = text
        .as_bytes()
        .rchunks(3)
        .rev()
        .filter_map(|g| str::from_utf8(g).ok())
        .collect();
    groups.join(",")
}

/// List the built-in scenes.
#[derive(Args)]
pub struct ScenesArguments {
    /// Print one JSON object per scene
    #[arg(long)]
    json: bool,
}

pub fn scenes(arguments: &ScenesArguments) {
    let width = BUILT_IN.iter().map(|scene| scene.name.len()).max().unwrap_or(0);
    for scene in BUILT_IN {
        match arguments.json {
            true => say!("{}", json!({ "name": scene.name, "about": scene.about })),
            false => say!("{:width$}  {}", scene.name, scene.about),
        }
    }
}

pub fn print_schema() {
    say!("{:#}", schema());
}
