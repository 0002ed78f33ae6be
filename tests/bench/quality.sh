#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# quality: measures for real programs how many stacks are whole, how many frames have names, what was lost, and the size
# of a sample on disk. WORKLOADS (ten of them), JDKS (17 and others; that of JAVA_HOME by default), HZ (997), LIMIT_S
# (20; 0: to the end).
# shellcheck source=lib.sh
source "$(dirname "$0")/lib.sh"

workloads=${WORKLOADS:-sunflow sqlite codec h2 beast lucene closure jruby groovy tomcat}
limit_s=${LIMIT_S:-20}
wanted=99.9
missed=()

header quality
echo
echo "workload   JDK   Hz  samples  of Java   whole %  named %     lost  bytes/sample  native named %  target    incomplete"

causes_of()
{
	awk -F'\t' -v total="$(info "$1" java_samples.total)" 'index($1, "java_samples.by_cause.") == 1 && $2 {
		sub(/.*by_cause\./, "")
		printf "%s%s %d (%.3f %%)", n++ ? ", " : "", $1, $2, 100 * $2 / total
	}' "$1.info"
}

# one NAME HZ JDK
one()
{
	local name=$1 hz=$2 jdk=$3 trace=$TMP/$1.$2.trace limit=() whole named lost bytes verdict status=0

	[[ $limit_s == 0 ]] || limit=(-d "$limit_s")
	start_load "$name"
	(cd "$TMP" && braid record -q -F "$hz" "${limit[@]}" -o "$trace" -- "${CMD[@]}" >"$TMP/out" 2>&1) || status=$?
	stop_load
	[[ -s $trace ]] || die "$name: recording ended with status $status: $(tail -n 3 "$TMP/out")"
	if [[ $status -ne 0 && $limit_s == 0 ]]; then
		notice "$name ended with status $status"
	fi
	info_of "$trace"
	whole=$(calc "100 * $(info "$trace" java_samples.complete) / $(info "$trace" java_samples.total)" %.3f)
	named=$(calc "100 * $(info "$trace" frames.java_named) / $(info "$trace" frames.java)" %.3f)
	lost=$(info_sum "$trace" lost)
	bytes=$(calc "$(info "$trace" bytes) / $(info "$trace" samples.total)" %.1f)
	verdict=$(met "$whole >= $wanted && $named >= 99.99 && $lost == 0")
	[[ $verdict == met ]] || missed+=("$name/$jdk")
	printf '%-10s %3s %4d %8d %8d %9s %8s %8d %13s %15s  %-8s  %s\n' "$name" "$jdk" "$hz" \
		"$(info "$trace" samples.total)" "$(info "$trace" java_samples.total)" "$whole" "$named" "$lost" "$bytes" \
		"$(calc "100 * $(info "$trace" frames.native_named) / $(info "$trace" frames.native)")" \
		"$verdict" "$(causes_of "$trace")"
	[[ -z ${KEEP:-} ]] || cp "$trace" "$KEEP/$name.$jdk.$hz.trace"
	rm -f "$trace"*
}

version=$("$JAVA" -version 2>&1 | sed -n 's/.*version "\(1\.\)\{0,1\}\([0-9]*\).*/\2/p')
for jdk in ${JDKS:-$version}; do
	JAVA_HOME=$(jdk_home "$jdk")
	export JAVA_HOME
	for name in $workloads; do
		workload "$name" || continue
		for hz in ${HZ:-997}; do
			one "$name" "$hz" "$jdk"
		done
	done
done
echo "target: of the Java threads' samples at least $wanted % whole, their Java frames named, nothing lost"
[[ ${#missed[@]} -eq 0 ]] || echo "missed by: ${missed[*]}"
