#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# docs/idle.md has the rules by which threads are idle, in the program's words.
# class: quick
# shellcheck disable=SC2016 # names between backticks
source "$(dirname "$0")/../lib.sh"

root=$(readlink -f "$LIB_DIR/../..")
python3 "$TEST_DIR/idle_rules.py" "$root" || fail "the page and idle.c differ"

# The check detects a rule that lacks on the page, one that the program does not have, and one of another kind.
mkdir -p copy/docs copy/userspace/analyze
cp "$root/userspace/analyze/idle.c" copy/userspace/analyze/
expect()
{
	sed "$1" "$root/docs/idle.md" >copy/docs/idle.md
	! python3 "$TEST_DIR/idle_rules.py" copy 2>errors || fail "not noticed: $1"
	finds "$2" <errors || fail "expected $2: $(cat errors)"
}
expect 's/, `aeApiPoll`//' aeApiPoll
expect 's/`VMThread::loop`/`VMThread::loop`, `VMThread::other`/' VMThread::other
expect 's/| own | `io.netty/| loop | `io.netty/' io.netty.channel.DefaultEventLoop.run
expect 's/, `ZStat`//' ZStat
