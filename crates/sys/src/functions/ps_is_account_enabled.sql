SELECT IF(COUNT(s.HOST) = 0, 'NO', MAX(s.ENABLED)) AS answer
FROM (SELECT ? AS host, ? AS user) AS a
LEFT JOIN performance_schema.setup_actors AS s
  ON (s.HOST = '%' OR a.host LIKE s.HOST) AND (s.USER = '%' OR a.user = s.USER)
