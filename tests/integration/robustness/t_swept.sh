#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The next recorder removes what a killed recorder left in /tmp, once no process can still load it, and nothing similar.
source "$(dirname "$0")/../lib.sh"

# left_by NAME: the staging directory of the recording whose command is NAME's worker.
left_by()
{
	local pid

	pid=$(cat "$1.pid")
	tr '\0' '\n' <"/proc/$pid/environ" | sed -n 's|.*=-agentpath:\(/tmp/\.braid-[0-9a-f]*\)/.*|\1|p'
}

# launched NAME: records a shell that outlives its killed recorder, and could start a JVM at any time.
launched()
{
	mkfifo "$1.in"
	"$BUILD/braid" record -q -o "$1.trace" -- bash -c "echo \$\$ >$1.pid; read -r; read -r" <"$1.in" 2>"$1.err" &
	RECORDER=$!
	exec {IN}>"$1.in"
	wait_for "the command of $1" test -s "$1.pid"
	DIR=$(left_by "$1")
	[[ -e $DIR/libbraid-agent.so ]] || fail "no agent in '$DIR'"
}

record_other()
{
	braid record -q -o other.trace -- true
}

launched lives
alive=$DIR
lives=$IN
record_other
[[ -e $alive/libbraid-agent.so ]] || fail "what a recorder uses was taken away"

launched killed
kill -KILL "$RECORDER"
wait_for "the end of the recorder" gone_or_zombie "$RECORDER"
pid=$(cat killed.pid)
record_other
! gone_or_zombie "$pid" || fail "the command has ended with its recorder"
[[ -e $DIR/libbraid-agent.so ]] || fail "what a command may still load was taken away"
kill -KILL "$pid"
wait_for "the end of its command" gone_or_zombie "$pid"

# Another user's directory, one with an additional file, and one that is not braid's.
hex=$(head -c 16 /dev/urandom | od -An -tx1 | tr -d ' \n')
other=/tmp/.braid-$hex
kept=("$other" "/tmp/.braid-f${hex:1}" "/tmp/.braid-e${hex:1}" "/tmp/.braid-d${hex:1}" "/tmp/.braid-${hex:0:8}")
[[ ${hex:0:1} != [def] ]] || kept[0]=/tmp/.braid-0${hex:1}
trap 'rm -rf "${kept[@]}"' EXIT
# They get their names when they are complete: another recorder may sweep at any moment.
mkdir made made/{0,1,2,4} # in /tmp, too
chmod 700 made/{0,1,4}
chmod 755 made/2
touch made/1/else made/{0,2,4}/libbraid-agent.so
chown 65534:65534 made/0
for i in 0 1 2 4; do
	mv "made/$i" "${kept[i]}"
done
ln -s "${kept[4]}" "${kept[3]}"
record_other
[[ ! -e $DIR ]] || fail "$DIR was left: $(find "$DIR")"
for dir in "${kept[0]}" "${kept[2]}" "${kept[3]}" "${kept[4]}"; do
	[[ -e $dir/libbraid-agent.so ]] || fail "$dir was not braid's, and was taken away"
done
[[ -e ${kept[1]}/else ]] || fail "a file of somebody else's was taken away"

echo >&"$lives"
echo >&"$lives"
wait_for "the end of the first recording" gone_or_zombie "$(cat lives.pid)"
[[ -e lives.trace ]] || fail "no trace: $(cat lives.err)"
wait_for "no directory" test ! -e "$alive"
