#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# short: measures how many stacks are whole in programs of a third of a second, from exec to exit, while nothing is known
# of their files: each start has an empty cache of unwind tables. JDKS (8 11 17 21 25 26 27), STARTS (10 of `java -version`
# and as many of a program that prints a line), HZ (1999).
# shellcheck source=lib.sh
source "$(dirname "$0")/lib.sh"

starts=${STARTS:-10}
hz=${HZ:-1999}
wanted=99.9
missed=()

header short
echo
echo "JDK           ms  starts  samples   whole %  Java frames  named %  lost  target    incomplete"

# The figures of all starts of one JDK, added up: KEY VALUE.
added_up()
{
	cat "$TMP"/*.trace.info | awk -F'\t' '
		/^(samples|frames)\./ { sum[$1] += $2 }
		/^lost\./ { sum["lost"] += $2 }
		END { for (key in sum) print key, sum[key] }'
}

# one JDK
one()
{
	local home trace i program whole named lost verdict
	local -A sum=()

	home=$(jdk_home "$1")
	rm -f "$TMP"/*.trace*
	for ((i = 0; i < starts; i++)); do
		for program in -version "-cp $TMP Hello"; do
			trace=$TMP/$i.${program##*[- ]}.trace
			rm -rf "$TMP/cache"
			mkdir "$TMP/cache"
			# shellcheck disable=SC2086 # several words
			XDG_CACHE_HOME=$TMP/cache braid record -q -F "$hz" -o "$trace" -- "$home/bin/java" $program >"$TMP/out" 2>&1 ||
				die "JDK $1: $(tail -n 3 "$TMP/out")"
			info_of "$trace"
		done
	done
	while read -r key value; do
		sum[$key]=$value
	done < <(added_up)
	whole=$(calc "100 * ${sum[samples.complete]} / ${sum[samples.total]}" %.3f)
	named=$(calc "100 * ${sum[frames.java_named]} / ${sum[frames.java]}" %.2f)
	lost=${sum[lost]:-0}
	verdict=$(met "$whole >= $wanted && $named >= $wanted && $lost == 0")
	[[ $verdict == met ]] || missed+=("$1")
	printf '%-10s %5.0f  %6d  %7d  %8s  %11d  %7s  %4d  %-8s  %s\n' "$1" \
		"$(calc "1000 * ${sum[samples.total]} / $hz / 2 / $starts" %.0f)" $((2 * starts)) "${sum[samples.total]}" \
		"$whole" "${sum[frames.java]}" "$named" "$lost" "$verdict" \
		"$(for key in "${!sum[@]}"; do
			[[ $key != samples.by_cause.* || ${sum[$key]} -eq 0 ]] || echo "${key##*.} ${sum[$key]}"
		done | sort | paste -sd, - | sed 's/,/, /g')"
}

echo 'public class Hello { public static void main(String[] a) { System.out.println("hello"); } }' >"$TMP/Hello.java"
"$JAVA_HOME/bin/javac" --release 8 -Xlint:-options -d "$TMP" "$TMP/Hello.java"
for jdk in ${JDKS:-8 11 17 21 25 26 27}; do
	one "$jdk"
done
echo "target: at least $wanted % of all samples whole, and of the Java frames named, nothing lost; ms: CPU time of a start"
[[ ${#missed[@]} -eq 0 ]] || echo "missed by: ${missed[*]}"
