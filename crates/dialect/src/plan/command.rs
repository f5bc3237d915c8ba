//! Commands by MySQL's names: what counters and instruments are called after.

use sqlparser::dialect::MySqlDialect;
use sqlparser::tokenizer::Token;
use tare_mysql::interrupt;

use super::action::{Action, Change};
use crate::admin::{Absent, AccountChange, EngineReport, Program, Routine, What};
use crate::ddl::{Ddl, Maintenance};
use crate::depth::MAX_COLUMNS;
use crate::error::Error;
use crate::tokenize::tokenize;

/// Whether a word begins the query of an INSERT.
fn is_query(word: &str) -> bool {
    matches!(word, "SELECT" | "TABLE")
}

/// The words of a text, up to the last that [`Command::of_text`] needs: a refused text may have millions.
fn first_words(text: &str) -> Vec<String> {
    /// A list of a table's columns is before the query of an INSERT.
    const MAX_TOKENS: usize = 4 * MAX_COLUMNS;
    let (mut words, mut tokens) = (Vec::new(), 0);
    let mut add_word = |token: &Token| {
        if let Token::Word(word) = token
            && word.quote_style.is_none()
        {
            words.push(word.value.to_ascii_uppercase());
        }
        tokens += 1;
        let is_enough = match words.first().map(String::as_str) {
            None => false,
            Some("INSERT" | "REPLACE") => words.last().is_some_and(|word| is_query(word)),
            Some("CREATE" | "ALTER" | "DROP") => words.len() > 1,
            Some(_) => true,
        };
        match is_enough || tokens > MAX_TOKENS {
            // Any error ends the reading.
            true => Err(Error::TooDeep),
            false => Ok(()),
        }
    };
    // What cannot be read may follow the words.
    let _ = interrupt::ignore_during(|| tokenize(&MySqlDialect {}, text, &mut add_word));
    words
}

macro_rules! commands {
    ($($name:ident $text:literal)*) => {
        /// What a statement does, as MySQL counts it.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        #[allow(missing_docs, reason = "they are MySQL's names")]
        pub enum Command {
            $($name,)*
        }

        impl Command {
            /// Every command, in the order of their names.
            pub const ALL: &[Command] = &[$(Command::$name,)*];

            /// MySQL's name: the last part of `statement/sql/...`.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Command::$name => $text,)*
                }
            }
        }
    };
}

commands! {
    AlterTable "alter_table"
    AlterUser "alter_user"
    Analyze "analyze"
    Begin "begin"
    CallProcedure "call_procedure"
    ChangeDb "change_db"
    Check "check"
    Checksum "checksum"
    Commit "commit"
    CreateDb "create_db"
    CreateIndex "create_index"
    CreateTable "create_table"
    CreateUser "create_user"
    CreateView "create_view"
    DeallocSql "dealloc_sql"
    Delete "delete"
    DeleteMulti "delete_multi"
    Do "do"
    DropDb "drop_db"
    DropEvent "drop_event"
    DropFunction "drop_function"
    DropIndex "drop_index"
    DropProcedure "drop_procedure"
    DropTable "drop_table"
    DropTrigger "drop_trigger"
    DropUser "drop_user"
    DropView "drop_view"
    EmptyQuery "empty_query"
    ExecuteSql "execute_sql"
    ExplainOther "explain_other"
    Flush "flush"
    Grant "grant"
    Help "help"
    Insert "insert"
    InsertSelect "insert_select"
    Kill "kill"
    LockTables "lock_tables"
    Optimize "optimize"
    PrepareSql "prepare_sql"
    ReleaseSavepoint "release_savepoint"
    RenameTable "rename_table"
    RenameUser "rename_user"
    Replace "replace"
    ReplaceSelect "replace_select"
    Revoke "revoke"
    RevokeAll "revoke_all"
    Rollback "rollback"
    RollbackToSavepoint "rollback_to_savepoint"
    Savepoint "savepoint"
    Select "select"
    SetOption "set_option"
    SetPassword "set_password"
    ShowBinlogEvents "show_binlog_events"
    ShowBinlogs "show_binlogs"
    ShowCharsets "show_charsets"
    ShowCollations "show_collations"
    ShowCreateDb "show_create_db"
    ShowCreateEvent "show_create_event"
    ShowCreateFunc "show_create_func"
    ShowCreateProc "show_create_proc"
    ShowCreateTable "show_create_table"
    ShowCreateTrigger "show_create_trigger"
    ShowCreateUser "show_create_user"
    ShowDatabases "show_databases"
    ShowEngineLogs "show_engine_logs"
    ShowEngineMutex "show_engine_mutex"
    ShowEngineStatus "show_engine_status"
    ShowErrors "show_errors"
    ShowEvents "show_events"
    ShowFields "show_fields"
    ShowFunctionCode "show_function_code"
    ShowFunctionStatus "show_function_status"
    ShowGrants "show_grants"
    ShowKeys "show_keys"
    ShowMasterStatus "show_master_status"
    ShowOpenTables "show_open_tables"
    ShowPlugins "show_plugins"
    ShowPrivileges "show_privileges"
    ShowProcedureCode "show_procedure_code"
    ShowProcedureStatus "show_procedure_status"
    ShowProcesslist "show_processlist"
    ShowProfile "show_profile"
    ShowProfiles "show_profiles"
    ShowSlaveHosts "show_slave_hosts"
    ShowSlaveStatus "show_slave_status"
    ShowStatus "show_status"
    ShowStorageEngines "show_storage_engines"
    ShowTableStatus "show_table_status"
    ShowTables "show_tables"
    ShowTriggers "show_triggers"
    ShowVariables "show_variables"
    ShowWarnings "show_warnings"
    Shutdown "shutdown"
    Truncate "truncate"
    UnlockTables "unlock_tables"
    Update "update"
    UpdateMulti "update_multi"
}

