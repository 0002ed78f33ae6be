# SPDX-License-Identifier: Apache-2.0
# make [all] | demo | test | test-quick | test-long | fuzz | bench | lint | install | clean
# V=1 shows the commands; everything built lands in $(BUILD)/

BUILD ?= build
PREFIX ?= /usr/local
DESTDIR ?=
ifeq ($(origin CC),default)
CC := gcc
endif
CLANG ?= clang-14
BPFTOOL ?= $(firstword $(wildcard /usr/sbin/bpftool) bpftool)
LLVM_OBJCOPY ?= $(CLANG:clang%=llvm-objcopy%)
JAVA_HOME ?= $(patsubst %/bin/javac,%,$(shell readlink -f "$$(command -v javac)" 2>/dev/null))
RELEASE := 0.1.0
COMMIT := $(shell git describe --always --dirty --exclude='*' 2>/dev/null)
VERSION := $(RELEASE)$(COMMIT:%=+g%)

Q := $(if $(V),,@)
say = $(if $(V),,@printf '  %-8s %s\n' "$(1)" "$(patsubst $(BUILD)/%,%,$(2))";)

WARN := -Wall -Wextra -Werror -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla
OPT ?= -O2 -g
CPPFLAGS += -D_GNU_SOURCE -Iinclude -Iuserspace -I$(BUILD) $(patsubst %/,-I%,$(sort $(dir $(SKELS))))
CFLAGS += -std=c11 $(OPT) $(WARN) -fno-omit-frame-pointer -fstack-protector-strong -pthread
LDLIBS += -lbpf -ldw -lelf -lz -lzstd -lxxhash -llzma -liberty -lprotobuf-c -lsqlite3 -lncursesw -ltinfo -lm -pthread
JAVA_INC = -I$(JAVA_HOME)/include -I$(JAVA_HOME)/include/linux
AGENT_OPT ?= $(OPT)
AGENT_CFLAGS = -std=c11 $(AGENT_OPT) $(WARN) -D_GNU_SOURCE -Iinclude -Iagent $(JAVA_INC) -fPIC -fvisibility=hidden -pthread

