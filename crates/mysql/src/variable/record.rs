//! What a system variable is.

use crate::wire::column::WireType;
use crate::wire::value::Value;

/// Who may set it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Settable {
    /// Cannot be set.
    Fixed,
    /// Can be set, by the session and for the server.
    Both,
    /// Can be set for the server only.
    Global,
    /// Can be set for the session only.
    Session,
    /// Can be set for the server only; a session has the value of its start.
    Shared,
}

/// What its values are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Type {
    /// ON or OFF, which SELECT returns as 1 or 0.
    Switch,
    /// ON, OFF, or another word of MySQL's: SELECT returns the word.
    Word,
    /// A whole number.
    Number,
    /// A number with six digits behind the point.
    Real,
    /// Any text.
    Text,
    /// A list of modes: those of MySQL, and these.
    Modes(&'static [&'static str]),
}

/// A system variable.
#[derive(Debug)]
pub struct Variable {
    /// In lower case.
    pub name: &'static str,
    /// Who may set it.
    pub settable: Settable,
    /// What its values are.
    pub value_type: Type,
    /// The default.
    pub default: &'static str,
    /// The smallest value; 0 if there is no limit, as in MySQL.
    pub min: &'static str,
    /// The largest.
    pub max: &'static str,
}

const fn variable(
    name: &'static str,
    settable: Settable,
    value_type: Type,
    default: &'static str,
) -> Variable {
    Variable {
        name,
        settable,
        value_type,
        default,
        min: "0",
        max: "0",
    }
}

/// ON or OFF.
pub const fn switch(name: &'static str, settable: Settable, default: &'static str) -> Variable {
    variable(name, settable, Type::Switch, default)
}

/// ON, OFF and more.
pub const fn word(name: &'static str, settable: Settable, default: &'static str) -> Variable {
    variable(name, settable, Type::Word, default)
}

/// Any text.
pub const fn text(name: &'static str, settable: Settable, default: &'static str) -> Variable {
    variable(name, settable, Type::Text, default)
}

/// A whole number.
pub const fn number(
    name: &'static str,
    settable: Settable,
    default: &'static str,
    min: &'static str,
    max: &'static str,
) -> Variable {
    Variable {
        min,
        max,
        ..variable(name, settable, Type::Number, default)
    }
}

/// A number with a fraction.
pub const fn real(
    name: &'static str,
    settable: Settable,
    default: &'static str,
    min: &'static str,
    max: &'static str,
) -> Variable {
    Variable {
        min,
        max,
        ..variable(name, settable, Type::Real, default)
    }
}

impl Variable {
    /// A value's text as SHOW VARIABLES has it.
    pub fn stored(&self, text: String) -> String {
        match text.parse::<f64>() {
            Ok(number) if self.value_type == Type::Real => format!("{number:.6}"),
            _ => text,
        }
    }

    /// The type of its value on the wire.
    pub fn wire(&self) -> WireType {
        match self.value_type {
            Type::Switch => WireType {
                length: 1,
                ..WireType::bigint()
            },
            Type::Number => WireType {
                length: 21,
                ..match self.min.starts_with('-') {
                    true => WireType::bigint(),
                    false => WireType::bigint_unsigned(),
                }
            },
            Type::Real => WireType {
                decimals: 6,
                ..WireType::double()
            },
            Type::Word | Type::Text | Type::Modes(_) => WireType::name(21_845),
        }
    }

    /// The value that SELECT returns for the variable's text.
    pub fn value<'t>(&self, text: &'t str) -> Value<'t> {
        let number = match self.value_type {
            Type::Switch => Some(Value::Int((text == "ON").into())),
            // An unsigned number travels as its bits.
            Type::Number => text.parse::<i128>().ok().map(|n| Value::Int(n as i64)),
            Type::Real => text.parse().ok().map(Value::Real),
            Type::Word | Type::Text | Type::Modes(_) => None,
        };
        number.unwrap_or(Value::Text(text.as_bytes()))
    }
}
