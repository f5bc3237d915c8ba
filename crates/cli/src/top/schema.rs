//! The JSON schema of printed intervals.

use serde_json::{Map, Value as Json, json};

use super::batch::name;
use super::sheet::{Measure, Sheet};

/// The schema of a row; the names of counters depend on whether they are growth or totals.
fn row(sheet: &Sheet, by_second: bool) -> Json {
    let property = |measure: Measure| match measure {
        Measure::Key | Measure::Text | Measure::BlockedBy | Measure::TransactionState => {
            json!({ "type": ["string", "null"] })
        }
        _ => json!({ "type": ["number", "null"] }),
    };
    let columns = sheet.columns.iter();
    let properties: Map<String, Json> = columns
        .map(|column| (name(column, by_second), property(column.kind)))
        .collect();
    json!({
        "type": "object",
        "required": properties.keys().collect::<Vec<_>>(),
        "properties": properties,
        "additionalProperties": false,
    })
}

/// The rows of a page: growth, or the totals of a saved segment.
fn rows(sheets: &[&Sheet]) -> Json {
    let row = |sheet: &&Sheet| [row(sheet, true), row(sheet, false)];
    let mut forms: Vec<Json> = sheets.iter().flat_map(row).collect();
    forms.dedup();
    json!({ "type": "array", "items": { "anyOf": forms } })
}

/// The schema of an interval. `sheets` are the forms of its page; without one, its rows may be anything.
pub fn interval(sheets: &[&Sheet]) -> Json {
    let text = |description: &str| json!({ "type": "string", "description": description });
    let number =
        |description: &str| json!({ "type": ["number", "null"], "description": description });
    let optional =
        |description: &str| json!({ "type": ["string", "null"], "description": description });
    let mut properties = json!({
        "page": text("The page of tare top."),
        "unix_s": { "type": "number", "description": "The end of the interval, in seconds since 1970." },
        "server": text("The server."),
        "seconds": number("The length of the interval; null for the totals of a saved segment."),
        "calls_per_s": number("Statements per second of the server."),
        "active_sessions": number("Sessions that ran a statement at the end of the interval."),
        "top_wait": optional("The wait with the most time in the interval."),
        "top_wait_ps_per_s": number("Picoseconds that sessions waited in it, per second."),
    });
    properties["rows"] = match sheets {
        [] => json!({ "type": "array" }),
        _ => rows(sheets),
    };
    properties["rows"]["description"] =
        "Names end in the unit: _ps is picoseconds, _per_s a rate in the interval, \
        count_error_pct half the 95 % interval of the count in percent, null if the count is exact."
            .into();
    properties["more_rows"] =
        json!({ "type": "integer", "minimum": 0, "description": "Rows that were left out." });
    properties["notes"] = json!({
        "type": "array", "items": { "type": "string" },
        "description": "What limits the figures, and the statement that would change it.",
    });
    properties["sampling"] = optional("The server's sampling rules, if it samples.");
    let required: Vec<String> = properties
        .as_object()
        .into_iter()
        .flat_map(Map::keys)
        .cloned()
        .collect();
    json!({
        "type": "object",
        "required": required,
        "properties": properties,
        "additionalProperties": false,
    })
}

#[cfg(test)]
mod tests {
    use super::super::pages::PAGES;
    use super::super::process_pages::PROCESS_PAGES;
    use super::*;

    /// docs/schemas/top.json: what all pages have, then the rows of each.
    fn document() -> Json {
        let all = || PAGES.iter().chain(&PROCESS_PAGES);
        let mut names: Vec<&str> = Vec::new();
        let mut pages = Vec::new();
        for name in all().map(|sheet| sheet.name) {
            if !names.contains(&name) {
                names.push(name);
                let sheets: Vec<&Sheet> = all().filter(|sheet| sheet.name == name).collect();
                pages.push(json!({
                    "if": { "properties": { "page": { "const": name } } },
                    "then": { "properties": { "rows": rows(&sheets) } },
                }));
            }
        }
        let mut document = json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "title": "tare top --format json",
            "description": "Each line of the output is one interval.",
        });
        let common = interval(&[]);
        for (key, value) in common.as_object().into_iter().flatten() {
            document[key] = value.clone();
        }
        document["properties"]["page"]["enum"] = json!(names);
        document["allOf"] = json!(pages);
        document
    }

    #[test]
    fn the_schema_of_top_is_fresh() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/schemas/top.json");
        let text = format!("{:#}\n", document());
        if std::env::var_os("TARE_REGENERATE").is_some() {
            std::fs::write(path, &text).expect("docs/schemas/top.json");
        }
        let stored = std::fs::read_to_string(path).unwrap_or_default();
        let command = "TARE_REGENERATE=1 cargo test -p tare-cli --bin tare top::schema";
        assert!(stored == text, "{path} is stale; run {command}");
    }
}
