"""Loads that run by turns of a fraction of a second, so that what the machine does meanwhile hits all of them alike.

Each server has a sysbench of its own, which stands still (SIGSTOP) but in its turns; crates/lab/lua/counted.lua lets its events be
counted while it runs.
"""

import mmap
import os
import signal
import struct
import subprocess
import time
from contextlib import contextmanager
from pathlib import Path

from measure import PATIENCE, ROOT, ROWS, TABLES, Children, MeasureError


def share_processors(count: int) -> None:
    """Server and load, which inherit it, run on so many processors; the last: most of what a system does besides is done by the first.

    On several they wake one another across them, which in a virtual machine takes many times what is measured, at random.
    """
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[-count:])


def oltp(name: str) -> Path:
    """One of sysbench's own scripts."""
    return Path("/usr/share/sysbench") / f"{name}.lua"


def sysbench_command(socket: Path, script: Path | str, threads: int, *action: str) -> list[str]:
    return [
        "sysbench", str(script), f"--mysql-socket={socket}", "--mysql-user=root", "--mysql-db=sbtest",
        f"--tables={TABLES}", f"--table-size={ROWS}", f"--threads={threads}", *action,
    ]  # fmt: skip


class Turns:
    """A load of one server that stands still but in its turns."""

    LINE = 64

    def __init__(self, children: Children, server, script: Path, threads: int) -> None:
        self.server, self.script, self.threads = server, script, threads
        path = server.socket.with_name("count")
        # Without the words of latencies, which are not asked for.
        path.write_bytes(bytes(self.LINE * (1 + threads)))
        with open(path, "r+b") as file:
            self.counts = mmap.mmap(file.fileno(), 0)
        environment = os.environ | {"TARE_COUNTED_SCRIPT": str(script), "TARE_COUNTED_FILE": str(path)}
        command = sysbench_command(server.socket, ROOT / "crates" / "lab" / "lua" / "counted.lua", threads, "--time=0", "run")
        self.log = server.socket.with_name("sysbench.log")
        with open(self.log, "w", encoding="utf-8") as log:
            self.process = children.start(
                command, env=environment, stdout=log, stderr=log, stdin=subprocess.DEVNULL
            )
        deadline = time.monotonic() + PATIENCE
        while self.count() < 10 * threads:
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise MeasureError(f"sysbench {script.name} does not run:\n{self.log.read_text()[-2000:]}")
            time.sleep(0.02)
        self.process.send_signal(signal.SIGSTOP)

    def count(self) -> int:
        return sum(struct.unpack_from("<Q", self.counts, (1 + i) * self.LINE)[0] for i in range(self.threads))

    def cpu_us(self, seconds: float) -> float:
        """CPU of the server per transaction, in a turn of so many seconds."""
        self.process.send_signal(signal.SIGCONT)
        time.sleep(0.02)  # Caches are another's until then.
        count, cpu = self.count(), self.server.cpu_seconds()
        deadline = time.monotonic() + PATIENCE
        time.sleep(seconds)
        # The machine may stop for longer than a short turn.
        while self.count() == count and self.process.poll() is None and time.monotonic() < deadline:
            time.sleep(seconds)
        count, cpu = self.count() - count, self.server.cpu_seconds() - cpu
        self.process.send_signal(signal.SIGSTOP)
        if self.process.poll() is not None or count == 0:
            raise MeasureError(f"sysbench {self.script.name} stands still:\n{self.log.read_text()[-2000:]}")
        self.settle()
        return cpu / count * 1e6

    def settle(self) -> None:
        """What was under way when the load stopped is not the next one's."""
        before = -1.0
        for _ in range(100):
            now = self.server.cpu_seconds()
            if now == before:
                return
            before = now
            time.sleep(0.002)

    def end(self, children: Children) -> None:
        self.process.kill()
        self.process.wait()
        children.processes.remove(self.process)


@contextmanager
def turns(children: Children, servers: dict, script: Path, threads: int):
    """A load for each server; whatever happens, none is left behind. Servers that are the same share one."""
    loads: dict[str, Turns] = {}
    try:
        for name, server in servers.items():
            known = (load for load in loads.values() if load.server is server)
            loads[name] = next(known, None) or Turns(children, server, script, threads)
        yield loads
    finally:
        # A stopped process heeds nothing but this.
        for load in set(loads.values()):
            load.end(children)
