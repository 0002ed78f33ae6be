# SPDX-License-Identifier: Apache-2.0
# Everything at once, on every collector; included by the Makefile. MINUTES (60) in all.

.PHONY: test-soak
test-soak: all $(BUILD)/java/.made
	$(Q)BUILD=$(abspath $(BUILD)) JAVA_HOME=$(JAVA_HOME) MINUTES=$(MINUTES) tests/soak/run
