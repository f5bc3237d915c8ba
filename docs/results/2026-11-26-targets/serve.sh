#!/usr/bin/env bash
# What tare serve touches in a query: all of the process, from one sqlite3_reset to the next.
#
#   serve.sh TARE [STATEMENT...]
#
# TARE is the program, with or without instrumentation; the statements are sent first, as settings.
set -eu
tare=$1
shift
here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT
mkdir "$here/data"
cc -O2 -o "$here/touched" "$(dirname "$0")/touched.c"
serve=("$tare" serve --data "$here/data" --socket "$here/mysql.sock" --skip-networking)
sql() { mysql --no-defaults -uroot -S "$here/mysql.sock" -e "$1"; }
load() {
    sysbench --db-driver=mysql --mysql-socket="$here/mysql.sock" --mysql-user=root --mysql-db=sbtest --tables=2 \
        --table-size=10000 --threads=1 --time=0 --rand-seed=7 "$@" >"$here/run"
}
answers() { until mysqladmin --no-defaults -uroot -S "$here/mysql.sock" ping >"$here/ping" 2>&1; do sleep 1; done; }
"${serve[@]}" >"$here/log" 2>&1 &
answers
sql 'CREATE DATABASE sbtest'
load oltp_point_select prepare
kill $!
wait $! || true

mkfifo "$here/trace"
valgrind --tool=lackey --trace-mem=yes --log-file="$here/trace" "${serve[@]}" >"$here/log" 2>&1 &
host=$!
"$here/touched" "$here/arguments" "$here/clocks" <"$here/trace" >>"$here/result" &
touched=$!
answers
for statement; do sql "$statement"; done
base=$(awk -v name="$(realpath "$tare")" '$6 == name { split($1, a, "-"); print a[1]; exit }' "/proc/$host/maps")
at() { printf '%x ' $((0x$base + 0x$1)); }
objdump -d "$tare" --no-show-raw-insn | awk '/rdtsc/ { sub(":", "", $1); print $1 }' |
    while read -r address; do at "$address" && echo; done >"$here/clocks"
turn=$(nm "$tare" | awk '$3 == "sqlite3_reset" { print $1 }')
for script in oltp_point_select oltp_read_only; do
    events=60
    [ $script = oltp_read_only ] && events=8
    load --events=$events $script run
    { printf '0 0 ' && at "$turn"; } >"$here/arguments"
    kill -USR1 $touched && sleep 1 && load --events=$events $script run && kill -USR2 $touched && sleep 1
    printf '%s\n' $script && cat "$here/result" && : >"$here/result"
done
kill -9 $host
