# SPDX-License-Identifier: Apache-2.0
"""coverage.py ROOT BRAID JVMTI_H: compares docs/jvmti-coverage.md with the agent.

The list of JVM TI comes from the JDK's header, its use and what brings it from the agent's source (agent_calls.py), and the
options from the commands' --help.
"""
import os
import re
import subprocess
import sys

from agent_calls import EVERY, LOCK, Calls

STATES = ("used", "kernel side", "not used", "impossible")
WITH_OPTION = ("used", "kernel side")
IN_PAUSES = ("events/gc.c", "events/classes.c")  # their handlers neither lock nor allocate
LOCKS_OR_ALLOCATES = re.compile(r"\b(?:pthread_\w+|malloc|calloc|realloc|aligned_alloc|strdup|free|mmap)\b")
# Not followed from a handler: what another thread runs, and where the helper thread alone waits.
OTHER_THREAD, HELPER_ONLY = "helper_main", "helper_pace"
# The JVM stands still for them for as long as its heap or its classes take.
LONG = {"FollowReferences", "IterateThroughHeap", "ForceGarbageCollection", "RetransformClasses"}

# Where an event type is not what brings a kind, or not all: `braid heap` says by other fields of the configuration what it wants.
KIND_OPTIONS = {"heap_copy_kind": {"heap", "heap --by", "heap --dump"}, "histogram_kind": {"heap", "record -e heap"}}
TYPE_OPTIONS = {"alloc": ["heap --watch"], "live": ["heap --watch"]}
# Conditions decide: a command asks for a collection, or a histogram after one.
DECIDED = {"ForceGarbageCollection": {"ctl PID gc": "kinds_command", "heap --live": "count_objects"}}
# Events of every recording of which the recorder makes others, if they are asked for.
MADE_OF = {"CompiledMethodLoad": "jit", "CompiledMethodUnload": "jit", "ThreadStart": "thread", "ThreadEnd": "thread"}
OPTION = re.compile(r"record$|record -e |heap\b|ctl PID gc$")  # what of a row's With the sources can say
# What is in mapped memory, by file, and what a reset forgets, by kind: in the words of the page.
MAPPED = {"core/ring.c": "ring", "events/heap_copy.c": "roots", "malloc/sampled.c": "native allocations",
          "malloc/countdown.c": "native allocations"}
FORGOTTEN = {"live_kind": "watched objects", "jni_refs_kind": "JNI references", "malloc_kind": "native allocations"}
NUMBERS = ("no", "one", "two", "three", "four", "five")
COMPLETE = {"Events": 34, "Functions": 151, "Capabilities": 45, "JVMPI events": 37, "JVMPI functions": 27,
            "Function categories": 25}


class Header:
    """jvmti.h: names and numbers of events, functions and capabilities."""

    def __init__(self, path):
        text = open(path, encoding="utf-8").read()
        numbers = dict(re.findall(r"\bJVMTI_EVENT_(\w+) = (\d+)", text))
        self.constants = {}  # of events, without the prefix: their names
        self.events = {}
        for number, name in re.findall(r"/\*\s+(\d+) : [^*]*\*/\s+jvmtiEvent\w+ (\w+);", text):
            self.events[name] = int(number)
        for constant, number in numbers.items():
            if not constant.startswith(("MIN_", "MAX_")):
                self.constants[constant] = next(n for n, v in self.events.items() if v == int(number))
        self.functions = {name: int(number) for number, name in
                          re.findall(r"/\*\s+(\d+) : [^*]*\*/\s+jvmtiError \(JNICALL \*(\w+)\)", text)}
        bits = re.findall(r"unsigned int (can_\w+) : 1;", text)
        self.capabilities = {name: bit for bit, name in enumerate(bits)}
        major, minor = re.search(r"\bJVMTI_VERSION = 0x30000000 \+ \((\d+) \* 0x10000\) \+ \( ?(\d+) \* 0x100\)",
                                 text).groups()
        self.jdk = max(int(major), 8)


