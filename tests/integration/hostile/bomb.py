# SPDX-License-Identifier: Apache-2.0
"""bomb.py FILE: replaces the debug information of an ELF file by a compressed section that unpacks to 3 GiB."""
import os
import struct
import subprocess
import sys
import zlib

path, bytes_ = sys.argv[1], 3 << 30
piece = 1 << 20
z = zlib.compressobj(9)
first = z.compress(bytes(piece)) + z.flush(zlib.Z_FULL_FLUSH)
same = z.compress(bytes(piece)) + z.flush(zlib.Z_FULL_FLUSH)
# An empty last block, and Adler's checksum of zeros.
stream = first + same * (bytes_ // piece - 1) + b"\x03\x00" + struct.pack(">I", bytes_ % 65521 << 16 | 1)
with open("bomb", "wb") as f:
    f.write(struct.pack("<IIQQ", 1, 0, bytes_, 1) + stream)
subprocess.run(["objcopy", "--update-section", ".debug_info=bomb", path], check=True)
os.unlink("bomb")
with open(path, "r+b") as f:
    header = f.read(64)
    at, = struct.unpack_from("<Q", header, 40)
    size, count, names = struct.unpack_from("<HHH", header, 58)
    f.seek(at)
    table = f.read(size * count)
    f.seek(struct.unpack_from("<Q", table, names * size + 24)[0])
    strings = f.read(struct.unpack_from("<Q", table, names * size + 32)[0])
    for i in range(count):
        name = struct.unpack_from("<I", table, i * size)[0]
        if strings[name:strings.index(b"\0", name)] == b".debug_info":
            f.seek(at + i * size + 8)
            f.write(struct.pack("<Q", 0x800))  # SHF_COMPRESSED
            sys.exit(0)
sys.exit(1)
