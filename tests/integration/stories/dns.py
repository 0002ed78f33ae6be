#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A DNS server that knows no name and takes 150 ms to say so."""
import socket
import time

server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
server.bind(("127.0.0.1", 53))
print("ready", flush=True)
while True:
    question, client = server.recvfrom(512)
    time.sleep(0.15)
    server.sendto(question[:2] + b"\x81\x83" + question[4:6] + bytes(6) + question[12:], client)
