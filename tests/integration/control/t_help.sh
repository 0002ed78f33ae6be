#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Each command that the help lists has a help of its own, in two ways, which fits on a terminal of 80 columns.
# class: quick
source "$(dirname "$0")/../lib.sh"

fits()
{
	! grep -nE '^.{81}' "$1" || fail "lines of $1 are longer than 80 columns: see above"
}

braid --help >all.help
fits all.help
mapfile -t commands < <(awk '/^  record /, /^$/ { print $1 }' all.help)
[[ ${#commands[@]} -gt 20 ]] || fail "${#commands[@]} commands: $(cat all.help)"
for command in "${commands[@]}"; do
	[[ -n $command ]] || continue
	braid "$command" --help >"$command.help" || fail "no help of $command"
	grep -q "^Usage: braid $command" "$command.help" || fail "$command: $(cat "$command.help")"
	braid help "$command" | cmp - "$command.help" || fail "another help of $command"
	fits "$command.help"
done
