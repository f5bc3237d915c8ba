//! What a value is as a part of a JSON document.

/// What a value is as a part of a JSON document. SQLite does not distinguish texts from documents, dates or exact
/// numbers, so `tare_json_value` gets this with the value, as two numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DocumentPart {
    /// The value itself has to show what it is.
    Unknown,
    /// A document.
    Document,
    /// A text.
    Text,
    /// A number.
    Number,
    /// True or false.
    Truth,
    /// A date.
    Date,
    /// A time, or a date and time.
    Time,
    /// Bytes, with the number of their type in MySQL.
    Bytes(i64),
    /// A BIT of so many bytes.
    Bit(i64),
    /// A parameter of a prepared statement.
    Parameter,
}

impl DocumentPart {
    /// A number for the kind, and its detail.
    pub fn to_numbers(self) -> [i64; 2] {
        match self {
            Self::Unknown => [0, 0],
            Self::Document => [1, 0],
            Self::Text => [2, 0],
            Self::Number => [3, 0],
            Self::Truth => [4, 0],
            Self::Date => [5, 0],
            Self::Time => [6, 0],
            Self::Bytes(kind) => [7, kind],
            Self::Bit(width) => [8, width],
            Self::Parameter => [9, 0],
        }
    }

    /// The kind of these numbers; other numbers are `Unknown`.
    pub fn from_numbers([kind, detail]: [i64; 2]) -> Self {
        match kind {
            1 => Self::Document,
            2 => Self::Text,
            3 => Self::Number,
            4 => Self::Truth,
            5 => Self::Date,
            6 => Self::Time,
            7 => Self::Bytes(detail),
            8 => Self::Bit(detail),
            9 => Self::Parameter,
            _ => Self::Unknown,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::DocumentPart;

    #[test]
    fn numbers_become_the_kind_that_they_came_from() {
        for kind in 0..=9 {
            let part = DocumentPart::from_numbers([kind, 5]);
            assert_eq!(part.to_numbers()[0], kind);
            assert_eq!(DocumentPart::from_numbers(part.to_numbers()), part);
        }
    }
}
