#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Everything at once, with every kind of event and configuration changes: no crash, no hanging thread, no growing
# memory. `make test-soak` does it for longer, and with all collectors.
# class: long
# takes: 30 s
source "$(dirname "$0")/../soak.sh"

soak G1 24 -XX:+UseG1GC
[[ $EVENTS -gt 10000 ]] || fail "only $EVENTS events: too few for a soak test"
