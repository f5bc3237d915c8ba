-- The versions of this schema and of the server.
SELECT '2.0.0' AS sys_version, VERSION() AS mysql_version
