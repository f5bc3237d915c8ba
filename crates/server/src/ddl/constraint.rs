//! The names of a table's constraints and indexes: DROP CONSTRAINT, RENAME INDEX and their kin.

use tare_dialect::ddl::AlterOperation;
use tare_mysql::error::{Result, SqlError};
use tare_mysql::table::{CheckDef, TableDef};
use tare_store::Connection;

/// Applies the operations that name existing constraints and indexes, all of which are those of the old table: they
/// come before all that ADD adds.
pub fn change(def: &mut TableDef, operations: &[AlterOperation]) -> Result<()> {
    let old = def.clone();
    for operation in operations {
        match operation {
            AlterOperation::RenameIndex { from, .. } if !has_index(&old, from) => {
                let message = format!("Key '{from}' doesn't exist in table '{}'", old.name);
                return Err(SqlError::new(1176, message));
            }
            AlterOperation::DropCheck(name) => {
                check_exists(&old, name)?;
                drop_check(def, name);
            }
            AlterOperation::DropConstraint(name) => drop_constraint(def, &old, name)?,
            AlterOperation::EnforceCheck { name, is_enforced } => {
                check_exists(&old, name)?;
                let mut checks = def.checks.iter_mut();
                if let Some(check) = checks.find(|check| is(&check.name, name)) {
                    check.is_ignored = !is_enforced;
                }
            }
            _ => {}
        }
    }
    for index in &mut def.indexes {
        let renamed = operations.iter().find_map(|operation| match operation {
            AlterOperation::RenameIndex { from, to } if is(&index.name, from) => Some(to),
            _ => None,
        });
        if let Some(to) = renamed {
            index.name.clone_from(to);
            index.implied = false;
        }
    }
    Ok(())
}

fn is(a: &str, b: &str) -> bool {
    a.eq_ignore_ascii_case(b)
}

fn has_index(def: &TableDef, name: &str) -> bool {
    def.indexes.iter().any(|index| is(&index.name, name))
}

/// 3821.
fn check_exists(def: &TableDef, name: &str) -> Result<()> {
    match def.checks.iter().any(|check| is(&check.name, name)) {
        true => Ok(()),
        false => Err(SqlError::new(
            3821,
            format!("Check constraint '{name}' is not found in the table."),
        )),
    }
}

fn drop_check(def: &mut TableDef, name: &str) {
    def.checks.retain(|check| !is(&check.name, name));
}

/// Drops the unique key, the foreign key or the CHECK constraint of a name.
fn drop_constraint(def: &mut TableDef, old: &TableDef, name: &str) -> Result<()> {
    let unique = old.indexes.iter().any(|i| i.unique && is(&i.name, name));
    let foreign = old.foreign_keys.iter().any(|key| is(&key.name, name));
    let check = old.checks.iter().any(|check| is(&check.name, name));
    match [unique, foreign, check].iter().filter(|is| **is).count() {
        0 => Err(SqlError::new(
            3940,
            format!("Constraint '{name}' does not exist."),
        )),
        1 => {
            def.indexes.retain(|i| !(i.unique && is(&i.name, name)));
            def.foreign_keys.retain(|key| !is(&key.name, name));
            drop_check(def, name);
            Ok(())
        }
        _ => Err(SqlError::new(
            3939,
            format!(
                "Table has multiple constraints with the name '{name}'. Please use constraint specific 'DROP' \
                 clause."
            ),
        )),
    }
}

/// 3822 if a CHECK constraint of a new table has a name that is taken.
pub fn check_new_names(connection: &mut Connection, database: &str, def: &TableDef) -> Result<()> {
    check_names(connection, database, &TableDef::default(), def)
}

/// 3822: the names of CHECK constraints are unique in a database.
pub fn check_names(
    connection: &mut Connection,
    database: &str,
    old: &TableDef,
    new: &TableDef,
) -> Result<()> {
    if new.checks.is_empty() {
        return Ok(());
    }
    let definitions = connection.definitions(database)?;
    let of_others = definitions
        .tables
        .values()
        .filter(|table| table.name != old.name);
    let mut taken: Vec<&CheckDef> = of_others.flat_map(|table| &table.checks).collect();
    for check in &new.checks {
        if taken.iter().any(|other| is(&other.name, &check.name)) {
            let message = format!("Duplicate check constraint name '{}'.", check.name);
            return Err(SqlError::new(3822, message));
        }
        taken.push(check);
    }
    Ok(())
}

/// Renames a table. The names that MySQL has generated of its own follow, and so do foreign keys to itself.
pub fn follow_rename(def: &mut TableDef, to: &str) {
    for check in &mut def.checks {
        follow(&mut check.name, &def.name, "_chk_", to);
    }
    for key in &mut def.foreign_keys {
        follow(&mut key.name, &def.name, "_ibfk_", to);
        if key.table == def.name {
            to.clone_into(&mut key.table);
        }
    }
    def.name = to.to_owned();
}

fn follow(name: &mut String, from: &str, word: &str, to: &str) {
    let rest = name
        .strip_prefix(from)
        .and_then(|rest| rest.strip_prefix(word));
    if let Some(number) = rest.filter(|n| n.parse::<u32>().is_ok()) {
        *name = format!("{to}{word}{number}");
    }
}

/// Makes a definition that of a table LIKE it: names of CHECK constraints are new ones, and foreign keys are left
/// out.
pub fn leave_names(def: &mut TableDef, to: &str) {
    def.name = to.to_owned();
    def.foreign_keys.clear();
    for check in &mut def.checks {
        check.name.clear();
    }
    def.settle();
}

/// Whether MySQL copies the rows because of constraints: to check them, or because there is no primary key left.
pub fn copies_rows(old: &TableDef, new: &TableDef) -> bool {
    let is_checked = |check: &&CheckDef| !check.is_ignored;
    let had = |check: &CheckDef| old.checks.iter().filter(is_checked).any(|o| o == check);
    new.checks
        .iter()
        .filter(is_checked)
        .any(|check| !had(check))
        || old.primary().is_some() && new.primary().is_none()
}
