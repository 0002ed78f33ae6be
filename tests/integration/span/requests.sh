# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# What the tests of requests.c share; they source it after lib.sh.

# requests TRACE OPTION...: a recording of ./requests, of which the recorder knows where its code is when it begins.
requests()
{
	start_program said ./requests wait
	start_record -q "${@:2}" -p "$JAVA_PID" -o "$1"
	wait_for "the recording" answers
	end_program
	end_record
}
