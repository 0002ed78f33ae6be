#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A stack at every call of a function: of a program, of a library, and of the JVM's, called from Java.
source "$(dirname "$0")/../lib.sh"
source "$TEST_DIR/events.sh"

# Optimised without frame pointers, so stacks need the frame descriptions.
cc -O2 -o hit "$TEST_DIR/hit.c"
HIT=$PWD/hit
chain='main;calls;hit_function'

record -e "uprobe:$HIT:hit_function" -o plain.trace -- ./hit 500
check plain.trace "every call" 'weight(stacks) == 500 and whole(stacks) == 100 and i["lost"] == {}' \
	"its stack" "all_match(stacks, \"$chain\$\") == 100" \
	"what was hit" "r['recording']['record.event'] == 'uprobe:$HIT:hit_function'"
record -e "cpu,uprobe:$HIT:hit_function/arg0>=100&&arg0<250/,uprobe:$HIT:hit_function/comm!=hit/" -o filter.trace -- ./hit 500
count filter.trace "uprobe:$HIT:hit_function/arg0>=100&&arg0<250/" 150 "$chain\$"
count filter.trace "uprobe:$HIT:hit_function/comm!=hit/" 0
record -c 7 -e "uprobe:$HIT:hit_function" -o seventh.trace -- "${ON_ONE_CPU[@]}" ./hit 500
count seventh.trace "uprobe:$HIT:hit_function" 71 "$chain\$"

# An instruction behind the first.
offset=$(objdump -d --disassemble=hit_function hit | awk -F: '/^ +[0-9a-f]+:/ { print $1 }' | sed -n '1p;2p' | paste -sd ' ')
read -r first second <<<"$offset"
record -e "uprobe:$HIT:hit_function+$((0x$second - 0x$first))" -o second.trace -- ./hit 300
check second.trace "every call" 'weight(stacks) == 300 and whole(stacks) == 100' "its stack" "all_match(stacks, \"$chain\$\") == 100"

# Arguments as numbers and as text. The same when nothing else takes samples.
record -e "cpu,uprobe:$HIT:hit_named{str(arg0),arg1},uprobe:$HIT:hit_function/arg0<2/{arg0}" -o values.trace -- ./hit 500
check values.trace "text and numbers" '{v["text"]: v["samples"] for e in r["hit_events"] if "hit_named" in e["event"] for v in e["values"]} ==
		{r"""arg0="a \"b\"?" arg1=-7""": 1, "arg0=? arg1=0x7fff00000000": 1}' \
	"a filter beside them" '{v["text"]: v["samples"] for e in r["hit_events"] if "hit_function" in e["event"] for v in e["values"]} ==
		{"arg0=0": 1, "arg0=1": 1}' \
	"nothing lost" 'i["lost"] == {}'
[[ $(braid script --event "uprobe:$HIT:hit_named" values.trace | grep -c ': arg0=.* arg1=') -eq 2 ]] || fail "script prints no values"
record -e "uprobe:$HIT:hit_function{arg0}" -o alone.trace -- ./hit 50
check alone.trace "each number once" 'sorted(v["text"] for v in r["hit_events"][0]["values"]) == sorted("arg0=%d" % n for n in range(50))'

# One process of two, and none of its children's.
mkfifo in
./hit 200 wait <in &
WAITS=$!
exec {IN}>in
start_record -q -e "uprobe:$HIT:hit_function" -p "$WAITS" -o pid.trace
wait_for "the recording" answers
./hit 100
echo >&"$IN"
wait_end "$WAITS" "the program"
end_record
check pid.trace "its calls" 'weight(stacks) == 200 and whole(stacks) == 100'

# From Java, while it is sampled.
libjvm=$(readlink -f "$(find "$JAVA_HOME/" -path '*/server/libjvm.so' -print -quit)")
start_worker worker
start_record -q -e "cpu,uprobe:$libjvm:JVM_GC" -p "$JAVA_PID" -o java.trace
wait_joined "$JAVA_PID"
ask worker gc 6
stop_record
end_worker worker "$JAVA_PID"
count java.trace "uprobe:$libjvm:JVM_GC" 6 ';Worker.gc;java.lang.System.gc;java.lang.Runtime.gc;(Java_java_lang_Runtime_gc;)?JVM_GC$'

refused "-e uprobe:$HIT:nothing" "no function 'nothing' in $HIT; .nm "
refused "-e uprobe:$HIT:hit_function+100000" "no instruction of the function begins at"
refused "-e uprobe:$HIT:hit_semaphore" "no function 'hit_semaphore'"
refused "-e uprobe:/dev/null:f" "it is not a regular file"
refused "-e uprobe:/none/such:f" "cannot set probes in '/none/such'"
refused "-e uprobe:hit:hit_function" "is no absolute path" 2
refused "-e uprobe:$HIT:hit_function{n}" "'n' is no argument of a function or USDT probe" 2
refused "-e uretprobe:$HIT:hit_function+4" "a function returns as a whole" 2

# A file that somebody else can change.
cp hit foreign
chown 12345 foreign
refused "-e uprobe:$PWD/foreign:hit_function" "it is a file of another user"
chown 0 foreign
chmod o+w foreign
refused "-e uprobe:$PWD/foreign:hit_function" "others can write it"
