"""Asks an engine the questions of docs/fleet, and prints for each a line of JSON: name, seconds, columns, rows.

    ask.py duckdb|chdb|spark HISTORY DOCS [TIMES]
"""

import decimal
import json
import pathlib
import sys
import time


def plain(value):
    if isinstance(value, decimal.Decimal):
        return float(value)
    return value


def duckdb_engine():
    import duckdb

    connection = duckdb.connect()

    def run(sql):
        result = connection.execute(sql)
        return [[plain(v) for v in row] for row in result.fetchall()]

    return run


def chdb_engine():
    from chdb import session

    connection = session.Session()

    def run(sql):
        text = connection.query(sql, "JSONCompact").bytes().decode()
        if not text.strip():
            return []
        answer = json.loads(text)
        whole = [c["type"].replace("Nullable(", "").startswith(("Int", "UInt")) for c in answer["meta"]]
        # 64-bit integers come as texts.
        return [
            [int(v) if w and v is not None else v for v, w in zip(row, whole)] for row in answer["data"]
        ]

    return run


def spark_engine():
    import os

    import pyspark
    from pyspark.sql import SparkSession

    # Workers are started by scripts of the installation, and import nothing of ours.
    os.environ["SPARK_HOME"] = str(pathlib.Path(pyspark.__file__).parent)
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    settings = {
        "spark.master": os.environ.get("SPARK_MASTER", "local-cluster[2,1,1024]"),
        "spark.ui.enabled": "false",
        "spark.sql.shuffle.partitions": "4",
        "spark.ui.showConsoleProgress": "false",
        "spark.log.level": "ERROR",
    }
    builder = SparkSession.builder
    for name, value in settings.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()

    def run(sql):
        return [[plain(v) for v in row] for row in session.sql(sql).collect()]

    return run


ENGINES = {
    "duckdb": (duckdb_engine, "duckdb.sql"),
    "chdb": (chdb_engine, "clickhouse.sql"),
    "spark": (spark_engine, "spark.sql"),
}


def statement(path):
    lines = path.read_text().splitlines()
    return "\n".join(line for line in lines if not line.startswith("--"))


def main():
    engine, history, docs = sys.argv[1:4]
    times = int(sys.argv[4]) if len(sys.argv) > 4 else 1
    start, tables = ENGINES[engine]
    run = start()
    docs = pathlib.Path(docs)
    for sql in statement(docs / tables).replace("HISTORY", history).split(";"):
        if sql.strip():
            run(sql)
    for path in sorted(docs.glob("[0-9]*.sql")):
        sql = statement(path)
        took = []
        for _ in range(times):
            began = time.monotonic()
            rows = run(sql)
            took.append(time.monotonic() - began)
        answer = {"name": path.stem, "seconds": sorted(took)[len(took) // 2], "rows": rows}
        print(json.dumps(answer), flush=True)


main()
