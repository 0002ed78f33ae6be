#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# How busy the machine and a JVM were, second by second: what /proc says, without gaps, in SQL and as JFR's CPULoad.
# takes: 12 s
source "$(dirname "$0")/../lib.sh"

need_jdk 11
start_worker load -Xmx64m -XX:+UseSerialGC
start_record -p "$JAVA_PID" -o l.trace
wait_sampling

# ticks: CPU time of the JVM, in user mode and in the kernel, in the kernel's ticks
ticks()
{
	sed 's/.*) //' "/proc/$JAVA_PID/stat" | cut -d ' ' -f 12,13
}

# has_loads COUNT: the file has that many loads of the JVM.
has_loads()
{
	[[ $(braid query --format tsv l.trace 'SELECT count(*) FROM cpu_load WHERE process_id' 2>/dev/null | tail -n 1) -ge $1 ]]
}

# Work between two readings lies in intervals, since the first row is written before the first reading.
burn_until()
{
	local end=$((SECONDS + LIMIT_S))

	until has_loads "$1"; do
		[[ $SECONDS -lt $end ]] || fail "waited in vain for $1 loads: $(cat record.err)"
		ask load burn 200
	done
}

burn_until 1
ticks >before
burn_until 4
ticks >after
loads=$(braid query --format tsv l.trace 'SELECT count(*) FROM cpu_load WHERE process_id' | tail -n 1)
wait_for "another load" has_loads $((loads + 1))
stop_record
ticks >last
end_worker load "$JAVA_PID"

braid query --format json l.trace 'SELECT * FROM cpu_load ORDER BY time_ns, process_id' >loads.json
braid export --format jfr -o l.jfr l.trace
"$JDK/bin/jfr" print --json --events CPULoad l.jfr >printed.json || fail "the JDK cannot read it"
"$JDK/bin/jfr" summary l.jfr >l.summary
python3 "$TEST_DIR/cpu_load.py" "$(getconf CLK_TCK)" "$JAVA_PID" || fail "the loads are wrong"

# A recording of no JVM has the machine's load only.
braid record -o m.trace -- sleep 1 2>err || fail "$(cat err)"
braid export --format jfr -o m.jfr m.trace
"$JDK/bin/jfr" summary m.jfr >m.summary
[[ $(awk '$1 == "jdk.CPULoad"' m.summary) == "" && $(awk '$1 == "braid.CpuLoad" { print $2 }' m.summary) -ge 1 ]] || fail "$(cat m.summary)"
