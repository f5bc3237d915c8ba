"""mysql-connector-python: types, prepared statements, cursors of all kinds, warnings, commands."""
import datetime
import decimal
import sys

import mysql.connector

port, password, how = int(sys.argv[1]), sys.argv[2], sys.argv[3]
if how == "extension" and not mysql.connector.HAVE_CEXT:
    sys.exit("the C extension is not there")
account = dict(host="127.0.0.1", port=port, user="root", password=password)
pure = how == "pure"
conn = mysql.connector.connect(**account, use_pure=pure, database="test")
kind = type(conn).__name__
assert ("CMySQL" in kind) != pure, kind

c = conn.cursor()
c.execute("DROP TABLE IF EXISTS t")
c.execute(
    "CREATE TABLE t (id INT AUTO_INCREMENT PRIMARY KEY, d DATE, t DATETIME(3), n DECIMAL(10,2),"
    " b BLOB, s VARCHAR(20), ti TIME, u BIGINT UNSIGNED, f DOUBLE)"
)
row = (
    datetime.date(2024, 2, 29),
    datetime.datetime(2024, 1, 2, 3, 4, 5, 678000),
    decimal.Decimal("1.50"),
    b"\x00\xff",
    "it's \u00e9",
    datetime.timedelta(hours=26, minutes=1),
    9223372036854775807,
    2.5,
)
c.execute("INSERT INTO t (d, t, n, b, s, ti, u, f) VALUES (%s, %s, %s, %s, %s, %s, %s, %s)", row)
assert (c.lastrowid, c.rowcount) == (1, 1)
c.executemany("INSERT INTO t (s) VALUES (%s)", [("a",), ("b",)])
conn.commit()
c.execute("SELECT d, t, n, b, s, ti, u, f FROM t WHERE id = 1")
assert c.fetchall() == [row]
assert [x[0] for x in c.description] == ["d", "t", "n", "b", "s", "ti", "u", "f"]

p = conn.cursor(prepared=True)
p.execute("SELECT d, t, n, b, s, ti, u, f FROM t WHERE id = %s", (1,))
got = p.fetchall()
assert got == [row], got
p.execute("INSERT INTO t (s, n, t) VALUES (?, ?, ?)", ("p", decimal.Decimal("2.5"), row[1]))
assert p.rowcount == 1
conn.rollback()
p.close()

d = conn.cursor(dictionary=True)
d.execute("SELECT COUNT(*) AS c, MAX(n) AS m FROM t")
assert d.fetchone() == {"c": 3, "m": decimal.Decimal("1.50")}
for name, rows in (("threads", 1), ("setup_instruments", 50), ("global_variables", 400)):
    b = conn.cursor(buffered=True)
    b.execute(f"SELECT * FROM performance_schema.{name}")
    assert b.rowcount >= rows, (name, b.rowcount)

for sql, number, state in (
    ("SELECT * FROM nope", 1146, "42S02"),
    ("SELEC 1", 1064, "42000"),
    ("INSERT INTO t (id) VALUES (1)", 1062, "23000"),
):
    try:
        c.execute(sql)
        sys.exit(f"{sql} works")
    except mysql.connector.Error as e:
        assert (e.errno, e.sqlstate) == (number, state), e

conn.get_warnings = True
c.execute("DROP TABLE IF EXISTS nope")
assert c.warnings and c.warnings[0][1] == 1051, c.warnings
c = conn.cursor()
c.execute(
    "SELECT ATTR_NAME FROM performance_schema.session_connect_attrs"
    " WHERE PROCESSLIST_ID = CONNECTION_ID()"
)
assert len(c.fetchall()) >= 3
conn.ping()
assert conn.is_connected()
conn.cmd_change_user("root", password, "test")
conn.reset_session()
assert conn.cmd_statistics()["Uptime"] >= 0 if pure else True
conn.close()

other = mysql.connector.connect(
    **account,
    use_pure=pure,
    database="test",
    raise_on_warnings=True,
    charset="utf8mb4",
    autocommit=True,
    time_zone="+00:00",
    sql_mode=["STRICT_TRANS_TABLES"],
)
other.cursor().execute("SELECT 1")
print("fine")
