#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A JVM of another user in its own mount and pid namespaces, attached to from outside.
source "$(dirname "$0")/../lib.sh"

unshare -m -p -f --mount-proc true || skip "no namespaces"
setpriv --reuid=65534 --regid=65534 --clear-groups "$JAVA" -version >version 2>&1 || skip "this JDK is not for everybody"
mkfifo jvm.in
mkdir inside
cat >enter.sh <<-END
	mount -t tmpfs none inside && mkdir inside/classes && cp "$CLASSES"/* inside/classes/ && chmod -R a+rX inside &&
	chmod 1777 inside && mount --bind inside /tmp && cd / &&
	exec setpriv --reuid=65534 --regid=65534 --clear-groups "$JAVA" -cp /tmp/classes Worker
END
unshare -m -p -f --mount-proc bash enter.sh <jvm.in >jvm.out 2>jvm.err &
outer=$!
open_worker jvm
wait_child "$outer" java
[[ $(sed -n 's/^NSpid:.*\t//p' "/proc/$CHILD/status") -eq 1 ]] || fail "it is in no pid namespace"
[[ $(stat -c %u "/proc/$CHILD") -eq 65534 ]] || fail "it is of no other user"
start_record -F 997 -e cpu,thread,safepoint -p "$CHILD" -o c.trace
wait_attached "$CHILD" "/proc/$CHILD/root"
burn jvm 300
ask jvm threads 3
ask jvm gc 3
stop_record
no_leftovers
[[ -z $(find "/proc/$CHILD/root/tmp" -name '.braid-*') ]] || fail "left in its /tmp: $(ls -A "/proc/$CHILD/root/tmp")"
[[ -z $(find "/proc/$CHILD/root/tmp" -name '.attach_pid*') ]] || fail "left in its /tmp: $(ls -A "/proc/$CHILD/root/tmp")"
check c.trace \
	"stacks" 'well() and i["lost"] == {}' \
	"the JVM" "len(i['jvms']) == 1 and jvm($CHILD)['threads_ended'] >= 3" \
	"threads by their outer ids" 'alike("old-0", "old-1")'
[[ $(java_version) -lt 11 ]] || events c.trace "probes in its libjvm.so" 'len(of("safepoint")) >= 3'
braid list | finds "^ *$CHILD .*yes" || fail "not in the list: $(braid list)"
end_worker jvm "$outer"
