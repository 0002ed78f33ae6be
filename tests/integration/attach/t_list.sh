#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# `braid list` and `braid doctor` on this machine.
# class: quick
source "$(dirname "$0")/../lib.sh"

start_worker jvm
a=$JAVA_PID
start_worker deaf -XX:+DisableAttachMechanism
b=$JAVA_PID
braid list >list.txt
grep -q "^ *$a .*Worker.*yes" list.txt || fail "process $a: $(cat list.txt)"
grep -q "^ *$b .*Worker.*no: .*DisableAttachMechanism" list.txt || fail "process $b: $(cat list.txt)"
braid list --json >json
python3 - json "$a" "$b" <<-'END'
	import json, sys
	jvms = {j["pid"]: j for j in json.load(open(sys.argv[1]))}
	a, b = jvms[int(sys.argv[2])], jvms[int(sys.argv[3])]
	assert a["main"] == b["main"] == "Worker" and a["jdk"] and a["user"] == "root"
	assert a["attachable"] and not b["attachable"] and "DisableAttachMechanism" in b["why"]
END
end_worker jvm "$a"
end_worker deaf "$b"
status=0
braid doctor >doctor.txt 2>err || status=$?
[[ $status -eq 0 ]] || fail "recording works here, but doctor reports that it does not: $(cat doctor.txt err)"
grep -q ok doctor.txt || fail "doctor prints nothing: $(cat doctor.txt)"
braid doctor --json | python3 -m json.tool >/dev/null
