# SPDX-License-Identifier: Apache-2.0
"""A program on a terminal of its own, whose screen can be read as text. Debian's pyte is the terminal."""
import fcntl
import os
import select
import signal
import struct
import sys
import termios
import time

import pyte

LIMIT_S = 90


class Screen:
    def __init__(self, command, rows=24, columns=80, environment=None):
        self.screen = pyte.Screen(columns, rows)
        self.stream = pyte.ByteStream(self.screen)
        self.raw = b""
        self.status = None
        self.terminal, other = os.openpty()
        self.size(rows, columns)
        self.before = self.settings()
        self.pid = os.fork()
        if self.pid == 0:
            os.login_tty(other)
            os.environ.update({"TERM": "linux", "LC_ALL": "C.UTF-8"} | (environment or {}))
            os.execvp(command[0], command)
        os.close(other)

    def size(self, rows, columns):
        """Changes the terminal's size, as a person does who pulls its window."""
        self.screen.resize(rows, columns)
        fcntl.ioctl(self.terminal, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def read(self, seconds=0.1):
        """Takes what the program writes. False: it has ended."""
        if not select.select([self.terminal], [], [], seconds)[0]:
            return True
        try:
            data = os.read(self.terminal, 65536)
        except OSError:
            data = b""
        self.raw += data
        self.stream.feed(data)
        return bool(data)

    def lines(self):
        return [line.rstrip() for line in self.screen.display]

    def text(self):
        return "\n".join(self.lines())

    def wait(self, what, condition):
        """Reads until condition(self) holds."""
        end = time.monotonic() + LIMIT_S
        while not condition(self):
            if not self.read() or time.monotonic() > end:
                sys.exit(f"waited in vain for {what}; the screen is:\n{self.text()}")

    def see(self, text):
        self.wait(f"'{text}'", lambda s: text in s.text())

    def type(self, keys):
        os.write(self.terminal, keys.encode() if isinstance(keys, str) else keys)

    def settings(self):
        """What the terminal does with input and output."""
        return termios.tcgetattr(self.terminal)

    def kill(self, number=signal.SIGTERM):
        os.kill(self.pid, number)

    def end(self):
        """Waits for the program's end, and returns its status as os.waitstatus_to_exitcode()."""
        end = time.monotonic() + LIMIT_S
        while self.read():
            if time.monotonic() > end:
                sys.exit(f"the program does not end; the screen is:\n{self.text()}")
        self.status = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        return self.status
