# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# What tests/oracle/run and tests/integration/stacks/t_oracle.sh share. They set BUILD.
ORACLE_DIR=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")

# Three groups of moments: those that can occur in a running program; the byte codes and methods of a traced thread,
# which is interpreted; suspended threads, at their polls. The first numbers are upper limits.
oracle_moments()
{
	case $1 in
	calls)
		echo "alloc*$(($2 / 2))+native*$(($2 * 3 / 10))+break*$(($2 / 10))+vm_alloc+exception+catch+contend+entered+wait+prepare+load_hook+thread_start+thread_end"
		;;
	trace) echo entry+exit+step+pop+break+native ;;
	prey) echo suspended ;;
	esac
}

# oracle_run NAME JAVA_HOME CLASSES calls|trace|prey COUNT JAVA-OPTION...: makes NAME.trace, NAME.log, NAME.json, and
# prints the differences. Fails as compare.py does.
oracle_run()
{
	local name=$1 home=$2 classes=$3 what=$4 count=$5 event=syscalls:sys_enter_getpriority one_in=25 agent

	shift 5
	[[ $what != prey ]] || event=sched:sched_switch one_in=1
	[[ $what != trace ]] || one_in=7
	agent=$BUILD/oracle/liboracle.so=out=$PWD/$name.log,moments=$(oracle_moments "$what" "$count"),max=$count,one_in=$one_in
	timeout 100 "$BUILD/braid" record -q -e "$event" -o "$name.trace" -- "$home/bin/java" "-agentpath:$agent" "$@" \
		-cp "$classes" Oracle "$BUILD/oracle/liboracle.so" 60 "$what" >"$name.out" 2>"$name.err" || {
		echo "the recording failed: $(tail -qn 3 "$name.err" "$name.out")"
		return 1
	}
	timeout 100 python3 "$ORACLE_DIR/compare.py" "$BUILD/braid" "$name.trace" "$name.log" --json "$name.json"
}
