-- The history's tables, for ClickHouse and chDB.
SET use_hive_partitioning = 1;
SET join_use_nulls = 1;
CREATE VIEW moments AS SELECT * FROM file('HISTORY/moments/**/*.parquet', 'Parquet');
CREATE VIEW samples AS SELECT * FROM file('HISTORY/samples/**/*.parquet', 'Parquet');
CREATE VIEW growth AS SELECT * FROM file('HISTORY/growth/**/*.parquet', 'Parquet');
CREATE VIEW digests AS SELECT * FROM file('HISTORY/digests/**/*.parquet', 'Parquet');
-- These have files once a session was blocked, or a deadlock happened.
CREATE VIEW blocks AS SELECT * FROM file('HISTORY/blocks/**/*.parquet', 'Parquet');
CREATE VIEW deadlocks AS SELECT * FROM file('HISTORY/deadlocks/**/*.parquet', 'Parquet');
