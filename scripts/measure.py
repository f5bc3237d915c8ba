"""What the demo and the server's benchmark share: a server, a load, and the arithmetic of rounds."""

import json
import math
import os
import platform
import random
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TARE = Path(os.environ.get("TARE_DEMO_BINARY", ROOT / "target" / "release" / "tare"))
THREADS = 2
TABLES = 2
ROWS = 10_000
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
PATIENCE = 30  # seconds for the server to start or to stop

# Student's t at 97.5 %, by degrees of freedom: half of a two-sided 95 % interval.
T = [
    math.nan, 12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228,
    2.201, 2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086,
]  # fmt: skip

TERMINAL = sys.stdout.isatty()
BOLD, PLAIN = ("\033[1m", "\033[0m") if TERMINAL and "NO_COLOR" not in os.environ else ("", "")


class MeasureError(Exception):
    """Something that measuring cannot go on without; the text says what to do."""


class Interrupted(Exception):
    """Ctrl-C, SIGTERM or a closed terminal."""


def heading(text: str) -> None:
    print(f"\n{BOLD}{text}{PLAIN}")


def progress(text: str, done: bool = False) -> None:
    """On a terminal one line that changes; elsewhere only what is done."""
    if TERMINAL:
        print(f"\r\033[K  {text}", end="\n" if done else "", flush=True)
    elif done:
        print(f"  {text}", flush=True)


class Children:
    """Every process that we started, so that none outlives us."""

    def __init__(self) -> None:
        self.processes: list[subprocess.Popen] = []
        self.starting = False
        self.pending = 0

    def interrupt(self, number: int, _frame) -> None:
        # Once is enough: cleaning up is not to be interrupted by an impatient second Ctrl-C.
        for each in SIGNALS:
            signal.signal(each, signal.SIG_IGN)
        if self.starting:
            self.pending = number  # The process about to start must be on the list first.
        else:
            raise Interrupted(number)

    def start(self, command: list, **options) -> subprocess.Popen:
        self.starting = True
        try:
            # A session of its own: Ctrl-C reaches us alone, and we stop the others in order.
            process = subprocess.Popen(command, start_new_session=True, **options)
            self.processes.append(process)
        finally:
            self.starting = False
        if self.pending:
            raise Interrupted(self.pending)
        return process

    def run(self, command: list, what: str) -> str:
        process = self.start(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True
        )
        out, err = process.communicate()
        self.processes.remove(process)
        if process.returncode != 0:
            raise MeasureError(f"{what} failed ({process.returncode}):\n{err.strip() or out.strip()}")
        return out

    def stop(self) -> None:
        for process in reversed(self.processes):
            if process.poll() is None:
                process.terminate()
        for process in reversed(self.processes):
            try:
                process.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        self.processes.clear()


class Server:
    """`tare serve`, and what we ask of it."""

    def __init__(self, children: Children, directory: Path, binary: Path = TARE) -> None:
        self.children = children
        self.socket = directory / "tare.sock"
        self.log = directory / "server.log"
        data = directory / "data"
        command = [binary, "serve", "--data", data, "--socket", self.socket, "--port", "0"]
        with open(self.log, "w", encoding="utf-8") as log:
            self.process = children.start(
                command, stdout=subprocess.PIPE, stderr=log, stdin=subprocess.DEVNULL, text=True
            )
        self.pid = self.process.pid
        assert self.process.stdout
        # It prints where to connect once it can be connected to.
        if not self.process.stdout.readline().startswith("Listening on"):
            self.process.wait()
            raise MeasureError(f"the server did not start:\n{self.log.read_text(encoding='utf-8')}")

    def sql(self, statement: str) -> list[dict]:
        out = self.children.run(
            [TARE, "sql", "--pid", str(self.pid), "--format", "json", "-e", statement],
            f"tare sql -e {statement!r}",
        )
        return json.loads(out) if out.strip() else []

    def switch(self, on: bool) -> None:
        """Everything on and timed, or everything off; running threads notice at once."""
        value = "YES" if on else "NO"
        self.sql(f"UPDATE performance_schema.setup_instruments SET ENABLED = '{value}', TIMED = '{value}'")
        self.sql(f"UPDATE performance_schema.setup_consumers SET ENABLED = '{value}'")

    def database(self) -> None:
        """The database that sysbench fills."""
        dsn = [TARE, "sql", "--dsn", self.socket, "-e", "CREATE DATABASE sbtest"]
        self.children.run(dsn, "CREATE DATABASE sbtest")

    def cpu_seconds(self) -> float:
        # The process's CPU clock, as clock_getcpuclockid(3) makes it from a pid: user and system
        # time of all threads, ended ones too, to the nanosecond (/proc/PID/stat has 10 ms steps).
        return time.clock_gettime((~self.pid << 3) | 2)

    def events(self) -> int:
        total = 0
        for kind in ("waits", "stages", "statements", "transactions"):
            table = f"performance_schema.events_{kind}_summary_global_by_event_name"
            rows = self.sql(f"SELECT SUM(COUNT_STAR) AS n FROM {table}")
            total += int(rows[0]["n"] or 0)
        return total


