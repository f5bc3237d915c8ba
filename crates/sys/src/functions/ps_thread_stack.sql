SELECT JSON_OBJECT(
    'rankdir', 'LR',
    'nodesep', '0.10',
    'stack_created', NOW(),
    'mysql_version', VERSION(),
    'mysql_user', CURRENT_USER(),
    'events', JSON(IFNULL(json_group_array(JSON(e.event)), '[]'))) AS answer
FROM (
  SELECT JSON_OBJECT(
      'nesting_event_id', IFNULL(x.parent, '0'),
      'event_id', x.id,
      'timer_wait', ROUND(IFNULL(x.wait, 0) / 1000000, 2),
      'event_info', CONCAT(x.info, IF(a.debug, CONCAT(' [', x.name, ' from ', IFNULL(x.source, 'unknown'), ']'), '')),
      'wait_info', IFNULL(x.detail, '')) AS event
  FROM (SELECT ? AS id, ? AS debug) AS a
  JOIN (
    SELECT THREAD_ID AS thread, EVENT_ID AS id, NESTING_EVENT_ID AS parent, EVENT_NAME AS name,
           SOURCE AS source, TIMER_START AS begun, TIMER_WAIT AS wait, IFNULL(SQL_TEXT, EVENT_NAME) AS info,
           CONCAT('rows sent: ', ROWS_SENT, ', rows examined: ', ROWS_EXAMINED, ', errors: ', ERRORS) AS detail
    FROM performance_schema.events_statements_history_long
    UNION ALL
    SELECT THREAD_ID, EVENT_ID, NESTING_EVENT_ID, EVENT_NAME, SOURCE, TIMER_START, TIMER_WAIT,
           EVENT_NAME, CONCAT('work: ', WORK_COMPLETED, ' of ', WORK_ESTIMATED)
    FROM performance_schema.events_stages_history_long
    UNION ALL
    SELECT THREAD_ID, EVENT_ID, NESTING_EVENT_ID, EVENT_NAME, SOURCE, TIMER_START, TIMER_WAIT,
           EVENT_NAME, CONCAT(OPERATION, ' ', OBJECT_NAME, ' ', NUMBER_OF_BYTES)
    FROM performance_schema.events_waits_history_long
    UNION ALL
    SELECT THREAD_ID, EVENT_ID, NESTING_EVENT_ID, EVENT_NAME, SOURCE, TIMER_START, TIMER_WAIT,
           EVENT_NAME, CONCAT(STATE, ' ', ACCESS_MODE)
    FROM performance_schema.events_transactions_history_long
  ) AS x ON x.thread = a.id
  ORDER BY x.id
) AS e
