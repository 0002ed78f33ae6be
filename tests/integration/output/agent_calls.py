# SPDX-License-Identifier: Apache-2.0
"""What of the agent's sources leads to what, for coverage.py.

Functions and tables are found by their form, and a function or table that another one names counts as called by it. So pointers
in descriptors of kinds and in tables of hooks are followed, and conditions are not: what comes out may be more than what
happens. coverage.py has the few places where that matters.
"""
import glob
import os
import re
from collections import namedtuple
from itertools import takewhile

# A function with its arguments and its body, or a variable with its initialiser.
DEFINITION = re.compile(r"^(?!typedef|return)([A-Za-z_][^\n;{}=#]*?\b)(\w+)(\([^;{}#]*?\))\n\{\n(.*?)^\}|"
                        r"^([A-Za-z_][^;(){}#]*?)\b(\w+)(?:\[[^\n=]*\])? = (.*?);$", re.S | re.M)
# Not a member's name, and not a type's.
MENTION = re.compile(r"(?<![\w.])(?<!->)(?<!\bstruct )([A-Za-z_]\w*)")
TYPES = re.compile(r"^#define (BRAID_EVENT_TYPES\w+|TYPES|KINDS)\s+(.*(?:\\\n.*)*)", re.M)
STORED = re.compile(r"\batomic_store\(&(\w+), (\w+)\)")
# By the function tables of the JVM, JNI and JVM TI, or the copy of JNI's.
JVM_CALL = re.compile(r"\(\*(?:\w+\.)?\w+\)\s*->\s*([A-Z]\w+)|\bjni_below\.([A-Z]\w+)")
LOCK, UNLOCK = "pthread_mutex_lock", "pthread_mutex_unlock"
HOOK = re.compile(r"\.(start|on_enabled|work|tick|publish|forget|stop) = (\w+)")
RUN_HOOK = re.compile(r"\bkinds\[i\]->(\w+)\(")
EVERY = "record"

# What begins a part of the agent: a node, the options that bring it, and the constant of its event, if it is a handler.
Entry = namedtuple("Entry", "node options event")


def code(path):
    """The file's text without comments and strings. A mutex that is tried is one that is taken."""
    with open(path, encoding="utf-8") as f:
        text = re.sub(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\])*"', " ", f.read(), flags=re.S)
    return text.replace("pthread_mutex_trylock", LOCK)


