#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A DNS server that knows no name and takes 150 ms to say so. It ends with the process that started it."""
import os
import socket
import time

parent = os.getppid()
server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
server.bind(("127.0.0.1", 53))
server.settimeout(0.5)
while os.getppid() == parent:
    try:
        question, client = server.recvfrom(512)
    except TimeoutError:
        continue
    time.sleep(0.15)
    server.sendto(question[:2] + b"\x81\x83" + question[4:6] + bytes(6) + question[12:], client)
