import java.math.BigDecimal;
import java.math.BigInteger;
import java.sql.*;
import java.util.*;

/** MySQL Connector/J against a server: arguments are its port and root's password. */
public class Client {
    static final String[] MODES = {
        "",
        "&useServerPrepStmts=true&cachePrepStmts=true",
        "&useInformationSchema=true&rewriteBatchedStatements=true",
        "&useCursorFetch=true&defaultFetchSize=2",
        "&allowMultiQueries=true&databaseTerm=SCHEMA",
    };

    static void is(String what, Object got, Object expected) {
        if (!Objects.equals(String.valueOf(got), String.valueOf(expected))) {
            throw new AssertionError(what + ": " + got + " instead of " + expected);
        }
    }

    /** The values of some columns, row by row. */
    static String rows(ResultSet rows, String... columns) throws SQLException {
        StringJoiner all = new StringJoiner(" ");
        while (rows.next()) {
            StringJoiner one = new StringJoiner("|");
            for (String column : columns) one.add(rows.getString(column));
            all.add(one.toString());
        }
        return all.toString();
    }

    static int count(ResultSet rows) throws SQLException {
        int n = 0;
        while (rows.next()) n++;
        return n;
    }

    public static void main(String[] a) throws Exception {
        for (String mode : MODES) {
            String url = "jdbc:mysql://127.0.0.1:" + a[0] + "/test?sslMode=DISABLED&allowPublicKeyRetrieval=true" + mode;
            try (Connection c = DriverManager.getConnection(url, "root", a[1])) {
                data(c);
                boolean schemas = mode.contains("SCHEMA");
                metadata(c, schemas ? null : "test", schemas ? "test" : null);
                rest(c, a[1], schemas);
            } catch (Throwable e) {
                throw new Exception("mode " + mode, e);
            }
        }
        login("jdbc:mysql://127.0.0.1:" + a[0] + "/?sslMode=", a[1]);
        System.out.println("fine");
    }

    /** Users of both plugins: the first time by TLS, then as the server knows them. */
    static void login(String url, String password) throws Exception {
        for (String user : new String[] {"sha2_java", "native_java"}) {
            for (String mode : new String[] {"REQUIRED", "DISABLED"}) {
                try (Connection c = DriverManager.getConnection(url + mode, user, password);
                        Statement s = c.createStatement();
                        ResultSet r = s.executeQuery("SHOW STATUS LIKE 'Ssl_cipher'")) {
                    r.next();
                    is(user + " " + mode, r.getString(2).isEmpty(), mode.equals("DISABLED"));
                }
                try (Connection c = DriverManager.getConnection(url + mode, user, "wrong")) {
                    throw new AssertionError(user + " is let in");
                } catch (SQLException e) {
                    is(user + " " + mode, e.getErrorCode(), 1045);
                }
            }
        }
    }

