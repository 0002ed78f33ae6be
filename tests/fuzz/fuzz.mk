# SPDX-License-Identifier: Apache-2.0
# Every fuzz_NAME.c with libFuzzer and the sanitizers, SECONDS (30) each; included by the Makefile. What a target has learned
# stays in $(BUILD)/fuzz/corpus/NAME, and an input that breaks it in $(BUILD)/fuzz.

FUZZ := $(basename $(notdir $(wildcard tests/fuzz/fuzz_*.c)))
FUZZ_SANITIZE := -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=undefined
SECONDS ?= 30

.PHONY: fuzz
fuzz: setup
	$(Q)$(SUBMAKE) BUILD=$(BUILD)/fuzz CC=$(CLANG) OPT="-O1 -g $(FUZZ_SANITIZE)" AGENT_OPT="-O2 -g" $(FUZZ:%=$(BUILD)/fuzz/%)
	$(Q)tests/fuzz/run $(BUILD)/fuzz $(SECONDS) $(FUZZ)

$(BUILD)/fuzz_%: $(BUILD)/tests/fuzz/fuzz_%.o $(LIB_OBJ) $(BLOBS)
	$(call say,LD,$@)$(CC) $(CFLAGS) -fsanitize=fuzzer $(LDFLAGS) -o $@ $^ $(LDLIBS)
