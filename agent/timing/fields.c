// SPDX-License-Identifier: Apache-2.0
/* The event type field: who writes chosen fields. */
#include "core/config.h"
#include "core/helper.h"
#include "core/state.h"
#include "events/handlers.h"
#include "java_fields.h"
#include "side.h"
#include "timed.h"
#include "values.h"

#define WRITER_BYTES 1024

static uint32_t writer_of(uint32_t id)
{
	char name[WRITER_BYTES];

	timed_writer(id, name, sizeof(name));
	return types_text(name);
}

/* What is not reported is counted as all others. */
static void on_wrote(JNIEnv *jni, const struct java_write *write)
{
	struct braid_jvm_event d = {.kind = BRAID_JVM_FIELD};

	if (!config_enables(BRAID_EVENT_TYPE(FIELD)) || helper_is_self() || !agent_enter())
		return;
	if (timed_take(write->id)) {
		d.start_ns = d.end_ns = clock_ns();
		d.name = side_name(write->id);
		d.weight = writer_of(write->id);
		d.number = values_publish_write(jni, write);
		jvm_event_emit(&d);
	}
	agent_leave();
}

static void writes_publish(uint32_t id, uint64_t writes)
{
	uint64_t now = clock_ns();

	jvm_event_publish(&(struct braid_jvm_event){.kind = BRAID_JVM_FIELD_WRITES,
						    .start_ns = now,
						    .end_ns = now,
						    .name = side_name(id),
						    .weight = writer_of(id),
						    .value = writes},
			  0);
}

static void publish(const jlong numbers[JAVA_SIDE_NUMBERS])
{
	java_fields_read(numbers, writes_publish);
}

static const struct java_fields_natives natives = {
	.limit = timed_limit, .wrote = on_wrote, .unmeasured = side_unmeasured};

struct side fields_side = {.type = BRAID_EVENT_TYPE(FIELD),
			   .java = &java_fields,
			   .natives = &natives,
			   .publish = publish,
			   .what = "fields are not watched"};
