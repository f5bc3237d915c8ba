//! Statements before and after a cell is measured, and what its server is asked.

use crate::cell::Asked;
use crate::matrix::Key;
use crate::recipe::Recipe;
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

/// Asks the recipe's questions of this configuration, then sends the workload's statements for after.
///
/// # Errors
/// The server refuses one.
pub(super) fn after(
    recipe: &Recipe,
    key: &Key,
    running: &mut Running,
) -> Result<Vec<Asked>, Trouble> {
    let of_key = |names: &[String]| names.is_empty() || names.contains(&key.configuration);
    let mut asked = Vec::new();
    for question in recipe
        .asks
        .iter()
        .filter(|question| of_key(&question.configurations))
    {
        asked.push(Asked {
            title: question.title.clone(),
            rows: send(running, &question.sql)?,
        });
    }
    let workload = recipe.workload(&key.workload);
    let statements = workload.map_or(&[][..], |workload| &workload.after);
    statements
        .iter()
        .try_for_each(|sql| send(running, sql).map(drop))?;
    Ok(asked)
}

fn send(running: &mut Running, sql: &str) -> Result<Vec<crate::ask::Row>, Trouble> {
    let refused = |error| Trouble::failed(format!("the server refused '{sql}': {error}"));
    running.ask.query(sql).map_err(refused)
}
