-- Status variables, InnoDB metrics, memory and the current time in one list.
SELECT LOWER(VARIABLE_NAME) AS Variable_name, VARIABLE_VALUE AS Variable_value, 'Global Status' AS Type, 'YES' AS Enabled
FROM performance_schema.global_status
UNION ALL
SELECT m.NAME, m.COUNT, CONCAT('InnoDB Metrics - ', m.SUBSYSTEM), IF(m.STATUS = 'enabled', 'YES', 'NO')
FROM information_schema.INNODB_METRICS AS m
WHERE LOWER(CONCAT('innodb_', m.NAME)) NOT IN (SELECT LOWER(VARIABLE_NAME) FROM performance_schema.global_status)
UNION ALL
SELECT 'memory_current_allocated', SUM(g.CURRENT_NUMBER_OF_BYTES_USED), 'Performance Schema', MIN(i.ENABLED)
FROM performance_schema.memory_summary_global_by_event_name AS g
JOIN performance_schema.setup_instruments AS i ON i.NAME = g.EVENT_NAME
UNION ALL
SELECT 'memory_total_allocated', SUM(g.SUM_NUMBER_OF_BYTES_ALLOC), 'Performance Schema', MIN(i.ENABLED)
FROM performance_schema.memory_summary_global_by_event_name AS g
JOIN performance_schema.setup_instruments AS i ON i.NAME = g.EVENT_NAME
UNION ALL
SELECT 'NOW()', NOW(3), 'System Time', 'YES'
UNION ALL
SELECT 'UNIX_TIMESTAMP()', UNIX_TIMESTAMP(NOW(3)), 'System Time', 'YES'
ORDER BY Type, Variable_name
