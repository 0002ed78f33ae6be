# SPDX-License-Identifier: Apache-2.0
# Tests of an hour: everything at once, on every collector, MINUTES (60) in all; and ROUNDS (2000) recordings of one
# JVM, whose directory stays when a round leaves something behind. The Makefile includes this file.

.PHONY: test-soak test-again test-malloc
test-soak: all $(BUILD)/java/.made
	$(Q)BUILD=$(abspath $(BUILD)) JAVA_HOME=$(JAVA_HOME) MINUTES=$(MINUTES) tests/soak/run

test-again: all $(BUILD)/java/.made
	$(Q)dir=$$(mktemp -d) && cd $$dir && BUILD=$(abspath $(BUILD)) JAVA_HOME=$(JAVA_HOME) ROUNDS=$(or $(ROUNDS),2000) \
		bash $(CURDIR)/tests/integration/attach/t_again_many.sh && rm -rf $$dir || { echo "see $$dir" >&2; false; }

test-malloc: all test-programs
	$(Q)dir=$$(mktemp -d) && cd $$dir && BUILD=$(abspath $(BUILD)) JAVA_HOME=$(JAVA_HOME) OPERATIONS=$(or $(OPERATIONS),100000) \
		bash $(CURDIR)/tests/integration/malloc/t_malloc_hammer.sh && cat out && rm -rf $$dir || { echo "see $$dir" >&2; false; }
