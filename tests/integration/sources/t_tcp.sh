#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# TCP connections: peer, latency, failure and stack as the program knows them, and what is sent again; filters; Java methods in the
# stacks.
source "$(dirname "$0")/../lib.sh"
source "$TEST_DIR/events.sh"

cc -O2 -o kernel "$TEST_DIR/kernel.c"
recorded all.trace tcp ./kernel tcp -
events all.trace \
	"connections" 'len([e for e in at("tcp", "connect_to") if [e.name] == truth["peer"][0] and e.detail == "connect"]) == 5' \
	"the refused one" 'len([e for e in of("tcp", detail="failed connect") if [e.name, str(e.flags)] == truth["refused"][0]]) == 1' \
	"the slow one" '[e for e in at("tcp", "connect_slowly") if e.detail == "connect" and
		200e6 <= e.duration_ns <= int(truth["slow"][0][1]) and e.name == "127.0.0.1:" + truth["slow"][0][0]]' \
	"what it sent again" '[e for e in at("tcp", "connect_slowly") if e.detail == "retransmit" and e.duration_ns == 0 and
		e.name == "127.0.0.1:" + truth["slow"][0][0]]' \
	"one at both ends at once" '[e.detail for e in at("tcp", "connect_to_itself") if [e.name] == truth["itself"][0]] == ["connect"]' \
	"no other" 'len(of("tcp")) == 5 + 1 + 2 + 1 + len(of("tcp", detail="retransmit"))' \
	"nothing lost" 'lost == []'
check all.trace "a row for the peer" 'any(x["name"].startswith("127.0.0.1:") and x["count"] >= 5 for x in r["events"]["tcp"]["by_name"])' \
	"the site is the program's" '[x["name"] for x in r["events"]["tcp"]["by_site"]] != [] and
		all(not x["name"].startswith("tcp_") for x in r["events"]["tcp"]["by_site"])'
[[ $(stacks_of all.trace tcp | weigh 'main;.*connect_to;.*tcp_v4_connect.*;127.0.0.1:[0-9]*$') -gt 200000000 ]] ||
	fail "the stacks have no time"

recorded none.trace tcp/port==9/ ./kernel tcp -
events none.trace "no such peer" 'of("tcp") == []'
recorded slow.trace tcp=200ms ./kernel tcp -
events slow.trace "only the slow one" 'len([e for e in of("tcp") if e.detail != "retransmit"]) == 1'

recorded java.trace tcp "$JAVA" -cp "$CLASSES" Dials 6
events java.trace \
	"from Java" 'len([e for e in at("tcp", "Dials.dial") if e.detail == "connect" and e.name.endswith(":" + truth["peer"][0][0])]) == 6' \
	"in one piece" 'all("Dials.main" in e.stack for e in at("tcp", "Dials.dial"))'