USER_SRC := $(sort $(wildcard userspace/*.c userspace/*/*.c userspace/*/*/*.c))
USER_OBJ := $(USER_SRC:%.c=$(BUILD)/%.o)
PROTO := $(wildcard userspace/*/proto/*.proto)
PROTO_C := $(patsubst %.proto,$(BUILD)/proto/%.pb-c.c,$(notdir $(PROTO)))
USER_OBJ += $(PROTO_C:.c=.o)
LIB_OBJ := $(filter-out $(BUILD)/userspace/main.o,$(USER_OBJ))
AGENT_SRC := $(sort $(wildcard agent/*.c agent/*/*.c))
AGENT_OBJ := $(AGENT_SRC:%.c=$(BUILD)/%.o) $(BUILD)/agent/methods_class.o $(BUILD)/agent/fields_class.o
BPF_SRC := $(sort $(wildcard bpf/*.bpf.c))
BPF_OBJ := $(BPF_SRC:%.c=$(BUILD)/%.o)
BLOBS := $(BUILD)/agent_blob.o $(BUILD)/html_blob.o $(BUILD)/live_html_blob.o $(BUILD)/queries_blob.o
UNIT_SRC := $(sort $(filter-out tests/unit/agent/%,$(wildcard tests/unit/*/test_*.c)))
UNIT_OBJ := $(UNIT_SRC:%.c=$(BUILD)/%.o)
AGENT_UNIT_SRC := $(sort $(wildcard tests/unit/agent/test_*.c))
AGENT_UNIT_OBJ := $(patsubst %.c,$(BUILD)/%.o,$(wildcard tests/unit/agent/*.c))
AGENT := $(BUILD)/libbraid-agent.so
CONTEXT := $(if $(wildcard $(JAVA_HOME)/bin/javac),$(BUILD)/libbraid-context.so $(BUILD)/braid-context.jar)

.PHONY: all demo test test-quick test-long test-programs test-unit test-unit-braid test-unit-agent test-sanitize test-asan test-tsan test-integration bench lint install clean setup FORCE
.DELETE_ON_ERROR:
.SECONDARY:

all: $(BUILD)/braid $(AGENT) $(CONTEXT)

setup:
	$(Q)tools/setup

# ---- the agent ----
$(BUILD)/agent/%.o: agent/%.c
	@mkdir -p $(@D)
	$(call say,CC,$@)$(CC) $(AGENT_CFLAGS) -MMD -MP -c $< -o $@

# The Java classes that rewritten methods call, for Java 8 and all later ones. The javac of 8 has no --release.
FOR_JAVA_8 = -Xlint:-options $(if $(wildcard $(JAVA_HOME)/lib/modules),--release 8,-source 8 -target 8)
HELPER_CLASSES := $(patsubst %,$(BUILD)/agent/java/java/lang/%.class,BraidMethods BraidFields)
$(HELPER_CLASSES) &: $(shell find agent/java -name '*.java')
	@mkdir -p $(BUILD)/agent/java
	$(call say,JAVAC,$@)$(JAVA_HOME)/bin/javac $(FOR_JAVA_8) -d $(BUILD)/agent/java $^

$(BUILD)/agent/methods_class.o: $(BUILD)/agent/java/java/lang/BraidMethods.class
	$(call blob,methods_class)

$(BUILD)/agent/fields_class.o: $(BUILD)/agent/java/java/lang/BraidFields.class
	$(call blob,fields_class)

$(AGENT): $(AGENT_OBJ) agent/agent.map
	$(call say,LD,$@)$(CC) -shared -pthread -Wl,--version-script=agent/agent.map -Wl,-z,defs -Wl,-z,now -Wl,--build-id -Wl,-soname,libbraid-agent.so -o $@ $(AGENT_OBJ)

# ---- BraidContext, which programs use ----
# By TLS descriptors, if the compiler has them: a variable of this size then has a fixed place in each thread.
DESCRIPTORS = $(shell $(CC) -mtls-dialect=gnu2 -x c -c /dev/null -o /dev/null 2>/dev/null && echo -mtls-dialect=gnu2)
$(BUILD)/libbraid-context.so: context/context.c context/context.map include/braid/context.h
	@mkdir -p $(@D)
	$(call say,CC,$@)$(CC) $(AGENT_CFLAGS) $(DESCRIPTORS) -shared -Wl,--version-script=context/context.map -Wl,-z,defs -Wl,-z,now -Wl,--build-id -Wl,-soname,libbraid-context.so -o $@ $<

CONTEXT_SRC := $(sort $(wildcard context/*/*/*.java))
$(BUILD)/braid-context.jar: $(CONTEXT_SRC)
	@mkdir -p $(BUILD)/context
	$(call say,JAR,$@)$(JAVA_HOME)/bin/javac $(FOR_JAVA_8) -d $(BUILD)/context $^ && $(JAVA_HOME)/bin/jar cf $@ -C $(BUILD)/context braid

# ---- the kernel side ----
$(BUILD)/bpf/%.bpf.o: bpf/%.bpf.c tools/slim-bpf
	@mkdir -p $(@D)
	$(call say,BPF,$@)$(CLANG) -O2 -g -target bpf -mcpu=v3 -D__TARGET_ARCH_x86 -Wall -Wextra -Werror -Wno-unused-parameter -I/usr/include/$(shell $(CC) -print-multiarch) -Iinclude -Ibpf -MMD -MP -c $< -o $@
	$(if $(BPF_LINES),,$(Q)LLVM_OBJCOPY=$(LLVM_OBJCOPY) BPFTOOL=$(BPFTOOL) tools/slim-bpf $@)

$(BUILD)/%.skel.h: $(BUILD)/bpf/%.bpf.o
	$(call say,SKEL,$@)$(BPFTOOL) gen skeleton $< name $(subst -,_,$*)_bpf > $@

SKELS := $(patsubst bpf/%.bpf.c,$(BUILD)/%.skel.h,$(BPF_SRC))

# ---- the program ----
# Rewritten only when its content changes.
$(BUILD)/version.h: FORCE
	@mkdir -p $(@D)
	@echo '#define BRAID_VERSION "$(VERSION)"' | cmp -s - $@ || echo '#define BRAID_VERSION "$(VERSION)"' > $@

# Formats of other tools that are protobuf messages.
vpath %.proto $(sort $(dir $(PROTO)))
$(BUILD)/proto/%.pb-c.c: %.proto
	@mkdir -p $(@D)
	$(call say,PROTO,$@)protoc-c --c_out=$(@D) -I$(<D) $<

$(BUILD)/proto/%.o: $(BUILD)/proto/%.c
	$(call say,CC,$@)$(CC) $(CFLAGS) -c $< -o $@

$(BUILD)/userspace/%.o: userspace/%.c | $(SKELS) $(PROTO_C) $(BUILD)/version.h
	@mkdir -p $(@D)
	$(call say,CC,$@)$(CC) $(CPPFLAGS) $(CFLAGS) -MMD -MP -c $< -o $@

# Files embedded in the program, as symbols NAME_blob_start and NAME_blob_end.
define blob
	$(call say,BLOB,$@)printf '.section .rodata\n.global $(1)_blob_start, $(1)_blob_end\n.balign 16\n$(1)_blob_start:\n.incbin "$<"\n$(1)_blob_end:\n.byte 0\n.section .note.GNU-stack,"",@progbits\n' | $(CC) -x assembler -c - -o $@
endef

$(BUILD)/agent_blob.o: $(AGENT)
	$(call blob,agent)

PAGE := userspace/page/web
$(BUILD)/page.html: tools/page $(PAGE)/page.html $(wildcard $(PAGE)/*.css $(PAGE)/*.js)
	@mkdir -p $(@D)
	$(Q)tools/page $(PAGE) > $@

$(BUILD)/live.html: tools/page $(PAGE)/page.html $(wildcard $(PAGE)/*.css $(PAGE)/*.js)
	@mkdir -p $(@D)
	$(Q)tools/page $(PAGE) live > $@

$(BUILD)/html_blob.o: $(BUILD)/page.html
	$(call blob,html)

$(BUILD)/live_html_blob.o: $(BUILD)/live.html
	$(call blob,live_html)

# The views and ready queries of `braid query`: each behind a line with its name.
QUERIES := $(sort $(wildcard userspace/query/views/*.sql)) $(sort $(wildcard userspace/query/ready/*.sql))
$(BUILD)/queries.sql: $(QUERIES)
	@mkdir -p $(@D)
	$(Q)for f in $(QUERIES); do d=$$(dirname $$f); echo "@$${d##*/} $$(basename $$f .sql)"; cat $$f; done > $@

$(BUILD)/queries_blob.o: $(BUILD)/queries.sql
	$(call blob,queries)

$(BUILD)/braid: $(USER_OBJ) $(BLOBS)
	$(call say,LD,$@)$(CC) $(LDFLAGS) -o $@ $^ $(LDLIBS)

# ---- tests ----
# Two programs: one links everything except main(), the other the agent and a fake JVM. Their main() does for Check what
# it does too slowly.
CHECK_LIBS = $(shell pkg-config --libs check)
UNIT_WRAP := -Wl,-z,now -Wl,--wrap=_mark_point,--wrap=waitpid

$(BUILD)/tests/%.o: tests/%.c | $(SKELS) $(PROTO_C)
	@mkdir -p $(@D)
	$(call say,CC,$@)$(CC) $(CPPFLAGS) -I. -Itests -Iagent -I$(@D) $(CFLAGS) -Wno-missing-field-initializers -MMD -MP -c $< -o $@

# A test is compiled more often than it runs; only the walker, which its tests include, is worth more.
$(filter-out $(BUILD)/tests/unit/kernel/%,$(UNIT_OBJ) $(AGENT_UNIT_OBJ)): private CFLAGS += -O0

$(BUILD)/tests/unit/suites.h: $(UNIT_SRC)
$(BUILD)/tests/unit/agent/suites.h: $(AGENT_UNIT_SRC)
$(BUILD)/tests/unit/suites.h $(BUILD)/tests/unit/agent/suites.h:
	@mkdir -p $(@D)
	$(Q)for f in $(basename $(notdir $^)); do echo "SUITE($$f)"; done > $@

$(BUILD)/tests/unit/main.o: $(BUILD)/tests/unit/suites.h

$(BUILD)/unit: $(UNIT_OBJ) $(BUILD)/tests/unit/main.o $(LIB_OBJ) $(BLOBS)
	$(call say,LD,$@)$(CC) $(CFLAGS) $(LDFLAGS) $(UNIT_WRAP) -o $@ $^ $(LDLIBS) $(CHECK_LIBS)

# The tests intercept allocations and locks, and the agent finds the fake VM's tables by dlsym().
AGENT_UNIT_WRAP := malloc calloc realloc free pthread_mutex_lock
$(BUILD)/tests/unit/agent/%.o: CPPFLAGS += $(JAVA_INC)

$(BUILD)/tests/unit/agent/main.o: tests/unit/main.c $(BUILD)/tests/unit/agent/suites.h
	$(call say,CC,$@)$(CC) $(CPPFLAGS) -I$(@D) $(CFLAGS) -c $< -o $@

# Objects that the tests of native allocations load: their slots are relocated at once, and read-only afterwards.
OBJECTS_DIR := $(BUILD)/tests/unit/agent/objects
OBJECTS := $(addprefix $(OBJECTS_DIR)/,calls.so calls_pages.so defines.so)
$(OBJECTS_DIR)/calls_pages.so: private CPPFLAGS = -DPAGES=2
$(OBJECTS_DIR)/calls.so $(OBJECTS_DIR)/calls_pages.so: tests/unit/agent/objects/calls.c
$(OBJECTS_DIR)/defines.so: tests/unit/agent/objects/defines.c
$(OBJECTS):
	@mkdir -p $(@D)
	$(call say,CC,$@)$(CC) -std=c11 -O1 -fno-builtin -Wall -Wextra -Werror $(CPPFLAGS) -fPIC -shared -Wl,-z,now,-z,relro -o $@ $<

$(BUILD)/unit-agent: | $(OBJECTS)
$(BUILD)/unit-agent: $(AGENT_UNIT_OBJ) $(BUILD)/tests/unit/agent/main.o $(AGENT_OBJ)
	$(call say,LD,$@)$(CC) $(CFLAGS) $(LDFLAGS) -pthread $(UNIT_WRAP) $(AGENT_UNIT_WRAP:%=-Wl,--wrap=%) -Wl,--export-dynamic-symbol=gHotSpot* -o $@ $^ $(CHECK_LIBS)

# Integration tests: one shell script per test, which Check runs against real JVMs on the real kernel.
$(BUILD)/integration: $(patsubst %.c,$(BUILD)/%.o,$(wildcard tests/integration/*.c))
	$(call say,LD,$@)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(CHECK_LIBS)

JAVA_TEST_SRC := $(sort $(wildcard tests/integration/*/*.java))
$(BUILD)/java/.made: $(JAVA_TEST_SRC)
	@mkdir -p $(@D)
	$(call say,JAVAC,$(@D))$(JAVA_HOME)/bin/javac -nowarn -h $(@D) -d $(@D) $^ && touch $@

JNI_TEST_SRC := $(sort $(wildcard tests/integration/*/jni/*.c))
JNI_TEST_LIB := $(foreach src,$(JNI_TEST_SRC),$(BUILD)/java/lib$(basename $(notdir $(src))).so)
vpath %.c $(sort $(dir $(JNI_TEST_SRC)))
$(JNI_TEST_LIB): $(BUILD)/java/lib%.so: %.c $(BUILD)/java/.made
	$(call say,CC,$@)$(CC) -std=c11 -O2 -g -fomit-frame-pointer -Wall -Wextra -Werror $(JAVA_INC) -I$(BUILD)/java -shared -fPIC -o $@ $<

test-programs: all $(BUILD)/integration $(BUILD)/java/.made $(JNI_TEST_LIB)

# Beside each other: tests of the agent wait for most of their time.
test-unit: test-unit-braid test-unit-agent
test-unit-braid: $(BUILD)/unit
	$(Q)$(BUILD)/unit
test-unit-agent: $(BUILD)/unit-agent
	$(Q)$(BUILD)/unit-agent

# TESTS="gc attach_first 'vthread*'" selects by subject (a directory) or by name, CLASS=quick,long by class (quick,
# normal and long; the script's head names it); JOBS=1 runs one at a time, TIMES=20 repeats each, BUDGET=100 starts what
# ends within so many seconds.
# What pyenv calls python3 is a script that takes ten times as long to start as the program.
PYTHON_DIR = $(shell python3 -c 'import os, sys; print(os.path.dirname(sys.executable))')
test-integration: test-programs
	$(Q)PATH=$(PYTHON_DIR):$$PATH BUILD=$(abspath $(BUILD)) JAVA_HOME=$(JAVA_HOME) $(BUILD)/integration $(CLASS:%=-c %) $(JOBS:%=-j %) $(TIMES:%=-n %) $(BUDGET:%=-b %) $(TESTS)

# The same unit tests under the sanitizers, compiled by clang, as the program is by gcc. The ring producer's threads run
# under the thread sanitizer, which must see all of them in one process and at the addresses that it expects. Line numbers
# are the only debug information that reports need. Without optimisation compiling takes a third of the time, and the tests
# as long. Check's own process frees memory with each test; a child that looks for leaks reads what is kept of it.
SANITIZE := -fsanitize=address,undefined -fno-sanitize-recover=undefined -DBRAID_SANITIZED
ASAN := CK_TIMEOUT_MULTIPLIER=10 ASAN_OPTIONS=detect_leaks=1:allocator_may_return_null=1:quarantine_size_mb=16
SANITIZED = --no-print-directory SKELS="$(SKELS)" BLOBS="$(BLOBS)"
test-sanitize: test-asan test-tsan

# The kernel programs and what is embedded in the program are those of the usual build.
test-asan: $(SKELS) $(BLOBS)
	$(Q)$(ASAN) $(MAKE) $(SANITIZED) CC=$(CLANG) BUILD=$(BUILD)/asan OPT="-O0 -g1 $(SANITIZE)" test-unit

test-tsan: $(SKELS)
	$(Q)$(MAKE) $(SANITIZED) BUILD=$(BUILD)/tsan OPT="-O1 -g1 -fsanitize=thread" $(BUILD)/tsan/unit-agent
	$(Q)CK_FORK=no setarch -R $(BUILD)/tsan/unit-agent test_ring test_intervals test_malloc

# As many jobs as there are CPUs, unless this make has its own number.
SUBMAKE = $(MAKE) --no-print-directory $(if $(findstring jobserver,$(MAKEFLAGS)),,-j$(shell nproc))

# Everything that ends within ten minutes on two CPUs; each part ends with Check's own summary.
test: setup
	+$(Q)$(SUBMAKE) -Otarget test-unit test-programs
	+$(Q)$(SUBMAKE) test-integration

# A minute's worth of it, for use while working; then the sanitizers, and the tests that are too long for `make test`.
test-quick: setup
	+$(Q)$(SUBMAKE) test-unit
	+$(Q)$(SUBMAKE) test-integration CLASS=quick

test-long: setup
	+$(Q)$(SUBMAKE) -Otarget test-sanitize
	+$(Q)$(SUBMAKE) test-integration CLASS=long

# ---- the rest ----
demo: setup
	$(Q)$(MAKE) --no-print-directory all
	$(Q)BUILD=$(abspath $(BUILD)) JAVA_HOME=$(JAVA_HOME) tools/demo

bench:
	$(Q)tools/setup bench
	$(Q)$(MAKE) --no-print-directory all bench-programs test-programs
	$(Q)BUILD=$(abspath $(BUILD)) JAVA_HOME=$(JAVA_HOME) tests/bench/run

lint: all
	$(Q)BUILD=$(BUILD) JAVA_HOME=$(JAVA_HOME) tools/lint

install: all
	install -D -m 755 $(BUILD)/braid $(DESTDIR)$(PREFIX)/bin/braid
	install -D -m 644 $(AGENT) $(DESTDIR)$(PREFIX)/lib/braid/libbraid-agent.so
	$(if $(CONTEXT),install -D -m 644 -t $(DESTDIR)$(PREFIX)/lib/braid $(CONTEXT))
	install -D -m 644 docs/man/braid.1 $(DESTDIR)$(PREFIX)/share/man/man1/braid.1

clean:
	$(Q)rm -rf $(BUILD)

-include tests/bench/bench.mk
-include tests/diagnose/diagnose.mk
-include tests/fuzz/fuzz.mk
-include tests/matrix/matrix.mk
-include tests/oracle/oracle.mk
-include tests/rewrite/rewrite.mk
-include tests/soak/soak.mk
-include tests/speedscope/speedscope.mk
-include tools/capture/capture.mk
-include $(shell find $(BUILD) -name '*.d' 2>/dev/null)