class Sysbench:
    """The load."""

    def __init__(self, children: Children, socket: Path, script: str = "oltp_read_only") -> None:
        self.children = children
        self.common = [
            "sysbench", script, f"--mysql-socket={socket}", "--mysql-user=root",
            "--mysql-db=sbtest", f"--tables={TABLES}", f"--table-size={ROWS}",
        ]  # fmt: skip

    def prepare(self) -> None:
        self.children.run([*self.common, "prepare"], "sysbench prepare")

    def run(self, seconds: int) -> dict:
        out = self.children.run(
            [*self.common, f"--threads={THREADS}", f"--time={seconds}", "run"], "sysbench run"
        )
        transactions = re.search(r"transactions:\s+(\d+)\s+\(([\d.]+) per sec", out)
        queries = re.search(r"queries:\s+(\d+)", out)
        if not transactions or not queries or int(transactions[1]) == 0:
            raise MeasureError(f"sysbench ran no transactions:\n{out}")
        return {
            "transactions": int(transactions[1]),
            "tps": float(transactions[2]),
            "queries": int(queries[1]),
        }


def percent(ratios: list[float]) -> tuple[float, float]:
    """A difference in percent with half of its 95 % interval, from log ratios of paired rounds."""
    mean = statistics.fmean(ratios)
    t = T[min(len(ratios) - 1, len(T) - 1)]
    half = t * statistics.stdev(ratios) / math.sqrt(len(ratios))
    return 100 * math.expm1(mean), 100 * half * math.exp(mean)


def trimmed_percent(rounds: Iterable[list[float]]) -> tuple[float, float, float]:
    """A difference in percent with its 95 % interval, from log ratios of many short paired turns, round by round.

    The mean of the middle three fifths: now and then the machine takes a turn for itself. The interval is a
    bootstrap's, always the same for the same turns. It draws rounds and then their turns: where a process lies in
    memory makes a difference, which all turns of its round share.
    """
    rounds = list(rounds)

    def middle(values: list[float]) -> float:
        ordered = sorted(values)
        cut = len(ordered) // 5
        return statistics.fmean(ordered[cut : len(ordered) - cut])

    draw = random.Random(1)

    def drawn() -> list[float]:
        drawn_rounds = draw.choices(rounds, k=len(rounds))
        return [ratio for ratios in drawn_rounds for ratio in draw.choices(ratios, k=len(ratios))]

    means = sorted(middle(drawn()) for _ in range(2000))
    all_ratios = [ratio for ratios in rounds for ratio in ratios]
    found = (middle(all_ratios), means[49], means[1949])
    return tuple(100 * math.expm1(value) for value in found)


def machine() -> str:
    model = "unknown processor"
    for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
        if line.startswith("model name"):
            model = line.partition(":")[2].strip()
            break
    return f"{os.cpu_count()} CPUs, {model}, Linux {platform.release()}"


def guarded(name: str, body: Callable[[Children, Path], None]) -> int:
    """Runs `body` with a temporary directory; whatever happens, nothing is left behind."""
    children = Children()
    for number in SIGNALS:
        signal.signal(number, children.interrupt)
    directory = Path(tempfile.mkdtemp(prefix=f"tare-{name}-"))
    start = time.monotonic()
    try:
        body(children, directory)
        print(f"\n  {time.monotonic() - start:.0f} s. The servers have stopped, and their files are removed.")
        return 0
    except Interrupted as stop:
        print(f"\n{name}: stopped; cleaning up", file=sys.stderr)
        return 128 + stop.args[0]
    except MeasureError as error:
        print(f"\n{name}: {error}", file=sys.stderr)
        for log in directory.glob("**/server.log"):
            if log.stat().st_size:
                words = log.read_text(encoding="utf-8")[-2000:]
                print(f"{name}: the server's last words:\n{words}", file=sys.stderr)
        return 1
    finally:
        children.stop()
        shutil.rmtree(directory, ignore_errors=True)
