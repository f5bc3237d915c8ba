"""What the samples of a library waited for.

    perf script -F ip,dso | grep LIBRARY | waits.py LIBRARY BASE

BASE is where the library lies in the process, in hex. A sample names the instruction that waits to retire, so the one
before it is what it waited for."""
import bisect
import collections
import re
import subprocess
import sys

lib, base = sys.argv[1], int(sys.argv[2], 16)
ins = {}
entry = set()
out = subprocess.run(['objdump', '-d', '--no-show-raw-insn', lib], capture_output=True, text=True).stdout
order = []
for l in out.splitlines():
    m = re.match(r'([0-9a-f]{16}) <', l)
    if m:
        entry.add(int(m.group(1), 16))
        continue
    m = re.match(r'\s+([0-9a-f]+):\s+(\S+)\s*(.*)', l)
    if m:
        a = int(m.group(1), 16)
        order.append(a)
        ins[a] = (m.group(2), m.group(3))
order.sort()
def kind(a):
    if a in entry: return 'code: a function\'s first instruction'
    i = bisect.bisect_left(order, a)
    op, args = ins[order[i - 1]]
    args = args.split('#')[0]
    if op.startswith('rdtsc') or op == 'lfence': return 'clock'
    if op in ('push', 'pop', 'ret', 'call'): return 'registers and calls'
    if op.startswith(('lock', 'xchg')): return 'atomic'
    if '(' in args or '%fs:' in args:
        if op.startswith(('lea', 'nop')): return 'other'
        dst = args.rsplit(',', 1)[-1] if not args.endswith(')') else args
        if op.startswith(('cmp', 'test')): return 'memory read'
        if args.rstrip().endswith(')') and op.startswith(('mov', 'set', 'vmov')) : return 'memory written'
        if args.rstrip().endswith(')') and op.startswith(('add', 'sub', 'inc', 'dec', 'or', 'and', 'xor')): return 'memory read and written'
        return 'memory read'
    return 'other'
c = collections.Counter()
n = 0
for l in sys.stdin:
    ip = int(l.split()[0], 16)
    a = ip - base
    i = bisect.bisect_left(order, a)
    if i >= len(order) or order[i] != a: continue
    c[kind(a)] += 1
    n += 1
print(n)
for k, v in c.most_common(): print(f'{100 * v / n:5.1f} {k}')
