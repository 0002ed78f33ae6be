#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# ring: ns per published record, beside a uprobe and LTTng-UST, and records per second to the collector without loss.
# ROUNDS (9) bursts of each; SECONDS_EACH (2) for each drain.
# shellcheck source=lib.sh
source "$(dirname "$0")/lib.sh"

header ring
args=("$BUILD/bench/ring" --rounds "${ROUNDS:-9}" --seconds "${SECONDS_EACH:-2}")

if ! command -v lttng >/dev/null || ! command -v lttng-sessiond >/dev/null; then
	notice "no LTTng session daemon; apt-get install lttng-tools liblttng-ust-dev, and build again, to compare with it"
	exec_lttng=()
else
	# root's daemon has fixed paths: it gets its own /run and /dev/shm, and ends with its pid namespace.
	exec_lttng=(unshare --mount --pid --fork --kill-child --mount-proc "$BENCH/lttng_session" "$TMP")
fi
"${exec_lttng[@]}" "${args[@]}"
