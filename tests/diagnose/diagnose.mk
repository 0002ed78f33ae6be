# SPDX-License-Identifier: Apache-2.0
# What `braid diagnose` names first in programs with a planted fault, in $(BUILD)/diagnose/. The Makefile includes this file.

.PHONY: test-diagnose

test-diagnose: test-programs
	$(Q)BUILD=$(abspath $(BUILD)) JAVA_HOME=$(JAVA_HOME) tests/diagnose/run
