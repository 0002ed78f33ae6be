# SPDX-License-Identifier: Apache-2.0
"""screens.py BRAID PID: what a person sees who runs `braid top` on a terminal, and what is left of it."""
import glob
import os
import re
import signal
import sys

from screen import Screen

braid, pid = sys.argv[1:]


def check(condition, what, screen):
    if not condition:
        sys.exit(f"{what}; the screen is:\n{screen.text()}")


def first_row(s, heads):
    """The row below the heads of the columns."""
    lines = s.lines()
    at = [i for i, line in enumerate(lines) if heads in line]
    return lines[at[0] + 1] if at else ""


def children(of):
    return [pid for path in glob.glob(f"/proc/{of}/task/*/children") for pid in open(path).read().split()]


def colours(s):
    """What the program asked the terminal for (ECMA-48's SGR)."""
    asked = re.findall(rb"\x1b\[([0-9;]*)m", s.raw)
    return {n for codes in asked for n in codes.split(b";") if n and int(n) // 10 in (3, 4) and int(n) % 10 < 8}


def is_restored(s):
    check(s.settings()[:4] == s.before[:4], "the terminal's settings are not those from before", s)
    check(b"\x1b[?25h" in s.raw[-200:] or b"\x1b[?25h\x1b[?0c" in s.raw, "the cursor is not shown again", s)


def recording():
    s = Screen([braid, "top", "-d", "200ms", "-p", pid])
    s.see("recording")
    s.wait("the busy method", lambda s: first_row(s, "SELF%").endswith("Worker.spin"))
    check(colours(s), "there are no colours", s)
    check(s.settings()[3] != s.before[3], "the screen has set the terminal", s)
    s.type("2")
    s.wait("a busy thread", lambda s: "old-" in first_row(s, "RUNQ%"))
    s.type("\r")
    s.see("thread old-")
    s.type("/running\r")
    s.see("- running")
    s.type("\x1b")
    s.type("1\\Worker\r")
    s.see("filter: Worker")
    s.type("\r")
    s.see("callers of Worker.spin")
    s.see("Worker.gamma")
    s.size(10, 40)
    s.wait("the small screen", lambda s: s.lines()[9].startswith("F1Help") and "Worker.gamma" in s.text())
    s.size(24, 80)
    s.see("F10Quit")
    s.type("s")
    s.see("saved as ")
    recorders = children(s.pid)
    check(len(recorders) == 1, "there is one recorder", s)
    s.type("q")
    check(s.end() == 0, f"braid top ended with {s.status}", s)
    check(not os.path.exists(f"/proc/{recorders[0]}"), "the recorder is still there", s)
    is_restored(s)


def ended_by(number):
    """Of a finished trace, by a signal."""
    s = Screen([braid, "top", glob.glob("braid-top-*.trace")[0]], environment={"NO_COLOR": "1"})
    s.see("finished")
    s.see("Worker.spin")
    check(not colours(s), "there are colours with NO_COLOR", s)
    s.kill(number)
    s.end()
    is_restored(s)


def recorder_killed(s):
    """Of a command, which goes on: its recorder could not end it."""
    s.see("recording")
    s.wait("a row", lambda s: first_row(s, "SELF%").strip(" .0123456789"))
    recorder = children(s.pid)[0]
    commands = children(recorder)
    os.kill(int(recorder), signal.SIGKILL)
    s.see("  ended")
    check(first_row(s, "SELF%").strip(), "what was recorded is still shown", s)
    s.type("q")
    check(s.end() != 0, "a killed recorder is no success", s)
    for command in commands:
        os.kill(int(command), signal.SIGKILL)


native = Screen([braid, "top", "-d", "200ms", "--", "sh", "-c", "while :; do :; done"])
recording()
ended_by(signal.SIGTERM)
ended_by(signal.SIGSEGV)
recorder_killed(native)
