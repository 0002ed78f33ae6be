# SPDX-License-Identifier: Apache-2.0
"""coverage.py ROOT BRAID JVMTI_H: compares docs/jvmti-coverage.md with the agent.

The list of JVM TI comes from the JDK's header, its use from the agent's source, and the options from the commands'
--help.
"""
import glob
import os
import re
import subprocess
import sys

STATES = ("used", "kernel side", "not used", "impossible")
WITH_OPTION = ("used", "kernel side")
IN_PAUSES = ("gc.c", "classes.c")  # files whose handlers neither lock nor allocate
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


def code(path):
    """The file's text without comments and strings."""
    return re.sub(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\])*"', " ", open(path, encoding="utf-8").read(), flags=re.S)


def source(root):
    return "".join(map(code, sorted(glob.glob(root + "/agent/**/*.[ch]", recursive=True))))


def used_by_agent(root, header):
    """Events that it names or handles, functions that it calls, capabilities that it defines a bit for."""
    text = source(root)
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


class Check:
    def __init__(self, root, braid, header):
        self.header, self.helps, self.root = header, Helps(braid), root
        self.tables = tables(root + "/docs/jvmti-coverage.md")
        self.used = used_by_agent(root, header)
        self.files = {os.path.relpath(f, root): code(f) for f in glob.glob(root + "/agent/**/*.c", recursive=True)}
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

    def locks(self):
        """The page names the files with a mutex. Those that run in pauses have none, and allocate nothing."""
        text = open(self.root + "/docs/jvmti-coverage.md", encoding="utf-8").read()
        said = re.search(r"mutexes are in (.*?)\.\s[A-Z]", text, re.S)
        named = set(re.findall(r"`(\w+\.c)`", said[1])) if said else set()
        files = {os.path.basename(f): c for f, c in self.files.items()}
        locking = {f for f, c in files.items() if "pthread_mutex_lock" in c}
        if named != locking:
            self.wrong(f"mutexes: {' '.join(sorted(named ^ locking))}: {'named' if named - locking else 'not named'}")
        if re.search(r"never lock", text):
            self.wrong("handlers do lock")
        for f in IN_PAUSES:
            found = re.findall(r"\b(?:pthread_\w+|malloc|calloc|realloc|strdup|free)\b", files[f])
            if found:
                self.wrong(f"{f} runs in pauses and uses {found[0]}")

    def options(self):
        """The functions that an event type's own sources call are with that type, unless every recording calls them."""
        rows = {r["Function"].strip("`"): r for r in self.tables["Functions"][1]}
        for path, text in sorted(self.files.items()):
            kinds = re.findall(r"\.types = ([^,]*),", text)
            words = {w.lower().replace("_", "-") for k in kinds for w in re.findall(r"[A-Z_]{2,}", k)} - {"braid-event-type"}
            own = [t for p, t in self.files.items() if p == path or
                   os.path.dirname(p) == os.path.dirname(path) and os.path.basename(os.path.dirname(p)) != "events"]
            for name in sorted({f for t in own for f in re.findall(r"->\s*(\w+)\b", t) if words and f in rows}):
                if not words & set(re.findall(r"[\w-]+", rows[name]["With"])) and "`record`" not in rows[name]["With"]:
                    self.wrong(f"{name}: {path} uses it for {' and '.join(sorted(words))}")

    def memory(self):
        """Memory that does not come from Allocate comes from the functions that the page names."""
        text = source(self.root)
        reason = next(r for r in self.tables["Functions"][1] if r["Function"] == "`Allocate`")["What for, or why not"]
        for call in ("malloc", "mmap"):
            if (call in reason) != bool(re.search(r"\b%s\(" % call, text)):
                self.wrong(f"Allocate: is the agent's memory {call}'s or not?")

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
            column = next(c for c in ("Event", "Function", "Capability", "Category") if c in rows[0])
            names = [r[column].strip("`") for r in rows]
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
        self.locks()
        self.memory()
        self.options()
        self.matrix()
        return self.errors


if __name__ == "__main__":
    errors = Check(sys.argv[1], sys.argv[2], Header(sys.argv[3])).all()
    for error in errors:
        print("docs/jvmti-coverage.md: " + error, file=sys.stderr)
    sys.exit(bool(errors))
