# SPDX-License-Identifier: Apache-2.0
# The matrix of JDKs, modes, collectors and kernels, in $(BUILD)/matrix/. The Makefile includes this file.

.PHONY: test-matrix matrix-programs

MATRIX_JAVA_SRC := $(sort $(wildcard tests/matrix/java/*.java))
# For the oldest JDK of the matrix; newer compilers warn that they will stop supporting it.
$(BUILD)/matrix/java/.made: $(MATRIX_JAVA_SRC)
	@mkdir -p $(@D)
	$(call say,JAVAC,$(@D))$(JAVA_HOME)/bin/javac --release 8 -Xlint:-options -nowarn -h $(@D) -d $(@D) $^ && touch $@

$(BUILD)/matrix/java/libmix.so: tests/matrix/jni/mix.c $(BUILD)/matrix/java/.made
	$(call say,CC,$@)$(CC) -std=c11 -O2 -g -fomit-frame-pointer $(WARN) $(JAVA_INC) -I$(BUILD)/matrix/java -shared -fPIC -o $@ $<

matrix-programs: $(BUILD)/matrix/java/libmix.so

test-matrix:
	$(Q)tools/setup matrix
	$(Q)$(MAKE) --no-print-directory all matrix-programs
	$(Q)BUILD=$(abspath $(BUILD)) tests/matrix/run
