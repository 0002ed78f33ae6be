#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A code cache that is too small for the program: code is flushed, and its memory is reused.
# class: long
source "$(dirname "$0")/churn.sh"

segmented=-XX:-SegmentedCodeCache
[[ $(java_version) -gt 8 ]] || segmented=-XX:+UseCodeCacheFlushing
churn -XX:ReservedCodeCacheSize=4m "$segmented" Churn code "$((SECONDS_EACH * 2))" 300
