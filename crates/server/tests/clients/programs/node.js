// mysql2 and mysql, by TLS: arguments are the port, root's password and the authority's certificate.
const assert = require('assert');
const account = { host: '127.0.0.1', port: Number(process.argv[2]), user: 'root', password: process.argv[3], database: 'test', ssl: { ca: require('fs').readFileSync(process.argv[4]) } };

async function main() {
  const conn = await require('mysql2/promise').createConnection({ ...account, multipleStatements: true });
  assert.deepStrictEqual(JSON.parse(JSON.stringify((await conn.query('SELECT 1 a; SELECT 2 b'))[0])), [[{ a: 1 }], [{ b: 2 }]]);
  await conn.query('DROP TABLE IF EXISTS node');
  await conn.query('CREATE TABLE node (id INT PRIMARY KEY AUTO_INCREMENT, j JSON, b BLOB, t DATETIME(3), n DECIMAL(5,2))');
  const [made] = await conn.execute('INSERT INTO node (j, b, t, n) VALUES (?, ?, ?, ?)', ['{"a": 1}', Buffer.from([0, 255]), new Date(0), '1.50']);
  assert.strictEqual(made.insertId, 1);
  const [[row]] = await conn.execute('SELECT * FROM node WHERE id = ?', [1]);
  assert.deepStrictEqual([row.j, [...row.b], row.t.getTime(), row.n], [{ a: 1 }, [0, 255], 0, '1.50']);
  await conn.changeUser(account);
  await conn.ping();
  await assert.rejects(conn.query('selec'), { errno: 1064, sqlState: '42000' });
  await conn.end();
  const old = require('mysql').createConnection(account);
  const rows = await new Promise((done, fail) => old.query('SELECT ? AS a, ENABLED FROM performance_schema.setup_consumers LIMIT 2', ['x'], (e, r) => (e ? fail(e) : done(r))));
  assert.strictEqual(rows.length, 2);
  await new Promise((done) => old.end(done));
  console.log('fine');
}
main().catch((e) => { console.error(e); process.exit(1); });
