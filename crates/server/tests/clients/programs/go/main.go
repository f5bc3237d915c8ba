// go-sql-driver/mysql against a server: arguments are its port and root's password.
package main

import (
	"database/sql"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/go-sql-driver/mysql"
)

func check(what string, err error) {
	if err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", what, err)
		os.Exit(1)
	}
}

func is(what string, got, expected interface{}) {
	if fmt.Sprint(got) != fmt.Sprint(expected) {
		fmt.Fprintf(os.Stderr, "%s: %v instead of %v\n", what, got, expected)
		os.Exit(1)
	}
}

func main() {
	for _, mode := range []string{"", "&interpolateParams=true", "&multiStatements=true&collation=utf8mb4_general_ci"} {
		dsn := fmt.Sprintf("root:%s@tcp(127.0.0.1:%s)/test?parseTime=true%s", os.Args[2], os.Args[1], mode)
		db, err := sql.Open("mysql", dsn)
		check("open", err)
		check("ping", db.Ping())
		_, err = db.Exec("DROP TABLE IF EXISTS t")
		check("drop", err)
		_, err = db.Exec("CREATE TABLE t (id INT AUTO_INCREMENT PRIMARY KEY, s VARCHAR(20), n DECIMAL(10,2), b BLOB, t DATETIME(6), u BIGINT UNSIGNED, f DOUBLE)")
		check("create", err)
		when := time.Date(2024, 2, 29, 12, 13, 14, 123456000, time.UTC)
		result, err := db.Exec("INSERT INTO t (s, n, b, t, u, f) VALUES (?, ?, ?, ?, ?, ?)", "it's", "1.50", []byte{0, 255}, when, uint64(1)<<62, 2.5)
		check("insert", err)
		id, _ := result.LastInsertId()
		affected, _ := result.RowsAffected()
		is("insert", fmt.Sprint(id, affected), "1 1")
		var (
			s, n string
			b    []byte
			at   time.Time
			u    uint64
			f    float64
			none sql.NullString
		)
		row := db.QueryRow("SELECT s, n, b, t, u, f, NULL FROM t WHERE id = ?", 1)
		check("select", row.Scan(&s, &n, &b, &at, &u, &f, &none))
		is("row", fmt.Sprint(s, n, b, at.Equal(when), u == 1<<62, f, none.Valid), fmt.Sprint("it's", "1.50", []byte{0, 255}, true, true, 2.5, false))
		rows, err := db.Query("SELECT id, s, n, u, t FROM t")
		check("types", err)
		types, err := rows.ColumnTypes()
		check("types", err)
		names := ""
		for _, t := range types {
			names += t.DatabaseTypeName() + " "
		}
		is("types", names, "INT VARCHAR DECIMAL UNSIGNED BIGINT DATETIME ")
		rows.Close()
		tx, err := db.Begin()
		check("begin", err)
		_, err = tx.Exec("DELETE FROM t")
		check("delete", err)
		check("rollback", tx.Rollback())
		var count int
		check("count", db.QueryRow("SELECT COUNT(*) FROM t").Scan(&count))
		is("count", count, 1)
		statement, err := db.Prepare("SELECT COUNT(*) FROM performance_schema.setup_instruments WHERE NAME LIKE ?")
		check("prepare", err)
		for _, pattern := range []string{"statement/sql/%", "wait/%"} {
			check("execute", statement.QueryRow(pattern).Scan(&count))
			is(pattern, count > 5, true)
		}
		check("close", statement.Close())
		_, err = db.Query("SELECT * FROM nope")
		var failed *mysql.MySQLError
		is("error", errors.As(err, &failed) && failed.Number == 1146, true)
		// What dashboards in Go ask: every column of a row, as text.
		rows, err = db.Query("SELECT * FROM performance_schema.events_statements_summary_by_digest ORDER BY SUM_TIMER_WAIT DESC LIMIT 5")
		check("digests", err)
		columns, _ := rows.Columns()
		values := make([]interface{}, len(columns))
		for i := range values {
			values[i] = new(sql.RawBytes)
		}
		seen := 0
		for rows.Next() {
			check("digest", rows.Scan(values...))
			seen++
		}
		check("digests", rows.Err())
		is("digests", seen > 0, true)
		check("close", db.Close())
	}
	login()
	fmt.Println("fine")
}

// Users of both plugins: the first time by TLS, then as the server knows them.
func login() {
	for _, user := range []string{"sha2_go", "native_go"} {
		for _, tls := range []string{"skip-verify", "false"} {
			dsn := fmt.Sprintf("%s:%s@tcp(127.0.0.1:%s)/?tls=%s", user, os.Args[2], os.Args[1], tls)
			db, err := sql.Open("mysql", dsn)
			check("open", err)
			var name, cipher string
			check(user, db.QueryRow("SHOW STATUS LIKE 'Ssl_cipher'").Scan(&name, &cipher))
			is(user+tls, cipher == "", tls == "false")
			db.Close()
		}
		db, err := sql.Open("mysql", fmt.Sprintf("%s:wrong@tcp(127.0.0.1:%s)/?tls=skip-verify", user, os.Args[1]))
		check("open", err)
		var refused *mysql.MySQLError
		is(user, errors.As(db.Ping(), &refused) && refused.Number == 1045, true)
		db.Close()
	}
}
