#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Everything at once, with every kind of event and its changes: no crash, no thread that stands, no memory that grows. `make
# test-soak` does it for longer, and with all collectors.
# class: long
# takes: 30 s
source "$(dirname "$0")/../soak.sh"

soak G1 24 -XX:+UseG1GC
[[ $EVENTS -gt 10000 ]] || fail "$EVENTS events: this says little"
