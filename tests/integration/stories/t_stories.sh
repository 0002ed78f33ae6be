#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Programs with a planted cause, recorded as docs/stories.md says: what `report --wall` prints first names the cause.
# class: long
# takes: 60 s
# shellcheck disable=SC2016 # names of classes have dollar signs
source "$(dirname "$0")/story.sh"

java_story LockedFlush "$FILE"
first "What was waited for" 'monitor LockedFlush\$Journal in LockedFlush\$Journal.add'
first "Wakers" '<- request-\* in LockedFlush\$Journal.add'
section "Chains of waits" | finds '\[block\] in LockedFlush$Journal.flush' || fail "the disk is in no chain: $(cat report.txt)"

java_story StarvedPool
first "What was waited for" 'sleeping in StarvedPool.callBackEnd'
first "Chains of waits" 'main \[parked\] in StarvedPool'
first "Chains of waits" 'after \[sleeping\] in StarvedPool.callBackEnd'

java_story SlowLog "$FILE"
first "What was waited for" 'block .*/file in SlowLog\$Disk.write'

java_story GcPause
state 'stood still for a GC pause'

# The neighbour takes the only CPU that both may use.
"${ON_ONE_CPU[@]}" sh -c 'while :; do :; done' &
NEIGHBOUR=$!
story NoisyNeighbour "${ON_ONE_CPU[@]}" "$JAVA" -cp "$CLASSES" NoisyNeighbour
kill "$NEIGHBOUR"
grep -E 'waited for a CPU' report.txt | awk '{ exit !($3 + 0 > 30) }' || fail "the neighbour: $(cat report.txt)"

java_story Convoy
first "What was waited for" 'parked .*in Convoy.produce'
section "Wakers" | finds '<- consumer in Convoy' || fail "the consumer wakes nobody: $(cat report.txt)"

# A megabyte for each record: hardly any lookup finds its page in memory.
head -c 64M /dev/zero >"$FILE"
while dd of="$FILE" oflag=nocache conv=notrunc,fdatasync count=0 2>/dev/null; do sleep 0.02; done &
DROPPER=$!
java_story ColdCache "$FILE"
kill "$DROPPER"
first "What was waited for" 'block .*/file in ColdCache.findRecord'

rm -f program.out
unshare -n -m sh -c 'ip link set lo up; echo "nameserver 127.0.0.1" >resolv.conf
	mount --bind resolv.conf /etc/resolv.conf; python3 "$0" & exec "$@"' \
	"$STORIES/dns.py" "$JAVA" -cp "$CLASSES" NameLookup >program.out 2>program.err &
JAVA_PID=$!
wait_for "the lookups" says_or_gone program.out ready "$JAVA_PID"
braid record -q --preset wall -d 2 -o NameLookup.trace -p "$JAVA_PID"
kill "$JAVA_PID"
braid report --wall --no-idle --top 10 NameLookup.trace >report.txt
STORY=NameLookup
first "What was waited for" 'poll .*in NameLookup.connectTo'
