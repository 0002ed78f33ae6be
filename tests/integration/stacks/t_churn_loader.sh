#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Class loaders by the hundred, each with a class of its own that is unloaded and whose metaspace is used again.
source "$(dirname "$0")/churn.sh"

churn Churn loader "$SECONDS_EACH"
