#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# page: the timeline of a simulated large machine: what its page costs to make, how large it is, how fast it opens in
# Chromium, what it keeps there, and how long frames take while somebody zooms, moves and scrolls (at least 16.7 ms, as there are 60 a
# second); and how fast a page with many different frames opens. CPUS (16), THREADS (2000), SECONDS_EACH (600),
# INTERVALS (5 million times off the CPU; 50 million take 8 GiB), SAMPLES (900000), FRAMES (1 million, with as many samples).
# shellcheck source=lib.sh
source "$(dirname "$0")/lib.sh"

header page
node -e 'process.exit(require(process.argv[1]).CHROMIUM ? 0 : 1)' "$BENCH/../integration/output/browser.js" || die "no Chromium is installed"
"$BUILD/bench/lanes" "$TMP/page.trace" "${SECONDS_EACH:-600}" "${CPUS:-16}" "${THREADS:-2000}" "${INTERVALS:-5000000}" "${SAMPLES:-900000}"
began=$(date +%s%N)
"$BUILD/braid" report --html "$TMP/page.html" "$TMP/page.trace"
echo
echo "trace $(stat -c %s "$TMP/page.trace") bytes, page $(stat -c %s "$TMP/page.html") bytes, made in $((($(date +%s%N) - began) / 1000000)) ms"
node "$BENCH/page.js" "$TMP/page.html" >"$TMP/figures"
echo
echo "timeline, frames in ms  median    95 %  longest  wanted"
while read -r name value high longest; do
	case $name in
	open) opened=$value ;;
	heap) heap=$value ;;
	*) printf '%-22s %7s %7s %8s  95 %% in at most 50 ms: %s\n' "$name" "$value" "$high" "$longest" "$(met "$high <= 50")" ;;
	esac
done <"$TMP/figures"
echo "opened in $opened ms; wanted: at most 1000 ms, $(met "$opened <= 1000")"
echo "heap $heap MiB; wanted: at most 100 MiB, $(met "$heap <= 100")"
"$BUILD/bench/frames" "$TMP/frames.trace" "${FRAMES:-1000000}" "${FRAMES:-1000000}"
"$BUILD/braid" report --html "$TMP/frames.html" "$TMP/frames.trace"
echo
echo "${FRAMES:-1000000} different frames: page $(stat -c %s "$TMP/frames.html") bytes"
node "$BENCH/frames.js" "$TMP/frames.html"
