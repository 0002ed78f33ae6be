#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Hundreds of hidden classes, which are unloaded as soon as nothing refers to them.
source "$(dirname "$0")/churn.sh"

[[ $(java_version) -ge 15 ]] || skip "hidden classes came with JDK 15"
churn Churn hidden "$SECONDS_EACH"
