# SPDX-License-Identifier: Apache-2.0
# The tools that make and check the snapshots of tests/snapshots: make capture, then $(BUILD)/capture and
# $(BUILD)/rewalk.

CAPTURE_SRC := tools/capture/capture.c tools/capture/ptrace.c tools/capture/step.c tools/capture/target.c
CAPTURE_OBJ := $(CAPTURE_SRC:%.c=$(BUILD)/%.o)

.PHONY: capture prove-steps
capture: $(BUILD)/capture $(BUILD)/rewalk $(BUILD)/liblayout.so

# Every instruction: JDKS="17 21", STEPS=1000000, TABLE=docs/steps.md
prove-steps: capture
	$(Q)BUILD=$(abspath $(BUILD)) JAVA_HOME=$(JAVA_HOME) tools/capture/prove

$(BUILD)/tools/capture/layout_agent.o: tools/capture/layout_agent.c
	@mkdir -p $(@D)
	$(call say,CC,$@)$(CC) $(AGENT_CFLAGS) -I. -Iagent -MMD -MP -c $< -o $@

$(BUILD)/tools/%.o: tools/%.c | $(SKELS)
	@mkdir -p $(@D)
	$(call say,CC,$@)$(CC) $(CPPFLAGS) -I. $(CFLAGS) -MMD -MP -c $< -o $@

$(BUILD)/capture: $(CAPTURE_OBJ) $(LIB_OBJ) $(BLOBS)
	$(call say,LD,$@)$(CC) $(LDFLAGS) -o $@ $^ $(LDLIBS)

$(BUILD)/rewalk: $(BUILD)/tools/capture/rewalk.o
	$(call say,LD,$@)$(CC) $(LDFLAGS) -o $@ $^

# Only the parts of the agent that find the layout. JNIEXPORT keeps its entry point visible.
$(BUILD)/liblayout.so: $(BUILD)/tools/capture/layout_agent.o $(BUILD)/agent/vm/layout.o $(BUILD)/agent/vm/vmstructs.o $(BUILD)/agent/vm/mem.o $(BUILD)/agent/core/state.o $(BUILD)/agent/core/link.o
	$(call say,LD,$@)$(CC) -shared -pthread -Wl,-z,defs -o $@ $^ -ldl
