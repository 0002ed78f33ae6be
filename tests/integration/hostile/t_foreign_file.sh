#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# An unprivileged user maps a library for a moment, and then another file at its path: functions of other users who run
# the library do not get names from that file.
source "$(dirname "$0")/../lib.sh"

nobody=(setpriv --reuid=65534 --regid=65534 --clear-groups)
cd "$(mktemp -d /tmp/braid-foreign-XXXXXX)"
trap 'rm -rf "$PWD"' EXIT
chmod 755 .
"${nobody[@]}" unshare -Urm mount --bind "$PWD" /mnt 2>/dev/null || skip "users cannot create namespaces here"
gcc -O1 -g -shared -fPIC -DLIBRARY -DFUNCTION=honest_work -o libwork.so "$LIB_DIR/programs/work.c"
gcc -O1 -g -shared -fPIC -DLIBRARY -DFUNCTION=strange_work -o strange.so "$LIB_DIR/programs/work.c"
gcc -O1 -DFUNCTION=honest_work -o work "$LIB_DIR/programs/work.c" "$PWD/libwork.so"
chown 65534 strange.so
cat >strange.py <<-'END'
	import mmap, subprocess, sys
	fd = open("libwork.so", "rb")
	subprocess.run(["mount", "--bind", "strange.so", "libwork.so"], check=True)
	mmap.mmap(fd.fileno(), 4096, flags=mmap.MAP_PRIVATE, prot=mmap.PROT_READ | mmap.PROT_EXEC, offset=4096).close()
	print("mapped", flush=True)
	sys.stdin.readline()
END
cat >both.sh <<-END
	mkfifo strange.in
	${nobody[*]} unshare -Urm python3 strange.py <strange.in >strange.out &
	exec 5>strange.in
	until grep -qs mapped strange.out; do sleep 0.1; done
	sleep 0.2
	./work 5>&-
	exec 5>&-
	wait
END
start_program out "$BUILD/braid" record -F 997 -o trace -- bash both.sh
RECORD_PID=$JAVA_PID
wait_samples 120
end_program
check trace \
	"the library's own name" 'weight(with_frame("honest_work")) >= 40' \
	"and not that of another file" 'not with_frame("strange_work")'
