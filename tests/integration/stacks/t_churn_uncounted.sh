#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Class loader churn in a JVM without performance counters, such as that of unloaded classes.
source "$(dirname "$0")/churn.sh"

churn -XX:-UsePerfData Churn loader "$SECONDS_EACH"
