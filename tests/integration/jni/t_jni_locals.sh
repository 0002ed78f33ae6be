#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A flood of local JNI references is found by a probe where the VM makes room for 32 more of them: on the stack that creates
# them, and only if they are not deleted.
# takes: 5 s
source "$(dirname "$0")/../lib.sh"
source "$TEST_DIR/user.sh"

libjvm=$(find "$(readlink -f "$JAVA_HOME")/" -name libjvm.so -path '*/server/*' | head -n 1)
symbol=$(readelf -Ws "$libjvm" | awk '$8 ~ /^_ZN14JNIHandleBlock14allocate_block/ && !found++ { print $8 }')
[[ -n $symbol ]] || skip "this libjvm.so has no symbols"

start_user -XX:+UseSerialGC
# flood COMMAND COUNT: sets FOUND to the hits on the stack of the flood.
flood()
{
	start_record -q -e "uprobe:$libjvm:$symbol" -o a.trace -p "$JAVA_PID"
	wait_attached "$JAVA_PID"
	say "$@"
	stop_record
	braid export --include 'JNIHandleBlock::allocate_handle' a.trace >stacks
	FOUND=$(awk '/;JniUser.locals;Java_JniUser_locals;.*allocate_block/ { sum += $NF } END { print +sum }' stacks)
}

flood deleted 3200
[[ $FOUND -le 3 ]] || fail "references that are deleted at once: $FOUND times room for 32 ($(cat stacks))"
flood locals 3200
[[ $FOUND -ge 95 && $FOUND -le 100 ]] || fail "3200 references: $FOUND times room for 32 ($(cat stacks))"
end_user
