//! Statements before and after a cell is measured, and the recipe's questions to its server.

use crate::cell::Answer;
use crate::error::CellError;
use crate::matrix::Key;
use crate::recipe::{Question, Recipe};
use crate::server::RunningServer;

/// Sends the workload's statements `before`.
///
/// # Errors
/// The server refuses a statement.
pub(super) fn run_before(
    recipe: &Recipe,
    key: &Key,
    running: &mut RunningServer,
) -> Result<(), CellError> {
    let workload = recipe.workload(&key.workload);
    let statements = workload.map_or(&[][..], |workload| &workload.before);
    statements
        .iter()
        .try_for_each(|sql| send(running, sql).map(drop))
}

/// The recipe's questions about this configuration.
fn questions<'a>(recipe: &'a Recipe, key: &Key) -> impl Iterator<Item = &'a Question> {
    let name = key.configuration.clone();
    (recipe.questions.iter()).filter(move |question| {
        question.configurations.is_empty() || question.configurations.contains(&name)
    })
}

/// Whether the recipe has questions about this configuration.
pub(super) fn has_questions(recipe: &Recipe, key: &Key) -> bool {
    questions(recipe, key).next().is_some()
}

/// Queries the answers to the recipe's questions.
///
/// # Errors
/// The server refuses a question.
pub(super) fn query_answers(
    recipe: &Recipe,
    key: &Key,
    running: &mut RunningServer,
) -> Result<Vec<Answer>, CellError> {
    let answer = |question: &Question| {
        Ok(Answer {
            title: question.title.clone(),
            rows: send(running, &question.sql)?,
        })
    };
    questions(recipe, key).map(answer).collect()
}

/// Sends the workload's statements `after`.
///
/// # Errors
/// The server refuses a statement.
pub(super) fn run_after(
    recipe: &Recipe,
    key: &Key,
    running: &mut RunningServer,
) -> Result<(), CellError> {
    let workload = recipe.workload(&key.workload);
    let statements = workload.map_or(&[][..], |workload| &workload.after);
    statements
        .iter()
        .try_for_each(|sql| send(running, sql).map(drop))
}

fn send(running: &mut RunningServer, sql: &str) -> Result<Vec<crate::connection::Row>, CellError> {
    let refused = |error| CellError::failed(format!("the server refused '{sql}': {error}"));
    running.connection.query(sql).map_err(refused)
}
