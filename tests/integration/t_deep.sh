#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A recursion of 1,500 frames, compiled as the JVM likes.
source "$(dirname "$0")/lib.sh"

deep_is_whole -XX:+TieredCompilation
