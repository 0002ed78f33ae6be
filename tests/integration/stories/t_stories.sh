#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Programs with a planted cause, recorded as docs/stories.md says: the table that the page names has the cause at its first
# place, and so has `explain` of the page's thread.
# class: long
# takes: 90 s
# shellcheck disable=SC2016 # names of classes have dollar signs
source "$(dirname "$0")/story.sh"

java_story LockedFlush "$FILE"
first "What was waited for" 'monitor LockedFlush\$Journal in LockedFlush\$Journal.add'
first "Wakers" '<- request-\* in LockedFlush\$Journal.add'
first "Chains of waits" 'after \[block\] in LockedFlush\$Journal.flush'
explains request-0 'waiting for the disk .*/file in LockedFlush\$Journal.flush'

java_story StarvedPool
first "What was waited for" 'sleeping in StarvedPool.callBackEnd'
first "Chains of waits" 'main \[parked\] in StarvedPool'
first "Chains of waits" 'after \[sleeping\] in StarvedPool.callBackEnd'
explains main 'pool-1-thread-\* sleeping in StarvedPool.callBackEnd'
# A pool whose workers are said to be idle there has workers enough.
braid diagnose StarvedPool.trace | finds 'pool-starved$' || fail "not diagnosed: $(braid diagnose StarvedPool.trace)"
echo StarvedPool.callBackEnd >idle.txt
! braid diagnose --idle idle.txt StarvedPool.trace | finds 'pool-starved$' || fail "diagnosed, though idle"

# Without collections, of which a busy machine makes long waits.
story SlowLog "$JAVA" -Xmx1g -Xmn768m -cp "$CLASSES" SlowLog "$FILE"
first "What was waited for" 'block (.*/file )?in SlowLog\$Disk.write'
# A fast disk writes in less than the time from which a wait has a record of its own; that has its place, too.
explains main 'waiting for the disk .*in SlowLog\$Disk.write'

# All collections are those that the program asks for.
story GcPause "$JAVA" -Xmx256m -Xmn128m -cp "$CLASSES" GcPause
state 'stood still for a GC pause'
explains main 'standing still for the GC pause .*System\.gc\(\) in GcPause.handleRequest'

# Each of the neighbours uses the only CPU as much as the program may.
for i in 1 2; do "${ON_ONE_CPU[@]}" sh -c 'while :; do :; done' & NEIGHBOURS[i]=$!; done
story NoisyNeighbour "${ON_ONE_CPU[@]}" "$JAVA" -cp "$CLASSES" NoisyNeighbour
kill "${NEIGHBOURS[@]}"
section "Where the time went" | awk '!/the lives of/ && $3 + 0 > most { most = $3 + 0; row = $0 } END { print row }' | finds 'waited for a CPU' ||
	fail "the neighbours: $(cat report.txt)"
braid explain --thread main NoisyNeighbour.trace >explain.txt
sed -n 1p explain.txt | finds '% waiting for a CPU, behind unrecorded threads$' || fail "the neighbours: $(cat explain.txt)"

# Long enough that the wait that had not ended is short.
LASTS=6 java_story Convoy
first "What was waited for" 'parked .*in Convoy.produce'
first "Wakers" 'producer-\* \[parked\] in Convoy.produce'
first "Wakers" '<- consumer in Convoy.consume'
explains producer-0 'consumer running in Convoy.compress'

# A megabyte for each record: hardly any lookup finds its page in memory.
head -c 64M /dev/zero >"$FILE"
while dd of="$FILE" oflag=nocache conv=notrunc,fdatasync count=0 2>/dev/null; do sleep 0.02; done &
DROPPER=$!
java_story ColdCache "$FILE"
kill "$DROPPER"
first "What was waited for" 'block .*in ColdCache.findRecord'
explains main 'waiting for the disk .*in ColdCache.findRecord'

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
explains main 'waiting in poll .*in NameLookup.connectTo'
