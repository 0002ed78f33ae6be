#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Short programs of a JDK without any page in the page cache, from exec to exit: the JVM's files may not be in memory
# yet when the walk reads them, and the JVM waits for its disk while braid already inspects it.
# class: long
# takes: 12 s
source "$(dirname "$0")/../lib.sh"

TIMES=2

# A copy, so that no other test's JVM has its pages.
mkdir -p jdk/lib
cp -r "$JAVA_HOME"/bin jdk/
for part in "$JAVA_HOME"/lib/* "$JAVA_HOME"/jre; do
	case $part in
	*/src.zip | */ct.sym | */missioncontrol) ;;
	*/jre) [[ ! -d $part ]] || cp -r "$part" jdk/ ;;
	*) cp -r "$part" jdk/lib/ ;;
	esac
done
for part in "$JAVA_HOME"/{conf,release}; do
	[[ ! -e $part ]] || cp -r "$part" jdk/
done
mapfile -t files < <(find jdk -type f)
sync "${files[@]}"

# It drops the pages on request, outside of the recording, and prints how many bytes are still cached: those that the
# recorder is reading at the moment.
mkfifo ask answer
while read -r; do
	python3 -c 'import os, sys
for f in sys.argv[1:]: os.posix_fadvise(os.open(f, os.O_RDONLY), 0, 0, os.POSIX_FADV_DONTNEED)' "${files[@]}"
	fincore --bytes --noheadings --output RES "${files[@]}" | awk '{ n += $1 } END { print n + 0 }'
done <ask >answer &
exec {ASK}>ask {ANSWER}<answer

echo 'class Hello { public static void main(String[] a) { System.out.println("hello"); } }' >Hello.java
"$JAVA_HOME/bin/javac" Hello.java
cat >run.sh <<END
#!/bin/bash
for ((i = 0; i < $TIMES; i++)); do
	for what in -version Hello; do
		echo >ask
		read -r warm <answer
		echo "\$warm" >>warm
		jdk/bin/java -cp . \$what
	done
done
END
chmod +x run.sh

export XDG_CACHE_HOME=$PWD/cache
mkdir cache
braid record -q -F 1999 -o s.trace -- ./run.sh >out 2>&1 || fail "$(cat out)"
exec {ASK}>&- {ANSWER}<&-
[[ $(grep -c '^hello$' out) -eq $TIMES ]] || fail "not all have run: $(cat out)"
[[ $(sort -n warm | tail -n 1) -lt $(($(du -sb jdk | cut -f 1) / 10)) ]] ||
	fail "bytes in the page cache: $(tr '\n' ' ' <warm)"
check s.trace "stacks are whole" 'at_least(i["samples"]["complete"], i["samples"]["total"], 99.9)' \
	"Java frames have names" 'at_least(i["frames"]["java_named"], i["frames"]["java"], 99.9)' \
	"every JVM has an agent" "len(i['jvms']) == 2 * $TIMES" "nothing is lost" 'i["lost"] == {}'
