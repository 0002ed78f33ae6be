#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Where the time of threads went: the parts of each life add up to it, in every form, and agree with what programs know.
source "$(dirname "$0")/../lib.sh"

wall_json()
{
	local file=$1 out=$2

	shift 2
	braid report --wall --json --top 100000 "$@" "$file" >"$out"
}

# Threads that sleep, park and wait for each other.
echo | "${UNDISTURBED[@]}" "$BUILD/braid" record --preset wall -o wall.trace -- "$JAVA" -cp "$CLASSES" Blocked >truth 2>err ||
	fail "$(cat err)"
wall_json wall.trace wall.json
wall_json wall.trace early.json --to 0.6
wall_json wall.trace late.json --from 0.6
wall_json wall.trace naps.json --include '^Blocked[.](naps|parks|takes)$'
wall_json wall.trace busy.json --no-idle
echo '  Blocked.naps  ' >idle.txt
wall_json wall.trace more.json --idle idle.txt
braid export --event wall wall.trace >wall.stacks
braid export --event wall --no-idle wall.trace >busy.stacks
braid export --event wall --include '^Blocked[.](naps|parks|takes)$' wall.trace >naps.stacks
braid export --event offcpu --wakers --no-idle wall.trace >wakers.stacks
python3 "$TEST_DIR/wall.py"
# The chains of wakers are the same in other formats, and formats that cannot have them say why.
braid export --event offcpu --wakers --threads wall.trace >chains.stacks
braid export --event offcpu --wakers --format speedscope wall.trace >chains.json
python3 "$TEST_DIR/chains.py" chains.stacks chains.json
for format in pprof otlp; do
	braid export --event offcpu --wakers --format "$format" -o "chains.$format" wall.trace
	grep -qaF -e '--' "chains.$format" || fail "$format has no chains"
done
! braid export --event offcpu --wakers --format firefox wall.trace >out 2>err || fail "firefox has chains of wakers"
grep -q 'a chain of wakers is made of several; write --wakers with --format pprof' err || fail "$(cat err)"
braid report --wall wall.trace >wall.txt
for section in 'Where the time went' 'Threads: their life' 'What was waited for' Wakers 'Chains of waits'; do
	grep -q "^$section" wall.txt || fail "the report has no '$section'"
done

# A thread stands still for the collections that it causes.
braid record --preset wall -o gc.trace -- "$JAVA" -XX:+UseSerialGC -Xmx96m -cp "$CLASSES" Garbage 3000 2>err || fail "$(cat err)"
wall_json gc.trace gc.json
braid report --json gc.trace >pauses.json
python3 - <<-'END'
	import json
	lives = json.load(open("gc.json"))["lives"]
	main = next(t for t in lives if t["name"] == "main")["states_s"]
	pauses = json.load(open("pauses.json"))["gc"]
	assert pauses["total_s"] * 0.9 < main["gc"] <= pauses["total_s"], (main, pauses["total_s"])
	assert all("gc" not in t["states_s"] for t in lives if not t["java"]), lives
END

# A recording without times of threads says so.
braid record -F 99 -e cpu -o none.trace -- true 2>err || fail "$(cat err)"
braid report --wall none.trace 2>notes >none.txt
grep -q 'has no times of threads; record them with' notes || fail "nothing says that there are none: $(cat notes)"
[[ ! -s none.txt ]] || fail "tables of what was not recorded: $(cat none.txt)"
