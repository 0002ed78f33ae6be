# SPDX-License-Identifier: Apache-2.0
"""page.py HTML REPORT-JSON [TEXT]: checks that a page loads nothing, and that TEXT is only data in it."""
import html.parser
import json
import re
import sys

page = open(sys.argv[1], encoding="utf-8").read()
report = json.load(open(sys.argv[2]))
text = sys.argv[3] if len(sys.argv) > 3 else None


class Reader(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.tags, self.scripts, self.open = [], [], None

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag == "script":
            self.open = dict(attrs).get("type", "code")
            self.scripts.append([self.open, ""])

    def handle_endtag(self, tag):
        if tag == "script":
            self.open = None

    def handle_data(self, data):
        if self.open:
            self.scripts[-1][1] += data
        elif text:
            assert text not in data, "the name is text outside the data"


reader = Reader()
reader.feed(page)
for tag, attrs in reader.tags:
    assert tag not in ("img", "iframe", "object", "embed", "link", "base"), tag
    assert not {"src", "srcset", "action", "background"} & set(attrs), (tag, attrs)
    assert attrs.get("href", "#").startswith("#"), (tag, attrs)
    assert not [a for a in attrs if a.startswith("on") and text], (tag, attrs)
assert [kind for kind, _ in reader.scripts] == ["application/json", "code"], reader.scripts
code = reader.scripts[1][1]
for load in (r"fetch\s*\(", "XMLHttpRequest", "WebSocket", "EventSource", "importScripts", r"\bimport\s*\(", "sendBeacon"):
    assert not re.search(load, code), load
assert not re.search(r"@import|url\((?!#|data:)", page)
for address in re.findall(r"https?://[^\s\"'<>]*", page.replace(reader.scripts[0][1], "")):
    assert address.startswith("http://www.w3.org/"), address  # a namespace's name, which is not loaded
assert "default-src 'none'" in page

raw = reader.scripts[0][1]
assert "<" not in raw, "the data could end its script"
data = json.loads(raw)
samples = [g for g in data["graphs"] if g["unit"] == "samples"]
assert report["samples"]["total"] == sum(g["total"] for g in samples)
for graph in data["graphs"]:
    assert graph["total"] == sum(graph["samples"][2::3]), graph["name"]
    assert max(graph["samples"][0::3], default=0) < max(1, len(data["threads"])), graph["name"]
    assert max(graph["nodes"][1::3], default=0) < max(1, len(graph["labels"])), graph["name"]
spans, kinds = data["timeline"]["spans"], data["timeline"]["kinds"]
for kind, thread, name, start, length in zip(*[iter(spans)] * 5):
    assert kinds[str(kind)] in ("GC pauses", "Safepoints") or thread < len(data["threads"]), (kind, thread)
    assert name < len(data["timeline"]["names"]), name
if text:
    assert text in json.dumps(data, ensure_ascii=False), "the name is not in the data"
