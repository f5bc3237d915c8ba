//! The errors of estimated counts of a page.

use std::collections::HashMap;

use super::sheet::{Measure, Sheet};
use super::snapshot::{Figure, Key, Row};
use crate::observe::{ObservedServer, QueryError, real, text};
use crate::output::Cell;

/// The variance of each row's total count.
#[derive(Debug, Clone, Default)]
pub struct Errors(HashMap<Key, f64>);

impl Errors {
    /// Reads them.
    pub fn query(observed: &mut ObservedServer, sheet: &Sheet) -> Result<Self, QueryError> {
        if sheet.errors.is_empty() {
            return Ok(Self::default());
        }
        match observed.rows(sheet.errors) {
            Ok(rows) => Ok(Self::from_rows(rows)),
            Err(QueryError::Refused(_)) => Ok(Self::default()),
            Err(lost) => Err(lost),
        }
    }

    /// From rows of keys and a standard error.
    fn from_rows(rows: Vec<Vec<Cell>>) -> Self {
        let row = |mut row: Vec<Cell>| {
            let error = real(&row.pop()?)?;
            Some((row.iter().map(text).collect(), error * error))
        };
        Self(rows.into_iter().filter_map(row).collect())
    }

    /// Fills in the error of each row's count. Strata of windows are independent, so variances add up,
    /// and the interval's variance is a difference. A variance that fell was reset during the interval.
    pub fn fill(
        &self,
        sheet: &Sheet,
        before: Option<&Self>,
        rows: &mut [Row],
        seconds: Option<f64>,
    ) {
        let Some(at) = sheet.find(|kind| kind == Measure::Error) else {
            return;
        };
        for row in rows {
            let Some(now) = self.0.get(&row.key) else {
                continue;
            };
            let had = before.filter(|_| seconds.is_some());
            let had = had.and_then(|before| before.0.get(&row.key));
            let variance = match had {
                Some(had) if had <= now => now - had,
                _ => *now,
            };
            let count = row.figures[sheet.by_count()].number() * seconds.unwrap_or(1.0);
            if count > 0.0 {
                row.figures[at] = Figure::Number(100.0 * 1.96 * variance.sqrt() / count);
            }
        }
    }
}

/// The remark on a page of estimates.
pub fn note(sheet: &Sheet, rule: &str) -> String {
    // Only some servers sample allocations.
    if sheet.estimated == "memory" {
        return format!(
            "memory sampled {rule}: instruments in tare.sampling_by_instrument are estimates, with its errors"
        );
    }
    let errors = match sheet.errors.is_empty() {
        true => "their errors are known only by instrument: tare.sampling_by_instrument",
        false => "+-% is half the 95 % interval of the count",
    };
    format!("sampled {rule}: counts and times are estimates; {errors}")
}

#[cfg(test)]
mod tests {
    use super::super::pages::PAGES;
    use super::*;

    #[test]
    fn an_intervals_error_is_that_of_its_growth() {
        let sheet = &PAGES[1];
        let errors = |error: f64| {
            let name = Cell::Text("wait/a".into());
            Errors::from_rows(vec![vec![name, Cell::Real(error)]])
        };
        let row = |count: f64| {
            let mut figures = vec![Figure::Empty; sheet.columns.len()];
            figures[sheet.by_count()] = Figure::Number(count);
            Row {
                key: vec![Some("wait/a".into())],
                figures,
            }
        };
        let at = sheet.find(|kind| kind == Measure::Error).expect("a column");
        let filled = |now: f64, before: Option<f64>, seconds: Option<f64>| {
            let mut rows = [row(100.0)];
            let before = before.map(errors);
            errors(now).fill(sheet, before.as_ref(), &mut rows, seconds);
            rows[0].figures[at].text(Measure::Error)
        };
        // 200 events in 2 s; 5^2 - 3^2 = 4^2.
        assert_eq!(filled(5.0, Some(3.0), Some(2.0)), "3.9");
        assert_eq!(filled(5.0, None, None), "9.8");
        assert_eq!(filled(3.0, Some(5.0), Some(2.0)), "2.9", "truncated");
    }
}
