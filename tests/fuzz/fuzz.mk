# SPDX-License-Identifier: Apache-2.0
# Builds every fuzz_NAME.c with libFuzzer and the sanitizers and runs each for SECONDS (30), or RUNS times. The Makefile includes
# this file. Each target keeps its corpus in $(BUILD)/fuzz/corpus/NAME and leaves the inputs that break it in $(BUILD)/fuzz.

FUZZ := $(basename $(notdir $(wildcard tests/fuzz/fuzz_*.c)))
FUZZ_SANITIZE := -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=undefined -DFUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
SECONDS ?= 30
RUNS ?= 0
TARGETS ?= $(FUZZ)

.PHONY: fuzz
fuzz: setup $(SKELS) $(BLOBS)
	$(Q)$(SUBMAKE) $(SANITIZED) BUILD=$(BUILD)/fuzz CC=$(CLANG) OPT="-O2 -g $(FUZZ_SANITIZE)" AGENT_OPT="-O2 -g" $(TARGETS:%=$(BUILD)/fuzz/%)
	$(Q)CC=$(CLANG) tests/fuzz/run $(BUILD)/fuzz $(SECONDS) $(RUNS) $(TARGETS)

# Nothing else builds the targets: the unit tests see to it that they compile.
test-unit: $(FUZZ:%=$(BUILD)/tests/fuzz/%.o)
$(BUILD)/tests/fuzz/%.o: private CFLAGS += $(if $(findstring fuzzer,$(OPT)),,-O0)

# The agent's class-file rewriter, with the sanitizers.
REWRITER_OBJ := $(patsubst agent/rewrite/%.c,$(BUILD)/fuzz_rewrite/%.o,$(wildcard agent/rewrite/*.c))
$(BUILD)/fuzz_rewrite/%.o: agent/rewrite/%.c
	@mkdir -p $(@D)
	$(call say,CC,$@)$(CC) $(CPPFLAGS) -Iagent $(CFLAGS) -MMD -MP -c $< -o $@

$(BUILD)/fuzz_classfile: $(BUILD)/tests/fuzz/fuzz_classfile.o $(REWRITER_OBJ) | $(HELPER_CLASSES)
	$(call say,LD,$@)$(CC) $(CFLAGS) -fsanitize=fuzzer $(LDFLAGS) -o $@ $^

$(BUILD)/fuzz_%: $(BUILD)/tests/fuzz/fuzz_%.o $(LIB_OBJ) $(BLOBS)
	$(call say,LD,$@)$(CC) $(CFLAGS) -fsanitize=fuzzer $(LDFLAGS) -o $@ $^ $(LDLIBS)
