#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# stacks: records one run of a program with braid, async-profiler and the flight recorder at once, and compares how many
# stacks are bad, how deep they are, and which methods are hot. WORKLOADS ("sunflow h2 lucene sqlite"), SECONDS_EACH
# (12), WARM_S (4), HZ (997), ASPROF (async-profiler's directory, library or launcher; by default the one in PATH). A
# missing tool is reported and left out.
# shellcheck source=lib.sh
source "$(dirname "$0")/lib.sh"

seconds=${SECONDS_EACH:-12}
hz=${HZ:-997}

header stacks
cat <<END

Samples: those with a Java frame, and those of Java threads that should have had one. Bad: stacks that do not reach the thread's
root (braid), that are marked as not walked (async-profiler), that were cut (JFR, which does not count the ones it fails to take,
takes none of code inside the VM, and looks at five threads at a time). Depth: Java frames, inlined ones too, of the stacks that
have any. Methods: by the Java frame nearest to the leaf, share of the stacks that have one.

END

# ---- peers ----

asprof_library()
{
	local at=${ASPROF:-$(command -v asprof || true)} try

	[[ -n $at ]] || { notice "no async-profiler in PATH: set ASPROF to compare with it" && return 1; }
	at=$(readlink -f "$at")
	for try in "$at" "$at/lib/libasyncProfiler.so" "${at%/*}/../lib/libasyncProfiler.so"; do
		[[ $try != *.so || ! -f $try ]] || { LIBRARY=$(readlink -f "$try") && return; }
	done
	notice "ASPROF=$at: no libasyncProfiler.so there"
	return 1
}

has_jfr()
{
	"$JAVA_HOME/bin/jcmd" "$PID" help 2>/dev/null | grep -c '^JFR.start' >/dev/null ||
		{ notice "no flight recorder in this JDK" && return 1; }
}

tell()
{
	"$JAVA_HOME/bin/jcmd" "$PID" "$@" >"$TMP/jcmd.out" 2>&1 || die "jcmd $*: $(tail -n 2 "$TMP/jcmd.out")"
}

# Only samples, Java and native ones equally often, at the recorder's highest rate.
write_settings()
{
	cat >"$TMP/samples.jfc" <<END
<?xml version="1.0" encoding="UTF-8"?>
<configuration version="2.0">
  <event name="jdk.ExecutionSample">
    <setting name="enabled">true</setting>
    <setting name="period">10 ms</setting>
  </event>
  <event name="jdk.NativeMethodSample">
    <setting name="enabled">true</setting>
    <setting name="period">10 ms</setting>
  </event>
</configuration>
END
}

# With its own quotation marks, since jcmd takes the text before a "=" for a name.
asprof_start()
{
	tell JVMTI.agent_load "$LIBRARY" "\"start,event=cpu,interval=$(calc "1e9 / $hz" %d),cstack=vmx,jstackdepth=2048\""
}

asprof_stop()
{
	tell JVMTI.agent_load "$LIBRARY" "\"stop,file=$TMP/async-profiler.txt,collapsed,ann\""
	[[ -s $TMP/async-profiler.txt ]] || die "async-profiler wrote nothing: $(tail -n 3 "$TMP/jcmd.out" "$TMP/program.out")"
}

# ---- what they saw: SAMPLES BAD FRAMES in TOOL.sum, "SHARE METHOD" in TOOL.top ----

# Sums of collapsed stacks with async-profiler's annotations; `bad` matches pseudo frames for missing ones.
sum_collapsed()
{
	awk -v bad="$2" -v top="$TMP/$1.top" '
		{
			weight = $NF
			sub(/ [0-9]+$/, "")
			n = split($0, frame, ";")
			java = broken = 0
			for (i = 1; i <= n; i++) {
				if (frame[i] ~ /_\[[ij01]\]$/) {
					java++
					leaf = frame[i]
				} else if (frame[i] ~ bad)
					broken = 1
			}
			if (!java && !broken)
				next
			samples += weight
			if (broken)
				bads += weight
			if (!java)
				next
			frames += java * weight
			stacks += weight
			sub(/_\[.\]$/, "", leaf)
			gsub("/", ".", leaf)
			sub(/\.0x[0-9a-f]+/, "", leaf)
			self[leaf] += weight
		}
		END {
			print samples + 0, bads + 0, stacks ? frames / stacks : 0
			for (m in self)
				printf "%.2f %s\n", 100 * self[m] / stacks, m >top
			close(top)
		}' "$TMP/$1.txt" >"$TMP/$1.sum"
}

