# SPDX-License-Identifier: Apache-2.0
# The oracle for stacks, in $(BUILD)/oracle/. The Makefile includes this file.

.PHONY: test-oracle oracle-programs

# jvmti.h ends structs with functions without prototypes.
$(BUILD)/oracle/liboracle.so: tests/oracle/oracle.c tests/oracle/log.c tests/oracle/log.h
	@mkdir -p $(@D)
	$(call say,CC,$@)$(CC) -std=c11 -D_GNU_SOURCE -O2 -g -fomit-frame-pointer $(filter-out -Wstrict-prototypes -Wmissing-prototypes,$(WARN)) $(JAVA_INC) -shared -fPIC -pthread -o $@ $(filter %.c,$^)

$(BUILD)/oracle/java/.made: $(wildcard tests/oracle/java/*.java)
	@mkdir -p $(@D)
	$(call say,JAVAC,$(@D))$(JAVA_HOME)/bin/javac -nowarn -Xlint:none -d $(@D) $^ && touch $@

oracle-programs: $(BUILD)/oracle/liboracle.so $(BUILD)/oracle/java/.made

# A short run is an integration test.
test-programs: oracle-programs

# All JDKs and modes, about ten minutes; it writes docs/oracle.md.
test-oracle: all oracle-programs
	$(Q)BUILD=$(abspath $(BUILD)) tests/oracle/run
