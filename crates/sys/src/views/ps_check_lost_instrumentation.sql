-- The counters of what could not be recorded, where there was any.
SELECT VARIABLE_NAME AS variable_name, VARIABLE_VALUE AS variable_value
FROM performance_schema.global_status
WHERE VARIABLE_NAME LIKE 'performance\_schema%\_lost' AND VARIABLE_VALUE + 0 > 0
