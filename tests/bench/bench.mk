# SPDX-License-Identifier: Apache-2.0
# Builds the programs that the benchmarks run, in $(BUILD)/bench/. The Makefile includes this file.

.PHONY: bench-programs

$(BUILD)/tests/bench/%.bpf.o: tests/bench/%.bpf.c
	@mkdir -p $(@D)
	$(call say,BPF,$@)$(CLANG) -O2 -g -target bpf -mcpu=v3 -Wall -Wextra -Werror -I/usr/include/$(shell $(CC) -print-multiarch) -Iinclude -MMD -MP -c $< -o $@

$(BUILD)/bench/%.skel.h: $(BUILD)/tests/bench/%.bpf.o
	@mkdir -p $(@D)
	$(call say,SKEL,$@)$(BPFTOOL) gen skeleton $< name $*_bpf > $@

# LTTng-UST is compared with, but not required.
ifneq ($(wildcard /usr/include/lttng/tracepoint.h /usr/include/$(shell $(CC) -print-multiarch)/lttng/tracepoint.h),)
BENCH_LTTNG_OBJ := $(BUILD)/tests/bench/lttng.o
BENCH_LTTNG_LIBS := -llttng-ust -ldl
$(BUILD)/tests/bench/ring.o $(BUILD)/tests/bench/lttng.o: CPPFLAGS += -DWITH_LTTNG -Itests/bench
$(BUILD)/tests/bench/lttng.o: WARN := -Wall
endif

$(BUILD)/tests/bench/ring.o: CPPFLAGS += -I$(BUILD)/bench
$(BUILD)/tests/bench/ring.o: $(BUILD)/bench/hit.skel.h

$(BUILD)/bench/ring: $(BUILD)/tests/bench/ring.o $(BENCH_LTTNG_OBJ) $(LIB_OBJ) $(BUILD)/agent/core/ring.o $(BLOBS)
	@mkdir -p $(@D)
	$(call say,LD,$@)$(CC) $(LDFLAGS) -pthread -o $@ $^ $(LDLIBS) $(BENCH_LTTNG_LIBS)

$(BUILD)/bench/program_time: $(BUILD)/tests/bench/program_time.o
	@mkdir -p $(@D)
	$(call say,LD,$@)$(CC) $(LDFLAGS) -o $@ $^ -lbpf

$(BUILD)/bench/cfi $(BUILD)/bench/lanes $(BUILD)/bench/frames $(BUILD)/bench/longtrace: $(BUILD)/bench/%: $(BUILD)/tests/bench/%.o $(LIB_OBJ) $(BLOBS)
	@mkdir -p $(@D)
	$(call say,LD,$@)$(CC) $(LDFLAGS) -o $@ $^ $(LDLIBS)

BENCH_JAVA_SRC := $(sort $(wildcard tests/bench/java/*.java))
$(BUILD)/bench/java/.made: $(BENCH_JAVA_SRC)
	@mkdir -p $(@D)
	$(call say,JAVAC,$(@D))$(JAVA_HOME)/bin/javac -nowarn -d $(@D) $^ && touch $@

BENCH_BPF := parts tick switch_floor
$(BENCH_BPF:%=$(BUILD)/tests/bench/%.o): CPPFLAGS += -I$(BUILD)/bench
$(BENCH_BPF:%=$(BUILD)/tests/bench/%.o): $(BUILD)/tests/bench/%.o: $(BUILD)/bench/%.skel.h

$(BENCH_BPF:%=$(BUILD)/bench/%): $(BUILD)/bench/%: $(BUILD)/tests/bench/%.o
	@mkdir -p $(@D)
	$(call say,LD,$@)$(CC) $(LDFLAGS) -o $@ $^ -lbpf

$(BUILD)/bench/gaps $(BUILD)/bench/switches: $(BUILD)/bench/%: $(BUILD)/tests/bench/%.o
	@mkdir -p $(@D)
	$(call say,LD,$@)$(CC) $(LDFLAGS) -pthread -o $@ $^

# without the header that javac writes
STACKCOST_CFLAGS = -std=c11 -O2 -g -fomit-frame-pointer $(WARN) -Wno-missing-prototypes -D_GNU_SOURCE $(JAVA_INC) -pthread
$(BUILD)/bench/stackcost: tests/bench/stackcost.c
	@mkdir -p $(@D)
	$(call say,CC,$@)$(CC) $(STACKCOST_CFLAGS) -o $@ $<

$(BUILD)/bench/libstackcost.so: tests/bench/stackcost.c
	@mkdir -p $(@D)
	$(call say,CC,$@)$(CC) $(STACKCOST_CFLAGS) -fPIC -shared -o $@ $<

$(BUILD)/bench/libfieldwatch.so: STACKCOST_CFLAGS += -Iagent
$(BUILD)/bench/libjnicost.so $(BUILD)/bench/libfieldwatch.so: $(BUILD)/bench/lib%.so: tests/bench/%.c
	@mkdir -p $(@D)
	$(call say,CC,$@)$(CC) $(STACKCOST_CFLAGS) -fPIC -shared -o $@ $<

$(BUILD)/bench/libswitchable.so: tests/bench/switchable.c
	@mkdir -p $(@D)
	$(call say,CC,$@)$(CC) -std=c11 -O2 -g $(WARN) -D_GNU_SOURCE -pthread -fPIC -shared -o $@ $< -lbpf

# jvmti.h has a function without a prototype.
$(BUILD)/bench/libheapwalk.so: tests/bench/heapwalk.c
	@mkdir -p $(@D)
	$(call say,CC,$@)$(CC) $(STACKCOST_CFLAGS) -Wno-strict-prototypes -fPIC -shared -o $@ $<

bench-programs: $(BUILD)/bench/longtrace $(BUILD)/bench/ring $(BUILD)/bench/program_time $(BUILD)/bench/cfi $(BUILD)/bench/lanes $(BUILD)/bench/frames $(BUILD)/bench/java/.made $(BENCH_BPF:%=$(BUILD)/bench/%) $(BUILD)/bench/gaps $(BUILD)/bench/switches $(BUILD)/bench/stackcost $(BUILD)/bench/libstackcost.so $(BUILD)/bench/libjnicost.so $(BUILD)/bench/libfieldwatch.so $(BUILD)/bench/libheapwalk.so $(BUILD)/bench/libswitchable.so

# Parts of `make bench`: the time that a recording takes to begin and to end; the cost of each kind of event; stacks
# compared with other tools.
BENCH_PARTS := bench-start bench-events bench-stacks
.PHONY: $(BENCH_PARTS)
$(BENCH_PARTS): bench-%:
	$(Q)tools/setup bench
	$(Q)$(MAKE) --no-print-directory all bench-programs
	$(Q)BUILD=$(abspath $(BUILD)) JAVA_HOME=$(JAVA_HOME) tests/bench/run $*
