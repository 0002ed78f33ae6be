#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The estimates of allocated bytes, by class and by site, are within 5 percent of the truth, or within chance.
# takes: 20 s
source "$(dirname "$0")/../lib.sh"

estimated()
{
	events "$1" \
		"by site" 'all(close(total(at("alloc", site), "weight"), int(n), 5, error(at("alloc", site))) for site, _, n in truth["site"])' \
		"by class" 'all(close(total(of("alloc", name=c), "weight"), int(n), 5, error(of("alloc", name=c)))
			for _, c, n in truth["site"])' \
		"a site has one class" 'all({e.name for e in own("alloc", site)} == {c} for site, c, _ in truth["site"])' \
		"sizes" '{e["value"] for e in own("alloc", "Allocator.atSmall")} == {1016} and
			{e["value"] for e in own("alloc", "Allocator.atLarge")} == {4016} and
			{e["value"] for e in own("alloc", "Allocator.atNodes")} in ({48}, {40})' \
		"enough samples for that to mean something" 'len(of("alloc")) > 10000 and error(of("alloc")) < total(of("alloc"), "weight") / 50' \
		"whole mixed stacks" 'at_least(sum("Allocator.main" in e.stack and e.stack[-1] != "[incomplete]" and len(e.stack) > 5 for e in of("alloc")), len(of("alloc")), 99.5)' \
		"without the agent on top" 'all("alloc_on_sample" not in e.stack for e in of("alloc"))' \
		"by their thread" 'all(e.thread.name == "main" for e in at("alloc", "Allocator.main"))' \
		"no objects watched" 'of("live") == [] and {e.number for e in of("alloc")} == {0}' \
		"nothing lost" 'lost == []'
}

if [[ $(java_version) -lt 11 ]]; then
	# JDKs before 11 refuse.
	braid record -e alloc -o old.trace -- "$JAVA" -cp "$CLASSES" Allocator 100 0 >old.trace.truth 2>err
	events old.trace "refused politely" 'of("alloc") == [] and any("does not report sampled allocations" in n for n in notices)' \
		"and nothing else" 'lost == []'
	exit 0
fi
# From the start.
braid record -e alloc -o start.trace -- "$JAVA" -Xmx256m -cp "$CLASSES" Allocator 10000 0 >start.trace.truth 2>err
estimated start.trace

# Attached, at another interval.
start_program attach.trace.truth "$JAVA" -Xmx256m -cp "$CLASSES" Allocator 5000 0 wait
start_record -e alloc=256k -p "$JAVA_PID" -o attach.trace
wait_attached "$JAVA_PID"
wait_events "$JAVA_PID"
go_on
wait_says attach.trace.truth end
stop_record
end_program
estimated attach.trace
