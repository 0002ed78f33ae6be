#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A process maps and unmaps code without end while the recorder is stopped: the side-band loses records, and the
# recording says whose they mostly were.
# alone: it takes the room of all processes' records
source "$(dirname "$0")/../lib.sh"

python3 -c '
import mmap, sys
file = open(sys.executable, "rb")
print("ready", flush=True)
while True:
    for _ in range(20000):
        mmap.mmap(file.fileno(), 4096, flags=mmap.MAP_PRIVATE, prot=mmap.PROT_READ | mmap.PROT_EXEC).close()
    print("20000", flush=True)
' >flood.out &
flood=$!
trap 'kill -KILL "$flood"' EXIT
wait_for "the flood" grep -qs ready flood.out
start_record -F 99 -p "$flood" -o flood.trace
wait_sampling
kill -STOP "$RECORD_PID"
before=$(wc -l <flood.out)
flooded()
{
	[[ $(wc -l <flood.out) -gt $((before + 2)) ]]
}
wait_for "40,000 mappings" flooded
kill -CONT "$RECORD_PID"
stop_record
check flood.trace "it was lost" 'i["lost"]["sideband"]["record"] > 0' \
	"whose it was" "notice('are of process $flood, python')"
