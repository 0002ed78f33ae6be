#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Deep recursions that exceptions unwind to any height.
source "$(dirname "$0")/churn.sh"

churn ChurnUnwind "$SECONDS_EACH"
