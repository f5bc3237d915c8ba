//! The answers to the recipe's questions.

use super::labels::{PLACE, place};
use super::table::Table;
use crate::analysis::Analysis;
use crate::recipe::Question;
use crate::store::Plan;

/// A table of answers for each question of the recipe.
pub fn answers(plan: &Plan, analysis: &Analysis) -> Vec<Table> {
    let of_question = |question: &Question| {
        let mut heading: Vec<String> = PLACE.map(str::to_owned).to_vec();
        heading.extend(question.columns.iter().cloned());
        let mut rows = Vec::new();
        for row in analysis.rows.iter().filter(|row| !row.key.again) {
            let of_row = row
                .answers
                .iter()
                .filter(|answers| answers.title == question.title);
            for answer in of_row.flat_map(|answers| &answers.rows) {
                let mut line = place(row);
                let texts = answer
                    .iter()
                    .map(|text| text.clone().unwrap_or_else(|| "NULL".into()));
                line.extend(texts);
                line.resize(heading.len(), String::new());
                rows.push(line);
            }
        }
        Table {
            title: question.title.clone(),
            heading,
            rows,
            note: String::new(),
        }
        .narrow()
    };
    let tables = plan.recipe.questions.iter().map(of_question);
    tables.filter(|table| !table.rows.is_empty()).collect()
}
