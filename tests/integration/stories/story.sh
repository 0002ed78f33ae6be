# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# What the tests of stories share: they record a program with a planted cause as docs/stories.md says, and look for it in
# what `report --wall` and `explain` print first.
source "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"

# shellcheck disable=SC2034 # for the tests
STORIES=$TEST_DIR
# shellcheck disable=SC2034
FILE=$PWD/file

# story NAME COMMAND...: starts the program, records it for LASTS seconds, and keeps the report.
LASTS=2
story()
{
	STORY=$1
	shift
	rm -f program.out
	"$@" >program.out 2>program.err &
	JAVA_PID=$!
	wait_for "the start of $STORY" says_or_gone program.out ready "$JAVA_PID"
	braid record -q --preset wall -d "$LASTS" -o "$STORY.trace" -p "$JAVA_PID" 2>record.err || fail "$STORY: $(cat record.err)"
	kill "$JAVA_PID"
	wait "$JAVA_PID" 2>/dev/null || true
	braid report --wall --no-idle --top 10 "$STORY.trace" >report.txt
}

java_story()
{
	story "$1" "$JAVA" -Xmx256m -cp "$CLASSES" "$@"
}

# section TITLE: a table of the report, without its heads.
section()
{
	awk -v title="$1" 'found && /^$/ { exit } found { print } index($0, title) == 1 { found = 1 }' report.txt | tail -n +2
}

# first TITLE PATTERN: the first row of the table, with its continuation, matches.
first()
{
	local row

	row=$(section "$1" | awk 'NR > 1 && !/^ *(<-|after)/ { over = 1 } !over')
	grep -qE -- "$2" <<<"$row" || fail "$STORY: the first of '$1' is not /$2/:
$row
$(cat report.txt)"
}

# explains THREAD PATTERN: the first thing that `explain` says of the thread is the cause. Left out are waits for a CPU, which
# other programs of this machine cause, and time on a CPU, unless that is the cause.
explains()
{
	local left_out='waiting for a CPU' row

	[[ $2 == *running* ]] || left_out+='|running'
	braid explain --thread "$1" --top 100 "$STORY.trace" >explain.txt
	row=$(awk -v left_out="$left_out" '/^What waited for what/ { exit } /^ +[0-9.]+%  / && $0 !~ left_out && !found++' explain.txt)
	grep -qE -- "$2" <<<"$row" || fail "$STORY: the first of 'explain' is not /$2/:
$row
$(cat explain.txt)"
}

# state PATTERN: more time than anything else but running and waiting for a CPU is of this state.
state()
{
	section "Where the time went" | awk '!/ (running|waited for a CPU|the lives of)/ && $3 + 0 > most { most = $3 + 0; row = $0 }
		END { print row }' | finds "$1" || fail "$STORY: most time is not /$1/: $(cat report.txt)"
}