def used_by_agent(text, header):
    """Events that it names or handles, functions that it calls, capabilities that it defines a bit for."""
    used = {header.constants[c] for c in re.findall(r"\b(?:JVMTI_)?EVENT_(\w+)", text) if c in header.constants}
    used |= {e for e in re.findall(r"\.(\w+) = ", text) if e in header.events}
    used |= {f for f in re.findall(r"->\s*(\w+)\b", text) if f in header.functions}
    used |= {c for c in re.findall(r"\bcan_\w+", text) if c in header.capabilities}
    bits = {bit: name for name, bit in header.capabilities.items()}
    return used | {bits[int(b)] for b in re.findall(r"#define CAP_\w+ (\d+)U", text) if int(b) in bits}


class Helps:
    def __init__(self, braid):
        self.braid, self.texts = braid, {}

    def of(self, command):
        if command not in self.texts:
            r = subprocess.run([self.braid, command, "--help"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
            self.texts[command] = r.stdout.decode() if r.returncode == 0 else None
        return self.texts[command]


def item_exists(helps, item):
    """`COMMAND`, `COMMAND -x`, `record -e KIND`, `ctl PID VERB`: the command's --help must have every word."""
    words = item.strip("`").split()
    text = helps.of(words[0])
    return text is not None and all(re.search(r"(?<![\w-])%s(?![\w-])" % re.escape(w), text) for w in words[1:])


def tables(path):
    """{heading without its count: (count, [row as a dict])}"""
    found, title = {}, None
    for line in open(path, encoding="utf-8"):
        heading = re.match(r"## (.*) \((\d+)\)$", line)
        if heading:
            title, columns = heading[1], None
            found[title] = (int(heading[2]), [])
        if line.startswith("## ") and not heading:
            title = None
        if not title or not line.startswith("|"):
            continue
        cells = [c.strip() for c in line.strip().strip("|").split("|")]
        if columns is None:
            columns = cells
        elif not set(cells[0]) <= {"-"} or cells[0] == "-":
            assert len(cells) == len(columns), line
            found[title][1].append(dict(zip(columns, cells)))
    return found


def row_name(row):
    return next(row[c] for c in ("Event", "Function", "Capability", "Category") if c in row).strip("`")


def quoted(text):
    return set(re.findall(r"`([^`]+)`", text))


class Check:
    def __init__(self, root, braid, header):
        self.header, self.helps, self.root = header, Helps(braid), root
        with open(root + "/docs/jvmti-coverage.md", encoding="utf-8") as f:
            self.page = f.read()
        self.tables = tables(root + "/docs/jvmti-coverage.md")
        self.calls = Calls(root, KIND_OPTIONS, TYPE_OPTIONS)
        self.source = "".join(self.calls.files.values())
        self.used = used_by_agent(self.source, header)
        self.errors = []

    def wrong(self, text):
        self.errors.append(text)

    def names(self, title, column, number, there):
        """The table has everything in the header; other rows are of later versions."""
        rows = {r[column].strip("`"): r for r in self.tables[title][1]}
        for name in sorted(set(there) - set(rows)):
            self.wrong(f"{title}: {name} has no row")
        for name, row in rows.items():
            if name not in there and int(row["JDK"]) <= self.header.jdk:
                self.wrong(f"{title}: {name} is not in the jvmti.h of JDK {self.header.jdk}")
            if name in there and int(row[number]) != there[name]:
                self.wrong(f"{title}: {name} is number {there[name]}")
            if name in there and (row["State"] == "used") != (name in self.used):
                self.wrong(f"{title}: {name} is said to be {row['State']}, and the agent "
                           f"{'uses' if name in self.used else 'does not use'} it")

    def state(self, title, name, row):
        items = [] if row["With"] == "-" else row["With"].split(", ")

        if row["State"] not in STATES:
            self.wrong(f"{title}: {name}: there is no state '{row['State']}'")
        elif row["State"] in WITH_OPTION:
            if not items:
                self.wrong(f"{title}: {name}: which option?")
            for item in items:
                if not item_exists(self.helps, item):
                    self.wrong(f"{title}: {name}: {item} is not in --help")
        elif row["State"] in ("not used", "impossible") and (items or not row["What for, or why not"]):
            self.wrong(f"{title}: {name}: why not?")

    def jvmpi(self, title):
        """Each row that JVM TI covers names something that the agent uses."""
        for row in self.tables[title][1]:
            name = next(iter(row.values())).strip("`")
            successors = re.findall(r"`(\w+)`", row["Its successor in JVM TI"])
            later = set(successors) - set(self.header.events) - set(self.header.functions)
            if row["State"] == "used" and not later and not set(successors) <= self.used:
                self.wrong(f"{title}: {name}: the agent does not use {', '.join(set(successors) - self.used)}")
            same = "".join(word.capitalize() for word in name.split("_")) if "_" in name else name
            if same in {**self.header.events, **self.header.functions} and same not in successors:
                self.wrong(f"{title}: {name}: JVM TI has {same}")

    def categories(self):
        functions = self.tables["Functions"][1]
        for row in self.tables["Function categories"][1]:
            own = [f for f in functions if f["Category"] == row["Category"]]
            used = sum(f["State"] == "used" for f in own)
            if (int(row["Functions"]), int(row["Used"])) != (len(own), used):
                self.wrong(f"category {row['Category']}: {len(own)} functions, {used} used")
        known = {row["Category"] for row in self.tables["Function categories"][1]}
        for f in functions:
            if f["Category"] not in known:
                self.wrong(f"{f['Function']}: there is no category {f['Category']}")

    # ---- what brings a function, an event, a capability ----

    def compare(self, title, name, row, ways, more=frozenset()):
        """`ways`: what the sources say, with how. What every recording does need not be said of an event type again."""
        said = {i for i in row["With"].replace("`", "").split(", ") if OPTION.match(i)}
        if not ways:
            self.wrong(f"{title}: {name}: nothing of the agent leads to it")
        for option in sorted(({EVERY} if EVERY in ways else set(ways)) - said):
            self.wrong(f"{title}: {name}: With lacks {option}: {ways[option]}")
        for option in sorted(said - set(ways) - more):
            self.wrong(f"{title}: {name}: {option} does not bring it")

    def used_rows(self, title):
        return {row_name(r): r for r in self.tables[title][1] if r["State"] == "used"}

    def options(self):
        rows = self.used_rows("Functions")
        functions = {**self.calls.functions(set(rows)), **DECIDED}
        for name, row in rows.items():
            self.compare("Functions", name, row, functions.get(name))
        events = {constant.replace("_", "").lower(): ways for constant, ways in self.calls.events().items()}
        for name, row in self.used_rows("Events").items():
            more = {"record -e " + MADE_OF[name]} if name in MADE_OF else set()
            self.compare("Events", name, row, events.get(name.lower()), more)
        capabilities, bits = {}, dict(re.findall(r"#define (CAP_\w+) (\d+)U", self.source))
        for name, ways in self.calls.capabilities().items():
            capabilities.setdefault(bits.get(name, name), {}).update(ways)
        for name, row in self.used_rows("Capabilities").items():
            ways = {**capabilities.get(row["Bit"], {}), **capabilities.get(name, {})}
            self.compare("Capabilities", name, row, ways)

    def preset(self):
        """What a recording has when nothing is chosen."""
        has = re.search(r"^  cpu +cpu (.*)$", self.helps.of("record"), re.M)[1].split()
        said = re.search(r"one without `-e` has (.*?), too", self.page, re.S)
        if not said or quoted(said[1]) != set(has):
            self.wrong("a recording without -e has " + ", ".join(has))

    # ---- handlers ----

    def event_of(self, constant):
        names = {n.lower(): n for n in map(row_name, self.tables["Events"][1])}
        return names.get((constant or "").replace("_", "").lower())

    def handlers_that(self, is_it, without=()):
        """The events whose handlers lead to a node that `is_it`; of an extension event, the handler."""
        return {self.event_of(event) or node[1] for node, event in self.calls.handlers().items()
                if any(map(is_it, self.calls.reach([node], (OTHER_THREAD, *without), True)))}

    def locks(self):
        """The page names the files with a mutex; and those under whose mutex the JVM is called, with the handlers that take it."""
        said = re.search(r"mutexes are in (.*?)\.\s[A-Z]", self.page, re.S)
        named = quoted(said[1]) if said else set()
        locking = {os.path.basename(f) for f, t in self.calls.files.items() if LOCK in t}
        if named != locking:
            self.wrong(f"mutexes: {' '.join(sorted(named ^ locking))}: {'named' if named - locking else 'not named'}")
        if re.search(r"never lock", self.page):
            self.wrong("handlers do lock")
        rows = {file: (called, takers) for file, called, takers in
                re.findall(r"^\| `(\w+\.c)` \| ([^|]*) \| ([^|]*) \|$", self.page, re.M)}
        under = {f: names for f, names in self.calls.under_mutexes((OTHER_THREAD,)).items() if names}
        for file in sorted({os.path.basename(f) for f in under} ^ set(rows)):
            self.wrong(f"mutexes: {file}: the JVM is {'not ' if file in rows else ''}called while its mutex is held")
        events = set(map(row_name, self.tables["Events"][1]))
        for path, names in sorted(under.items()):
            called, takers = rows.get(os.path.basename(path), ("", ""))
            for name in sorted(names & LONG - quoted(called)):
                self.wrong(f"mutexes: {path}: {name} is called while its mutex is held")
            take = self.handlers_that(lambda node, own=path: node[0] == own and LOCK in self.calls.body[node])
            for name in sorted(take ^ (quoted(takers) & events)):
                self.wrong(f"mutexes: {path}: the handler of {name} {'takes' if name in take else 'does not take'} it")

    def waits(self):
        """Handlers that wait. The helper thread runs some, and may."""
        said = re.search(r"wait until the kernel side has read(.*?)\n\n", self.page, re.S)
        waiting = self.handlers_that(lambda node: re.search(r"\bnanosleep\(", self.calls.body[node]), (HELPER_ONLY,))
        for name in sorted(waiting ^ (quoted(said[1]) if said else set())):
            self.wrong(f"the handler of {name} {'waits' if name in waiting else 'does not wait'}")

    def pauses(self):
        """Neither the files of what runs in pauses nor what their handlers call lock or allocate."""
        for file in IN_PAUSES:
            found = LOCKS_OR_ALLOCATES.search(self.calls.files[file])
            if found:
                self.wrong(f"{file} runs in pauses and uses {found[0]}")
            for handler in (n for n in self.calls.handlers() if n[0] == file):
                reached = self.calls.reach([handler], (), True)
                for node in reached:
                    found = LOCKS_OR_ALLOCATES.search(self.calls.body[node])
                    if found:
                        self.wrong(f"{handler[1]} runs in pauses and uses {found[0]}: {self.calls.path(reached, node)}")

    # ---- numbers, and reasons ----

    def number(self, what, form, count):
        said = re.findall(form, self.page)
        for word in said or ["nothing of it"]:
            if word != NUMBERS[count]:
                self.wrong(f"{what}: {count} there are, the page says {word}")

    def numbers(self):
        self.number("Java classes in the agent", r"\b(\w+) Java class(?:es)?\b",
                    len(set(re.findall(r"\b(\w+)_class_blob_start\b", self.source))))
        self.number("environments", r"the agent has (\w+) environments?\b",
                    len(re.findall(r"->\s*GetEnv\([^;]*\bJVMTI_VERSION", self.source)))

    def reason(self, title, column, name):
        return next((r["What for, or why not"] for r in self.tables[title][1] if r[column] == f"`{name}`"), "")

    def reasons(self):
        words = self.reason("Functions", "Function", "GetCurrentThread")
        events = set(map(row_name, self.tables["Events"][1]))
        callers = self.handlers_that(lambda node: "GetCurrentThread" in self.calls.body[node])
        for name in sorted(callers ^ (set(re.findall(r"\w+", words)) & events)):
            self.wrong(f"GetCurrentThread: the handler of {name} {'calls' if name in callers else 'does not call'} it")
        words = self.reason("JVMPI events", "Event", "DATA_RESET_REQUEST")
        forgetting = {n for f, n in self.calls.kinds if ".forget =" in self.calls.body[f, n]}
        for kind in sorted(forgetting | set(FORGOTTEN)):
            if (kind in forgetting) != (FORGOTTEN.get(kind, kind) in words):
                self.wrong(f"DATA_RESET_REQUEST: does {kind} forget anything or not?")
        words = self.reason("Functions", "Function", "Allocate")
        if "malloc" not in words:
            self.wrong("Allocate: is the agent's memory malloc's or not?")
        mapped = words.partition(" in mapped memory: ")[2]
        mapping = {f for f, t in self.calls.files.items() if re.search(r"\bmmap\(", t)}
        for file in sorted(mapping | set(MAPPED)):
            if (file in mapping) != (MAPPED.get(file, file) in mapped):
                self.wrong(f"Allocate: does {file} map memory or not?")

    def matrix(self):
        """README and the page about accuracy have the matrix's figures."""
        path = self.root + "/docs/matrix.md"
        if not os.path.exists(path):
            return
        text = open(path, encoding="utf-8").read()
        passed, failed = map(int, re.search(r"(\d+) cells? pass(?:es)?, (\d+) fail", text).groups())
        kernels = re.findall(r"^\|.*\| (yes|\*\*no\*\*.*) \|$", re.search(r"## Other kernels(.*?)\n## ", text, re.S)[1], re.M)
        good = kernels.count("yes")
        said = f"{passed - good} combinations and {NUMBERS[good]} of {NUMBERS[len(kernels)]} other kernels"
        if failed > len(kernels) - good:
            self.wrong("combinations of the matrix fail, which no page says")
        for page, words in (("docs/accuracy.md", said), ("README.md", f"{passed - good} combinations")):
            with open(os.path.join(self.root, page), encoding="utf-8") as f:
                if words not in f.read():
                    self.wrong(f"{page} does not say of the matrix: {words}")

    def all(self):
        for title, count in COMPLETE.items():
            said, rows = self.tables[title]
            names = list(map(row_name, rows))
            if not said == count == len(set(names)) == len(rows):
                self.wrong(f"{title}: {count} there are, {said} are said, {len(rows)} rows")
            if title != "Function categories":
                for name, row in zip(names, rows):
                    self.state(title, name, row)
        self.names("Events", "Event", "Number", self.header.events)
        self.names("Functions", "Function", "Slot", self.header.functions)
        self.names("Capabilities", "Capability", "Bit", self.header.capabilities)
        self.jvmpi("JVMPI events")
        self.jvmpi("JVMPI functions")
        self.categories()
        self.options()
        self.preset()
        self.locks()
        self.waits()
        self.pauses()
        self.numbers()
        self.reasons()
        self.matrix()
        return self.errors


if __name__ == "__main__":
    errors = Check(sys.argv[1], sys.argv[2], Header(sys.argv[3])).all()
    for error in errors:
        print("docs/jvmti-coverage.md: " + error, file=sys.stderr)
    sys.exit(bool(errors))
