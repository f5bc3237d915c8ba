//! The errors that a client of this server may meet, with MySQL's names and SQLSTATEs: the rows of
//! `performance_schema.events_errors_summary_*`.

/// Number, name, SQLSTATE.
pub const ERRORS: &[(u16, &str, &str)] = &[
    (1005, "ER_CANT_CREATE_TABLE", "HY000"),
    (1006, "ER_CANT_CREATE_DB", "HY000"),
    (1007, "ER_DB_CREATE_EXISTS", "HY000"),
    (1008, "ER_DB_DROP_EXISTS", "HY000"),
    (1009, "ER_DB_DROP_DELETE", "HY000"),
    (1010, "ER_DB_DROP_RMDIR", "HY000"),
    (1020, "ER_CHECKREAD", "HY000"),
    (1021, "ER_DISK_FULL", "HY000"),
    (1022, "ER_DUP_KEY", "23000"),
    (1024, "ER_ERROR_ON_READ", "HY000"),
    (1026, "ER_ERROR_ON_WRITE", "HY000"),
    (1030, "ER_GET_ERRNO", "HY000"),
    (1031, "ER_ILLEGAL_HA", "HY000"),
    (1032, "ER_KEY_NOT_FOUND", "HY000"),
    (1036, "ER_OPEN_AS_READONLY", "HY000"),
    (1037, "ER_OUTOFMEMORY", "HY001"),
    (1038, "ER_OUT_OF_SORTMEMORY", "HY001"),
    (1040, "ER_CON_COUNT_ERROR", "08004"),
    (1041, "ER_OUT_OF_RESOURCES", "HY000"),
    (1042, "ER_BAD_HOST_ERROR", "08S01"),
    (1043, "ER_HANDSHAKE_ERROR", "08S01"),
    (1044, "ER_DBACCESS_DENIED_ERROR", "42000"),
    (1045, "ER_ACCESS_DENIED_ERROR", "28000"),
    (1046, "ER_NO_DB_ERROR", "3D000"),
    (1047, "ER_UNKNOWN_COM_ERROR", "08S01"),
    (1048, "ER_BAD_NULL_ERROR", "23000"),
    (1049, "ER_BAD_DB_ERROR", "42000"),
    (1050, "ER_TABLE_EXISTS_ERROR", "42S01"),
    (1051, "ER_BAD_TABLE_ERROR", "42S02"),
    (1052, "ER_NON_UNIQ_ERROR", "23000"),
    (1053, "ER_SERVER_SHUTDOWN", "08S01"),
    (1054, "ER_BAD_FIELD_ERROR", "42S22"),
    (1055, "ER_WRONG_FIELD_WITH_GROUP", "42000"),
    (1056, "ER_WRONG_GROUP_FIELD", "42000"),
    (1057, "ER_WRONG_SUM_SELECT", "42000"),
    (1058, "ER_WRONG_VALUE_COUNT", "21S01"),
    (1059, "ER_TOO_LONG_IDENT", "42000"),
    (1060, "ER_DUP_FIELDNAME", "42S21"),
    (1061, "ER_DUP_KEYNAME", "42000"),
    (1062, "ER_DUP_ENTRY", "23000"),
    (1063, "ER_WRONG_FIELD_SPEC", "42000"),
    (1064, "ER_PARSE_ERROR", "42000"),
    (1065, "ER_EMPTY_QUERY", "42000"),
    (1066, "ER_NONUNIQ_TABLE", "42000"),
    (1067, "ER_INVALID_DEFAULT", "42000"),
    (1068, "ER_MULTIPLE_PRI_KEY", "42000"),
    (1069, "ER_TOO_MANY_KEYS", "42000"),
    (1070, "ER_TOO_MANY_KEY_PARTS", "42000"),
    (1071, "ER_TOO_LONG_KEY", "42000"),
    (1072, "ER_KEY_COLUMN_DOES_NOT_EXITS", "42000"),
    (1073, "ER_BLOB_USED_AS_KEY", "42000"),
    (1075, "ER_WRONG_AUTO_KEY", "42000"),
    (1090, "ER_CANT_REMOVE_ALL_FIELDS", "42000"),
    (1091, "ER_CANT_DROP_FIELD_OR_KEY", "42000"),
    (1093, "ER_UPDATE_TABLE_USED", "HY000"),
    (1094, "ER_NO_SUCH_THREAD", "HY000"),
    (1095, "ER_KILL_DENIED_ERROR", "HY000"),
    (1096, "ER_NO_TABLES_USED", "HY000"),
    (1099, "ER_TABLE_NOT_LOCKED_FOR_WRITE", "HY000"),
    (1100, "ER_TABLE_NOT_LOCKED", "HY000"),
    (1101, "ER_BLOB_CANT_HAVE_DEFAULT", "42000"),
    (1102, "ER_WRONG_DB_NAME", "42000"),
    (1103, "ER_WRONG_TABLE_NAME", "42000"),
    (1104, "ER_TOO_BIG_SELECT", "42000"),
    (1105, "ER_UNKNOWN_ERROR", "HY000"),
    (1106, "ER_UNKNOWN_PROCEDURE", "42000"),
    (1108, "ER_WRONG_PARAMETERS_TO_PROCEDURE", "HY000"),
    (1109, "ER_UNKNOWN_TABLE", "42S02"),
    (1110, "ER_FIELD_SPECIFIED_TWICE", "42000"),
    (1111, "ER_INVALID_GROUP_FUNC_USE", "HY000"),
    (1112, "ER_UNSUPPORTED_EXTENSION", "42000"),
    (1113, "ER_TABLE_MUST_HAVE_COLUMNS", "42000"),
    (1114, "ER_RECORD_FILE_FULL", "HY000"),
    (1115, "ER_UNKNOWN_CHARACTER_SET", "42000"),
    (1116, "ER_TOO_MANY_TABLES", "HY000"),
    (1117, "ER_TOO_MANY_FIELDS", "HY000"),
    (1118, "ER_TOO_BIG_ROWSIZE", "42000"),
    (1120, "ER_WRONG_OUTER_JOIN_UNUSED", "42000"),
    (1129, "ER_HOST_IS_BLOCKED", "HY000"),
    (1130, "ER_HOST_NOT_PRIVILEGED", "HY000"),
    (1136, "ER_WRONG_VALUE_COUNT_ON_ROW", "21S01"),
    (1138, "ER_INVALID_USE_OF_NULL", "22004"),
    (1139, "ER_REGEXP_ERROR", "42000"),
    (1140, "ER_MIX_OF_GROUP_FUNC_AND_FIELDS", "42000"),
    (1141, "ER_NONEXISTING_GRANT", "42000"),
    (1142, "ER_TABLEACCESS_DENIED_ERROR", "42000"),
    (1143, "ER_COLUMNACCESS_DENIED_ERROR", "42000"),
    (1146, "ER_NO_SUCH_TABLE", "42S02"),
    (1147, "ER_NONEXISTING_TABLE_GRANT", "42000"),
    (1148, "ER_NOT_ALLOWED_COMMAND", "42000"),
    (1149, "ER_SYNTAX_ERROR", "42000"),
    (1152, "ER_ABORTING_CONNECTION", "08S01"),
    (1153, "ER_NET_PACKET_TOO_LARGE", "08S01"),
    (1154, "ER_NET_READ_ERROR_FROM_PIPE", "08S01"),
    (1155, "ER_NET_FCNTL_ERROR", "08S01"),
    (1156, "ER_NET_PACKETS_OUT_OF_ORDER", "08S01"),
    (1157, "ER_NET_UNCOMPRESS_ERROR", "08S01"),
    (1158, "ER_NET_READ_ERROR", "08S01"),
    (1159, "ER_NET_READ_INTERRUPTED", "08S01"),
    (1160, "ER_NET_ERROR_ON_WRITE", "08S01"),
    (1161, "ER_NET_WRITE_INTERRUPTED", "08S01"),
    (1162, "ER_TOO_LONG_STRING", "42000"),
    (1166, "ER_WRONG_COLUMN_NAME", "42000"),
    (1170, "ER_BLOB_KEY_WITHOUT_LENGTH", "42000"),
    (1171, "ER_PRIMARY_CANT_HAVE_NULL", "42000"),
    (1172, "ER_TOO_MANY_ROWS", "42000"),
    (1176, "ER_KEY_DOES_NOT_EXITS", "42000"),
    (1178, "ER_CHECK_NOT_IMPLEMENTED", "42000"),
    (1180, "ER_ERROR_DURING_COMMIT", "HY000"),
    (1181, "ER_ERROR_DURING_ROLLBACK", "HY000"),
    (1184, "ER_NEW_ABORTING_CONNECTION", "08S01"),
    (1191, "ER_FT_MATCHING_KEY_NOT_FOUND", "HY000"),
    (1192, "ER_LOCK_OR_ACTIVE_TRANSACTION", "HY000"),
    (1193, "ER_UNKNOWN_SYSTEM_VARIABLE", "HY000"),
    (1203, "ER_TOO_MANY_USER_CONNECTIONS", "42000"),
    (1205, "ER_LOCK_WAIT_TIMEOUT", "HY000"),
    (1206, "ER_LOCK_TABLE_FULL", "HY000"),
    (1207, "ER_READ_ONLY_TRANSACTION", "25000"),
    (1210, "ER_WRONG_ARGUMENTS", "HY000"),
    (1211, "ER_NO_PERMISSION_TO_CREATE_USER", "42000"),
    (1213, "ER_LOCK_DEADLOCK", "40001"),
    (1215, "ER_CANNOT_ADD_FOREIGN", "HY000"),
    (1216, "ER_NO_REFERENCED_ROW", "23000"),
    (1217, "ER_ROW_IS_REFERENCED", "23000"),
    (1220, "ER_ERROR_WHEN_EXECUTING_COMMAND", "HY000"),
    (1221, "ER_WRONG_USAGE", "HY000"),
    (1222, "ER_WRONG_NUMBER_OF_COLUMNS_IN_SELECT", "21000"),
    (1223, "ER_CANT_UPDATE_WITH_READLOCK", "HY000"),
    (1226, "ER_USER_LIMIT_REACHED", "42000"),
    (1227, "ER_SPECIFIC_ACCESS_DENIED_ERROR", "42000"),
    (1228, "ER_LOCAL_VARIABLE", "HY000"),
    (1229, "ER_GLOBAL_VARIABLE", "HY000"),
    (1230, "ER_NO_DEFAULT", "42000"),
    (1231, "ER_WRONG_VALUE_FOR_VAR", "42000"),
    (1232, "ER_WRONG_TYPE_FOR_VAR", "42000"),
    (1233, "ER_VAR_CANT_BE_READ", "HY000"),
    (1234, "ER_CANT_USE_OPTION_HERE", "42000"),
    (1235, "ER_NOT_SUPPORTED_YET", "42000"),
    (1238, "ER_INCORRECT_GLOBAL_LOCAL_VAR", "HY000"),
    (1239, "ER_WRONG_FK_DEF", "42000"),
    (1241, "ER_OPERAND_COLUMNS", "21000"),
    (1242, "ER_SUBQUERY_NO_1_ROW", "21000"),
    (1243, "ER_UNKNOWN_STMT_HANDLER", "HY000"),
    (1247, "ER_ILLEGAL_REFERENCE", "42S22"),
    (1248, "ER_DERIVED_MUST_HAVE_ALIAS", "42000"),
    (1249, "ER_SELECT_REDUCED", "01000"),
    (1251, "ER_NOT_SUPPORTED_AUTH_MODE", "08004"),
    (1253, "ER_COLLATION_CHARSET_MISMATCH", "42000"),
    (1260, "ER_CUT_VALUE_GROUP_CONCAT", "HY000"),
    (1264, "ER_WARN_DATA_OUT_OF_RANGE", "22003"),
    (1265, "WARN_DATA_TRUNCATED", "01000"),
    (1267, "ER_CANT_AGGREGATE_2COLLATIONS", "HY000"),
    (1273, "ER_UNKNOWN_COLLATION", "HY000"),
    (1286, "ER_UNKNOWN_STORAGE_ENGINE", "42000"),
    (1287, "ER_WARN_DEPRECATED_SYNTAX", "HY000"),
    (1288, "ER_NON_UPDATABLE_TABLE", "HY000"),
    (1289, "ER_FEATURE_DISABLED", "HY000"),
    (1290, "ER_OPTION_PREVENTS_STATEMENT", "HY000"),
    (1292, "ER_TRUNCATED_WRONG_VALUE", "22007"),
    (1295, "ER_UNSUPPORTED_PS", "HY000"),
    (1298, "ER_UNKNOWN_TIME_ZONE", "HY000"),
    (1300, "ER_INVALID_CHARACTER_STRING", "HY000"),
    (1301, "ER_WARN_ALLOWED_PACKET_OVERFLOWED", "HY000"),
    (1304, "ER_SP_ALREADY_EXISTS", "42000"),
    (1305, "ER_SP_DOES_NOT_EXIST", "42000"),
    (1312, "ER_SP_BADSELECT", "0A000"),
    (1317, "ER_QUERY_INTERRUPTED", "70100"),
    (1318, "ER_SP_WRONG_NO_OF_ARGS", "42000"),
    (1327, "ER_SP_UNDECLARED_VAR", "42000"),
    (1329, "ER_SP_FETCH_NO_DATA", "02000"),
    (1347, "ER_WRONG_OBJECT", "HY000"),
    (1356, "ER_VIEW_INVALID", "HY000"),
    (1360, "ER_TRG_DOES_NOT_EXIST", "HY000"),
    (1364, "ER_NO_DEFAULT_FOR_FIELD", "HY000"),
    (1365, "ER_DIVISION_BY_ZERO", "22012"),
    (1366, "ER_TRUNCATED_WRONG_VALUE_FOR_FIELD", "HY000"),
    (1370, "ER_PROCACCESS_DENIED_ERROR", "42000"),
    (1381, "ER_NO_BINARY_LOGGING", "HY000"),
    (1390, "ER_PS_MANY_PARAM", "HY000"),
    (1396, "ER_CANNOT_USER", "HY000"),
    (1399, "ER_XAER_RMFAIL", "XAE07"),
    (1406, "ER_DATA_TOO_LONG", "22001"),
    (1410, "ER_CANT_CREATE_USER_WITH_GRANT", "42000"),
    (1411, "ER_WRONG_VALUE_FOR_TYPE", "HY000"),
    (1414, "ER_SP_NOT_VAR_ARG", "42000"),
    (1418, "ER_BINLOG_UNSAFE_ROUTINE", "HY000"),
    (1426, "ER_TOO_BIG_PRECISION", "42000"),
    (1427, "ER_M_BIGGER_THAN_D", "42000"),
    (1436, "ER_STACK_OVERRUN_NEED_MORE", "HY000"),
    (1441, "ER_DATETIME_FUNCTION_OVERFLOW", "22008"),
    (1450, "ER_FORBID_SCHEMA_CHANGE", "HY000"),
    (1451, "ER_ROW_IS_REFERENCED_2", "23000"),
    (1452, "ER_NO_REFERENCED_ROW_2", "23000"),
    (1461, "ER_MAX_PREPARED_STMT_COUNT_REACHED", "42000"),
    (1471, "ER_NON_INSERTABLE_TABLE", "HY000"),
    (1525, "ER_WRONG_VALUE", "HY000"),
    (1539, "ER_EVENT_DOES_NOT_EXIST", "HY000"),
    (1557, "ER_FOREIGN_DUPLICATE_KEY_OLD_UNUSED", "23000"),
    (1568, "ER_CANT_CHANGE_TX_CHARACTERISTICS", "25001"),
    (1582, "ER_WRONG_PARAMCOUNT_TO_NATIVE_FCT", "42000"),
    (1583, "ER_WRONG_PARAMETERS_TO_NATIVE_FCT", "42000"),
    (1586, "ER_DUP_ENTRY_WITH_KEY_NAME", "23000"),
    (1592, "ER_BINLOG_UNSAFE_STATEMENT", "HY000"),
    (1621, "ER_VARIABLE_IS_READONLY", "HY000"),
    (1630, "ER_FUNC_INEXISTENT_NAME_COLLISION", "42000"),
    (1644, "ER_SIGNAL_EXCEPTION", "HY000"),
    (1683, "ER_WRONG_PERFSCHEMA_USAGE", "HY000"),
    (1690, "ER_DATA_OUT_OF_RANGE", "22003"),
    (1698, "ER_ACCESS_DENIED_NO_PASSWORD_ERROR", "28000"),
    (1792, "ER_CANT_EXECUTE_IN_READ_ONLY_TRANSACTION", "25006"),
    (1835, "ER_MALFORMED_PACKET", "HY000"),
    (3024, "ER_QUERY_TIMEOUT", "HY000"),
    (3047, "ER_STD_INVALID_ARGUMENT", "HY000"),
    (3057, "ER_USER_LOCK_WRONG_NAME", "42000"),
    (3065, "ER_FIELD_IN_ORDER_NOT_SELECT", "HY000"),
    (3141, "ER_INVALID_JSON_TEXT_IN_PARAM", "22032"),
    (3143, "ER_INVALID_JSON_PATH", "42000"),
    (3158, "ER_JSON_DOCUMENT_NULL_KEY", "22032"),
    (3167, "ER_FEATURE_DISABLED_SEE_DOC", "HY000"),
    (3552, "ER_NO_SYSTEM_SCHEMA_ACCESS", "HY000"),
    (3554, "ER_NO_SYSTEM_TABLE_ACCESS", "HY000"),
    (3619, "ER_ILLEGAL_PRIVILEGE_LEVEL", "HY000"),
    (3685, "ER_REGEXP_ILLEGAL_ARGUMENT", "HY000"),
    (3686, "ER_REGEXP_INDEX_OUTOFBOUNDS_ERROR", "HY000"),
    (3691, "ER_REGEXP_MISMATCHED_PAREN", "HY000"),
    (3819, "ER_CHECK_CONSTRAINT_VIOLATED", "HY000"),
    (4031, "ER_CLIENT_INTERACTION_TIMEOUT", "HY000"),
];

