# SPDX-License-Identifier: Apache-2.0
# The test of the class-file rewriter with the classes of a whole JDK, in $(BUILD)/rewrite/. The Makefile includes this file.

.PHONY: test-rewrite rewrite-programs

REWRITE_SRC := tests/rewrite/rewrite.c agent/timing/patterns.c $(wildcard agent/rewrite/*.c)
$(BUILD)/rewrite/librewrite.so: $(REWRITE_SRC) $(wildcard agent/rewrite/*.h agent/timing/patterns.h)
	@mkdir -p $(@D)
	$(call say,CC,$@)$(CC) $(filter-out -Wmissing-prototypes,$(AGENT_CFLAGS)) -fvisibility=default -shared -o $@ $(filter %.c,$^)

$(BUILD)/rewrite/java/.made: $(wildcard tests/rewrite/java/*.java)
	@mkdir -p $(@D)
	$(call say,JAVAC,$(@D))$(JAVA_HOME)/bin/javac $(FOR_JAVA_8) -d $(@D) $^ && touch $@

rewrite-programs: $(BUILD)/rewrite/librewrite.so $(BUILD)/rewrite/java/.made

# A part of the classes is an integration test.
test-programs: rewrite-programs

# All classes of all JDKs, and of the JAR files in JARS, about half an hour.
test-rewrite: all rewrite-programs
	$(Q)BUILD=$(abspath $(BUILD)) JAVA_HOME=$(JAVA_HOME) tests/rewrite/run $(JARS)
