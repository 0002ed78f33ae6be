# SPDX-License-Identifier: Apache-2.0
# Prints a JSON text on standard input as lines of path, tab, value: {"a":{"b":[1,2]}} gives "a.b.0<tab>1" and
# "a.b.1<tab>2". Strings lose their quotes and keep their escapes; null is empty.
{
	text = text $0 "\n"
}

END {
	at = 1
	value("")
	blank()
	if (at <= length(text))
		fail("end")
}

function fail(wanted)
{
	print "json: " wanted " expected at character " at > "/dev/stderr"
	bad = 1
	exit 1
}

function blank()
{
	while (substr(text, at, 1) ~ /[ \t\r\n]/)
		at++
}

function string(  from)
{
	from = ++at
	while (substr(text, at, 1) != "\"") {
		if (at > length(text))
			fail("end of string")
		at += substr(text, at, 1) == "\\" ? 2 : 1
	}
	return substr(text, from, at++ - from)
}

# Members of an object or elements of an array, up to the closing bracket.
function members(path, closing,  n, key)
{
	at++
	blank()
	if (substr(text, at, 1) == closing) {
		at++
		return
	}
	for (n = 0;; n++) {
		key = n
		blank()
		if (closing == "}") {
			if (substr(text, at, 1) != "\"")
				fail("name")
			key = string()
			blank()
			if (substr(text, at++, 1) != ":")
				fail("colon")
		}
		value(path == "" ? key "" : path "." key)
		blank()
		if (substr(text, at, 1) == closing) {
			at++
			return
		}
		if (substr(text, at++, 1) != ",")
			fail("comma")
	}
}

function value(path,  c)
{
	blank()
	c = substr(text, at, 1)
	if (c == "{" || c == "[")
		members(path, c == "{" ? "}" : "]")
	else if (c == "\"")
		print path "\t" string()
	else if (match(substr(text, at), /^[-+0-9.a-zA-Z]+/)) {
		c = substr(text, at, RLENGTH)
		at += RLENGTH
		print path "\t" (c == "null" ? "" : c)
	} else
		fail("value")
}
