#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Deep recursions that exceptions end at any height.
source "$(dirname "$0")/churn.sh"

churn ChurnUnwind "$SECONDS_EACH"
