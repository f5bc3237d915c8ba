//! SHOW of objects that this server never has: MySQL's columns and no rows.

use crate::result::Rows;
use tare_dialect::admin::Absent;
use tare_mysql::series::Series;

/// The empty result.
pub fn rows(absent: Absent, series: Series) -> Rows {
    let names = columns(absent);
    let types: Vec<&str> = names.iter().map(|n| type_of(n)).collect();
    let mut rows = Rows::new(names).typed(&types);
    if series == Series::V9_7 && matches!(absent, Absent::ReplicaStatus | Absent::Replicas) {
        rows.names.iter_mut().for_each(|name| *name = renamed(name));
        if absent == Absent::ReplicaStatus {
            rows.names.push("Network_Namespace".into());
            rows = rows.with_type("varchar(64)");
        }
    }
    rows
}

/// What MySQL calls a column of replication since 8.4.
fn renamed(name: &str) -> String {
    match name {
        "Server_id" => "Server_Id".into(),
        "Master_id" => "Source_Id".into(),
        _ => name
            .replace("Master", "Source")
            .replace("master", "Source")
            .replace("Slave", "Replica"),
    }
}

fn columns(absent: Absent) -> &'static [&'static str] {
    match absent {
        Absent::BinaryLogStatus => &[
            "File",
            "Position",
            "Binlog_Do_DB",
            "Binlog_Ignore_DB",
            "Executed_Gtid_Set",
        ],
        Absent::BinaryLogEvents => &[
            "Log_name",
            "Pos",
            "Event_type",
            "Server_id",
            "End_log_pos",
            "Info",
        ],
        Absent::ReplicaStatus => REPLICA_STATUS,
        Absent::Replicas => &["Server_id", "Host", "Port", "Master_id", "Slave_UUID"],
        Absent::Profiles => &["Query_ID", "Duration", "Query"],
        Absent::Profile => &["Status", "Duration"],
        Absent::Help => &["name", "is_it_category"],
    }
}

/// The type of a column by its name.
fn type_of(name: &str) -> &'static str {
    match name {
        "Duration" => "double",
        "Position"
        | "Read_Master_Log_Pos"
        | "Relay_Log_Pos"
        | "Exec_Master_Log_Pos"
        | "Relay_Log_Space"
        | "Until_Log_Pos"
        | "Seconds_Behind_Master"
        | "Master_Retry_Count" => "bigint unsigned",
        "Server_id"
        | "Port"
        | "Master_id"
        | "Master_Port"
        | "Connect_Retry"
        | "Last_Errno"
        | "Skip_Counter"
        | "Last_IO_Errno"
        | "Last_SQL_Errno"
        | "Master_Server_Id"
        | "SQL_Delay"
        | "SQL_Remaining_Delay"
        | "Auto_Position"
        | "Get_master_public_key"
        | "Query_ID" => "int unsigned",
        _ => "varchar(255)",
    }
}

const REPLICA_STATUS: &[&str] = &[
    "Slave_IO_State",
    "Master_Host",
    "Master_User",
    "Master_Port",
    "Connect_Retry",
    "Master_Log_File",
    "Read_Master_Log_Pos",
    "Relay_Log_File",
    "Relay_Log_Pos",
    "Relay_Master_Log_File",
    "Slave_IO_Running",
    "Slave_SQL_Running",
    "Replicate_Do_DB",
    "Replicate_Ignore_DB",
    "Replicate_Do_Table",
    "Replicate_Ignore_Table",
    "Replicate_Wild_Do_Table",
    "Replicate_Wild_Ignore_Table",
    "Last_Errno",
    "Last_Error",
    "Skip_Counter",
    "Exec_Master_Log_Pos",
    "Relay_Log_Space",
    "Until_Condition",
    "Until_Log_File",
    "Until_Log_Pos",
    "Master_SSL_Allowed",
    "Master_SSL_CA_File",
    "Master_SSL_CA_Path",
    "Master_SSL_Cert",
    "Master_SSL_Cipher",
    "Master_SSL_Key",
    "Seconds_Behind_Master",
    "Master_SSL_Verify_Server_Cert",
    "Last_IO_Errno",
    "Last_IO_Error",
    "Last_SQL_Errno",
    "Last_SQL_Error",
    "Replicate_Ignore_Server_Ids",
    "Master_Server_Id",
    "Master_UUID",
    "Master_Info_File",
    "SQL_Delay",
    "SQL_Remaining_Delay",
    "Slave_SQL_Running_State",
    "Master_Retry_Count",
    "Master_Bind",
    "Last_IO_Error_Timestamp",
    "Last_SQL_Error_Timestamp",
    "Master_SSL_Crl",
    "Master_SSL_Crlpath",
    "Retrieved_Gtid_Set",
    "Executed_Gtid_Set",
    "Auto_Position",
    "Replicate_Rewrite_DB",
    "Channel_Name",
    "Master_TLS_Version",
    "Master_public_key_path",
    "Get_master_public_key",
];
