-- The history's tables, for Spark.
CREATE TEMPORARY VIEW moments USING parquet OPTIONS (path 'HISTORY/moments');
CREATE TEMPORARY VIEW samples USING parquet OPTIONS (path 'HISTORY/samples');
CREATE TEMPORARY VIEW growth USING parquet OPTIONS (path 'HISTORY/growth');
CREATE TEMPORARY VIEW digests USING parquet OPTIONS (path 'HISTORY/digests');
-- These have files once a session was blocked, or a deadlock happened.
CREATE TEMPORARY VIEW blocks USING parquet OPTIONS (path 'HISTORY/blocks');
CREATE TEMPORARY VIEW deadlocks USING parquet OPTIONS (path 'HISTORY/deadlocks');
