#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Names and lines from a debuginfod server on this machine, then from its cache; without a server nothing waits and
# nothing fails.
source "$(dirname "$0")/../lib.sh"

command -v debuginfod >/dev/null || skip "debuginfod is not installed"
mkdir debug
"${CC:-gcc}" -std=gnu11 -g -O2 -fno-optimize-sibling-calls -fno-inline -Wl,--build-id "$TEST_DIR/plain.c" -o program
objcopy --only-keep-debug program debug/program.debug
strip program

free_port()
{
	python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}

port=$(free_port)
env -u DEBUGINFOD_URLS debuginfod -F debug -p "$port" -d :memory: >server.log 2>&1 &
server=$!
trap 'kill "$server" 2>/dev/null || true' EXIT
id=$(readelf -n program | sed -n 's/.*Build ID: //p')
has_file()
{
	python3 -c "import urllib.request as u; u.urlopen('http://127.0.0.1:$port/buildid/$id/debuginfo').read()" 2>/dev/null
}
wait_for "the server to know the debug file" has_file

export DEBUGINFOD_URLS=http://127.0.0.1:$port DEBUGINFOD_CACHE_PATH=$PWD/cache
braid record -q --lines -F 997 -o served.trace -- ./program 0.4
braid report --json --lines --top 1000 served.trace >lines.json
check served.trace "names from the server" 'with_frame("burn") and with_frame("dive")'
python3 -c 'import json; assert any(l["file"].endswith("plain.c") and l["name"] == "burn" for l in json.load(open("lines.json"))["lines"])' ||
	fail "no lines from the server"

kill "$server"
wait_end "$server" "the server"
braid record -q -F 997 -o cached.trace -- ./program 0.4
check cached.trace "names from the cache" 'with_frame("burn")'

DEBUGINFOD_CACHE_PATH=$PWD/empty braid record -q -F 997 -o none.trace -- ./program 0.4
check none.trace "no server: no names, no harm" 'not with_frame("burn") and enough(i["samples"]["total"], 400) and i["lost"] == {}'
