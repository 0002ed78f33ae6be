#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# native: records the whole machine while native programs as distributions build them (without frame pointers) start and
# end beside a JVM. Prints how many stacks are whole, by program and by cause, and what unwind tables cost. ROUNDS (2),
# HZ (499), JVM (sunflow; empty: none), LIBJVMS (those below /usr/lib/jvm and ~/.cache/jdks).
# shellcheck source=lib.sh
source "$(dirname "$0")/lib.sh"

header native
SOURCES=$(readlink -f "$BENCH/../..")

# ---- the load ----

# have PROGRAM WHAT...: runs it if it is installed.
have()
{
	command -v "$1" >/dev/null || { notice "no $1" >&2; return 0; }
	shift
	"$@" >/dev/null 2>>"$TMP/load.err" || true
}

make_rust()
{
	cat >"$TMP/rust.rs" <<-'END'
		use std::collections::HashMap;
		fn main() {
		    let mut sum = 0;
		    for round in 0..60u64 {
		        let mut m: HashMap<u64, String> = HashMap::new();
		        for i in 0..30000 + round { m.insert(i * 7919 % 100003, format!("v{}", i)); }
		        sum += m.values().map(|s| s.len()).sum::<usize>();
		    }
		    println!("{}", sum);
		}
	END
	rustc -O "$TMP/rust.rs" -o "$TMP/rust" 2>"$TMP/load.err" || true
}

compile()
{
	local file

	for file in "$SOURCES"/userspace/{util/utf8,symbol/set,trace/codec}.c; do
		gcc -std=gnu11 -O2 -I"$SOURCES/include" -I"$SOURCES/userspace" -c "$file" -o "$TMP/o.o"
	done
}

texts()
{
	seq 1 300000 | sort -R | sort -n | awk '{ s += $1 } END { print s }'
	find /usr/share -name '*.gz' | head -n 3000 | xargs -n 50 ls -l | sort -k5 | tail -n 1
}

short_ones()
{
	local i

	for ((i = 0; i < 150; i++)); do
		/bin/true
		/bin/echo "$i" | sed s/1/2/
	done
}

load()
{
	have gzip gzip -c "$TMP/data"
	have xz xz -2 -k -f "$TMP/data"
	have zstd zstd -q -9 -c "$TMP/data"
	have openssl openssl dgst -sha256 "$TMP/data"
	have openssl openssl enc -aes-256-cbc -pbkdf2 -k x -in "$TMP/data"
	have python3 python3 -c 'import json; print(len(json.loads(json.dumps([{"a": i, "b": str(i) * 3} for i in range(120000)]))))'
	# shellcheck disable=SC2016 # Perl's variables
	have perl perl -e 'my %h; for (1..400000) { $h{$_ % 5000} .= "x" } my $n = 0; for (sort keys %h) { $n += length $h{$_} } print $n'
	have sqlite3 sqlite3 :memory: "create table t(a, b);
		with recursive c(x) as (select 1 union all select x + 1 from c where x < 300000)
		insert into t select x, hex(randomblob(8)) from c; create index i on t(b); select count(*) from t where b like 'A%'"
	have gcc compile
	have git git -C "$SOURCES" log -p --no-color -60
	have sort texts
	have true short_ones
	[[ ! -x $TMP/rust ]] || have true "$TMP/rust"
}

# ---- the table ----

# tables TRACE: a line for each program with at least 20 samples, one for the others, one for all; then the causes.
tables()
{
	braid script "$1" | awk -v OFS='\t' '
		/^[^\t]/ { name = $1; sample = $0 ~ / cpu-clock:$/ || $0 ~ / cycles:$/; last = "" }
		/^\t/ { last = $0 }
		/^$/ && sample && name != "" {
			all[name]++
			if (match(last, /\[incomplete: [a-z_]+\]/)) {
				cause = substr(last, RSTART + 13, RLENGTH - 14)
				bad[name]++
				by[name, cause]++
				causes[cause]++
			}
			name = ""
		}
		function line(what, n, b, text) {
			return sprintf("%-18s %8d %9.3f  %s", what, n, n ? 100 * (n - b) / n : 0, text)
		}
		function text_of(name,   text, c) {
			for (c in causes)
				if (by[name, c])
					text = text (text == "" ? "" : ", ") c " " by[name, c]
			return text
		}
		END {
			for (name in all) {
				total += all[name]
				wrong += bad[name]
				if (all[name] >= 20)
					print line(name, all[name], bad[name], text_of(name)) | "sort -k2,2nr"
				else {
					others += all[name]
					others_wrong += bad[name]
				}
			}
			close("sort -k2,2nr")
			print line("(others)", others, others_wrong, "")
			for (c in causes)
				text = text (text == "" ? "" : ", ") c " " causes[c]
			print line("all", total, wrong, text)
		}'
}

head -c 4M /dev/urandom >"$TMP/data"
cat "$(command -v python3)" "$(command -v gcc)" /usr/lib/*/libc.so.6 >>"$TMP/data" 2>/dev/null || true
have rustc make_rust
if [[ -n ${JVM-sunflow} ]] && workload "${JVM:-sunflow}"; then
	"${CMD[@]}" >/dev/null 2>&1 &
	STARTED+=($!)
	sleep 3
fi
"$BUILD/braid" record -q -a -F "${HZ:-499}" -o "$TMP/all.trace" 2>"$TMP/record.err" &
RECORD=$!
STARTED+=("$RECORD")
# The recording has begun when the side-band and sampling have all their perf events.
begun()
{
	[[ $(find "/proc/$RECORD/fd" -lname '*perf_event*' 2>/dev/null | wc -l) -ge $((2 * $(getconf _NPROCESSORS_ONLN))) ]]
}
wait_for "the recording" begun
for ((round = 0; round < ${ROUNDS:-2}; round++)); do
	load
done
kill -INT "$RECORD"
wait "$RECORD" || die "the recording failed: $(tail -n 3 "$TMP/record.err")"
echo
echo "thread              samples   whole %  causes"
tables "$TMP/all.trace" | tee "$TMP/table"
whole=$(awk '$1 == "all" { print $3 }' "$TMP/table")
info_of "$TMP/all.trace"
echo "lost: $(info_sum "$TMP/all.trace" lost); walked late: $(stat_of "$TMP/all.trace" late_walks)"
echo "target: 99.5 % of all stacks whole: $(met "$whole >= 99.5")"

# ---- unwind tables ----

echo
echo "unwind table of                                                      ms      rows       KiB  target"
# shellcheck disable=SC2086 # patterns
mapfile -t files < <({ printf '%s\n' ${LIBJVMS-/usr/lib/jvm/*/lib/server/libjvm.so ~/.cache/jdks/*/usr/lib/jvm/*/lib/server/libjvm.so \
	~/.cache/jdks/*/usr/lib/jvm/*/jre/lib/*/server/libjvm.so}; echo /usr/lib/*/libc.so.6; gcc -print-prog-name=cc1; } |
	xargs -r -n 1 readlink -e | sort -u)
"$BUILD/bench/cfi" "${files[@]}" | while read -r file ms rows kib; do
	printf '%-62s %9s %9s %9s  %s\n' "${file: -62}" "$ms" "$rows" "$kib" "$(met "$ms < 200")"
done
echo "target: compiled in 200 ms of CPU time, without the cache; shared by all processes that map the file"
