#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# docs/jvmti-coverage.md has a row for everything, and agrees with the agent and the commands.
# class: quick
# shellcheck disable=SC2016 # names between backticks
source "$(dirname "$0")/../lib.sh"

root=$(readlink -f "$LIB_DIR/../..")
coverage()
{
	python3 "$TEST_DIR/coverage.py" "$1" "$BUILD/braid" "$JAVA_HOME/include/jvmti.h" 2>errors
}
coverage "$root" || fail "$(cat errors)"

copy()
{
	rm -rf copy
	mkdir -p copy/docs copy/include/braid
	cp -r "$root/agent" copy/
	cp "$root/include/braid/event_config.h" copy/include/braid/
	cp "$root/docs/jvmti-coverage.md" copy/docs/
}
expect()
{
	grep -q -- "$1" errors || fail "expected '$1': $(cat errors)"
}

# What is wrong on the page is detected. Each line has a change of it, as sed makes it, and what is said of that.
copy
while IFS=$'\t' read -r change said; do
	sed -i "$change" copy/docs/jvmti-coverage.md
	printf '%s\n' "$said" >>expected
done <<'END'
/`GetMaxLocals`/d	Functions: GetMaxLocals has no row
/`ThreadStart`/s/| used |/| kernel side |/	Events: ThreadStart is said to be kernel side
/`GetPhase`/s/`record`/`record`, `record --no-such-option`/	GetPhase: `record --no-such-option` is not in --help
/`GetVersionNumber`/s/`record`, //	Functions: GetVersionNumber: With lacks record
/`GetLoadedClasses`/s/`record -e field`, //	Functions: GetLoadedClasses: With lacks record -e field: switch_begin
/`FollowReferences` | Heap/s/`heap`, //	Functions: FollowReferences: With lacks heap: roots_walk
/`GetNamedModule`/s/`record -e class`/&, `record -e gc`/	Functions: GetNamedModule: record -e gc does not bring it
/`SetTag`/s/`heap`/`record`, &/	Functions: SetTag: record does not bring it
/`NativeMethodBind` | 8/s/, `record -e malloc`//	Events: NativeMethodBind: With lacks record -e malloc
/`can_tag_objects`/s/`heap --dump`, //	Capabilities: can_tag_objects: With lacks heap --dump
/`can_support_virtual_threads`/s/, `record -e offcpu`//	Capabilities: can_support_virtual_threads: With lacks record -e offcpu
s/has `gc`, `jit` and/has `gc` and/	a recording without -e has gc
s/`loads.c`, //	mutexes: loads.c: not named
/^| `jni_refs.c`/d	mutexes: jni_refs.c: the JVM is called while its mutex is held
/^| `mem/d;$a | `mem.c` | JNI | `VMInit` |	mutexes: mem.c: the JVM is not called while its mutex is held
/^| `live.c`/s/`FollowReferences`/a walk/	events/live.c: FollowReferences is called while its mutex is held
/^| `objects.c`/s/`ThreadStart`/a start/	vm/objects.c: the handler of ThreadStart takes it
/^| `agent.c`/s/`VMInit`/&, `VMStart`/	agent.c: the handler of VMStart does not take it
s/published: `VMStart`, /published: /	the handler of VMStart waits
s/^a tenth of/`VMInit`, `ThreadEnd`, &/	the handler of ThreadEnd does not wait
/`AddModuleOpens`/s/two/three/	Java classes in the agent: 2 there are, the page says three
/`GetEnvironmentLocalStorage`/s/three/one/	environments: 3 there are, the page says one
/`GetCurrentThread`/s/ThreadStart/a start/	GetCurrentThread: the handler of ThreadStart calls it
/`DATA_RESET_REQUEST`/s/, native allocations//	DATA_RESET_REQUEST: does malloc_kind forget
/`Allocate`/s/malloc/memory/	Allocate: is the agent's memory malloc's
/`Allocate`/s/roots/others/	Allocate: does events/heap_copy.c map memory
/`OBJECT_FREE`/s/`ObjectFree`/-/	OBJECT_FREE: JVM TI has ObjectFree
END
! coverage copy || fail "nothing was noticed"
while read -r said; do
	expect "$said"
done <expected

# So is what changes in the agent.
copy
echo 'void more(jvmtiEnv *e) { (*e)->PopFrame(e, 0); }' >copy/agent/more.c
echo 'static void more(void) { free(0); }' >>copy/agent/events/gc.c
sed -i '/^void agent_leave/,/^}/s/atomic_fetch_sub/(void)malloc(1);&/' copy/agent/core/state.c
sed -i '/^static void JNICALL resource_on/,/^}/s/agent_leave/live_hold(NULL);&/' copy/agent/events/resource.c
sed -i '/^static void JNICALL natives_on/,/^}/s/agent_leave/publish_let_read(1);&/' copy/agent/events/natives.c
sed -i '/^static void flush/,/^}/s/if (count)/(*agent.jvmti)->GetNamedModule(agent.jvmti, NULL, "", NULL);&/' copy/agent/events/virtual.c
sed -i '/^static uint32_t type_define/,/^}/s/if (id >/agent_release(NULL);&/' copy/agent/events/types.c
sed -i '/BRAID_EVENT_TYPE(RESOURCE)}}/s/RESOURCE/GC/' copy/agent/events/resource.c
echo 'extern const char thirds_class_blob_start[];' >>copy/agent/timing/fields.c
! coverage copy || fail "nothing was noticed"
expect 'PopFrame is said to be not used'
expect 'events/gc.c runs in pauses and uses free'
expect 'gc_on_start runs in pauses and uses malloc: agent_leave'
expect 'events/live.c: the handler of ResourceExhausted takes it'
expect 'types.c: the JVM is called while its mutex is held'
expect 'the handler of NativeMethodBind waits'
expect 'GetNamedModule: With lacks record -e vthread: flush'
expect 'ResourceExhausted: With lacks record -e gc'
expect 'ResourceExhausted: record -e resource does not bring it'
expect 'Java classes in the agent: 3 there are'

copy
cp "$root/docs/matrix.md" copy/docs/
cp "$root/README.md" copy/
sed 's/of three other kernels/other kernels/' "$root/docs/accuracy.md" >copy/docs/accuracy.md
! coverage copy || fail "nothing was noticed"
expect 'docs/accuracy.md does not say of the matrix'
cp "$root/docs/accuracy.md" copy/docs/
sed 's/[0-9]* combinations/many combinations/' "$root/README.md" >copy/README.md
! coverage copy || fail "nothing was noticed"
expect 'README.md does not say of the matrix'
