-- Status variables that count lost instrumentation, where they are not 0.
SELECT VARIABLE_NAME AS variable_name, VARIABLE_VALUE AS variable_value
FROM performance_schema.global_status
WHERE VARIABLE_NAME LIKE 'performance\_schema%\_lost' AND VARIABLE_VALUE + 0 > 0
