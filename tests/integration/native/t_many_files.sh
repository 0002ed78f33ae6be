#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A user maps a large library under many names: the cost of reading them is bounded, with a notice, and other users'
# programs are recorded as without it.
# class: long
source "$(dirname "$0")/../lib.sh"

cd "$(mktemp -d /tmp/braid-many-XXXXXX)"
trap 'rm -rf "$PWD"' EXIT
chmod 755 .
gcc -O1 -g -shared -fPIC -DLIBRARY -DFUNCTION=honest_work -o libwork.so "$LIB_DIR/programs/work.c"
gcc -O1 -DFUNCTION=honest_work -o work "$LIB_DIR/programs/work.c" "$PWD/libwork.so"
cp -L "$(find -L "$JAVA_HOME" -name libjvm.so | head -n 1)" 0.so
chown 65534:65534 0.so
for ((i = 1; i < 40; i++)); do
	ln 0.so $i.so
done
cat >many.py <<-'END'
	import mmap, sys
	files = [open("%d.so" % i, "rb") for i in range(40)]
	maps = [mmap.mmap(f.fileno(), 4096, flags=mmap.MAP_PRIVATE, prot=mmap.PROT_READ | mmap.PROT_EXEC) for f in files]
	print("ready", flush=True)
	sys.stdin.readline()
END
start_program many.out setpriv --reuid=65534 --regid=65534 --clear-groups env PATH=/usr/bin:/bin python3 many.py
many=$JAVA_PID many_in=$IN
start_program out ./work
work=$JAVA_PID
start_record -F 997 -o trace -p "$many" -p "$work"
wait_samples 100
stop_record
go_on
echo >&"$many_in"
wait_end "$many" "the program of many files"
check trace \
	"others' stacks are whole, and have names" 'mostly_whole(with_frame("honest_work"))' \
	"what was left out is counted" '10 < i["lost"]["collector"]["unwind_table"] < 40'
[[ $(grep -c 'need more time or memory' record.err) -eq 1 ]] || fail "not exactly one notice: $(cat record.err)"
