#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Every few milliseconds a class comes that the compiled loop was not made for: it is deoptimised.
source "$(dirname "$0")/churn.sh"

churn Churn deopt "$SECONDS_EACH"
