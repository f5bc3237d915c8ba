//! The arguments of tools: described once, for the schema that clients get and for reading them.

use std::time::Duration;

use serde_json::{Map, Value as Json, json};

/// The kind of an argument's values.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// A number in this range.
    Number(f64, f64),
    /// A whole number in this range, and the default.
    Count(u64, u64, u64),
    /// A text.
    Text,
    /// One of these; the first is the default.
    Choice(&'static [&'static str]),
}

/// An argument.
#[derive(Clone, Copy, Debug)]
pub struct Argument {
    /// Its name.
    pub name: &'static str,
    /// Its values.
    pub kind: Kind,
    /// A description for the model.
    pub description: &'static str,
}

impl Argument {
    fn schema(&self) -> Json {
        let mut schema = match self.kind {
            Kind::Number(least, most) => {
                json!({ "type": "number", "minimum": least, "maximum": most })
            }
            Kind::Count(least, most, default) => {
                json!({ "type": "integer", "minimum": least, "maximum": most, "default": default })
            }
            Kind::Text => json!({ "type": "string" }),
            Kind::Choice(choices) => {
                json!({ "type": "string", "enum": choices, "default": choices.first() })
            }
        };
        schema["description"] = self.description.into();
        schema
    }

    fn check(&self, value: &Json) -> Result<(), String> {
        let name = self.name;
        match self.kind {
            Kind::Number(least, most) => match value.as_f64() {
                Some(number) if (least..=most).contains(&number) => Ok(()),
                _ => Err(format!(
                    "'{name}' is a number from {least} to {most}, not {value}"
                )),
            },
            Kind::Count(least, most, _) => match value.as_u64() {
                Some(number) if (least..=most).contains(&number) => Ok(()),
                _ => Err(format!(
                    "'{name}' is an integer from {least} to {most}, not {value}"
                )),
            },
            Kind::Text => match value {
                Json::String(_) => Ok(()),
                _ => Err(format!("'{name}' is a string, not {value}")),
            },
            Kind::Choice(choices) => match value.as_str() {
                Some(text) if choices.contains(&text) => Ok(()),
                _ => Err(format!(
                    "'{name}' is one of {}, not {value}",
                    choices.join(", ")
                )),
            },
        }
    }
}

/// The schema of a tool's arguments.
pub fn schema(arguments: &[Argument]) -> Json {
    let properties = arguments
        .iter()
        .map(|argument| (argument.name.to_owned(), argument.schema()));
    json!({
        "type": "object",
        "properties": properties.collect::<Map<_, _>>(),
        "additionalProperties": false,
    })
}

/// The arguments of a call, checked.
pub struct Given<'a> {
    declared: &'a [Argument],
    values: Option<&'a Map<String, Json>>,
}

impl<'a> Given<'a> {
    /// Checks names and values. The error is for the model.
    pub fn check(declared: &'a [Argument], values: &'a Json) -> Result<Self, String> {
        let values = match values {
            Json::Null => None,
            Json::Object(values) => Some(values),
            _ => return Err("arguments are an object".to_owned()),
        };
        for (name, value) in values.into_iter().flatten() {
            let Some(argument) = declared.iter().find(|argument| argument.name == name) else {
                let names: Vec<&str> = declared.iter().map(|argument| argument.name).collect();
                return Err(format!(
                    "there is no argument '{name}', but {}",
                    names.join(", ")
                ));
            };
            // Clients fill in null for arguments that a model leaves out.
            if !value.is_null() {
                argument.check(value)?;
            }
        }
        Ok(Self { declared, values })
    }

    fn value(&self, name: &str) -> Option<&'a Json> {
        self.values?.get(name).filter(|value| !value.is_null())
    }

    /// A text.
    pub fn text(&self, name: &str) -> Option<&'a str> {
        self.value(name)?.as_str()
    }

    /// Seconds.
    pub fn seconds(&self, name: &str) -> Option<Duration> {
        Some(Duration::from_secs_f64(self.value(name)?.as_f64()?))
    }

    /// A whole number, or its default.
    pub fn count(&self, name: &str) -> usize {
        let argument = self.declared.iter().find(|argument| argument.name == name);
        let default = match argument.map(|argument| argument.kind) {
            Some(Kind::Count(_, _, default)) => default,
            _ => 0,
        };
        let given = self.value(name).and_then(Json::as_u64);
        usize::try_from(given.unwrap_or(default)).unwrap_or(usize::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DECLARED: [Argument; 4] = [
        Argument {
            name: "seconds",
            kind: Kind::Number(0.5, 60.0),
            description: "",
        },
        Argument {
            name: "rows",
            kind: Kind::Count(1, 50, 10),
            description: "",
        },
        Argument {
            name: "at",
            kind: Kind::Text,
            description: "",
        },
        Argument {
            name: "sort",
            kind: Kind::Choice(&["time", "count"]),
            description: "",
        },
    ];

    #[test]
    fn arguments_are_read_with_their_defaults() {
        let values = json!({ "seconds": 2, "at": "14:03", "sort": null });
        let given = Given::check(&DECLARED, &values).expect("right");
        assert_eq!(given.seconds("seconds"), Some(Duration::from_secs(2)));
        assert_eq!(
            (given.count("rows"), given.text("at"), given.text("sort")),
            (10, Some("14:03"), None)
        );
        assert!(Given::check(&DECLARED, &Json::Null).is_ok());
    }

    #[test]
    fn a_wrong_argument_is_named_with_what_it_may_be() {
        for (values, words) in [
            (
                json!({ "second": 2 }),
                "no argument 'second', but seconds, rows, at, sort",
            ),
            (
                json!({ "seconds": 0.1 }),
                "'seconds' is a number from 0.5 to 60, not 0.1",
            ),
            (json!({ "seconds": "2" }), "'seconds' is a number"),
            (json!({ "rows": 51 }), "'rows' is an integer from 1 to 50"),
            (json!({ "rows": 1.5 }), "'rows' is an integer"),
            (json!({ "at": 1403 }), "'at' is a string"),
            (json!({ "sort": "name" }), "'sort' is one of time, count"),
            (json!([]), "arguments are an object"),
        ] {
            let error = Given::check(&DECLARED, &values).err().unwrap_or_default();
            assert!(error.contains(words), "{values}: {error}");
        }
    }
}
