"""Runs a program and writes what the kernel says it used: usage.py FILE PROGRAM [ARGUMENT...].

Time on the clock is that of the program alone. It has to be a process of its own: Node cannot ask what a child used.
"""

import json
import os
import sys
import time

target, program, *arguments = sys.argv[1:]
started = time.monotonic()
child = os.posix_spawnp(program, [program, *arguments], os.environ)
_, status, used = os.wait4(child, 0)
took = time.monotonic() - started
with open(target, "w", encoding="ascii") as file:
    cpu_us = round((used.ru_utime + used.ru_stime) * 1e6)
    json.dump({"cpuUs": cpu_us, "peakBytes": used.ru_maxrss * 1024, "wallMs": took * 1000}, file)
sys.exit(os.waitstatus_to_exitcode(status))