    static void data(Connection c) throws Exception {
        try (Statement s = c.createStatement()) {
            s.execute("DROP TABLE IF EXISTS child");
            s.execute("DROP TABLE IF EXISTS parent");
            s.execute("CREATE TABLE parent (id INT PRIMARY KEY AUTO_INCREMENT, name VARCHAR(20) NOT NULL, n DECIMAL(10,2),"
                + " d DATE, t DATETIME(3), b BLOB, f DOUBLE, u BIGINT UNSIGNED, bo TINYINT(1), KEY ix (name, n))");
            s.execute("CREATE TABLE child (id INT PRIMARY KEY, p INT, CONSTRAINT fk FOREIGN KEY (p) REFERENCES parent (id))");
        }
        String insert = "INSERT INTO parent (name, n, d, t, b, f, u, bo) VALUES (?, ?, ?, ?, ?, ?, ?, ?)";
        try (PreparedStatement p = c.prepareStatement(insert, Statement.RETURN_GENERATED_KEYS)) {
            p.setString(1, "it's");
            p.setBigDecimal(2, new BigDecimal("1.50"));
            p.setDate(3, java.sql.Date.valueOf("2024-02-29"));
            p.setTimestamp(4, Timestamp.valueOf("2024-02-29 12:13:14.5"));
            p.setBytes(5, new byte[] {0, (byte) 255});
            p.setDouble(6, 2.5);
            p.setObject(7, new BigInteger("9223372036854775807"));
            p.setBoolean(8, true);
            is("inserted", p.executeUpdate(), 1);
            ResultSet keys = p.getGeneratedKeys();
            keys.next();
            is("key", keys.getInt(1), 1);
        }
        try (PreparedStatement p = c.prepareStatement("SELECT * FROM parent WHERE id = ? AND name = ?")) {
            p.setInt(1, 1);
            p.setString(2, "it's");
            ResultSet r = p.executeQuery();
            r.next();
            is("decimal", r.getBigDecimal("n"), "1.50");
            is("date", r.getDate("d"), "2024-02-29");
            is("timestamp", r.getTimestamp("t"), "2024-02-29 12:13:14.5");
            is("bytes", Arrays.toString(r.getBytes("b")), "[0, -1]");
            is("unsigned", r.getObject("u"), "9223372036854775807");
            is("boolean", r.getObject("bo"), "true");
            ResultSetMetaData m = r.getMetaData();
            is("type", m.getColumnTypeName(3) + m.getPrecision(3) + "," + m.getScale(3), "DECIMAL10,2");
            is("auto", m.isAutoIncrement(1), true);
            is("table", m.getTableName(2), "parent");
            is("nullable", m.isNullable(2), ResultSetMetaData.columnNoNulls);
        }
        try (PreparedStatement p = c.prepareStatement("INSERT INTO parent (name, n) VALUES (?, ?)")) {
            for (int i = 0; i < 5; i++) {
                p.setString(1, "b" + i);
                p.setInt(2, i);
                p.addBatch();
            }
            is("batch", p.executeBatch().length, 5);
        }
        c.setAutoCommit(false);
        c.setTransactionIsolation(Connection.TRANSACTION_READ_COMMITTED);
        try (Statement s = c.createStatement()) {
            is("deleted", s.executeUpdate("DELETE FROM parent"), 6);
            Savepoint savepoint = c.setSavepoint("here");
            c.rollback(savepoint);
            c.rollback();
            is("rows", rows(s.executeQuery("SELECT COUNT(*) AS n FROM parent"), "n"), "6");
        }
        c.commit();
        c.setAutoCommit(true);
        // Asked for less, the server does what it always does.
        is("isolation", c.getTransactionIsolation(), Connection.TRANSACTION_SERIALIZABLE);
    }

