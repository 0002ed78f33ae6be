#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The story of pinned virtual threads, on a JDK that pins them: 21 to 23.
# class: long
# takes: 10 s
# shellcheck source=tests/integration/stories/story.sh
source "$(dirname "$0")/story.sh"

pins()
{
	local version

	version=$(JAVA=$1/bin/java java_version)
	[[ $version -ge 21 && $version -lt 24 ]]
}

JDK=
for home in $(jdks); do
	! pins "$home" || JDK=$home
done
[[ -n $JDK ]] || skip "no JDK from 21 to 23 is installed (tools/get-jdk 21 gets one)"
"$JDK/bin/javac" -d . "$STORIES/java21/Pinned.java"
story Pinned "$JDK/bin/java" -Djdk.virtualThreadScheduler.parallelism=2 -Djdk.virtualThreadScheduler.maxPoolSize=2 \
	-cp . Pinned
# shellcheck disable=SC2016 # a class's name
first "What was waited for" 'in Pinned\$Session.callBackEnd'
# shellcheck disable=SC2016
explains main 'ForkJoinPool-1-worker-\* (sleeping|parked) in Pinned\$Session.callBackEnd'
