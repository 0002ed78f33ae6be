# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# For the tests whose program is JniUser.

start_user()
{
	start_program out "$JAVA" -Xcheck:jni -Xmx64m "$@" -cp "$CLASSES" JniUser "$CLASSES/libuser.so"
}

has_done()
{
	[[ $(grep -c '^done' out) -gt $1 ]]
}

# say COMMAND...: the program does it.
say()
{
	local before

	before=$(grep -c '^done' out || true)
	echo "$@" >&"$IN"
	wait_for "the program to $*" has_done "$before"
}

# reports FILE KIND COUNT: whether the trace, which the recorder flushes each second, has at least COUNT events of the kind.
reports()
{
	[[ $(braid script --event "$2" "$1" 2>/dev/null | grep -c " braid:$2: ") -ge $3 ]]
}

# table: sets TABLE to a checksum of the JVM's table of JNI functions.
table()
{
	say table
	# shellcheck disable=SC2034 # for the test
	TABLE=$(sed -n 's/^TABLE //p' out | tail -n 1)
}

table_is()
{
	table
	[[ $TABLE == "$1" ]]
}

# The end of its input ends the program. It has said nothing, and neither have the JVM's checks of JNI.
end_user()
{
	exec {IN}>&-
	wait_end "$JAVA_PID" "the program"
	[[ $STATUS -eq 0 ]] || fail "the program ended with $STATUS: $(cat err)"
	grep -v '^OpenJDK.*warning: \|^WARNING: .*\(native-access\|restricted\|Restricted\|dynamic\|agent\|java.lang.System::load\)\|^$' err >complaints || return 0
	fail "the JVM says: $(cat complaints)"
}
