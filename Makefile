# SPDX-License-Identifier: Apache-2.0
# make [all] | demo | test | bench | lint | install | clean        V=1 shows the commands; everything built lands in $(BUILD)/

BUILD ?= build
PREFIX ?= /usr/local
DESTDIR ?=
CC ?= gcc
CLANG ?= clang-14
BPFTOOL ?= $(firstword $(wildcard /usr/sbin/bpftool) bpftool)
JAVA_HOME ?= $(patsubst %/bin/javac,%,$(shell readlink -f "$$(command -v javac)" 2>/dev/null))
VERSION := $(shell git describe --tags --always --dirty 2>/dev/null || echo unknown)

Q := $(if $(V),,@)
say = $(if $(V),,@printf '  %-8s %s\n' "$(1)" "$(patsubst $(BUILD)/%,%,$(2))";)

WARN := -Wall -Wextra -Werror -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla
OPT ?= -O2 -g
CPPFLAGS += -D_GNU_SOURCE -DBRAID_VERSION='"$(VERSION)"' -Iinclude -Iuserspace -I$(BUILD)
CFLAGS += -std=c11 $(OPT) $(WARN) -fno-omit-frame-pointer -fstack-protector-strong
LDLIBS += -lbpf -ldw -lelf -lzstd -lxxhash -llzma -liberty -lm
JAVA_INC = -I$(JAVA_HOME)/include -I$(JAVA_HOME)/include/linux
AGENT_CFLAGS = -std=c11 $(OPT) $(WARN) -D_GNU_SOURCE -DBRAID_VERSION='"$(VERSION)"' -Iinclude $(JAVA_INC) -fPIC -fvisibility=hidden -pthread

USER_SRC := $(sort $(wildcard userspace/*/*.c))
USER_OBJ := $(USER_SRC:%.c=$(BUILD)/%.o)
LIB_OBJ := $(filter-out $(BUILD)/userspace/cli/main.o,$(USER_OBJ))
AGENT_SRC := $(sort $(wildcard agent/*.c))
AGENT_OBJ := $(AGENT_SRC:%.c=$(BUILD)/%.o)
BPF_SRC := $(sort $(wildcard bpf/*.bpf.c))
BPF_OBJ := $(BPF_SRC:%.c=$(BUILD)/%.o)
BLOBS := $(BUILD)/agent_blob.o $(BUILD)/html_blob.o
UNIT_SRC := $(sort $(wildcard tests/unit/test_*.c))
UNIT_OBJ := $(UNIT_SRC:%.c=$(BUILD)/%.o)
AGENT := $(BUILD)/libbraid-agent.so

.PHONY: all demo test test-unit test-sanitize test-integration bench lint install clean setup
.DELETE_ON_ERROR:
.SECONDARY:

all: $(BUILD)/braid $(AGENT)

setup:
	$(Q)tools/setup

# ---- the agent ----
$(BUILD)/agent/%.o: agent/%.c
	@mkdir -p $(@D)
	$(call say,CC,$@)$(CC) $(AGENT_CFLAGS) -MMD -MP -c $< -o $@

$(AGENT): $(AGENT_OBJ) agent/agent.map
	$(call say,LD,$@)$(CC) -shared -pthread -Wl,--version-script=agent/agent.map -Wl,-z,defs -Wl,-z,now -o $@ $(AGENT_OBJ)

# ---- the kernel side ----
$(BUILD)/bpf/%.bpf.o: bpf/%.bpf.c
	@mkdir -p $(@D)
	$(call say,BPF,$@)$(CLANG) -O2 -g -target bpf -mcpu=v3 -D__TARGET_ARCH_x86 -Wall -Wextra -Werror -Wno-unused-parameter -I/usr/include/$(shell $(CC) -dumpmachine) -Iinclude -Ibpf -MMD -MP -c $< -o $@

$(BUILD)/%.skel.h: $(BUILD)/bpf/%.bpf.o
	$(call say,SKEL,$@)$(BPFTOOL) gen skeleton $< name $(subst -,_,$*)_bpf > $@

SKELS := $(patsubst bpf/%.bpf.c,$(BUILD)/%.skel.h,$(BPF_SRC))

# ---- the program ----
$(BUILD)/userspace/%.o: userspace/%.c | $(SKELS)
	@mkdir -p $(@D)
	$(call say,CC,$@)$(CC) $(CPPFLAGS) $(CFLAGS) -MMD -MP -c $< -o $@

# Files that travel inside the program: symbols NAME_blob_start and NAME_blob_end.
define blob
	$(call say,BLOB,$@)printf '.section .rodata\n.global $(1)_blob_start, $(1)_blob_end\n.balign 16\n$(1)_blob_start:\n.incbin "$<"\n$(1)_blob_end:\n.byte 0\n.section .note.GNU-stack,"",@progbits\n' | $(CC) -x assembler -c - -o $@
endef

$(BUILD)/agent_blob.o: $(AGENT)
	$(call blob,agent)

$(BUILD)/html_blob.o: userspace/export/flamegraph.html
	@mkdir -p $(@D)
	$(call blob,html)

$(BUILD)/braid: $(USER_OBJ) $(BLOBS)
	$(call say,LD,$@)$(CC) $(LDFLAGS) -o $@ $^ $(LDLIBS)

# ---- tests ----
$(BUILD)/tests/%.o: tests/%.c | $(SKELS)
	@mkdir -p $(@D)
	$(call say,CC,$@)$(CC) $(CPPFLAGS) -Itests $(CFLAGS) -Wno-unused-parameter -MMD -MP -c $< -o $@

$(BUILD)/tests/unit/suites.h: $(UNIT_SRC)
	@mkdir -p $(@D)
	$(Q)for f in $(basename $(notdir $(UNIT_SRC))); do echo "SUITE($$f)"; done > $@.new; cmp -s $@.new $@ 2>/dev/null || mv $@.new $@; rm -f $@.new; touch $@

$(BUILD)/tests/unit/main.o: tests/unit/main.c $(BUILD)/tests/unit/suites.h

CHECK_LIBS = $(shell pkg-config --libs check)
$(BUILD)/unit: $(UNIT_OBJ) $(BUILD)/tests/unit/main.o $(LIB_OBJ) $(BLOBS)
	$(call say,LD,$@)$(CC) $(LDFLAGS) -o $@ $^ $(LDLIBS) $(CHECK_LIBS)

$(BUILD)/integration: $(BUILD)/tests/integration/main.o
	$(call say,LD,$@)$(CC) $(LDFLAGS) -o $@ $^ $(CHECK_LIBS)

-include tests/tests.mk

test-unit: $(BUILD)/unit
	$(Q)$(BUILD)/unit

test-integration: all $(BUILD)/integration
	$(Q)BUILD=$(abspath $(BUILD)) JAVA_HOME=$(JAVA_HOME) $(BUILD)/integration

# ---- the rest ----
clean:
	$(Q)rm -rf $(BUILD)

-include $(shell find $(BUILD) -name '*.d' 2>/dev/null)
