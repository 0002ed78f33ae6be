#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A JDK in a user's home: root sets probes in that user's JVMs, but not in those of other users who run it.
source "$(dirname "$0")/../lib.sh"

cd "$(mktemp -d /tmp/braid-jdk-XXXXXX)"
trap 'rm -rf "$PWD"' EXIT
chmod 755 .
cp -r "$CLASSES/." classes
chmod -R a+rX classes
CLASSES=$PWD/classes
# The files by which a JVM finds its home, and links to all others.
home=$(readlink -f "$JAVA_HOME")
[[ -e $home/lib/modules ]] || skip "JDKs before 9 are laid out otherwise"
mkdir jdk
cp -rsL "$home/." jdk/ 2>/dev/null || true
for file in bin/java lib/libjli.so lib/server/libjvm.so; do
	rm -f "jdk/$file"
	[[ ! -e $home/$file ]] || cp -L "$home/$file" "jdk/$file"
done
chown -R -h 65534:65534 jdk
JAVA=$PWD/jdk/bin/java
owner=(setpriv --reuid=65534 --regid=65534 --clear-groups)
"${owner[@]}" "$JAVA" -version &>version || skip "another user cannot run this JDK: $(cat version)"
PREFIX="${owner[*]}" start_worker own
own=$JAVA_PID
PREFIX="setpriv --reuid=65533 --regid=65533 --clear-groups" start_worker other
other=$JAVA_PID
start_record -e safepoint -o trace -p "$own" -p "$other"
wait_joined "$own"
wait_joined "$other"
own_different=$(python3 "$TEST_DIR/same_code.py" "$own")
other_different=$(python3 "$TEST_DIR/same_code.py" "$other")
ask own gc 3
ask other gc 3
stop_record
events trace "what the file can" "len([n for n in notices if 'JVM $own does not report safepoints' in n]) == 1 or
		len([e for e in of('safepoint') if e.process.pid == $own]) >= 3" \
	"and nothing of others" "not [e for e in of('safepoint') if e.process.pid == $other]" \
	"a notice reports it" "len([n for n in notices if 'no probes are set in JVM $other' in n]) == 1" \
	"and of the owner's is not" "not [n for n in notices if 'no probes are set in JVM $own' in n]"
grep -q 'does not report' record.err || [[ $own_different -gt 0 ]] || fail "no probe in the owner's code"
[[ $other_different -eq 0 ]] || fail "$other_different bytes of another user's code were changed"
end_worker own "$own"
end_worker other "$other"
