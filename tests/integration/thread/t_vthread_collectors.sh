#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Virtual threads as in t_vthread.sh, with the JDK's other collectors.
# class: long
# takes: 15 s
source "$(dirname "$0")/../lib.sh"
# shellcheck source=vthreads.sh
source "$TEST_DIR/vthreads.sh"

has_option()
{
	"$JDK/bin/java" "$@" -version >/dev/null 2>&1
}

# A virtual thread can always be read when threads stand still while objects are moved, and when the old copy is kept
# until nothing refers to it. What ZGC has moved since the reference was last used cannot. The thread's number is
# outside of objects, too.
record_vthreads 99 99.9 99.9 -XX:+UseParallelGC -Xmx64m
! has_option -XX:+UseShenandoahGC || record_vthreads 99 99.9 99.9 -XX:+UseShenandoahGC -Xmx128m
! has_option -XX:+UseZGC -XX:+ZGenerational || record_vthreads 99 99.9 90 -XX:+UseZGC -XX:+ZGenerational -Xmx256m
! has_option -XX:+UseZGC || record_vthreads 99 99.9 90 -XX:+UseZGC -Xmx256m
