# SPDX-License-Identifier: Apache-2.0
"""control.py SOCKET WHAT: a misbehaving client of a recorder's control socket, whose protocol is CONTROL_VERSION."""
import os
import socket
import struct
import sys

path, what = sys.argv[1:3]
VERSION = int(os.environ["CONTROL_VERSION"])


def client():
    s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    s.connect(path)  # waits for room in the listen queue
    s.settimeout(20)
    return s


def request(magic=0x4C544342, version=VERSION, verb=1, pid=0, text=b"", size=512):
    return struct.pack("=IHHII496s", magic, version, verb, pid, 0, text)[:size]


def messages(s):
    """Kinds of the messages until the recorder closes the connection."""
    kinds = []
    while True:
        try:
            m = s.recv(65536)
        except ConnectionResetError:
            return kinds
        if not m:
            return kinds
        kinds.append(struct.unpack_from("=IHH", m)[2])


if what == "refused":  # connected at most, but not answered
    try:
        s = client()
        s.sendall(request())
        assert messages(s) == []
    except (PermissionError, BrokenPipeError):
        pass
elif what == "nonsense":
    for bad in (b"x", b"", request(size=511), request() + b"x", request() * 100, request(magic=1), request(version=9),
                request(verb=0), request(verb=99), request(text=b"a" * 496), request(verb=2, text=b"nonsense"),
                request(verb=2), request(verb=3, text=b"alloc=1m"), request(verb=2, text=b"%s%n," * 90)):
        s = client()
        s.sendall(bad)
        got = messages(s)
        assert bad == b"" and not got or 3 in got and got[-1] == 4, (bad[:40], got)
elif what == "twice":  # a second request is not answered
    s = client()
    s.sendall(request())
    try:
        for _ in range(100):
            s.sendall(request())
    except (BrokenPipeError, ConnectionResetError):
        pass
    assert messages(s)[:1] in ([], [1])
elif what == "silent":  # many clients that send nothing, or do not read; kept open until this program is ended
    held = [client() for _ in range(40)]
    for s in held[20:]:
        try:
            s.sendall(request())
        except BrokenPipeError:
            pass
    print("holding", flush=True)
    sys.stdin.read()
