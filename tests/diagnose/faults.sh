# shellcheck shell=bash disable=SC2154,SC2016
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
fault safepoint slow-safepoints $(F safepoint "${small[@]}" -XX:-UseCountedLoopSafepoints -XX:LoopStripMiningIter=0)
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
