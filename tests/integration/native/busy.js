// SPDX-License-Identifier: Apache-2.0
/* Works for a second of CPU time in two functions, after a line of input. Run with --no-turbo-inlining, which keeps both. */
"use strict";

function innermost(rounds) {
	let x = 0;
	for (let i = 0; i < rounds; i++)
		x = (x * 31 + i) % 1000003;
	return x;
}

function outermost(rounds) {
	let sum = 0;
	while (process.cpuUsage().user < end)
		sum += innermost(rounds);
	return sum;
}

let end = 0;
process.stdout.write("ready\n");
process.stdin.once("data", () => {
	end = process.cpuUsage().user + 1e6;
	outermost(1e6);
	process.stdout.write("end\n");
	process.exit(0);
});