/// Tells the engine, whose tables list them from now on.
pub fn define() {
    for (number, name, state) in ERRORS {
        tare::error::define(u32::from(*number), name, state);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn they_are_in_order_and_whole() {
        assert!(ERRORS.windows(2).all(|two| two[0].0 < two[1].0));
        for (number, name, state) in ERRORS {
            assert!(
                name.starts_with("ER_") || name.starts_with("WARN_"),
                "{number}"
            );
            assert_eq!(state.len(), 5, "{number}");
        }
    }

    /// Every number that this crate raises has a name. Those that are computed, `SqlError::new` looks at
    /// when tests run.
    #[test]
    fn no_error_of_ours_is_nameless() {
        let mut files = vec![std::path::PathBuf::from(concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/src"
        ))];
        let mut raised = Vec::new();
        while let Some(path) = files.pop() {
            if path.is_dir() {
                let entries = std::fs::read_dir(&path).expect("a directory of sources");
                files.extend(entries.map(|entry| entry.expect("an entry").path()));
                continue;
            }
            let text = std::fs::read_to_string(&path).expect("a source file");
            for call in [
                "Error::new(",
                "Self::new(",
                "wrong(",
                "\"45000\",",
                "\"Note\",",
                "\"Warning\",",
            ] {
                for (at, _) in text.match_indices(call) {
                    let rest = text[at + call.len()..].trim_start();
                    let number = rest.split(|c: char| !c.is_ascii_digit()).next();
                    if let Some(number @ 1000..) = number.and_then(|n| n.parse::<u16>().ok()) {
                        raised.push((number, path.clone()));
                    }
                }
            }
        }
        assert!(
            raised.len() > 150,
            "the errors are found in the sources: {}",
            raised.len()
        );
        for (number, path) in raised {
            let known = ERRORS.binary_search_by_key(&number, |(known, ..)| *known);
            assert!(known.is_ok(), "{number} of {} has no name", path.display());
        }
    }
}
