//! User variables and system variables.

use crate::error::{Error, Result, near};
use sqlparser::ast::Expr;

use crate::node;
use crate::rewrite::Rewriter;

impl Rewriter<'_> {
    /// `@x`, `@@x`, `@@session.x`.
    pub(super) fn variable(&self, first: &str, second: Option<&str>) -> Result<Expr> {
        if let Some(system) = first.strip_prefix("@@") {
            let (scope, name) = match second {
                Some(name) => (system.to_ascii_lowercase(), name),
                None => (String::new(), system),
            };
            if !matches!(scope.as_str(), "" | "global" | "session" | "local") {
                return Err(near(first));
            }
            let name = name.to_ascii_lowercase();
            if self.names.schema.variable(&name).is_none() {
                return Err(Error::UnknownVariable(name));
            }
            let arguments = vec![node::text(&scope), node::text(&name)];
            return Ok(node::call("tare_variable", arguments));
        }
        if second.is_some() {
            return Err(near(first));
        }
        let name = first.trim_start_matches('@').to_lowercase();
        Ok(node::user_variable(&name))
    }
}