impl Command {
    /// What a change of accounts is called.
    fn of_accounts(change: &AccountChange) -> Self {
        match change {
            AccountChange::Create(..) => Self::CreateUser,
            AccountChange::Alter(..) => Self::AlterUser,
            AccountChange::Drop(..) => Self::DropUser,
            AccountChange::Rename(_) => Self::RenameUser,
            AccountChange::Password(..) => Self::SetPassword,
            AccountChange::Grant(_) => Self::Grant,
            AccountChange::Revoke(_) => Self::Revoke,
            AccountChange::RevokeAll(_) => Self::RevokeAll,
        }
    }

    /// What a change of rows is called; `joined` as in [`super::Sql`].
    fn of_change(change: Change, joined: bool) -> Self {
        match (change, joined) {
            (Change::Insert, false) => Self::Insert,
            (Change::Insert, true) => Self::InsertSelect,
            (Change::Replace, false) => Self::Replace,
            (Change::Replace, true) => Self::ReplaceSelect,
            (Change::Update, false) => Self::Update,
            (Change::Update, true) => Self::UpdateMulti,
            (Change::Delete, false) => Self::Delete,
            (Change::Delete, true) => Self::DeleteMulti,
        }
    }

    /// What a statement is called that can be read and has no plan, as of a table that does not exist.
    pub fn of_text(text: &str) -> Option<Self> {
        let words = first_words(text);
        let has_query = || words.last().is_some_and(|word| is_query(word));
        let second = words.get(1).map(String::as_str);
        Some(match (words.first()?.as_str(), second) {
            ("SELECT" | "WITH" | "VALUES" | "TABLE", _) => Self::Select,
            ("INSERT", _) => Self::of_change(Change::Insert, has_query()),
            ("REPLACE", _) => Self::of_change(Change::Replace, has_query()),
            ("UPDATE", _) => Self::Update,
            ("DELETE", _) => Self::Delete,
            ("CALL", _) => Self::CallProcedure,
            ("DO", _) => Self::Do,
            ("SET", _) => Self::SetOption,
            ("CREATE", Some("TABLE" | "TEMPORARY")) => Self::CreateTable,
            ("CREATE", Some("UNIQUE" | "INDEX")) => Self::CreateIndex,
            ("CREATE", Some("VIEW" | "OR")) => Self::CreateView,
            ("ALTER", Some("TABLE")) => Self::AlterTable,
            ("DROP", Some("TABLE")) => Self::DropTable,
            _ => return None,
        })
    }

