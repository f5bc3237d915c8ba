-- The history's tables, for DuckDB.
CREATE VIEW moments AS SELECT * FROM read_parquet('HISTORY/moments/**/*.parquet', hive_partitioning = true,
    hive_types = {'date': DATE, 'hour': BIGINT});
CREATE VIEW samples AS SELECT * FROM read_parquet('HISTORY/samples/**/*.parquet', hive_partitioning = true,
    hive_types = {'date': DATE, 'hour': BIGINT});
CREATE VIEW growth AS SELECT * FROM read_parquet('HISTORY/growth/**/*.parquet', hive_partitioning = true,
    hive_types = {'date': DATE, 'hour': BIGINT});
CREATE VIEW digests AS SELECT * FROM read_parquet('HISTORY/digests/**/*.parquet', hive_partitioning = true);
-- These have files once a session was blocked, or a deadlock happened.
CREATE VIEW blocks AS SELECT * FROM read_parquet('HISTORY/blocks/**/*.parquet', hive_partitioning = true,
    hive_types = {'date': DATE, 'hour': BIGINT});
CREATE VIEW deadlocks AS SELECT * FROM read_parquet('HISTORY/deadlocks/**/*.parquet', hive_partitioning = true,
    hive_types = {'date': DATE, 'hour': BIGINT});
