"""SQLAlchemy by PyMySQL and mysqlclient, and aiomysql, by TLS: tables, reflection, joins."""
import asyncio
import ssl
import sys

import aiomysql
import sqlalchemy as sa

port, password, ca = int(sys.argv[1]), sys.argv[2], sys.argv[3]
for driver in ("mysql+pymysql", "mysql+mysqldb"):
    engine = sa.create_engine(f"{driver}://root:{password}@127.0.0.1:{port}/test", connect_args={"ssl": {"ca": ca}})
    meta = sa.MetaData()
    parent = sa.Table(
        "parent",
        meta,
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("name", sa.String(30), nullable=False, index=True),
        sa.Column("n", sa.Numeric(10, 2)),
        sa.Column("at", sa.DateTime),
        sa.Column("u", sa.String(10), unique=True),
    )
    child = sa.Table(
        "child",
        meta,
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("p", sa.ForeignKey("parent.id", ondelete="CASCADE")),
    )
    meta.drop_all(engine)
    meta.create_all(engine)
    with engine.begin() as conn:
        made = conn.execute(parent.insert().values(name="x", n=1.5))
        assert made.inserted_primary_key == (1,)
        conn.execute(child.insert(), [{"p": 1}, {"p": 1}])
        counted = sa.select(parent.c.name, sa.func.count()).join(child).group_by(parent.c.name)
        assert conn.execute(counted).all() == [("x", 2)]
    inspector = sa.inspect(engine)
    assert inspector.get_table_names() == ["child", "parent"]
    assert [c["name"] for c in inspector.get_columns("parent")] == ["id", "name", "n", "at", "u"]
    assert inspector.get_pk_constraint("parent")["constrained_columns"] == ["id"]
    assert inspector.get_foreign_keys("child")[0]["options"] == {"ondelete": "CASCADE"}
    assert {i["name"]: i["unique"] for i in inspector.get_indexes("parent")}["u"]
    again = sa.MetaData()
    again.reflect(engine)
    assert set(again.tables) == {"child", "parent"}
    threads = sa.Table("threads", sa.MetaData(), schema="performance_schema", autoload_with=engine)
    assert len(threads.columns) == 18


async def pool():
    made = await aiomysql.create_pool(
        host="127.0.0.1",
        port=port,
        user="root",
        password=password,
        db="test",
        minsize=2,
        ssl=ssl.create_default_context(cafile=ca),
    )
    async with made.acquire() as conn, conn.cursor() as cursor:
        await cursor.execute("SELECT COUNT(*) FROM child")
        assert await cursor.fetchone() == (2,)
    made.close()
    await made.wait_closed()


asyncio.run(pool())
print("fine")
