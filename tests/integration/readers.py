# SPDX-License-Identifier: Apache-2.0
"""Readers of the formats that braid exports, which know the formats and nothing of braid. What a format does not allow is
an error."""
import json
import re
from collections import Counter


def hprof(path):
    """The text of the HPROF agent: names of threads, traces as lists of frames from the leaf, and rows of its tables."""
    text = open(path).read()
    head, body = text.split("\n--------\n\n")
    assert re.match(r"JAVA PROFILE 1\.0\.1, created \w{3} \w{3} [ \d]\d \d\d:\d\d:\d\d \d{4}\n", head), head
    threads, traces, of_thread, sites, samples = {}, {}, {}, [], []
    trace = table = total = None
    for line in body.splitlines():
        start = re.fullmatch(r'THREAD START \(obj=[0-9a-f]+, id = (\d+), name="([^"]*)", group="[^"]*"\)', line)
        begin = re.fullmatch(r"TRACE (\d+):(?: \(thread=(\d+)\))?", line)
        frame = re.fullmatch(r"\t(.+)\(((?:[^()]+:(?:\d+|Unknown line))|Unknown Source|Native method)\)", line)
        if re.fullmatch(r"THREAD END \(id = \d+\)", line):
            continue
        if table is None and start:
            threads[int(start[1])] = start[2]
        elif table is None and begin:
            trace = traces.setdefault(int(begin[1]), [])
            assert trace == [], line
            if begin[2]:
                of_thread[int(begin[1])] = threads[int(begin[2])]
        elif table is None and frame:
            trace.append((frame[1], frame[2]))
        elif re.fullmatch(r"(SITES|CPU SAMPLES) END", line):
            assert line.startswith(table), line
            table = None
        elif line.startswith("SITES BEGIN (ordered by live bytes) "):
            table = "SITES"
        elif line.startswith("CPU SAMPLES BEGIN "):
            table, total = "CPU SAMPLES", int(re.match(r"CPU SAMPLES BEGIN \(total = (\d+)\) ", line)[1])
        elif table == "SITES":
            row = re.fullmatch(r" *(\d+) +([\d.]+)% +([\d.]+)% +(\d+) +(\d+) +(\d+) +(\d+) +(\d+) (.+)", line)
            if row:
                assert int(row[1]) == len(sites) + 1 and int(row[8]) in traces, line
                sites.append({"live": int(row[4]), "allocated": int(row[6]), "trace": traces[int(row[8])],
                              "class": row[9], "self": float(row[2]), "accum": float(row[3])})
            else:
                assert re.search(r"percent +live +alloc'ed|rank +self +accum +bytes objs", line), line
        else:
            row = re.fullmatch(r" *(\d+) +([\d.]+)% +([\d.]+)% +(\d+) +(\d+) (.*)", line)
            assert table == "CPU SAMPLES" and (row or line == "rank   self  accum   count trace method"), line
            if row:
                number = int(row[5])
                assert int(row[1]) == len(samples) + 1 and row[6] == traces[number][0][0], line
                assert abs(float(row[2]) - 100 * int(row[4]) / total) < 0.006, line
                samples.append((int(row[4]), of_thread.get(number), [f[0] for f in traces[number]]))
    assert table is None and total == sum(s[0] for s in samples), "total"
    assert [s[0] for s in samples] == sorted((s[0] for s in samples), reverse=True), "ranks"
    return {"samples": samples, "sites": sites}


def strict(path):
    """JSON whose objects have each key once."""
    def members(pairs):
        assert len(dict(pairs)) == len(pairs), f"a key twice: {pairs}"
        return dict(pairs)

    def number(text):
        raise AssertionError(f"no JSON: {text}")
    with open(path) as f:
        return json.load(f, object_pairs_hook=members, parse_constant=number)


def weight(of, idle=True):
    """What the events of a kind weigh that report --json has, in ns, bytes or a unit of their own. Times off the CPU of
    idle threads are apart there; `idle`: with them. None: the kind's events have only a number."""
    if "weight_s" in of:
        return round((of["weight_s"] + (of.get("idle_s", 0) if idle else 0)) * 1e9)
    return of.get("weight_bytes", of.get("weight"))


