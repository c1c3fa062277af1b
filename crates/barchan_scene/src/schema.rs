//! The JSON Schema of scene files, for editors.

use serde_json::{Map, Value, json};

use crate::field::{Field, Kind, Need, TableSpec};
use crate::shapes::SHAPES;
use crate::tables::SCENE;

/// The JSON Schema (draft 2020-12) of scene files, made of the tables that the reader uses.
pub fn schema() -> Value {
    let mut schema = table(&SCENE);
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
        Kind::Number => json!({ "type": "number" }),
        Kind::Positive => json!({ "type": "number", "exclusiveMinimum": 0 }),
        Kind::NotNegative => json!({ "type": "number", "minimum": 0 }),
        Kind::Between(low, high) => json!({ "type": "number", "minimum": low, "maximum": high }),
        Kind::Count(least, most) => json!({ "type": "integer", "minimum": least, "maximum": most }),
        Kind::Flag => json!({ "type": "boolean" }),
        Kind::Text => json!({ "type": "string" }),
        Kind::Word(words) => json!({ "type": "string", "enum": words }),
        Kind::Vector | Kind::Direction => numbers(3),
        Kind::Color => json!({ "type": "string", "pattern": "^#([0-9a-fA-F]{3}){1,2}$" }),
        Kind::Range => numbers(2),
        Kind::Turn => json!({ "$ref": "#/$defs/turn" }),
        Kind::Shape => json!({ "$ref": "#/$defs/shape" }),
        Kind::Table(spec) => table(spec),
        Kind::NumberOr(number, spec) => json!({ "anyOf": [kind(number), table(spec)] }),
        Kind::List(item) => json!({ "type": "array", "items": kind(item) }),
        Kind::Pair(item) => json!({ "type": "array", "items": kind(item), "minItems": 2, "maxItems": 2 }),
        Kind::Named(spec) => json!({ "type": "object", "additionalProperties": table(spec) }),
    }
}

fn numbers(count: usize) -> Value {
    json!({ "type": "array", "items": { "type": "number" }, "minItems": count, "maxItems": count })
}

fn turn() -> Value {
    let about = json!({
        "type": "object",
        "properties": { "axis": numbers(3), "angle": { "type": "number" } },
        "required": ["axis", "angle"],
        "additionalProperties": false,
    });
    json!({ "anyOf": [numbers(3), about] })
}

/// One kind of shape, and where it is put. What lies in a kind is described, not checked.
fn shape() -> Value {
    let several = ["union", "subtract", "intersect"];
    let mut properties: Map<String, Value> = SHAPES
        .iter()
        .map(|entry| {
            let mut content = match several.contains(&entry.name) {
                true => json!({ "type": "array", "items": { "$ref": "#/$defs/shape" } }),
                false => json!({}),
            };
            content["description"] = json!(entry.help);
            (entry.name.to_owned(), content)
        })
        .collect();
    let one_of: Vec<Value> = SHAPES.iter().map(|entry| json!({ "required": [entry.name] })).collect();
    let beside = [
        ("at", numbers(3), "where [m]"),
        ("rotate", json!({ "$ref": "#/$defs/turn" }), "how it is turned [deg]"),
        (
            "scale",
            json!({ "anyOf": [{ "type": "number" }, numbers(3)] }),
            "how much larger [-]",
        ),
        (
            "smooth",
            json!({ "type": "number", "minimum": 0 }),
            "radius of fillets [m]",
        ),
    ];
    for (key, mut schema, help) in beside {
        schema["description"] = json!(help);
        properties.insert(key.to_owned(), schema);
    }
    json!({ "type": "object", "properties": properties, "additionalProperties": false, "oneOf": one_of })
}
