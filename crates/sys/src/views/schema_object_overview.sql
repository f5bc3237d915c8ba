-- The number of objects by database and type.
SELECT o.db AS db, o.object_type AS object_type, COUNT(*) AS count
FROM (
  SELECT TABLE_SCHEMA AS db, TABLE_TYPE AS object_type FROM information_schema.TABLES
  UNION ALL
  SELECT TABLE_SCHEMA, CONCAT('INDEX (', INDEX_TYPE, ')') FROM information_schema.STATISTICS WHERE SEQ_IN_INDEX = 1
  UNION ALL
  SELECT ROUTINE_SCHEMA, ROUTINE_TYPE FROM information_schema.ROUTINES
  UNION ALL
  SELECT TRIGGER_SCHEMA, 'TRIGGER' FROM information_schema.TRIGGERS
  UNION ALL
  SELECT EVENT_SCHEMA, 'EVENT' FROM information_schema.EVENTS
) AS o
GROUP BY o.db, o.object_type
ORDER BY o.db, o.object_type
