# SPDX-License-Identifier: Apache-2.0
"""Readers of the formats that braid exports, which know the formats and nothing of braid. What a format does not allow is
an error."""
import re


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
