#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# An unprivileged user presents a library of others as a libjvm.so, with a forged debug file in which a function of
# HotSpot is inside of an instruction. No probe is set there, so other users of the library are not disturbed. The
# library's own notes of USDT probes at such places are not used either.
source "$(dirname "$0")/../lib.sh"

nobody=(setpriv --reuid=65534 --regid=65534 --clear-groups)
cd "$(mktemp -d /tmp/braid-foreign-XXXXXX)"
trap 'rm -rf "$PWD"' EXIT
mkdir -m 755 debug
chmod 755 .
"${nobody[@]}" unshare -Urm mount --bind "$PWD/debug" /usr/lib/debug 2>/dev/null || skip "users cannot create namespaces here"
source_file=$TEST_DIR/victim.c
gcc -O1 -g -shared -fPIC -DLIBRARY -Wl,--build-id,-Bsymbolic -o libvictim.so "$source_file"
gcc -O1 -o victim "$source_file" ./libvictim.so
id=$(readelf -n libvictim.so | sed -n 's/.*Build ID: //p')
mkdir -p "debug/.build-id/${id:0:2}"
at=$((0x$(nm libvictim.so | sed -n 's/ T victim_add$//p') - 0x$(readelf -SW libvictim.so | sed -n 's/.* \.text *PROGBITS *\([0-9a-f]*\) .*/\1/p') + 3))
objcopy --only-keep-debug libvictim.so false.debug
objcopy --add-symbol "_ZN20SafepointSynchronize5blockEP10JavaThread=.text:$at,function,global" false.debug
mv false.debug "debug/.build-id/${id:0:2}/${id:2}.debug"
strip libvictim.so
chown -R 65534:65534 debug
: >libjvm.so
chown 65534:65534 libjvm.so
cat >mapper.py <<-'END'
	import mmap, os
	fd = os.open("libjvm.so", os.O_RDONLY)
	maps = [mmap.mmap(fd, 4096, flags=mmap.MAP_PRIVATE, prot=mmap.PROT_READ | mmap.PROT_EXEC, offset=4096) for i in range(8)]
	print("ready", flush=True)
	open("mapper.in").readline()
	assert all(m[:] == os.pread(fd, 4096, 4096) for m in maps), "a probe was set"
END
cat >enter.sh <<-END
	mount --bind "$PWD/libvictim.so" libjvm.so && mount --bind "$PWD/debug" /usr/lib/debug && exec python3 mapper.py
END
mkfifo victim.in mapper.in
LD_LIBRARY_PATH=. ./victim <victim.in >victim.out &
victim=$!
exec {VICTIM}>victim.in
wait_for "the victim" grep -qs ready victim.out
start_record -e safepoint -o trace -- "${nobody[@]}" unshare -Urm bash enter.sh
exec {MAPPER}>mapper.in
# The notice about missing events appears after all probes have been tried.
wait_for "the notice" says_or_gone record.err 'JVM [0-9]* does not report' "$RECORD_PID"
grep -q 'JVM [0-9]* does not report' record.err || fail "the library was not taken for a JVM: $(cat record.err)"
echo >&"$VICTIM"
wait_end "$victim" "the victim"
[[ $STATUS -eq 0 ]] || fail "the code of a stranger was changed: exit status $STATUS"
echo >&"$MAPPER"
end_record
