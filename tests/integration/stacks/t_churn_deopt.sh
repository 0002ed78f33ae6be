#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Every few milliseconds a class is loaded that the compiled loop was not compiled for: the loop is deoptimised.
source "$(dirname "$0")/churn.sh"

churn Churn deopt "$SECONDS_EACH"
