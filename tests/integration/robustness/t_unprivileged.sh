#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Without privileges: one line that explains it.
source "$(dirname "$0")/../lib.sh"

mkdir user
cp "$BUILD/braid" user/
chmod 755 user/braid
chown -R 65534:65534 user
nobody()
{
	(cd user && exec setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all --bounding-set=-all ./braid "$@")
}
nobody --version >out || skip "nobody cannot run a program in $PWD"
for target in "-p $$" "-a" "-- true"; do
	status=0
	# shellcheck disable=SC2086 # words
	nobody record $target >out 2>err || status=$?
	[[ $status -eq 1 ]] || fail "record $target: exit status $status: $(cat err)"
	one_line_error out err
	grep -qi 'root\|CAP_' err || fail "record $target does not say what to do: $(cat err)"
	[[ ! -s user/braid.trace ]] || fail "record $target left a trace"
done
echo secret >user/trace
chown 0:0 user/trace
chmod 600 user/trace
for command in report info replay script "export --format collapsed"; do
	status=0
	# shellcheck disable=SC2086 # words
	nobody $command trace >out 2>err || status=$?
	[[ $status -eq 1 ]] || fail "$command: exit status $status: $(cat err)"
	one_line_error out err
	grep -q 'Permission denied' err || fail "$command: $(cat err)"
done
need_sample
cp "$SAMPLE" user/own
chown 65534:65534 user/own
nobody report own >out
grep -q 'Worker.spin' out || fail "reading needs no privileges: $(head out)"
