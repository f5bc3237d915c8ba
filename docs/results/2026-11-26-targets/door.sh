#!/usr/bin/env bash
# What Tare's library touches in a query or a connection of a server behind the door.
#
#   door.sh SERVER MODE LIBRARY DATA
#
# SERVER is one of scripts/servers, MODE on or N of sampling = 1/N, DATA a data directory of it with sysbench's tables (two of
# 10,000 rows). Runs in the repository's root. A start takes some three minutes, of MySQL 9.7 more than ten.
set -eu
server=$1 mode=$2 library=$3
here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT
cp -r "$4" "$here/data"
cc -O2 -o "$here/touched" "$(dirname "$0")/touched.c"
mapfile -t command < <(scripts/servers command "$server" "$here")
command+=(--innodb-stats-auto-recalc=OFF --innodb-use-native-aio=0 --loose-innodb-buffer-pool-size-max=64M --performance-schema=ON)
options=$'instrument=%=ON'
[ "$mode" = on ] || options+=$'\nsampling=1/'$mode
mkfifo "$here/trace"
LD_PRELOAD=$library TARE_OPTIONS=$options valgrind --tool=lackey --trace-mem=yes --log-file="$here/trace" "${command[@]}" \
    >"$here/log" 2>&1 &
host=$!
"$here/touched" "$here/arguments" "$here/clocks" <"$here/trace" >>"$here/result" &
touched=$!
until mysqladmin --no-defaults -uroot -S "$here/mysql.sock" ping >"$here/ping" 2>&1; do sleep 1; done

base=$(awk -v name="$(basename "$library")" '$0 ~ name { split($1, a, "-"); print a[1]; exit }' "/proc/$host/maps")
at() { printf '%x ' $((0x$base + 0x$1)); }
function_at() { nm -C "$library" | awk -v name="$1" '$0 ~ "[tT] " name "$" { print $1; exit }'; }
objdump -d "$library" --no-show-raw-insn | awk '/rdtsc/ { sub(":", "", $1); print $1 }' |
    while read -r address; do at "$address" && echo; done >"$here/clocks"
read -r from to < <(objdump -h "$library" | gawk '$2 == ".text" || $2 == "tare_hot" {
    begin = strtonum("0x" $4); end = begin + strtonum("0x" $3)
    if (!n++ || begin < low) low = begin
    if (end > high) high = end
} END { printf "%x %x\n", low, high }')

for load in oltp_point_select oltp_read_only reconnect; do
    script=$load events=50 turn=tare_psi::door::statement::get_thread_statement_locker
    [ $load = oltp_read_only ] && events=5
    [ $load = reconnect ] && script=crates/lab/lua/reconnect.lua turn=tare_psi::door::thread::delete_current_thread
    run() {
        sysbench --db-driver=mysql --mysql-socket="$here/mysql.sock" --mysql-user=root --mysql-db=sbtest --tables=2 \
            --table-size=10000 --threads=1 --time=0 --events=$events --rand-seed=7 --db-ps-mode=disable "$script" run >"$here/run"
    }
    run
    { at "$from" && at "$to" && at "$(function_at $turn)"; } >"$here/arguments"
    kill -USR1 $touched && sleep 1 && run && kill -USR2 $touched && sleep 1
    printf '%s, %s, %s\n' "$server" "$mode" "$load" && cat "$here/result" && : >"$here/result"
done
kill -9 $host
