# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# What t_churn_*.sh share: programs that know which of many generations of code runs where and when. CHURN_SECONDS makes
# them run longer, CHURN_HZ samples more often.
source "$(dirname "$0")/../lib.sh"

# shellcheck disable=SC2034 # for the tests
SECONDS_EACH=${CHURN_SECONDS:-3}

# churn JAVA-ARGUMENT...: records the program and checks the samples against its output.
churn()
{
	local lost

	braid record -F "${CHURN_HZ:-997}" -o churn.trace -- "$JAVA" -Xmx64m -XX:+UseSerialGC -cp "$CLASSES" "$@" >truth 2>record.err
	braid script --time monotonic --lines churn.trace >samples
	braid info --json churn.trace >info.json
	lost=$(python3 -c 'import json; l = json.load(open("info.json"))["lost"]; print(sum(n for kinds in l.values() for n in kinds.values()))')
	python3 "$TEST_DIR/churn.py" truth samples "$lost" || {
		cat record.err >&2
		fail "see above"
	}
}
