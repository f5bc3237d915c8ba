-- AUTO_INCREMENT columns, and how much of their range is used.
SELECT
  c.TABLE_SCHEMA AS table_schema,
  c.TABLE_NAME AS table_name,
  c.COLUMN_NAME AS column_name,
  c.DATA_TYPE AS data_type,
  c.COLUMN_TYPE AS column_type,
  NOT c.is_unsigned AS is_signed,
  c.is_unsigned AS is_unsigned,
  IF(c.is_unsigned, c.largest_unsigned, c.largest) AS max_value,
  c.AUTO_INCREMENT AS auto_increment,
  ROUND(c.AUTO_INCREMENT / (c.largest * (1.0 + c.is_unsigned)), 4) AS auto_increment_ratio
FROM (
  SELECT
    c.TABLE_SCHEMA, c.TABLE_NAME, c.COLUMN_NAME, c.DATA_TYPE, c.COLUMN_TYPE, t.AUTO_INCREMENT,
    c.COLUMN_TYPE LIKE '%unsigned%' AS is_unsigned,
    CASE LOWER(c.DATA_TYPE)
      WHEN 'tinyint' THEN 127
      WHEN 'smallint' THEN 32767
      WHEN 'mediumint' THEN 8388607
      WHEN 'bigint' THEN 9223372036854775807
      WHEN 'integer' THEN 9223372036854775807
      ELSE 2147483647
    END AS largest,
    CASE LOWER(c.DATA_TYPE)
      WHEN 'tinyint' THEN 255
      WHEN 'smallint' THEN 65535
      WHEN 'mediumint' THEN 16777215
      WHEN 'bigint' THEN 18446744073709551615
      ELSE 4294967295
    END AS largest_unsigned
  FROM information_schema.COLUMNS AS c
  JOIN information_schema.TABLES AS t ON t.TABLE_SCHEMA = c.TABLE_SCHEMA AND t.TABLE_NAME = c.TABLE_NAME
  WHERE c.EXTRA = 'auto_increment'
    AND c.TABLE_SCHEMA NOT IN ('mysql', 'sys', 'information_schema', 'performance_schema', 'tare')
) AS c
ORDER BY auto_increment_ratio DESC, max_value
