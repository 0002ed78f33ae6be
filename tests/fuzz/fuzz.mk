# SPDX-License-Identifier: Apache-2.0
# Builds every fuzz_NAME.c with libFuzzer and the sanitizers and runs each for SECONDS (30). The Makefile includes this
# file. Each target keeps its corpus in $(BUILD)/fuzz/corpus/NAME and leaves the inputs that break it in $(BUILD)/fuzz.

FUZZ := $(basename $(notdir $(wildcard tests/fuzz/fuzz_*.c)))
FUZZ_SANITIZE := -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=undefined
SECONDS ?= 30

.PHONY: fuzz
fuzz: setup
	$(Q)$(SUBMAKE) BUILD=$(BUILD)/fuzz CC=$(CLANG) OPT="-O1 -g $(FUZZ_SANITIZE)" AGENT_OPT="-O2 -g" $(FUZZ:%=$(BUILD)/fuzz/%)
	$(Q)tests/fuzz/run $(BUILD)/fuzz $(SECONDS) $(FUZZ)

# The agent's class-file rewriter, with the sanitizers.
REWRITER_OBJ := $(patsubst agent/rewrite/%.c,$(BUILD)/fuzz_rewrite/%.o,$(wildcard agent/rewrite/*.c))
$(BUILD)/fuzz_rewrite/%.o: agent/rewrite/%.c
	@mkdir -p $(@D)
	$(call say,CC,$@)$(CC) $(CPPFLAGS) -Iagent $(CFLAGS) -MMD -MP -c $< -o $@

$(BUILD)/fuzz_classfile: $(BUILD)/tests/fuzz/fuzz_classfile.o $(REWRITER_OBJ) | $(BUILD)/agent/java/$(METHODS_CLASS).class
	$(call say,LD,$@)$(CC) $(CFLAGS) -fsanitize=fuzzer $(LDFLAGS) -o $@ $^

$(BUILD)/fuzz_%: $(BUILD)/tests/fuzz/fuzz_%.o $(LIB_OBJ) $(BLOBS)
	$(call say,LD,$@)$(CC) $(CFLAGS) -fsanitize=fuzzer $(LDFLAGS) -o $@ $^ $(LDLIBS)