class Calls:
    """A node is (file, name). `kind_options` has the options of kinds that their event type alone does not bring."""

    def __init__(self, root, kind_options, type_options):
        self.kind_options, self.type_options = kind_options, type_options
        agent = os.path.join(root, "agent")
        self.files = {os.path.relpath(p, agent): code(p)
                      for p in sorted(glob.glob(agent + "/**/*.[ch]", recursive=True))}
        self.types = dict(TYPES.findall(code(root + "/include/braid/event_config.h")))
        self.body, self.arguments, self.public, self.stored, self.kinds = {}, {}, {}, {}, []
        self.known = {}  # what called() has found
        for file, text in self.files.items():
            for m in DEFINITION.finditer(text):
                node = file, m[2] or m[6]
                self.body[node] = m[4] or m[7]
                self.arguments[node] = m[3] or ""
                if not (m[1] or m[5]).startswith("static"):
                    self.public[node[1]] = file
                if re.search(r"\bstruct kind $", m[5] or ""):
                    self.kinds.append(node)
            for variable, function in STORED.findall(text):
                if (file, function) in self.body:
                    self.stored.setdefault(variable, set()).add((file, function))

        self.halves = [n for n, text in self.body.items() if (LOCK in text) != (UNLOCK in text)]

    # ---- who calls whom ----

    def called(self, file, text):
        for name in set(MENTION.findall(text)):
            yield from self.stored.get(name, ())
            if (file, name) in self.body:
                yield file, name
            elif name in self.public:
                yield self.public[name], name

    def hooks(self, names):
        return [(file, f) for file, name in self.kinds
                for hook, f in HOOK.findall(self.body[file, name]) if hook in names]

    def reach(self, starts, without=(), kinds=False):
        """{node: the one that it was reached from}. `kinds`: also through the hooks of all kinds, which are entries else."""
        found, left = {}, [(s, None) for s in starts]
        while left:
            node, by = left.pop()
            if node in found or node in self.kinds or node[1] in without:
                continue
            found[node] = by
            if node not in self.known:
                self.known[node] = list(self.called(node[0], self.body[node])), self.hooks(RUN_HOOK.findall(self.body[node]))
            called, hooks = self.known[node]
            left += [(n, node) for n in called + (hooks if kinds else [])]
        return found

    @staticmethod
    def path(found, node):
        names = []
        while node:
            names.append(node[1])
            node = found[node]
        return " <- ".join(names)

    # ---- what begins ----

    def options(self, file, text):
        """Of the event types in an expression of the file; those of every recording if there are none."""
        types = {**self.types, **dict(TYPES.findall(self.files[file]))}
        while set(types) & set(re.findall(r"\w+", text)):
            text = re.sub(r"\w+", lambda m: types.get(m[0], m[0]), text)
        words = [w.lower().replace("_", "-") for w in re.findall(r"\bBRAID_EVENT_TYPE\((\w+)\)", text)]
        return frozenset(o for w in words for o in ["record -e " + w, *self.type_options.get(w, [])]) or {EVERY}

    def entries(self):
        for file, name in self.kinds:
            text = self.body[file, name]
            given = self.kind_options.get(name)
            own = re.search(r"\.types = ([^,]*),", text)
            own = given or self.options(file, own[1] if own else "")
            for event, handler, types in re.findall(r"\{(?:JVMTI_)?EVENT_(\w+),\s+KIND_HANDLER\((\w+)\),\s+\w+,([^{}]*)\}", text):
                yield Entry((file, handler), self.options(file, types), event)
            for _, function in HOOK.findall(text):
                yield Entry((file, function), own, None)
        for node in (("agent.c", "Agent_OnLoad"), ("agent.c", "Agent_OnAttach"), ("loop.c", "helper_main")):
            yield Entry(node, {EVERY}, None)

    def handlers(self):
        """{node: its event's constant}, or an extension event's handler: {node: None}."""
        own = {e.node: e.event for e in self.entries() if e.event}
        return {**own, **{n: None for n, a in self.arguments.items() if a == "(jvmtiEnv *env, ...)"}}

    # ---- what leads to a function, an event, a capability ----

    def brings(self, is_it):
        """{option: the way from its entry to a node that `is_it` of}."""
        ways = {}
        for entry in self.entries():
            found = self.reach([entry.node])
            for node in found:
                if is_it(self.body[node]):
                    for option in entry.options:
                        ways.setdefault(option, self.path(found, node))
        return ways

    def functions(self, names):
        """{function of JVM TI: as brings()}"""
        ways = {}
        for entry in self.entries():
            found = self.reach([entry.node])
            for node in found:
                for name in set(re.findall(r"->\s*([A-Z]\w+)\(", self.body[node])) & names:
                    for option in entry.options:
                        ways.setdefault(name, {}).setdefault(option, self.path(found, node))
        return ways

    def events(self):
        """{constant: {option: handler}}"""
        ways = {}
        for entry in self.entries():
            if entry.event:
                ways.setdefault(entry.event, {}).update({o: entry.node[1] for o in entry.options})
        return ways

    def capabilities(self):
        """{name of CAP_ or can_: {option: who asks for it}}"""
        ways = {}
        for file, name in self.kinds:
            for cap, types, users in re.findall(r"\{(CAP_\w+), \w+,([^{},]*),[^{},]*,([^{},]*)\}",
                                                self.body[file, name]):
                ways.setdefault(cap, {}).update({o: name for o in self.options(file, types + users)})
        for text in self.body.values():
            if re.search(r"->\s*AddCapabilities\(", text):
                for cap in re.findall(r"\bCAP_[A-Z_]+\b", text) + re.findall(r"\.(can_\w+) = 1", text):
                    ways.setdefault(cap, {}).update(self.brings(lambda body, own=text: body == own))
        return ways

    # ---- mutexes ----

    def holds(self, node):
        """The parts of its body in which a mutex is held, with the mutex's file. Some functions take one for others, or give it back."""
        text, at = self.body[node], []
        for other in self.halves:
            at += [(m.start(), LOCK in self.body[other], other[0]) for m in re.finditer(r"\b%s\(" % other[1], text)]
        at += [(m.start(), m[0] == LOCK, node[0]) for m in re.finditer(r"\b(?:%s|%s)\b" % (LOCK, UNLOCK), text)]
        at.sort()
        for i, (place, takes, file) in enumerate(at):
            if takes:
                ends = [p for p, _, _ in takewhile(lambda a: not a[1], at[i + 1:])]
                yield file, text[place:ends[-1] if ends else None]

    def under_mutexes(self, without):
        """{file of a mutex: functions of the JVM that its holder may call}"""
        under = {}
        for node in self.body:
            for file, text in self.holds(node):
                found = self.reach(self.called(node[0], text), without, True)
                for body in (text, *map(self.body.get, found)):
                    under.setdefault(file, set()).update(a or b for a, b in JVM_CALL.findall(body))
        return under
