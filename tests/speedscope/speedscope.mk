# SPDX-License-Identifier: Apache-2.0
# speedscope's own page reads what braid exports for it. npm's package comes into $(BUILD)/speedscope. The Makefile includes
# this file.

.PHONY: test-speedscope

test-speedscope: test-programs
	$(Q)BUILD=$(abspath $(BUILD)) JAVA_HOME=$(JAVA_HOME) tests/speedscope/run
