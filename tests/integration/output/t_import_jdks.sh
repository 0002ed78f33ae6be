#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Recordings of each JDK's Flight Recorder become traces with the same counts and sums.
# class: long
source "$(dirname "$0")/../lib.sh"
source "$(dirname "$0")/flight.sh"

"$JAVA_HOME/bin/javac" -source 8 -target 8 -d . "$TEST_DIR/Flight.java" &>javac.out || fail "$(cat javac.out)"

one() { flight "$1" .; }
on_each_version 9 one