    /// What a plan's action is called.
    pub fn of(action: &Action) -> Self {
        match action {
            Action::Rows(_) | Action::Into(..) => Self::Select,
            Action::Call(_) => Self::CallProcedure,
            Action::Do(_) => Self::Do,
            Action::Begin { .. } => Self::Begin,
            Action::Commit { .. } => Self::Commit,
            Action::Rollback { .. } => Self::Rollback,
            Action::Savepoint(_) => Self::Savepoint,
            Action::RollbackTo(_) => Self::RollbackToSavepoint,
            Action::Release(_) => Self::ReleaseSavepoint,
            Action::Set(_) => Self::SetOption,
            Action::Use(_) => Self::ChangeDb,
            Action::Kill { .. } => Self::Kill,
            Action::LockTables(_) => Self::LockTables,
            Action::UnlockTables => Self::UnlockTables,
            Action::Prepare(..) => Self::PrepareSql,
            Action::Execute(..) => Self::ExecuteSql,
            Action::Deallocate(_) => Self::DeallocSql,
            Action::Empty => Self::EmptyQuery,
            Action::NoOp | Action::Flush(_) => Self::Flush,
            Action::Shutdown => Self::Shutdown,
            Action::Account(change) => Self::of_accounts(change),
            Action::Write(sql, change) => Self::of_change(*change, sql.joined),
            Action::Ddl(ddl) => match ddl.as_ref() {
                Ddl::CreateDatabase { .. } => Self::CreateDb,
                Ddl::DropDatabase { .. } => Self::DropDb,
                Ddl::CreateTable { .. } | Ddl::CreateLike { .. } | Ddl::CreateAs { .. } => {
                    Self::CreateTable
                }
                Ddl::CreateView { .. } => Self::CreateView,
                Ddl::Drop { view: true, .. } => Self::DropView,
                Ddl::Drop { .. } => Self::DropTable,
                Ddl::DropProgram { program, .. } => match program {
                    Program::Routine(Routine::Procedure) => Self::DropProcedure,
                    Program::Routine(Routine::Function) => Self::DropFunction,
                    Program::Trigger => Self::DropTrigger,
                    Program::Event => Self::DropEvent,
                },
                Ddl::Alter { .. } => Self::AlterTable,
                Ddl::CreateIndex { .. } => Self::CreateIndex,
                Ddl::DropIndex { .. } => Self::DropIndex,
                Ddl::Rename(_) => Self::RenameTable,
                Ddl::Truncate(_) => Self::Truncate,
                Ddl::Maintain(_, Maintenance::Optimize) => Self::Optimize,
                Ddl::Maintain(_, Maintenance::Check) => Self::Check,
                Ddl::Maintain(_, Maintenance::Analyze) => Self::Analyze,
            },
            Action::Show(show) => match &show.what {
                What::Databases => Self::ShowDatabases,
                What::Tables(_) => Self::ShowTables,
                What::TableStatus(_) => Self::ShowTableStatus,
                What::Columns(..) => Self::ShowFields,
                What::Index(..) => Self::ShowKeys,
                What::CreateTable(..) | What::CreateView(..) => Self::ShowCreateTable,
                What::CreateDatabase(_) => Self::ShowCreateDb,
                What::CreateUser(_) => Self::ShowCreateUser,
                What::CreateProgram(program, ..) => match program {
                    Program::Routine(Routine::Procedure) => Self::ShowCreateProc,
                    Program::Routine(Routine::Function) => Self::ShowCreateFunc,
                    Program::Event => Self::ShowCreateEvent,
                    Program::Trigger => Self::ShowCreateTrigger,
                },
                What::Variables(_) => Self::ShowVariables,
                What::Status(_) => Self::ShowStatus,
                What::ProcessList => Self::ShowProcesslist,
                What::Warnings { errors: true, .. } | What::WarningCount { errors: true } => {
                    Self::ShowErrors
                }
                What::Warnings { .. } | What::WarningCount { .. } => Self::ShowWarnings,
                What::Engines => Self::ShowStorageEngines,
                What::Engine(_, EngineReport::Mutex) => Self::ShowEngineMutex,
                What::Engine(_, EngineReport::Logs) => Self::ShowEngineLogs,
                What::Engine(_, EngineReport::Status) => Self::ShowEngineStatus,
                What::OpenTables(_) => Self::ShowOpenTables,
                What::Collation => Self::ShowCollations,
                What::Charset => Self::ShowCharsets,
                What::Grants(_) => Self::ShowGrants,
                What::Privileges => Self::ShowPrivileges,
                What::Plugins => Self::ShowPlugins,
                What::Triggers(_) => Self::ShowTriggers,
                What::Events(_) => Self::ShowEvents,
                What::Routines(Routine::Procedure) => Self::ShowProcedureStatus,
                What::Routines(Routine::Function) => Self::ShowFunctionStatus,
                What::RoutineCode(Routine::Procedure) => Self::ShowProcedureCode,
                What::RoutineCode(Routine::Function) => Self::ShowFunctionCode,
                What::BinaryLogs => Self::ShowBinlogs,
                What::Absent(absent) => match absent {
                    Absent::ReplicaStatus => Self::ShowSlaveStatus,
                    Absent::Replicas => Self::ShowSlaveHosts,
                    Absent::BinaryLogEvents => Self::ShowBinlogEvents,
                    Absent::Profiles => Self::ShowProfiles,
                    Absent::Profile => Self::ShowProfile,
                    Absent::Help => Self::Help,
                    Absent::BinaryLogStatus => Self::ShowMasterStatus,
                },
                What::Explain(..) => Self::ExplainOther,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_has_its_first_words() {
        let columns = ", c".repeat(MAX_COLUMNS - 1);
        for (text, command) in [
            ("SELECT * FROM t", Some(Command::Select)),
            (" /* a */ (select 1) union", Some(Command::Select)),
            ("INSERT INTO t VALUES (1)", Some(Command::Insert)),
            ("REPLACE t TABLE u", Some(Command::ReplaceSelect)),
            ("INSERT INTO `select` VALUES (1)", Some(Command::Insert)),
            (
                &format!("INSERT INTO t (c{columns}) SELECT 1"),
                Some(Command::InsertSelect),
            ),
            ("create unique index", Some(Command::CreateIndex)),
            ("DROP DATABASE d", None),
            ("DO 'unterminated", Some(Command::Do)),
            ("1", None),
        ] {
            assert_eq!(Command::of_text(text), command, "{text}");
        }
    }
}
