#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Hidden classes by the hundred, which go as soon as nobody knows them.
source "$(dirname "$0")/churn.sh"

[[ $(java_version) -ge 15 ]] || skip "hidden classes came with JDK 15"
churn Churn hidden "$SECONDS_EACH"