    static void metadata(Connection c, String catalog, String schema) throws Exception {
        DatabaseMetaData m = c.getMetaData();
        is("version", m.getDatabaseProductVersion().startsWith("9.7.4"), true);
        String own = catalog == null ? "TABLE_SCHEM" : "TABLE_CAT";
        String databases = rows(catalog == null ? m.getSchemas() : m.getCatalogs(), own);
        is("databases", databases.contains("performance_schema") && databases.contains("test"), true);
        is("tables", rows(m.getTables(catalog, schema, "%", new String[] {"TABLE"}), "TABLE_NAME", "TABLE_TYPE"),
            "child|TABLE parent|TABLE");
        String ps = "performance_schema";
        is("threads", rows(m.getTables(catalog == null ? null : ps, schema == null ? null : ps, "threads", null), "TABLE_NAME"), "threads");
        is("its columns", count(m.getColumns(catalog == null ? null : ps, schema == null ? null : ps, "threads", "%")), 24);
        is("columns", rows(m.getColumns(catalog, schema, "parent", "%"), "COLUMN_NAME", "TYPE_NAME", "COLUMN_SIZE", "IS_NULLABLE", "IS_AUTOINCREMENT"),
            "id|INT|10|NO|YES name|VARCHAR|20|NO|NO n|DECIMAL|10|YES|NO d|DATE|10|YES|NO t|DATETIME|23|YES|NO"
            + " b|BLOB|65535|YES|NO f|DOUBLE|22|YES|NO u|BIGINT UNSIGNED|20|YES|NO bo|BIT|1|YES|NO");
        is("indexes", rows(m.getIndexInfo(catalog, schema, "parent", false, false), "INDEX_NAME", "COLUMN_NAME", "NON_UNIQUE", "ORDINAL_POSITION"),
            "PRIMARY|id|0|1 ix|name|1|1 ix|n|1|2");
        is("primary key", rows(m.getPrimaryKeys(catalog, schema, "parent"), "COLUMN_NAME", "KEY_SEQ", "PK_NAME"), "id|1|PRIMARY");
        is("imported", rows(m.getImportedKeys(catalog, schema, "child"), "PKTABLE_NAME", "PKCOLUMN_NAME", "FKCOLUMN_NAME", "FK_NAME"), "parent|id|p|fk");
        is("exported", rows(m.getExportedKeys(catalog, schema, "parent"), "FKTABLE_NAME", "FKCOLUMN_NAME"), "child|p");
        is("cross", rows(m.getCrossReference(catalog, schema, "parent", catalog, schema, "child"), "FKTABLE_NAME"), "child");
        is("best row", rows(m.getBestRowIdentifier(catalog, schema, "parent", DatabaseMetaData.bestRowSession, true), "COLUMN_NAME"), "id");
        m.getProcedures(catalog, schema, "%");
        m.getFunctions(catalog, schema, "%");
        m.getProcedureColumns(catalog, schema, "%", "%");
        m.getVersionColumns(catalog, schema, "parent");
        m.getTablePrivileges(catalog, schema, "parent");
        m.getColumnPrivileges(catalog, schema, "parent", "%");
        m.getTypeInfo();
        m.getUDTs(catalog, schema, "%", null);
        is("keywords", m.getSQLKeywords().length() > 100, true);
    }

    static void rest(Connection c, String password, boolean schemas) throws Exception {
        is("valid", c.isValid(5), true);
        try (Statement s = c.createStatement(ResultSet.TYPE_FORWARD_ONLY, ResultSet.CONCUR_READ_ONLY)) {
            s.setFetchSize(Integer.MIN_VALUE);
            is("streamed", count(s.executeQuery("SELECT * FROM performance_schema.setup_instruments")) > 50, true);
        }
        try (Statement s = c.createStatement(ResultSet.TYPE_SCROLL_SENSITIVE, ResultSet.CONCUR_UPDATABLE)) {
            ResultSet r = s.executeQuery("SELECT id, name FROM parent WHERE id = 1");
            r.next();
            r.updateString(2, "changed");
            r.updateRow();
        }
        try (Statement s = c.createStatement()) {
            is("updated", rows(s.executeQuery("SELECT name FROM parent WHERE id = 1"), "name"), "changed");
            s.setQueryTimeout(1);
            try {
                s.executeQuery("SELECT SLEEP(30)");
                throw new AssertionError("the timeout did not come");
            } catch (SQLTimeoutException expected) {
            }
        }
        try (Statement s = c.createStatement()) {
            s.execute("SELECT * FROM nope");
            throw new AssertionError("nope is there");
        } catch (SQLException e) {
            is("error", e.getErrorCode() + " " + e.getSQLState(), "1146 42S02");
        }
        try (Statement s = c.createStatement()) {
            s.execute("DROP TABLE IF EXISTS nope");
            is("warning", s.getWarnings().getErrorCode(), 1051);
        }
        if (schemas) c.setSchema("performance_schema"); else c.setCatalog("performance_schema");
        try (Statement s = c.createStatement()) {
            is("database", rows(s.executeQuery("SELECT DATABASE() AS d"), "d"), "performance_schema");
        }
        if (schemas) c.setSchema("test"); else c.setCatalog("test");
        com.mysql.cj.jdbc.JdbcConnection mysql = (com.mysql.cj.jdbc.JdbcConnection) c;
        mysql.resetServerState();
        mysql.changeUser("root", password);
    }
}
