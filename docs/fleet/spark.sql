-- The history's tables, for Spark.
CREATE TEMPORARY VIEW moments USING parquet OPTIONS (path 'HISTORY/moments');
CREATE TEMPORARY VIEW samples USING parquet OPTIONS (path 'HISTORY/samples');
CREATE TEMPORARY VIEW growth USING parquet OPTIONS (path 'HISTORY/growth');
CREATE TEMPORARY VIEW digests USING parquet OPTIONS (path 'HISTORY/digests');
-- Has files once a session was blocked.
CREATE TEMPORARY VIEW blocks USING parquet OPTIONS (path 'HISTORY/blocks');
