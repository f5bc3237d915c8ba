SELECT CASE
  WHEN COUNT(*) = 0 THEN NULL
  -- Half a document would be none.
  WHEN LENGTH(json_group_array(JSON(r.trx))) > sys.tare_trx_limit()
    THEN JSON_OBJECT('error', 'Trx info truncated: it is longer than ps_thread_trx_info.max_length')
  ELSE json_group_array(JSON(r.trx))
END AS answer
FROM (
  SELECT JSON_OBJECT(
      'time', sys.format_time(t.TIMER_WAIT),
      'state', t.STATE,
      'mode', t.ACCESS_MODE,
      'autocommitted', t.AUTOCOMMIT,
      'gtid', t.GTID,
      'isolation', t.ISOLATION_LEVEL,
      'statements_executed', JSON((
        SELECT json_group_array(JSON_OBJECT(
            'sql_text', s.SQL_TEXT,
            'time', sys.format_time(s.TIMER_WAIT),
            'schema', s.CURRENT_SCHEMA,
            'rows_examined', s.ROWS_EXAMINED,
            'rows_affected', s.ROWS_AFFECTED,
            'rows_sent', s.ROWS_SENT,
            'tmp_tables', s.CREATED_TMP_TABLES,
            'tmp_disk_tables', s.CREATED_TMP_DISK_TABLES,
            'sort_rows', s.SORT_ROWS,
            'sort_merge_passes', s.SORT_MERGE_PASSES))
        FROM performance_schema.events_statements_history AS s
        WHERE s.THREAD_ID = t.THREAD_ID AND s.NESTING_EVENT_TYPE = 'TRANSACTION' AND s.NESTING_EVENT_ID = t.EVENT_ID
      ))) AS trx
  FROM (SELECT ? AS id) AS a
  JOIN (
    SELECT * FROM performance_schema.events_transactions_current
    UNION
    SELECT * FROM performance_schema.events_transactions_history
  ) AS t ON t.THREAD_ID = a.id
  ORDER BY t.EVENT_ID
) AS r
