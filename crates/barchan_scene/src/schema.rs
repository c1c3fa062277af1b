//! The JSON Schema of scene files, for editors.

use serde_json::{Map, Value, json};

use crate::shapes::{BESIDE, Content, SHAPES, SMOOTH};
use crate::tables::{SCENE, SOLVER, SOLVER_KIND};
use barchan_world::spec::{DIRECTION, Field, Kind, Need, SolverSpec, TURN, TableSpec};

/// The JSON Schema (draft 2020-12) of scene files for any of `solvers`, made of the tables that the reader uses.
pub fn schema_with(solvers: &[&SolverSpec]) -> Value {
    let mut schema = table(&SCENE);
    schema["properties"]["solver"] = solver(solvers);
    read_by(solvers, &mut schema["properties"]["materials"]["additionalProperties"]);
    read_by(solvers, &mut schema["properties"]["pair"]["items"]);
    schema["$schema"] = json!("https://json-schema.org/draft/2020-12/schema");
    schema["title"] = json!("barchan scene");
    schema["$defs"] = json!({ "shape": shape(), "turn": turn() });
    schema
}

fn table(spec: &TableSpec) -> Value {
    let properties: Map<String, Value> = spec.fields.iter().map(|f| (f.key.to_owned(), field(f))).collect();
    let required: Vec<&str> = spec
        .fields
        .iter()
        .filter(|f| matches!(f.need, Need::Required))
        .map(|f| f.key)
        .collect();
    let mut schema = json!({ "type": "object", "properties": properties, "additionalProperties": false });
    if !required.is_empty() {
        schema["required"] = json!(required);
    }
    let both = |[one, other]: &[&str; 2]| json!({ "not": { "required": [one, other] } });
    if !spec.exclusive.is_empty() {
        schema["allOf"] = spec.exclusive.iter().map(both).collect();
    }
    schema
}

/// Names the solvers that read each key of `table`, where not all of them do.
fn read_by(solvers: &[&SolverSpec], table: &mut Value) {
    let properties = table["properties"].as_object_mut().into_iter().flatten();
    for (key, property) in properties {
        let readers: Vec<&str> = solvers.iter().filter(|s| s.reads(key)).map(|s| s.name).collect();
        if let (Some(help), false) = (property["description"].as_str(), readers.is_empty()) {
            property["description"] = json!(format!("{help}; with {}", readers.join(", ")));
        }
    }
}

/// The choice of a solver, and the settings of each.
fn solver(solvers: &[&SolverSpec]) -> Value {
    let names: Vec<&str> = solvers.iter().map(|solver| solver.name).collect();
    let mut choice = json!({ "type": "string", "enum": names });
    choice["default"] = json!(names.first());
    let about = SOLVER.field(SOLVER_KIND).map(|kind| kind.help);
    choice["description"] = json!(about);
    let mut properties = Map::from_iter([(SOLVER_KIND.to_owned(), choice)]);
    for solver in solvers {
        let mut settings = table(&solver.settings);
        settings["description"] = json!(format!("settings of {solver}"));
        properties.insert(solver.name.to_owned(), settings);
    }
    json!({ "type": "object", "properties": properties, "additionalProperties": false, "description": about })
}

fn field(field: &Field) -> Value {
    let mut schema = kind(&field.kind);
    schema["description"] = json!(field.help);
    let default = match &field.need {
        Need::Required | Need::Optional => return schema,
        Need::Number(x) => json!(x),
        Need::Count(n) => json!(n),
        Need::Flag(flag) => json!(flag),
        Need::Word(word) => json!(word),
        Need::Vector(vector) => json!(vector),
    };
    schema["default"] = default;
    schema
}

fn kind(of: &Kind) -> Value {
    match of {
        Kind::Between(low, high) => number(*low, *high),
        Kind::Count(least, most) => json!({ "type": "integer", "minimum": least, "maximum": most }),
        Kind::Flag => json!({ "type": "boolean" }),
        Kind::Text => json!({ "type": "string" }),
        Kind::Word(words) => json!({ "type": "string", "enum": words }),
        Kind::Vector(low, high) => numbers(3, *low, *high),
        Kind::Axes(low, high) => json!({ "anyOf": [number(*low, *high), numbers(3, *low, *high)] }),
        Kind::Direction => numbers(3, -DIRECTION[1], DIRECTION[1]),
        Kind::Color => json!({ "type": "string", "pattern": "^#([0-9a-fA-F]{3}){1,2}$" }),
        Kind::Range(low, high) => numbers(2, *low, *high),
        Kind::Turn => json!({ "$ref": "#/$defs/turn" }),
        Kind::Shape => json!({ "$ref": "#/$defs/shape" }),
        Kind::Table(spec) => table(spec),
        Kind::NumberOr(number, spec) => json!({ "anyOf": [kind(number), table(spec)] }),
        Kind::List(item) => json!({ "type": "array", "items": kind(item) }),
        Kind::Pair(item) => json!({ "type": "array", "items": kind(item), "minItems": 2, "maxItems": 2 }),
        Kind::Named(spec) => json!({ "type": "object", "additionalProperties": table(spec) }),
        Kind::Solver => table(&SOLVER),
    }
}

fn number(low: f64, high: f64) -> Value {
    json!({ "type": "number", "minimum": low, "maximum": high })
}

fn numbers(count: usize, low: f64, high: f64) -> Value {
    json!({ "type": "array", "items": number(low, high), "minItems": count, "maxItems": count })
}

fn turn() -> Value {
    let about = json!({
        "type": "object",
        "properties": { "axis": kind(&Kind::Direction), "angle": number(-TURN, TURN) },
        "required": ["axis", "angle"],
        "additionalProperties": false,
    });
    json!({ "anyOf": [numbers(3, -TURN, TURN), about] })
}

/// One kind of shape, and where it is put.
fn shape() -> Value {
    let mut properties: Map<String, Value> = SHAPES
        .iter()
        .map(|entry| {
            let mut content = match &entry.content {
                Content::Table(spec) => table(spec),
                Content::Or(kind_of, spec) => json!({ "anyOf": [kind(kind_of), table(spec)] }),
                Content::Shapes => kind(&Kind::List(&Kind::Shape)),
            };
            content["description"] = json!(entry.help);
            (entry.name.to_owned(), content)
        })
        .collect();
    let one_of: Vec<Value> = SHAPES.iter().map(|entry| json!({ "required": [entry.name] })).collect();
    let beside = BESIDE.fields.iter().chain(SMOOTH.fields);
    properties.extend(beside.map(|f| (f.key.to_owned(), field(f))));
    json!({ "type": "object", "properties": properties, "additionalProperties": false, "oneOf": one_of })
}
