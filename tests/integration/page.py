# SPDX-License-Identifier: Apache-2.0
"""page.py HTML REPORT-JSON [TEXT]: checks that a page loads nothing, and that TEXT is only data in it."""
import base64
import hashlib
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
for way in ("innerHTML", "outerHTML", "insertAdjacentHTML", r"document\.write", r"\beval\s*\(", r"new Function"):
    assert not re.search(way, code), way  # names are text, whatever they look like
assert not re.search(r"@import|url\((?!#|data:)", page)
for address in re.findall(r"https?://[^\s\"'<>]*", page.replace(reader.scripts[0][1], "")):
    assert address.startswith("http://www.w3.org/"), address  # a namespace's name, which is not loaded
assert "default-src 'none'" in page
policy = "script-src 'sha256-%s'" % base64.b64encode(hashlib.sha256(code.encode()).digest()).decode()
assert policy in page, "no script but the page's own may run"

raw = reader.scripts[0][1]
assert "<" not in raw, "the data could end its script"
data = json.loads(raw)
samples = [g for g in data["graphs"] if g["unit"] == "samples"]
assert report["samples"]["total"] == sum(g["total"] for g in samples)
for graph in data["graphs"]:
    assert graph["total"] == sum(graph["samples"][2::3]), graph["name"]
    assert max(graph["samples"][0::3], default=0) < max(1, len(data["threads"])), graph["name"]
    assert max(graph["nodes"][1::3], default=0) < max(1, len(graph["labels"])), graph["name"]
    labels = []
    for shared, rest in zip(graph["shared"], graph["labels"], strict=True):
        labels.append((labels[-1][:shared] if labels else "") + rest)
    assert labels == sorted(labels), graph["name"]
spans, kinds = data["timeline"]["spans"], data["timeline"]["kinds"]
for kind, thread, name, start, length in zip(*[iter(spans)] * 5):
    assert kinds[str(kind)] in ("GC pauses", "Safepoints") or thread < len(data["threads"]), (kind, thread)
    assert name < len(data["timeline"]["names"]), name


def numbers(text):
    """The varints that are packed in a string."""
    value, shift = 0, 0
    for byte in base64.b64decode(text, validate=True):
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            yield value
            value, shift = 0, 0
    assert shift == 0


lanes, threads = data["lanes"], len(data["threads"])
details = list(numbers(lanes.get("details", "")))
assert max(details[0::6] + details[4::6] + details[5::6], default=0) < len(lanes.get("texts", [""])) and max(details[2::6], default=0) <= threads
details = len(details) // 6
for graph in data["graphs"]:
    times = list(numbers(graph["times"]["packed"])) if "times" in graph else []
    assert not times or (graph["times"]["count"] * 4 == len(times) and sum(times[3::4]) == graph["total"]), graph["name"]
    assert max(times[1::4], default=0) < max(1, threads) and max(times[2::4], default=0) <= len(graph["nodes"]) // 3, graph["name"]
for lane, wide in [(lane, 3) for lane in lanes["cpus"]] + [(lane, 4) for lane in lanes.get("threads", []) + lanes.get("vthreads", [])]:
    packed = list(numbers(lane["segments"]))
    assert lane["kept"] <= lane["of"] and len(packed) == lane["kept"] * wide, lane
    assert sum(packed[0::wide]) + sum(packed[1::wide]) <= (data["timeline"]["to_us"] + 1) * 10, lane
    if wide == 4:
        assert all(code & 31 < len(lanes["states"]) for code in packed[2::4]) and max(packed[3::4], default=0) <= details, lane
        assert lane["thread"] < threads
    else:
        assert all(code >> 1 < threads for code in packed[2::3]), lane
    bins = list(numbers(lane.get("bins", "")))
    while bins:
        head, *bins = bins
        assert head >> 3 and sum(share % 16 + 1 for share in bins[:head & 7]) <= 16 + 4, lane  # each is rounded
        bins = bins[head & 7:]
explained = data.get("explain", {"list": [], "stacks": {"nodes": []}})
nodes = len(explained["stacks"]["nodes"]) // 3
for one in explained["list"]:
    assert one["thread"] < threads and one["from_us"] <= one["to_us"], one
    assert sum(part["ns"] for part in one["parts"]) + one["others_ns"] == one["ns"], one
    for row in one["parts"] + one["nodes"]:
        assert row["longest"]["thread"] < threads and row["longest"]["node"] <= nodes and row["state"] < len(lanes["states"]), row
    assert all(row["parent"] <= at for at, row in enumerate(one["nodes"])), one
if text:
    assert text in json.dumps(data, ensure_ascii=False), "the name is not in the data"
