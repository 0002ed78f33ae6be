# SPDX-License-Identifier: Apache-2.0
"""serve.py ADDRESS TRACE: what a server of a recording gives, to whom; and that it grows."""
import http.client
import json
import re
import sys
import time
import urllib.parse

address, trace = urllib.parse.urlsplit(sys.argv[1]), sys.argv[2]
port, token = address.port, address.path


def ask(path, method="GET", headers=None, body=None):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    try:
        connection.request(method, path, body=body, headers=headers or {})
        answer = connection.getresponse()
        return answer.status, answer.read(), dict(answer.getheaders())
    finally:
        connection.close()


# without the token, by another name, in another way
for path in ("/", "/state", token[:-1], token[:-2] + "g/", "/x" + token, "/%2e%2e/etc/passwd"):
    assert ask(path)[0] == 403, path
for name in ("evil.example", "127.0.0.1.evil.example:%d" % port, ""):
    assert ask(token, headers={"Host": name})[0] in (400, 403), name
assert ask(token, headers={"Host": "localhost:%d" % port})[0] == 200
for method in ("POST", "PUT", "DELETE", "OPTIONS"):
    status, _, headers = ask(token + "state", method, body=b"x" * 100000)
    assert status == 405 and headers["Allow"] == "GET, HEAD", (method, status)
status, text, headers = ask(token + "state", "HEAD")
assert status == 200 and text == b"" and int(headers["Content-Length"]) > 0
assert ask(token + "../../etc/passwd")[0] in (403, 404)
status, text, headers = ask("/" + "a" * 100000)
assert status in (403, 414, 431), status

# the page, and what it may do
status, page, headers = ask(token)
assert status == 200 and b"live-mark" in page
assert "default-src 'none'" in headers["Content-Security-Policy"] and "frame-ancestors 'none'" in headers["Content-Security-Policy"]
assert headers["Referrer-Policy"] == "no-referrer" and headers["Cache-Control"] == "no-store" and headers["X-Content-Type-Options"] == "nosniff"
parts = json.loads(re.search(rb"LIVE_PARTS = (\[\[.*?\]\]);", page)[1])
assert len(parts) > 1
for seconds, name in parts:
    assert ask(token + "state" + ("?last=" + seconds if seconds else ""))[0] == 200, name
assert ask(token + "state?last=7")[0] == 400
status, kept, headers = ask(token + "page.html")
assert status == 200 and b"fetch(" not in kept and headers["Content-Disposition"] == "attachment"
status, copy, _ = ask(token + "trace.braid")
assert status == 200 and open(trace, "rb").read(len(copy)) == copy and len(copy) > 100

# it grows, and so do its data
first = json.loads(ask(token + "state")[1])
assert first["growing"]
data = json.loads(ask(token + "data")[1])
end = time.monotonic() + 60
while True:
    state = json.loads(ask(token + "state")[1])
    if state["generation"] > first["generation"] and state["bytes"] > first["bytes"]:
        break
    assert time.monotonic() < end, (first, state)
    time.sleep(0.1)
newer = json.loads(ask(token + "data")[1])
assert newer["live"]["generation"] >= state["generation"] and newer["about"]["duration_s"] > data["about"]["duration_s"]
assert sum(newer["graphs"][0]["samples"][2::3]) >= sum(data["graphs"][0]["samples"][2::3])
