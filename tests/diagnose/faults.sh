# shellcheck shell=bash disable=SC2154,SC2016,SC2034,SC2046
# SPDX-License-Identifier: Apache-2.0
# The faults: a name, the rules of which one is to be first, and the program.
small=(-XX:+UseSerialGC -Xmx256m)
eager=(-XX:Tier3InvocationThreshold=20 -XX:Tier3MinInvocationThreshold=10 -XX:Tier3CompileThreshold=20
	-XX:Tier4InvocationThreshold=100 -XX:Tier4MinInvocationThreshold=50 -XX:Tier4CompileThreshold=100)
stories=$here/../integration/stories
file=$PWD/file

# shellcheck disable=SC2206,SC2046 # words
{
fault lock lock-convoy $(F lock "${small[@]}")
fault deadlock deadlock $(F deadlock "${small[@]}")
fault alloc gc-pressure $(F alloc -XX:+UseSerialGC -Xmx64m -Xmn2m)
fault long-pauses long-gc-pauses $(F long-pauses -XX:+UseSerialGC -Xmx800m -Xmn40m)
fault leak heap-leak $(F leak -XX:+UseSerialGC -Xmx96m)
fault finalizers finalizers $(F finalizers "${small[@]}")
launched exceptions exceptions $(F exceptions "${small[@]}")
fault classes class-loading $(F classes "${small[@]}")
fault deopt deopt-storm $(F deopt "${small[@]}" -Xbatch "${eager[@]}")
fault code-cache code-cache-full $(F deopt "${small[@]}" -XX:-SegmentedCodeCache -XX:ReservedCodeCacheSize=2496k -XX:-UseCodeCacheFlushing)
fault interpreted interpreted $(F healthy "${small[@]}" -Xint)
fault safepoint slow-safepoints $(F safepoint "${small[@]}" -XX:-UseCountedLoopSafepoints -XX:LoopStripMiningIter=0 -XX:-TieredCompilation -Xbatch)
fault threads thread-starts $(F threads "${small[@]}")
fault sync sync-writes $(F sync "${small[@]}")
fault polling polling $(F polling "${small[@]}")
fault spinning spinning $(F spinning "${small[@]}")
fault hot hot-method $(F hot "${small[@]}")
fault switches context-switches $(F switches "${small[@]}")
fault explicit-gc explicit-gc "$java" -Xmx256m -cp "$classes" GcPause
fault pool pool-starved "$java" -Xmx256m -cp "$classes" StarvedPool
fault one-thread one-thread "$java" -Xmx256m -cp "$classes" Convoy
fault slow-log sync-logging "$java" -Xmx256m -cp "$classes" SlowLog "$PWD/server.log"
fault locked-flush 'lock-convoy' "$java" -Xmx256m -cp "$classes" LockedFlush "$file"
}

dns()
{
	exec unshare -n -m sh -c 'ip link set lo up; echo "nameserver 127.0.0.1" >resolv.conf
		mount --bind resolv.conf /etc/resolv.conf; python3 "$0" & exec "$@"' "$stories/dns.py" "$java" -cp "$classes" NameLookup
}
fault dns slow-dns dns

drop_cache()
{
	head -c 64M /dev/zero >cold
	(while dd of=cold oflag=nocache conv=notrunc,fdatasync count=0 2>/dev/null; do sleep 0.01; done) &
	helper=$!
}
if is_wanted cold-cache; then
	drop_cache
	fault cold-cache slow-disk "$java" -Xmx256m -cp "$classes" ColdCache "$PWD/cold"
	end_helper
fi

# The neighbour takes the only CPU that both may use.
if is_wanted neighbour; then
	cpu=$(sed -n 's/^Cpus_allowed_list:\s*\([0-9]*\).*/\1/p' /proc/self/status)
	taskset -c "$cpu" sh -c 'while :; do :; done' &
	helper=$!
	fault neighbour cpu-starved taskset -c "$cpu" "$java" "${small[@]}" -cp "$classes" NoisyNeighbour
	end_helper
fi

# with_quota COMMAND...: a fifth of a CPU
with_quota()
{
	if [[ -e $group/cpu.max ]]; then
		echo "20000 100000" >"$group/cpu.max"
	else
		echo 100000 >"$group/cpu.cfs_period_us"
		echo 20000 >"$group/cpu.cfs_quota_us"
	fi
	echo "$BASHPID" >"$group/cgroup.procs"
	exec "$@"
}
group=/sys/fs/cgroup/cpu
[[ -d $group ]] || group=/sys/fs/cgroup
group=$group/braid-diagnose-$$
if is_wanted throttled && mkdir "$group" 2>/dev/null; then
	fault throttled throttled with_quota "$java" "${small[@]}" -cp "$classes" Faults hot
	sleep 0.5
	rmdir "$group"
else
	left_out throttled throttled "no control group can be made"
fi

jdk21=
for home in /usr/lib/jvm/* "${XDG_CACHE_HOME:-$HOME/.cache}"/jdks/*/usr/lib/jvm/java-*-openjdk-*; do
	[[ ! -x $home/bin/javac || $("$home/bin/javac" -version 2>&1) != "javac 21"* ]] || jdk21=$home
done
if [[ -n $jdk21 ]]; then
	"$jdk21/bin/javac" -d . "$stories/java21/Pinned.java"
	fault pinned pinned "$jdk21/bin/java" -Djdk.virtualThreadScheduler.parallelism=2 -Djdk.virtualThreadScheduler.maxPoolSize=2 -cp . Pinned
else
	left_out pinned pinned "no JDK 21 is installed (tools/get-jdk 21 gets one)"
fi

# ---- what is healthy ----
nothing()
{
	is_wanted "$1" || return 0
	begin "${@:2}" || return 0
	"$braid" record -q --preset all -d "$seconds" -o "$1.trace" -p "$program" 2>record.err || cat record.err >&2
	end
	healthy "$1" "$1.trace"
}
nothing healthy $(F healthy "${small[@]}")

# Real programs: tools/workloads/run setup gets them.
workload()
{
	local tree

	setsid "$here/../../tools/workloads/run" "$1" >/dev/null 2>&1 &
	tree=$!
	sleep 5
	program=$(pgrep -g "$tree" java | tail -n 1) || program=
	[[ -z $program ]] || "$braid" record -q --preset all -d "$seconds" -o "$1.trace" -p "$program" 2>record.err || cat record.err >&2
	kill -9 -- "-$tree" 2>/dev/null || true
	wait "$tree" 2>/dev/null || true
	[[ -n $program ]] || { left_out "$1" nothing "it ended too soon"; return 0; }
	healthy "$1" "$1.trace" "$2"
}
# What some of them do is a finding by right: H2's threads and those of `locks` stand in line, the scripts make classes, and SAT4J calls
# System.gc().
for one in sunflow: beast: sqlite: codec: h2:lock-convoy lucene: closure: groovy:class-loading jruby:class-loading sat4j:explicit-gc \
	'locks:lock-convoy|context-switches' deep:; do
	! is_wanted "${one%%:*}" || ! "$here/../../tools/workloads/run" have "${one%%:*}" 2>/dev/null || workload "${one%%:*}" "${one#*:}"
done