# Sums of the output of `jfr print`: one method a line from the leaf, three dots where the stack was truncated.
sum_jfr()
{
	awk -v top="$TMP/jfr.top" '
		/^ *stackTrace = \[/ { inside = 1; n = 0; next }
		inside && /^ *\]/ { inside = 0; samples++; next }
		inside && /^ *\.\.\.$/ { bads++; next }
		inside {
			frames++
			if (n++)
				next
			sub(/^ */, "")
			sub(/\(.*/, "")
			gsub("/", ".")
			sub(/\.0x[0-9a-f]+/, "")
			self[$0]++
		}
		END {
			print samples + 0, bads + 0, samples ? frames / samples : 0
			for (m in self)
				printf "%.2f %s\n", 100 * self[m] / samples, m >top
			close(top)
		}' "$TMP/jfr.txt" >"$TMP/jfr.sum"
}

# braid itself counts the complete samples of Java threads, including those without a Java frame.
sum_braid()
{
	braid export --format collapsed --annotate "$TMP/braid.trace" >"$TMP/braid.txt"
	sum_collapsed braid '^\[incomplete'
	info_of "$TMP/braid.trace"
	read -r _ _ depth <"$TMP/braid.sum"
	echo "$(info "$TMP/braid.trace" java_samples.total)" \
		"$(calc "$(info "$TMP/braid.trace" java_samples.total) - $(info "$TMP/braid.trace" java_samples.complete)" %d)" \
		"$depth" >"$TMP/braid.sum"
}

# ---- the table ----

tool_line()
{
	local samples bads depth

	read -r samples bads depth <"$TMP/$2.sum"
	printf '%-10s %-15s %9d %7d %8s %8.1f\n' "$1" "$2" "$samples" "$bads" "$(calc "100 * $bads / $samples" %.3f)" "$depth"
}

share()
{
	awk -v method="$2" '$2 == method { found = $1 } END { printf "%s", found == "" ? "-" : found }' "$TMP/$1.top"
}

hottest()
{
	local method tool total

	printf '%-66s' "  ten hottest methods, %"
	printf ' %14s' "${tools[@]}"
	echo
	sort -rn "$TMP/braid.top" | head -n 10 | while read -r _ method; do
		printf '  %-64.64s' "$method"
		for tool in "${tools[@]}"; do
			printf ' %14s' "$(share "$tool" "$method")"
		done
		echo
	done
	for tool in "${tools[@]}"; do
		[[ $tool != braid ]] || continue
		total=$(awk 'NR == FNR { other[$2] = $1; next } { d = $1 - other[$2]; sum += d < 0 ? -d : d; delete other[$2] }
			END { for (m in other) sum += other[m]; printf "%.1f", sum / 2 }' "$TMP/$tool.top" "$TMP/braid.top")
		echo "  $total % of the samples are at other methods with $tool"
	done
	echo
}

# ---- one program ----

one()
{
	local name=$1 jfr=no asprof=no

	workload "$name" -XX:FlightRecorderOptions=stackdepth=2048 || return 0
	rm -f "$TMP"/*.{sum,top,txt,jfr}
	(cd "$TMP" && exec "${CMD[@]}" >"$TMP/program.out" 2>&1) &
	PID=$!
	STARTED+=("$PID")
	start_load "$name"
	sleep "$WARM_S"
	[[ -e /proc/$PID ]] || die "$name ended early: $(tail -n 2 "$TMP/program.out")"
	has_jfr && jfr=yes
	[[ -z ${LIBRARY:-} ]] || asprof=yes
	[[ $jfr == no ]] || tell JFR.start name=stacks "settings=$TMP/samples.jfc"
	[[ $asprof == no ]] || asprof_start
	braid record -q -F "$hz" -d "$seconds" -p "$PID" -o "$TMP/braid.trace" >"$TMP/braid.out" 2>&1 ||
		die "braid record: $(tail -n 2 "$TMP/braid.out")"
	[[ $asprof == no ]] || asprof_stop
	[[ $jfr == no ]] || tell JFR.dump name=stacks "filename=$TMP/samples.jfr"
	stop_load
	kill "$PID" 2>/dev/null || true
	wait "$PID" 2>/dev/null || true

	tools=(braid)
	sum_braid
	if [[ $asprof == yes ]]; then
		tools+=(async-profiler)
		sum_collapsed async-profiler '^\[?(unknown|not_walkable|no_Java_frame|break_|deoptimization|GC_active|thread_exit|truncated|missed)'
	fi
	if [[ $jfr == yes ]]; then
		tools+=(jfr)
		"$JAVA_HOME/bin/jfr" print --stack-depth 2048 --events jdk.ExecutionSample,jdk.NativeMethodSample \
			"$TMP/samples.jfr" >"$TMP/jfr.txt"
		sum_jfr
	fi
	echo "program    tool              samples     bad    bad %    depth"
	for tool in "${tools[@]}"; do
		tool_line "$name" "$tool"
	done
	hottest
}

WARM_S=${WARM_S:-4}
LIBRARY=
asprof_library || true
write_settings
for name in ${WORKLOADS:-sunflow h2 lucene sqlite}; do
	one "$name"
done
