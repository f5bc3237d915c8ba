-- The versions of this schema and of the server.
SELECT '{version}' AS sys_version, VERSION() AS mysql_version
