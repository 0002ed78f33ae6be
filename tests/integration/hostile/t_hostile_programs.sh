#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Programs of another user that are hard to sample, all at once: a JVM's recording is as it is without them.
# class: long
# takes: 60 s
source "$(dirname "$0")/../lib.sh"
source "$(dirname "$0")/hostile.sh"

mapfile -t modes < <(./hostile --list program)
# The impostor's table is cached before the JVM is recorded.
export XDG_CACHE_HOME=$PWD/cache
start_hostile "${modes[@]}"
start_honest -e cpu,thread
wait_under_way "${modes[@]}"
finish_honest
