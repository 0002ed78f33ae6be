#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Hundreds of class loaders, each with its own class, which is unloaded and whose metaspace is reused.
source "$(dirname "$0")/churn.sh"

churn Churn loader "$SECONDS_EACH"
