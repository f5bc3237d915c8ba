-- Whether and how each connection is encrypted.
SELECT
  THREAD_ID AS thread_id,
  MAX(IF(VARIABLE_NAME = 'Ssl_version', VARIABLE_VALUE, NULL)) AS ssl_version,
  MAX(IF(VARIABLE_NAME = 'Ssl_cipher', VARIABLE_VALUE, NULL)) AS ssl_cipher,
  MAX(IF(VARIABLE_NAME = 'Ssl_sessions_reused', VARIABLE_VALUE, NULL)) AS ssl_sessions_reused
FROM performance_schema.status_by_thread
WHERE VARIABLE_NAME IN ('Ssl_version', 'Ssl_cipher', 'Ssl_sessions_reused')
GROUP BY THREAD_ID
