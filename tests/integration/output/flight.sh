# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# flight HOME CLASSES: a JDK records itself, and the recording is imported; the JDK's own tool says what must be there.
flight()
{
	"$1/bin/java" -Xmx64m -XX:StartFlightRecording=filename=flight.jfr,settings=profile -cp "$2" Flight >java.out 2>&1 ||
		fail "$(cat java.out)"
	[[ -s flight.jfr ]] || fail "the JDK has recorded nothing: $(cat java.out)"
	braid import -o flight.trace flight.jfr >out 2>err || fail "$(cat err)"
	[[ ! -s err ]] || fail "$(cat err)"
	braid report --json flight.trace >flight.json
	braid export flight.trace >flight.stacks
	"$JAVA_HOME/bin/jfr" print --json --stack-depth 64 \
		--events ExecutionSample,ObjectAllocation*,JavaMonitorEnter,ThreadPark,ThreadSleep,GCPhasePause flight.jfr >printed.json
	python3 "$TEST_DIR/flight.py" || fail "$1: the import differs"
}
