//! Which procedures there are, and how they are called.

use tare_dialect::schema::{Direction, Procedure};

const BOOLEAN: &str = "tinyint(1)";
const ID: &str = "bigint(20) unsigned";

macro_rules! procedures {
    ($($name:literal ($($direction:ident $parameter:literal $kind:expr),*) $doc:literal;)*) => {
        /// Every procedure, by name.
        pub static PROCEDURES: &[Procedure] = &[$(Procedure {
            name: $name,
            doc: $doc,
            parameters: &[$((Direction::$direction, $parameter, $kind)),*],
        }),*];
    };
}

procedures! {
    "create_synonym_db" (In "in_db_name" "varchar(64)", In "in_synonym" "varchar(64)")
        "Refused: a database is a file, and a second name for it would be a second file.";
    "diagnostics" (In "in_max_runtime" "int(10) unsigned", In "in_interval" "int(10) unsigned",
        In "in_auto_config" "enum('current','medium','full')")
        "Shows how the server is set up, and what it does for some time, in a series of results.";
    "execute_prepared_stmt" (In "in_query" "longtext") "Runs the statement that a text is.";
    "ps_setup_disable_background_threads" () "Stops instrumenting the server's own threads.";
    "ps_setup_disable_consumer" (In "consumer" "varchar(128)") "Disables the consumers whose names have a text in them.";
    "ps_setup_disable_instrument" (In "in_pattern" "varchar(128)") "Disables the instruments whose names have a text in them.";
    "ps_setup_disable_thread" (In "in_connection_id" "bigint(20)") "Stops instrumenting a connection.";
    "ps_setup_enable_background_threads" () "Instruments the server's own threads.";
    "ps_setup_enable_consumer" (In "consumer" "varchar(128)") "Enables the consumers whose names have a text in them.";
    "ps_setup_enable_instrument" (In "in_pattern" "varchar(128)") "Enables and times the instruments whose names have a text in them.";
    "ps_setup_enable_thread" (In "in_connection_id" "bigint(20)") "Instruments a connection.";
    "ps_setup_reload_saved" () "Sets up again what ps_setup_save has saved in this session.";
    "ps_setup_reset_to_default" (In "in_verbose" BOOLEAN) "Sets everything up as it is when nothing is said at the start.";
    "ps_setup_save" (In "in_timeout" "int(11)") "Keeps for this session how everything is set up.";
    "ps_setup_show_disabled" (In "in_show_instruments" BOOLEAN, In "in_show_threads" BOOLEAN) "Shows all that is not recorded.";
    "ps_setup_show_disabled_consumers" () "Shows the consumers that are disabled.";
    "ps_setup_show_disabled_instruments" () "Shows the instruments that are disabled.";
    "ps_setup_show_enabled" (In "in_show_instruments" BOOLEAN, In "in_show_threads" BOOLEAN) "Shows all that is recorded.";
    "ps_setup_show_enabled_consumers" () "Shows the consumers that are enabled.";
    "ps_setup_show_enabled_instruments" () "Shows the instruments that are enabled.";
    "ps_statement_avg_latency_histogram" () "Draws how many normalised statements take how long on average.";
    "ps_trace_statement_digest" (In "in_digest" "varchar(64)", In "in_runtime" "int(11)",
        In "in_interval" "decimal(2,2)", In "in_start_fresh" BOOLEAN, In "in_auto_enable" BOOLEAN)
        "Watches a normalised statement for some time, and shows what its executions did.";
    "ps_trace_thread" (In "in_thread_id" ID, In "in_outfile" "varchar(255)",
        In "in_max_runtime" "decimal(20,2)", In "in_interval" "decimal(20,2)", In "in_start_fresh" BOOLEAN,
        In "in_auto_setup" BOOLEAN, In "in_debug" BOOLEAN)
        "Watches a thread for some time, and gives its events as a graph in the language of dot.";
    "ps_truncate_all_tables" (In "in_verbose" BOOLEAN) "Empties all summaries and histories.";
    "statement_performance_analyzer" (In "in_action"
        "enum('snapshot','overall','delta','create_table','create_tmp','save','cleanup')",
        In "in_table" "varchar(129)", In "in_views"
        "set('with_runtimes_in_95th_percentile','analysis','with_errors_or_warnings','with_full_table_scans','with_sorting','with_temp_tables','custom')")
        "Compares what normalised statements did between two moments.";
    "table_exists" (In "in_db" "varchar(64)", In "in_table" "varchar(64)",
        Out "out_exists" "enum('','BASE TABLE','VIEW','TEMPORARY')") "Tells what a name is: a table, a view or nothing.";
}

/// A procedure by its name, without case.
pub fn find(name: &str) -> Option<&'static Procedure> {
    PROCEDURES
        .iter()
        .find(|p| p.name.eq_ignore_ascii_case(name))
}

#[cfg(test)]
mod tests {
    #[test]
    fn procedures_are_sorted_and_described() {
        let names: Vec<&str> = super::PROCEDURES.iter().map(|p| p.name).collect();
        assert!(names.is_sorted() && names.len() == 26);
        assert!(super::PROCEDURES.iter().all(|p| p.doc.ends_with('.')));
        assert!(super::find("TABLE_exists").is_some() && super::find("nothing").is_none());
    }
}
