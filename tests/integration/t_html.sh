#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The flame graph is one file that loads nothing.
source "$(dirname "$0")/lib.sh"

need_sample
braid report --html flame.html "$SAMPLE"
cp "$SAMPLE" s.trace
check s.trace "the trace" 'i["samples"]["total"] > 0'
python3 "$LIB_DIR/page.py" flame.html s.trace.json
braid report --html - "$SAMPLE" >page.html
cmp page.html flame.html || fail "the page on standard output is another one"
