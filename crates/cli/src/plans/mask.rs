//! Replaces what may be a secret in texts that are stored: examples of statements, and conditions of plans.

use serde_json::Value;

use super::tokens::{Kind, tokenize};

/// Replaces a literal.
const MASK: &str = "'<secret>'";

/// A number with more digits may be a telephone's, a card's or a person's.
const MAX_DIGITS: usize = 8;

/// A statement or condition without its texts, long numbers and comments; `None` if it cannot be told what is a text.
pub fn mask_literals(text: &str) -> Option<String> {
    let mut masked = String::with_capacity(text.len());
    let mut copied = 0;
    for token in tokenize(text)? {
        let replacement = match token.kind {
            Kind::Text => MASK,
            Kind::Number if is_long(token.text(text)) => MASK,
            Kind::Comment => " ",
            _ => continue,
        };
        masked.push_str(&text[copied..token.start]);
        masked.push_str(replacement);
        copied = token.end;
    }
    masked.push_str(&text[copied..]);
    Some(masked.trim().to_owned())
}

/// Whether a number may be a secret. Hexadecimal digits may be a text.
fn is_long(number: &str) -> bool {
    let is_hexadecimal = number.len() > 2 && number[..2].eq_ignore_ascii_case("0x");
    is_hexadecimal || number.bytes().filter(u8::is_ascii_digit).count() > MAX_DIGITS
}

/// The JSON of a plan, with the literals of its conditions masked; `None` if it is no JSON.
pub fn mask_plan(json: &str) -> Option<String> {
    let mut plan: Value = serde_json::from_str(json).ok()?;
    mask_value(&mut plan);
    Some(plan.to_string())
}

fn mask_value(value: &mut Value) {
    match value {
        // Costs are texts, too.
        Value::String(text) if text.parse::<f64>().is_err() => {
            // MariaDB names a subquery by its number. In a statement, this sign begins a comment.
            let condition = text.replace("subquery#", "subquery ");
            *text = mask_literals(&condition).unwrap_or_else(|| MASK.to_owned());
        }
        Value::Array(items) => items.iter_mut().for_each(mask_value),
        Value::Object(object) => object.values_mut().for_each(mask_value),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_and_long_numbers_are_masked() {
        for (text, masked) in [
            (
                "SELECT * FROM t WHERE a = 'x' AND b = 12",
                "SELECT * FROM t WHERE a = '<secret>' AND b = 12",
            ),
            (
                "SELECT \"x\", x'4142', 0x4142, _utf8mb4'x'",
                "SELECT '<secret>', x'<secret>', '<secret>', _utf8mb4'<secret>'",
            ),
            (
                "SELECT 12345678, 123456789, 4111111111111111",
                "SELECT 12345678, '<secret>', '<secret>'",
            ),
            ("SELECT /* user='x' */ 1 -- x", "SELECT   1"),
            (
                "SELECT /*+ SET_VAR(a = 'x') */ 1",
                "SELECT /*+ SET_VAR(a = '<secret>') */ 1",
            ),
            (
                "SELECT c1234567890 FROM `t'`",
                "SELECT c1234567890 FROM `t'`",
            ),
        ] {
            assert_eq!(mask_literals(text).as_deref(), Some(masked));
        }
        assert_eq!(mask_literals("SELECT 'a\\' , 'b'"), None);
    }

    #[test]
    fn conditions_of_plans_are_masked() {
        let plan = r#"{"t": {"cost": "1234567890.12", "n": 1234567890, "c": "(`t`.`a` = 'x')", "d": ["a = 'it\\'s'"], "k": "by_a"}}"#;
        let masked = r#"{"t":{"c":"(`t`.`a` = '<secret>')","cost":"1234567890.12","d":["'<secret>'"],"k":"by_a","n":1234567890}}"#;
        let json = |text: &str| serde_json::from_str::<Value>(text).expect("JSON");
        assert_eq!(json(&mask_plan(plan).expect("masked")), json(masked));
        assert_eq!(mask_plan("x"), None);
    }
}
