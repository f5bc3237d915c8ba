//! The procedures and their parameters.

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
        "Always fails: a database is one file and cannot have a second name.";
    "diagnostics" (In "in_max_runtime" "int(10) unsigned", In "in_interval" "int(10) unsigned",
        In "in_auto_config" "enum('current','medium','full')")
        "Reports configuration and activity over a period, in a series of result sets.";
    "execute_prepared_stmt" (In "in_query" "longtext") "Runs a statement that is given as a string.";
    "ps_setup_disable_background_threads" () "Disables instrumentation of background threads.";
    "ps_setup_disable_consumer" (In "consumer" "varchar(128)") "Disables the consumers whose names contain a string.";
    "ps_setup_disable_instrument" (In "in_pattern" "varchar(128)") "Disables the instruments whose names contain a string.";
    "ps_setup_disable_thread" (In "in_connection_id" "bigint(20)") "Disables instrumentation of a connection.";
    "ps_setup_enable_background_threads" () "Enables instrumentation of background threads.";
    "ps_setup_enable_consumer" (In "consumer" "varchar(128)") "Enables the consumers whose names contain a string.";
    "ps_setup_enable_instrument" (In "in_pattern" "varchar(128)") "Enables and times the instruments whose names contain a string.";
    "ps_setup_enable_thread" (In "in_connection_id" "bigint(20)") "Enables instrumentation of a connection.";
    "ps_setup_reload_saved" () "Restores the configuration that ps_setup_save saved in this session.";
    "ps_setup_reset_to_default" (In "in_verbose" BOOLEAN) "Resets the setup tables to their defaults.";
    "ps_setup_save" (In "in_timeout" "int(11)") "Saves the configuration of the setup tables for this session.";
    "ps_setup_show_disabled" (In "in_show_instruments" BOOLEAN, In "in_show_threads" BOOLEAN) "Shows the disabled configuration.";
    "ps_setup_show_disabled_consumers" () "Shows the disabled consumers.";
    "ps_setup_show_disabled_instruments" () "Shows the disabled instruments.";
    "ps_setup_show_enabled" (In "in_show_instruments" BOOLEAN, In "in_show_threads" BOOLEAN) "Shows the enabled configuration.";
    "ps_setup_show_enabled_consumers" () "Shows the enabled consumers.";
    "ps_setup_show_enabled_instruments" () "Shows the enabled instruments.";
    "ps_statement_avg_latency_histogram" () "Draws a histogram of the average latencies of normalized statements as text.";
    "ps_trace_statement_digest" (In "in_digest" "varchar(64)", In "in_runtime" "int(11)",
        In "in_interval" "decimal(2,2)", In "in_start_fresh" BOOLEAN, In "in_auto_enable" BOOLEAN)
        "Traces a normalized statement for a period and reports its executions.";
    "ps_trace_thread" (In "in_thread_id" ID, In "in_outfile" "varchar(255)",
        In "in_max_runtime" "decimal(20,2)", In "in_interval" "decimal(20,2)", In "in_start_fresh" BOOLEAN,
        In "in_auto_setup" BOOLEAN, In "in_debug" BOOLEAN)
        "Traces a thread for a period and outputs its events as a graph for Graphviz.";
    "ps_truncate_all_tables" (In "in_verbose" BOOLEAN) "Truncates all summary and history tables.";
    "statement_performance_analyzer" (In "in_action"
        "enum('snapshot','overall','delta','create_table','create_tmp','save','cleanup')",
        In "in_table" "varchar(129)", In "in_views"
        "set('with_runtimes_in_95th_percentile','analysis','with_errors_or_warnings','with_full_table_scans','with_sorting','with_temp_tables','custom')")
        "Compares the statistics of normalized statements at two times.";
    "table_exists" (In "in_db" "varchar(64)", In "in_table" "varchar(64)",
        Out "out_exists" "enum('','BASE TABLE','VIEW','TEMPORARY')") "Tells whether a name is a base table, a view, a temporary table or none of these.";
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