class Timed:
    """What formats with times have: samples as (name, time in s, weight, thread, frames from the leaf), and by category
    how many events, their weights, and the ns of intervals."""

    def __init__(self):
        self.samples = []
        self.counts, self.weights, self.ns = Counter(), Counter(), Counter()
        self.stacks = {}  # of each category: how often each stack, from the leaf
        self.runs = []  # on CPUs, Perfetto's: CPU, tid, begin, end
        self.locked = set()  # tids with times off CPUs that are parts of others
        self.off = []  # times off them: tid, begin, end, CPU that was left, CPU of the return, the thread's track

    def event(self, category, weight, count, ns, stack):
        self.counts[category] += count
        self.weights[category] += weight
        self.ns[category] += ns
        if stack:
            self.stacks.setdefault(category, Counter())[tuple(stack)] += 1

    def check(self, events):
        """Compares with the events of report --json, where times off the CPU of idle threads are apart."""
        assert set(self.counts) == set(events), (set(self.counts), set(events))
        for kind, of in events.items():
            known = weight(of)
            wanted = of["count"] + of.get("idle", 0), of["count"] if known is None else known
            assert (self.counts[kind], self.weights[kind]) == wanted, (kind, self.counts[kind], self.weights[kind], wanted)


def heatmap(path):
    """FlameScope's: seconds as columns, parts of a second as rows, from the last one on. The sum of each second."""
    data = strict(path)
    assert data["rows"] == [1000 * i // 50 for i in reversed(range(50))], data["rows"]
    first = data["columns"][0]
    assert data["columns"] == list(range(first, first + len(data["values"])))
    assert all(len(column) == len(data["rows"]) for column in data["values"])
    assert data["maxvalue"] == max(max(column) for column in data["values"])
    assert data["total"] == sum(sum(column) for column in data["values"]), data["total"]
    return data


def chrome(path):
    """Trace events. Each thread with events has a name, each stack frame a parent that there is, and no cycle."""
    data, timed, names, processes = strict(path), Timed(), {}, set()
    frames = data["stackFrames"]

    def stack(event):
        found, at = [], event.get("sf")
        while at is not None:
            found.append(frames[str(at)]["name"])
            at = frames[str(at)].get("parent")
            assert len(found) < 10000, "a cycle"
        return found
    for e in data["traceEvents"]:
        if e["ph"] == "M" and e["name"] == "process_name":
            processes.add(e["pid"])
        elif e["ph"] == "M":
            assert e["name"] == "thread_name", e
            names[e["pid"], e["tid"]] = e["args"]["name"]
        else:
            assert e["pid"] in processes and e["ts"] >= 0 and e["cat"] and e["name"], e
            thread = names[e["pid"], e["tid"]]
            assert e["ph"] in "PXi" and ("dur" in e) == (e["ph"] == "X"), e
            if e["ph"] == "P":
                timed.samples.append((e["name"], e["ts"] / 1e6, e["args"]["weight"], thread, stack(e)))
            else:
                timed.event(e["cat"], e["args"]["weight"], e["args"].get("events", 1),
                            round(e.get("dur", 0) * 1000), stack(e))
    used = {str(e["sf"]) for e in data["traceEvents"] if "sf" in e}
    used |= {str(f["parent"]) for f in frames.values() if "parent" in f}
    assert used == set(frames), "frames that nothing has"
    return timed


def firefox(path):
    """The processed format of the Firefox Profiler, version 70: its tables agree with each other."""
    data, timed = strict(path), Timed()
    meta, shared = data["meta"], data["shared"]
    assert meta["preprocessedProfileVersion"] == 70 and meta["startTime"] > 1.7e12, meta
    categories = meta["categories"]
    assert any(c["color"] == "grey" for c in categories) and all(c["subcategories"][0] == "Other" for c in categories)
    strings, schemas = shared["stringArray"], {}
    assert len(set(strings)) == len(strings), "a string twice"

    def table(of, columns, name):
        assert set(of) == set(columns.split()) | {"length"}, (name, set(of))
        for column in columns.split():
            if isinstance(of[column], list):
                assert len(of[column]) == of["length"], (name, column)
        return range(of["length"])
    stacks, frames, funcs = shared["stackTable"], shared["frameTable"], shared["funcTable"]
    resources, sources = shared["resourceTable"], shared["sources"]
    for i in table(stacks, "frame prefixOffset", "stackTable"):
        assert 0 <= stacks["prefixOffset"][i] <= i and stacks["frame"][i] < frames["length"], i
    for i in table(frames, "address lib inlineDepth category subcategory func nativeSymbol innerWindowID line column "
                   "originalLocation", "frameTable"):
        assert 0 <= frames["func"][i] < funcs["length"] and frames["address"][i] == frames["lib"][i] == -1, i
        assert frames["subcategory"][i] < len(categories[frames["category"][i]]["subcategories"]), i
        assert frames["line"][i] is None or frames["line"][i] > 0, i
    for i in table(funcs, "name isJS relevantForJS resource source lineNumber columnNumber originalLocation", "funcTable"):
        assert strings[funcs["name"][i]] and -1 <= funcs["resource"][i] < resources["length"], i
        assert funcs["source"][i] is None or 0 <= funcs["source"][i] < sources["length"], i
    for i in table(resources, "name host type", "resourceTable"):
        assert strings[resources["name"][i]], i
    for i in table(sources, "id filename startLine startColumn sourceMapURL content", "sources"):
        assert strings[sources["filename"][i]], i
    assert not table(shared["nativeSymbols"], "libIndex address name functionSize", "nativeSymbols")
    assert not table(shared["sourceLocationTable"], "source line column", "sourceLocationTable")
    for schema in meta["markerSchema"]:
        schemas[schema["name"]] = {f["key"]: f["format"] for f in schema["fields"]}

    def stack(at):
        found = []
        while at is not None:
            found.append(strings[funcs["name"][frames["func"][stacks["frame"][at]]]])
            at = at - stacks["prefixOffset"][at] if stacks["prefixOffset"][at] else None
        return found
    for thread in data["threads"]:
        samples, markers = thread["samples"], thread["markers"]
        assert thread["pid"].isdigit() and thread["name"] and thread["processName"], thread["name"]
        assert samples["time"] == sorted(samples["time"]) and samples["weightType"] == "samples", thread["name"]
        for i in table(samples, "stack time weight weightType", "samples"):
            timed.samples.append((None, samples["time"][i] / 1e3, samples["weight"][i], thread["name"],
                                  stack(samples["stack"][i])))
        for i in table(markers, "data name startTime endTime phase category", "markers"):
            marker, ns = markers["data"][i], 0
            assert strings[markers["name"][i]] and markers["category"][i] < len(categories), marker
            assert set(marker) - {"type", "cause"} <= set(schemas[marker["type"]]), marker
            assert markers["phase"][i] == (0 if markers["endTime"][i] is None else 1), marker
            if markers["phase"][i]:
                ns = round((markers["endTime"][i] - markers["startTime"][i]) * 1e6)
                assert ns >= 0, marker
            timed.event(strings[markers["name"][i]], marker["weight"], marker.get("events", 1), ns,
                        stack(marker["cause"]["stack"]) if "cause" in marker else [])
        assert min([0, *samples["time"], *markers["startTime"]]) >= 0, thread["name"]
    return timed


def text_format(path):
    """What protoc --decode prints, message by message of the outermost: a dictionary of lists."""
    at, above = {}, []
    for line in open(path):
        line = line.strip()
        if line.endswith(" {"):
            above.append(at)
            at = at.setdefault(line[:-2], [])
            at.append({})
            at = at[-1]
        elif line == "}":
            message, at = at, above.pop()
            if not above:
                yield message
        else:
            key, value = line.split(": ", 1)
            if value.startswith('"'):
                value = value[1:-1].encode().decode("unicode_escape").encode("latin-1").decode()
            elif value.isdigit():
                value = int(value)
            at.setdefault(key, []).append(value)


def perfetto(path):
    """Perfetto's trace, decoded by protoc: each packet refers to what packets before it have defined."""
    timed, tracks, processes, open_slices, counts = Timed(), {}, {}, {}, Counter()
    tables = {name: {} for name in ("event_categories", "event_names", "debug_annotation_names", "function_names", "frames",
                                    "callstacks", "mapping_paths", "source_paths", "mappings")}
    period = clocks = None

    def known(table, message, key):
        return tables[table][message[key][0]]["name"][0]

    def stack(message):
        if "callstack_iid" not in message:
            return []
        frames = tables["callstacks"][message["callstack_iid"][0]]["frame_ids"]
        return [known("function_names", tables["frames"][f], "function_name_id") for f in reversed(frames)]
    for packet in text_format(path):
        assert packet["trusted_packet_sequence_id"] == [1], packet
        time = packet.get("timestamp", [None])[0]
        for table, entries in packet.get("interned_data", [{}])[0].items():
            for entry in entries:
                assert tables[table].setdefault(entry["iid"][0], entry) is entry, entry
        for snapshot in packet.get("clock_snapshot", []):
            clocks = {c["clock_id"][0]: c["timestamp"][0] for c in snapshot["clocks"]}
            assert set(clocks) == {1, 3, 6} and clocks[1] > 1.7e18 and clocks[6] >= clocks[3], clocks
        for defaults in packet.get("trace_packet_defaults", []):
            assert clocks and defaults["timestamp_clock_id"] == [3] and packet["sequence_flags"] == [3], packet
            period = 10**9 // defaults["perf_sample_defaults"][0]["timebase"][0]["frequency"][0]
        for track in packet.get("track_descriptor", []):
            if "process" in track:
                processes[track["process"][0]["pid"][0]] = track["process"][0]["process_name"][0]
            elif "thread" in track:
                assert track["thread"][0]["pid"][0] in processes, track
            else:  # the machine's has none above it, and the one of all CPUs
                assert (track["parent_uuid"][0] in tracks if "parent_uuid" in track else track["name"] in (["machine"], ["CPUs"])), track
                assert track["name"], track
            assert tracks.setdefault(track["uuid"][0], track) is track, track
        for sample in packet.get("perf_sample", []):
            cpu, pid, tid = (sample.get(key, [0])[0] for key in ("cpu", "pid", "tid"))
            weight, rest = divmod(sample["timebase_count"][0] - counts[cpu], period)
            counts[cpu] = sample["timebase_count"][0]
            threads = [t["thread"][0] for t in tracks.values() if "thread" in t and t["thread"][0]["tid"] == [tid]]
            assert weight > 0 and not rest and any(t["pid"] == [pid] for t in threads), sample
            for frame in tables["callstacks"][sample["callstack_iid"][0]]["frame_ids"]:
                assert tables["frames"][frame]["mapping_id"][0] in tables["mappings"], frame
            timed.samples.append((None, time / 1e9, weight, threads[-1]["thread_name"][0], stack(sample)))
        for event in packet.get("track_event", []):
            uuid = event["track_uuid"][0]
            assert uuid in tracks and time is not None, event
            above = tracks.get(tracks[uuid].get("parent_uuid", [None])[0], {})
            if above.get("name") == ["CPUs"]:
                if event["type"] == ["TYPE_SLICE_END"]:
                    timed.runs[-1] += (time,)
                    assert len(timed.runs[-1]) == 4, timed.runs[-1]
                else:
                    fields = {known("debug_annotation_names", a, "name_iid"): a for a in event["debug_annotations"]}
                    assert known("event_categories", event, "category_iids") == "on CPU", event
                    timed.runs.append((int(tracks[uuid]["name"][0].split()[1]), fields["tid"]["uint_value"][0], time))
                continue
            if event["type"] == ["TYPE_SLICE_END"]:
                timed.ns[open_slices[uuid].pop()] += time
                continue
            fields = {known("debug_annotation_names", a, "name_iid"): a for a in event["debug_annotations"]}
            category, name = known("event_categories", event, "category_iids"), known("event_names", event, "name_iid")
            assert name and "weight" in fields, event
            slice_begins = event["type"] == ["TYPE_SLICE_BEGIN"]
            if category in ("lock", "wait") and "thread" in above:
                timed.locked.add(above["thread"][0]["tid"][0])
            if category == "offcpu" and "thread" in above and "to_cpu" in fields:
                length = fields["duration_ns"].get("uint_value", [0])[0]
                timed.off.append((above["thread"][0]["tid"][0], time, time + length,
                                  *(fields[key].get("uint_value", [0])[0] for key in ("cpu", "to_cpu")), tracks[uuid]["parent_uuid"][0]))
            timed.event(category, fields["weight"]["uint_value"][0], fields.get("events", {"uint_value": [1]})["uint_value"][0],
                        -time if slice_begins else 0, stack(event))
            if slice_begins:
                open_slices.setdefault(uuid, []).append(category)
    assert not any(open_slices.values()), "slices without an end"
    return timed
