#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Filters of tracepoints: by the thread, and by the record's own fields, which are numbers and text of every form.
# class: long
source "$(dirname "$0")/../lib.sh"
source "$TEST_DIR/events.sh"

cp "$(command -v dd)" ./other
commands='for i in 1 2 3; do
	dd if=/dev/zero of=/dev/null bs=1 count=100 status=none
done
./other if=/dev/zero of=/dev/null bs=3 count=70 status=none'
# The text is in the record itself, and the second process has the first one's name when it begins.
record -e 'sched:sched_process_fork/child_comm==sh && comm=="sh"/' -o fork.trace -- sh -c "$commands"
check fork.trace "each program" 'weight(stacks) == 4 and i["lost"] == {}'
WRITE=syscalls:sys_enter_write

# filtered NUMBER FILTER [EVENT]: NUMBER hits of these commands pass the filter. counted records those of different events
# at once.
EXPECTED=()
filtered()
{
	EXPECTED+=("$1 ${3:-$WRITE}/$2/")
}

counted()
{
	local line all

	all=$(printf '%s\n' "${EXPECTED[@]#* }" | paste -sd ,)
	record -e "cpu,$all" -o filtered.trace -- sh -c "$commands"
	for line in "${EXPECTED[@]}"; do
		count filtered.trace "${line#* }" "${line%% *}"
	done
	EXPECTED=()
}

filtered 300 'comm==dd'
filtered 3 'filename~"*bin/dd"' sched:sched_process_exec
filtered 4 'filename=="/dev/zero"' syscalls:sys_enter_openat
counted
count filtered.trace "$WRITE" 300 # without the filter, which is part of the name
filtered 370 'comm~"*d*"||comm~"o?he*"'
filtered 1 'filename=="./other"' sched:sched_process_exec
filtered 4 'filename=="/dev/zero"&&dfd==-100' syscalls:sys_enter_openat
counted
filtered 70 'comm~"*er"&&comm!="dd"'
filtered 0 'dfd!=-100&&dfd>=-1000&&dfd<0' syscalls:sys_enter_openat
counted
for filter in '70 comm~*t*r' '70 comm!="dd" && comm!="sh"' '0 comm=="o*"' '70 count==3' '300 fd==1&&count<3' '370 count>=1 && count<=3' \
	'300 count&1&&count!=3' '70 args.count>2' '0 cpu==1000||tid==0'; do
	filtered "${filter%% *}" "${filter#* }"
	counted
done

# By pid: of two programs that run at once, one.
for i in 1 2; do
	mkfifo "in$i"
	sh -c 'read go; exec ./other if=/dev/zero of=/dev/null bs=1 count=50 status=none' <"in$i" &
	pids[i]=$!
	exec {fd}>"in$i"
	fds[i]=$fd
done
start_record -q -e "$WRITE/pid==${pids[1]}/,sched:sched_process_exec" -p "${pids[1]},${pids[2]}" -o pid.trace
wait_for "the recording" answers
echo >&"${fds[1]}"
echo >&"${fds[2]}"
wait_end "${pids[1]}" "the first"
wait_end "${pids[2]}" "the second"
end_record
count pid.trace "$WRITE" 50
count pid.trace sched:sched_process_exec 2

refused "-e $WRITE/nope==1/" "'$WRITE' has no field 'nope'; filters can use comm, pid, tid, cpu, and .*count"
refused "-e $WRITE/count~1/" "'count' is a number, and ~ compares text"
refused "-e $WRITE/count==x/" "'count' is a number, and 'x' is none"
refused "-e sched:sched_process_exec/filename>1/" "'filename' is text, which is compared by"
refused "-e raw_syscalls:sys_enter/args==1/" "the field 'args' of 'raw_syscalls:sys_enter' cannot be used"
refused "-e $WRITE/pid==1" "has no '/' at its end" 2
refused "-e $WRITE/pid/" "after 'pid' comes ==" 2
