//! SET on a segment.

use rusqlite::types::Value;
use tare_dialect::admin::SetItem;
use tare_functions::EvaluationContext as _;
use tare_mysql::error::{Result, SqlError};
use tare_mysql::session::SessionFacts as _;
use tare_mysql::variable::{Scope, Variable, find};

use super::evaluator::Evaluator;
use super::variables::{is_own, may_change};
use crate::result::borrowed;
use crate::set::{
    SAMPLE_AGE, STILL_ENABLED, act_on_metrics, metric_action, set_names, set_sample_age,
};

impl Evaluator {
    pub(super) fn set(&mut self, items: &[SetItem]) -> Result<()> {
        for item in items {
            match item {
                SetItem::User(name, expr) => {
                    let value = self.value(expr.clone())?;
                    self.context.set_user_variable(name, value, false);
                }
                SetItem::Names(charset, collation) => {
                    for (name, value) in set_names(charset, collation.as_deref())? {
                        self.set_system(Scope::Session, name, value.map(Value::Text))?;
                    }
                }
                SetItem::Transaction(_) => {
                    return Err(SqlError::unsupported("SET TRANSACTION on a segment"));
                }
                SetItem::System(scope, name, expr) => {
                    let value = match expr {
                        Some(expr) => Some(self.value(expr.clone())?),
                        None => None,
                    };
                    self.set_system(*scope, name, value)?;
                }
            }
        }
        Ok(())
    }

    /// SET of a system variable; `None` is DEFAULT.
    fn set_system(&mut self, scope: Scope, name: &str, value: Option<Value>) -> Result<()> {
        let variable = find(name).ok_or_else(|| SqlError::unknown_variable(name))?;
        variable.may_set(scope, true)?;
        let text = match &value {
            None => variable.default.to_owned(),
            Some(value) => variable.checked(borrowed(value))?,
        };
        if let Some(action) = metric_action(variable.name) {
            let segment = self.context.data.segment().map(|segment| &**segment);
            if !act_on_metrics(segment, variable, &text, action)? {
                self.context.warn(1105, STILL_ENABLED);
            }
            return Ok(());
        }
        match variable.name {
            SAMPLE_AGE => {
                set_sample_age(self.context.data.segment().map(|segment| &**segment), &text)
            }
            "last_insert_id" | "identity" => {
                self.context.set_last_insert_id(text.parse().unwrap_or(0));
                Ok(())
            }
            own if is_own(own) => self.set_own(scope, variable, text),
            other => Err(SqlError::unsupported(format!(
                "SET {other} on {}: nothing is sent to the program that writes it",
                self.context.source_kind()
            ))),
        }
    }

    /// SET of a variable that the evaluator has.
    fn set_own(&mut self, scope: Scope, variable: &Variable, text: String) -> Result<()> {
        let name = variable.name;
        let now = match scope {
            Scope::Session => self.context.text(name),
            Scope::Global => Some(variable.default.to_owned()),
        };
        if now.as_ref() == Some(&text) {
            return Ok(());
        }
        if scope == Scope::Global || !may_change(name) {
            return Err(SqlError::new(
                1231,
                format!(
                    "Variable '{name}' can't be set to the value of '{text}': it has no effect on a segment"
                ),
            ));
        }
        self.context.values().system.insert(name, text);
        Ok(())
    }
}
