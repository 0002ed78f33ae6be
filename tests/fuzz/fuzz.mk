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

$(BUILD)/fuzz_%: $(BUILD)/tests/fuzz/fuzz_%.o $(LIB_OBJ) $(BLOBS)
	$(call say,LD,$@)$(CC) $(CFLAGS) -fsanitize=fuzzer $(LDFLAGS) -o $@ $^ $(LDLIBS)
