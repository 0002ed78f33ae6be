#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Threads that live for some milliseconds, named after what they run.
source "$(dirname "$0")/churn.sh"

churn Churn threads "$SECONDS_EACH"
