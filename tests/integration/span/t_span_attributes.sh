#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What a process says of itself in OpenTelemetry's process context, and the attributes of its spans, whose names are there:
# also those that it publishes and adds later. Text that would control a terminal is made harmless. BraidContext publishes
# both for Java programs.
# class: long
source "$(dirname "$0")/../lib.sh"

"${CC:-gcc}" -std=gnu11 -O1 -g -I"$TEST_DIR" -rdynamic "$TEST_DIR/service.c" "$TEST_DIR/variable.c" -o service
for how in memfd anon; do
	start_program out ./service "$how"
	grep -q OTEL_CTX "/proc/$JAVA_PID/maps" || {
		[[ $how == anon ]] || fail "no mapping"
		echo "this kernel names no anonymous mappings"
		end_program
		continue
	}
	start_record -F 997 -o "$how.trace" -p "$JAVA_PID"
	wait_sampling
	go_on
	wait_samples 500
	stop_record
	end_program
	braid report --json "$how.trace" >report.json
	braid info --json "$how.trace" >info.json
	braid report --by span --json --top 10000 "$how.trace" >spans.json
	braid report --by span --json --top 10000 --include '^end_' "$how.trace" >ends.json
	braid report --by span "$how.trace" >spans.txt
	braid report --full "$how.trace" >report.txt
	braid export --span 'http.route=/cart' "$how.trace" >cart.txt
	braid export --span 'name~/c*t' "$how.trace" | cmp - cart.txt || fail "--span 'name~/c*t' selects other spans"
	braid export --span 'http.route~"/c*"' "$how.trace" | cmp - cart.txt || fail "--span 'http.route~\"/c*\"' selects other spans"
	braid script "$how.trace" >"$how.txt"
	python3 - "$JAVA_PID" <<'END' || fail "$how: $(head -n 5 spans.txt)"
import json, sys

for name in "report", "info":
    resources = json.load(open(name + ".json"))["resources"]
    assert resources == [{"pid": int(sys.argv[1]), "attributes": {"service.name": "check?out", "service.version": "1.1"}}], resources
spans = json.load(open("spans.json"))["by_samples"]
assert len(spans) > 20, spans
for s in spans:
    assert s["attributes"]["http.route"] == ("/cart" if int(s["span"], 16) % 2 else "/login?"), s
    assert set(s["attributes"].items()) - {("http.route", s["attributes"]["http.route"])} <= {("user?.id", "user-7")}, s
# The second attribute is there when the second half of such a request is sampled.
later = [s for s in json.load(open("ends.json"))["by_samples"] if int(s["span"], 16) >= 10 and s["samples"]]
assert later and all("user?.id" in s["attributes"] for s in later), later
END
	grep -q "^  pid $JAVA_PID  service.name=\"check?out\" service.version=\"1.1\"\$" report.txt || fail "$(cat report.txt)"
	grep -q 'http.route="/cart" user?.id="user-7"$' spans.txt || fail "$(cat spans.txt)"
	grep -q '^# trace .* span .* http.route="/cart"' "$how.txt" || fail "$how: script has no attributes"
	grep -q serve_cart cart.txt || fail "--span selects nothing"
	! grep login cart.txt || fail "--span selects another span"
	! grep -q $'\033' report.txt spans.txt cart.txt "$how.txt" || fail "$how: a control character is printed"
done
status=0
braid report --full --span 'http.route=/nowhere' memfd.trace >none.txt 2>err || status=$?
[[ $status -eq 1 ]] || fail "--span of no span: $status, $(cat none.txt err)"
one_line_error none.txt err

# BraidContext
JAR=$BUILD/braid-context.jar
[[ -e $JAR ]] || skip "braid was built without a JDK"
# A sample reads the record together with what is within 64 bytes of the variable.
readelf -sW "$BUILD/libbraid-context.so" | awk '$8 == "otel_thread_ctx_v1" { at = $2 } $8 == "own" { own = $2 }
	END { exit !(at == "0000000000000000" && own == "0000000000000008") }' || fail "the record is not beside the variable"
"$JAVA_HOME/bin/javac" -cp "$JAR" -d . "$TEST_DIR/context/Routes.java"
# wait_served COUNT: waits until the program has served COUNT more requests, however long each takes here
wait_served()
{
	wait_for "$1 requests" more_served $(($(grep -c served out || true) + $1))
}
more_served()
{
	[[ $(grep -c served out) -ge $1 ]] || gone_or_zombie "$JAVA_PID"
}
# routes NAME JAVA [virtual]
routes()
{
	start_program out "$2" -Xint -cp "$JAR:." Routes "${@:3}"
	start_record -F 997 -o java.trace -p "$JAVA_PID"
	wait_sampling
	wait_joined "$JAVA_PID"
	wait_served 30
	stop_record
	go_on
	end_program
	braid report --by span --json --top 10000 java.trace >spans.json
	braid report --by span --json --top 10000 --include 'Routes.end' java.trace >ends.json
	braid export --span 'http.route=/cart' java.trace >cart.txt
	python3 - <<'END' || fail "$1: $(head -n 5 spans.json)"
import json

spans = json.load(open("spans.json"))["by_samples"]
outer = [s for s in spans if s["trace"].endswith("7")]
inner = [s for s in spans if s["trace"].endswith("8")]
assert len(outer) > 10 and inner, spans
for s in outer:
    number = int(s["span"], 16)
    own = {"http.route": "/cart" if number % 2 else "/login"}
    assert s["attributes"] in (own, {**own, "user": "user-%d" % (number % 3)}), s
# A span is read when it is seen first, which may be before it has its attributes.
most = [s for s in inner if s["attributes"] == {"long": "\u20ac" * 84}]
assert len(most) > len(inner) / 2 and all(s in most or s["attributes"] == {} for s in inner), inner
later = [s for s in json.load(open("ends.json"))["by_samples"] if s["samples"]]
assert later and all("user" in s["attributes"] for s in later), later
END
	grep -q 'Routes.serveCart' cart.txt || fail "--span selects nothing of $1"
	! grep 'Routes.*Login' cart.txt || fail "--span selects another span of $1"
}

routes Java "$JAVA"
for jdk in $(jdks); do
	is_jdk "$jdk" 21 || continue
	routes "virtual threads" "$jdk/bin/java" virtual
	break
done
