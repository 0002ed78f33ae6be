#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# quality: how many stacks of real programs are whole, how many frames have names, what was lost, what a sample costs on disk.
# WORKLOADS ("sunflow sqlite codec h2 closure"), HZ ("99 997"), LIMIT_S (0: to the program's end).
# shellcheck source=lib.sh
source "$(dirname "$0")/lib.sh"

header quality
echo
echo "workload     Hz  samples  of Java  whole %  frames named %     lost  bytes/sample  native named %  target    causes"

causes_of()
{
	awk -F'\t' -v total="$(info "$1" java_samples.total)" 'index($1, "java_samples.by_cause.") == 1 {
		sub(/.*by_cause\./, "")
		printf "%s%s %d (%.3f %%)", n++ ? ", " : "", $1, $2, 100 * $2 / total
	}' "$1.info"
}

# one NAME HZ
one()
{
	local name=$1 hz=$2 trace=$TMP/$1.$2.trace limit=() whole named lost bytes status=0

	[[ ${LIMIT_S:-0} == 0 ]] || limit=(-d "$LIMIT_S")
	braid record -q -F "$hz" "${limit[@]}" -o "$trace" -- "${CMD[@]}" >"$TMP/out" 2>&1 || status=$?
	[[ -s $trace ]] || die "$name: recording ended with status $status: $(tail -n 3 "$TMP/out")"
	if [[ $status -ne 0 && ${LIMIT_S:-0} == 0 ]]; then
		notice "$name ended with status $status"
	fi
	info_of "$trace"
	whole=$(calc "100 * $(info "$trace" java_samples.complete) / $(info "$trace" java_samples.total)")
	named=$(calc "100 * $(info "$trace" frames.java_named) / $(info "$trace" frames.java)")
	lost=$(info_sum "$trace" lost)
	bytes=$(calc "$(info "$trace" bytes) / $(info "$trace" samples.total)" %.1f)
	printf '%-10s %4d %8d %8d %8s %15s %8d %13s %15s  %-8s  %s\n' "$name" "$hz" "$(info "$trace" samples.total)" \
		"$(info "$trace" java_samples.total)" "$whole" "$named" "$lost" "$bytes" \
		"$(calc "100 * $(info "$trace" frames.native_named) / $(info "$trace" frames.native)")" \
		"$(met "$whole >= 98 && $named >= 99 && $lost == 0")" "$(causes_of "$trace")"
	rm -f "$trace"*
}

for name in ${WORKLOADS:-sunflow sqlite codec h2 closure}; do
	workload "$name" || continue
	for hz in ${HZ:-99 997}; do
		one "$name" "$hz"
	done
done
echo "target: of the Java threads' samples at least 98 % whole, of their frames 99 % named, nothing lost"
