//! Statements before and after a cell is measured, and what its server is asked.

use crate::cell::Asked;
use crate::matrix::Key;
use crate::recipe::{Question, Recipe};
use crate::server::Running;
use crate::trouble::Trouble;

/// Sends the workload's statements for before.
///
/// # Errors
/// The server refuses one.
pub(super) fn before(recipe: &Recipe, key: &Key, running: &mut Running) -> Result<(), Trouble> {
    let workload = recipe.workload(&key.workload);
    let statements = workload.map_or(&[][..], |workload| &workload.before);
    statements
        .iter()
        .try_for_each(|sql| send(running, sql).map(drop))
}

/// The recipe's questions about this configuration.
fn questions<'a>(recipe: &'a Recipe, key: &Key) -> impl Iterator<Item = &'a Question> {
    let name = key.configuration.clone();
    (recipe.asks.iter()).filter(move |question| {
        question.configurations.is_empty() || question.configurations.contains(&name)
    })
}

/// Whether there is one.
pub(super) fn asks(recipe: &Recipe, key: &Key) -> bool {
    questions(recipe, key).next().is_some()
}

/// Asks them.
///
/// # Errors
/// The server refuses one.
pub(super) fn asked(
    recipe: &Recipe,
    key: &Key,
    running: &mut Running,
) -> Result<Vec<Asked>, Trouble> {
    let ask = |question: &Question| {
        Ok(Asked {
            title: question.title.clone(),
            rows: send(running, &question.sql)?,
        })
    };
    questions(recipe, key).map(ask).collect()
}

/// Sends the workload's statements for after.
///
/// # Errors
/// The server refuses one.
pub(super) fn after(recipe: &Recipe, key: &Key, running: &mut Running) -> Result<(), Trouble> {
    let workload = recipe.workload(&key.workload);
    let statements = workload.map_or(&[][..], |workload| &workload.after);
    statements
        .iter()
        .try_for_each(|sql| send(running, sql).map(drop))
}

fn send(running: &mut Running, sql: &str) -> Result<Vec<crate::ask::Row>, Trouble> {
    let refused = |error| Trouble::failed(format!("the server refused '{sql}': {error}"));
    running.ask.query(sql).map_err(refused)
}
