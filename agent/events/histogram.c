// SPDX-License-Identifier: Apache-2.0
/*
 * The event kind heap: histograms of the heap by class. A histogram stops the JVM while HotSpot goes through all
 * objects, so it is announced with an estimate of that time, and not taken when the estimate is too long.
 *
 * The class of an object is known by a tag. Tags are in an environment of their own, which is disposed of at once:
 * collections would go through them for as long as they are there. All of this is done on the helper thread.
 */
#include "handlers.h"
#include "core/helper.h"
#include "core/jni.h"
#include "vm/z_objects.h"

#include <stdlib.h>
#include <string.h>

#define SMALL_BYTES 24.0     /* on average, in lists and maps: larger ones take less time for each byte */
#define SMALL_NS 120.0	     /* for one of them, on any collector: 20 to 120 */
#define Z_NS 72.0	     /* with ZGC, for which the number of objects is estimated */
#define Z_BEGIN_NS 13e6	     /* and for its threads to begin */
#define MEASURED_NS 1000000U /* a shorter time only shows that it takes no longer */
#define REFUSED_FASTER 1.1
#define ANNOUNCE_MS 100U
#define CHECK_OBJECTS 0x10000U /* the clock is read this often, in objects */

struct tally {
	uint64_t bytes, objects;
};

struct row {
	struct tally sum;
	jint class; /* index */
};

struct histogram {
	jclass *classes; /* local references */
	jint class_count;
	struct row *rows; /* by class */
	struct tally all, later;
	uint64_t start_ns, end_ns;
	uint64_t until_ns;
	bool aborted;
	jvmtiError error;
};

/* Used by the connecting thread, then by the helper. */
static struct {
	uint64_t interval_ns, max_pause_ns;
	bool live;
	bool taken; /* one at least */
	uint64_t next_ns;
	uint64_t number;
} heap;

/* As measured last, also in an earlier recording, without and with a collection before; 0: not yet. */
static double bytes_per_s[2];

/* ---- the estimate ---- */

static jlong call_long(JNIEnv *jni, jclass class, jobject object, const char *name)
{
	jmethodID method = (*jni)->GetMethodID(jni, class, name, "()J");
	jlong result = method ? (*jni)->CallLongMethod(jni, object, method) : 0;

	return jni_failed(jni) ? 0 : result;
}

uint64_t runtime_used_bytes(JNIEnv *jni)
{
	jclass class = jni_boot_class(jni, "java/lang/Runtime");
	jmethodID get = NULL;
	jobject runtime = NULL;
	jlong total = 0, free = 0;

	if (class)
		get = (*jni)->GetStaticMethodID(jni, class, "getRuntime", "()Ljava/lang/Runtime;");
	if (get)
		runtime = (*jni)->CallStaticObjectMethod(jni, class, get);
	if (jni_failed(jni))
		runtime = NULL;
	if (runtime) {
		total = call_long(jni, class, runtime, "totalMemory");
		free = call_long(jni, class, runtime, "freeMemory");
	}
	return total > free ? (uint64_t)(total - free) : 0;
}

/*
 * How many objects there are is not known before they have been counted once, but with ZGC. So the first time is the
 * longest one that it may be. A collection takes about as long as counting what it leaves.
 */
static double expected_rate(void)
{
	return bytes_per_s[heap.live] ?: SMALL_BYTES / SMALL_NS * 1e9 / (heap.live ? 2 : 1);
}

/* `at_most`: how large the objects are is not known. */
static uint64_t expected_ns(uint64_t used, bool *at_most)
{
	struct z_objects z;
	bool counted = !bytes_per_s[heap.live] && z_objects_estimate(&z);

	*at_most = !bytes_per_s[heap.live] && !counted;
	if (counted)
		return (uint64_t)((Z_BEGIN_NS + (double)z.count * Z_NS) * (heap.live ? 2 : 1));
	return (uint64_t)((double)used / expected_rate() * 1e9);
}

static void measure(const struct histogram *h)
{
	uint64_t ns = h->end_ns - h->start_ns;
	double rate = (double)h->all.bytes / ((double)(ns > MEASURED_NS ? ns : MEASURED_NS) / 1e9);

	if (ns > MEASURED_NS || rate > expected_rate())
		bytes_per_s[heap.live] = rate;
}

/* False: it would take too long. */
static bool announce(JNIEnv *jni)
{
	struct braid_jvm_event e = {.kind = BRAID_JVM_HEAP_ESTIMATE, .number = heap.number};
	bool refused, at_most;

	e.value = runtime_used_bytes(jni);
	e.weight = expected_ns(e.value, &at_most);
	refused = e.weight > heap.max_pause_ns;
	e.flags = (refused ? BRAID_HEAP_REFUSED : 0) | (at_most ? BRAID_HEAP_AT_MOST : 0);
	e.start_ns = e.end_ns = clock_ns();
	jvm_event_publish(&e, 0);
	publish_let_read(ANNOUNCE_MS);
	if (refused) /* one slow histogram must not keep all others from being taken */
		bytes_per_s[heap.live] *= REFUSED_FASTER;
	return !refused;
}

/* ---- counting ---- */

/* Called for each object while the JVM stands still: it may neither allocate, lock nor call JVM TI. */
static jint JNICALL count_object(jlong class_tag, jlong size, jlong *tag, jint length, void *to)
{
	struct histogram *h = to;
	struct tally *t = class_tag > 0 && class_tag <= h->class_count ? &h->rows[class_tag - 1].sum : &h->later;

	(void)tag;
	(void)length;
	t->bytes += (uint64_t)size;
	t->objects++;
	h->all.bytes += (uint64_t)size;
	h->all.objects++;
	if (h->all.objects % CHECK_OBJECTS == 0 && clock_ns() > h->until_ns)
		h->aborted = true;
	return h->aborted ? JVMTI_VISIT_ABORT : JVMTI_VISIT_OBJECTS;
}

jvmtiEnv *environment_with_tags(void)
{
	const uint64_t bits[2] = {1ULL << CAP_TAG_OBJECTS, 0};
	jvmtiCapabilities group;
	jvmtiEnv *ti;

	memcpy(&group, bits, sizeof(group));
	if ((*agent.vm)->GetEnv(agent.vm, (void **)&ti, JVMTI_VERSION_1_2) != JNI_OK)
		return NULL;
	if ((*ti)->AddCapabilities(ti, &group) == JVMTI_ERROR_NONE)
		return ti;
	(*ti)->DisposeEnvironment(ti);
	return NULL;
}

/* The classes' tags are their indexes, from 1 on. */
static void count_objects(struct histogram *h)
{
	const jvmtiHeapCallbacks callbacks = {.heap_iteration_callback = count_object};
	jvmtiEnv *ti = environment_with_tags();

	h->error = ti ? JVMTI_ERROR_NONE : JVMTI_ERROR_NOT_AVAILABLE;
	for (jint i = 0; i < h->class_count && !h->error; i++) {
		h->rows[i].class = i;
		h->error = (*ti)->SetTag(ti, h->classes[i], i + 1);
	}
	h->start_ns = clock_ns();
	h->until_ns = h->start_ns + heap.max_pause_ns;
	if (!h->error && heap.live)
		h->error = (*ti)->ForceGarbageCollection(ti);
	if (!h->error)
		h->error = (*ti)->IterateThroughHeap(ti, 0, NULL, &callbacks, h);
	h->end_ns = clock_ns();
	if (ti)
		(*ti)->DisposeEnvironment(ti);
}

/* ---- publishing ---- */

static void row_publish(struct braid_rec_heap_class *r, const struct tally *sum, const char *class,
			const struct loader *loader)
{
	record_init(&r->hdr, BRAID_REC_HEAP_CLASS, 0);
	r->number = heap.number;
	r->bytes = sum->bytes;
	r->objects = sum->objects;
	r->class_len = string_cut(class, &r->hdr.flags);
	r->loader_len = string_cut(loader ? loader->class : NULL, &r->hdr.flags);
	r->loader_name_len = string_cut(loader ? loader->name : NULL, &r->hdr.flags);
	publish_definition((struct iovec[]){PART(r, sizeof(*r)), PART(class, r->class_len),
					    PART(loader ? loader->class : NULL, r->loader_len),
					    PART(loader ? loader->name : NULL, r->loader_name_len)},
			   4);
}

static void class_publish(JNIEnv *jni, jclass class, const struct tally *sum)
{
	struct braid_rec_heap_class r = {.which = BRAID_HEAP_ROW_CLASS};
	jvmtiEnv *ti = agent.jvmti;
	jobject loader = NULL;
	struct loader description;
	char *signature;

	if ((*ti)->GetClassSignature(ti, class, &signature, NULL) != JVMTI_ERROR_NONE)
		signature = NULL;
	if ((*ti)->GetClassLoader(ti, class, &loader) != JVMTI_ERROR_NONE)
		loader = NULL;
	loader_describe(jni, loader, &description);
	r.loader_hash = hash_code(loader);
	row_publish(&r, sum, signature, &description);
	agent_release(description.class);
	agent_release(signature);
	if (loader)
		(*jni)->DeleteLocalRef(jni, loader);
}

static int compare_rows(const void *x, const void *y)
{
	const struct row *p = x, *q = y;

	if (p->sum.bytes != q->sum.bytes)
		return p->sum.bytes < q->sum.bytes ? 1 : -1;
	return (p->class > q->class) - (p->class < q->class);
}

static void rows_publish(JNIEnv *jni, struct histogram *h)
{
	struct braid_rec_heap_class rest = {.which = BRAID_HEAP_ROW_REST}, later = {.which = BRAID_HEAP_ROW_LATER};
	struct tally sum = {0};

	qsort(h->rows, (size_t)h->class_count, sizeof(*h->rows), compare_rows);
	for (jint i = 0; i < h->class_count && h->rows[i].sum.objects; i++) {
		const struct row *row = &h->rows[i];

		if (i < (jint)BRAID_HEAP_ROWS_MAX) {
			helper_pace();
			class_publish(jni, h->classes[row->class], &row->sum);
			continue;
		}
		rest.classes++;
		sum.bytes += row->sum.bytes;
		sum.objects += row->sum.objects;
	}
	if (sum.objects)
		row_publish(&rest, &sum, NULL, NULL);
	if (h->later.objects)
		row_publish(&later, &h->later, NULL, NULL);
}

static void result_publish(const struct histogram *h)
{
	struct braid_jvm_event e = {.kind = BRAID_JVM_HEAP,
				    .start_ns = h->start_ns,
				    .end_ns = h->end_ns,
				    .value = h->all.bytes,
				    .weight = h->all.objects,
				    .number = heap.number};

	e.flags |= heap.live ? BRAID_HEAP_LIVE : 0;
	e.flags |= h->aborted ? BRAID_HEAP_ABORTED : 0;
	e.flags |= h->error ? BRAID_HEAP_FAILED : 0;
	if (h->error == JVMTI_ERROR_WRONG_PHASE)
		return; /* the JVM has ended meanwhile: it has refused nothing */
	if (h->error)
		publish_notice(BRAID_NOTICE_WARNING, "this JVM does not let its heap be counted (JVM TI error %d)",
			       (int)h->error);
	jvm_event_publish(&e, 0);
	link_wake(&agent.link);
}

static void classes_take(JNIEnv *jni, struct histogram *h)
{
	h->error = (*agent.jvmti)->GetLoadedClasses(agent.jvmti, &h->class_count, &h->classes);
	if (h->error)
		return;
	jni_expect(jni, h->class_count);
	h->rows = calloc((size_t)h->class_count + 1, sizeof(*h->rows));
	h->error = h->rows ? JVMTI_ERROR_NONE : JVMTI_ERROR_OUT_OF_MEMORY;
}

static void histogram_take(JNIEnv *jni)
{
	struct histogram h = {0};

	heap.taken = true;
	heap.number++;
	if ((*jni)->PushLocalFrame(jni, 16)) {
		(*jni)->ExceptionClear(jni);
		h.error = JVMTI_ERROR_OUT_OF_MEMORY;
		result_publish(&h);
		return;
	}
	if (announce(jni)) {
		classes_take(jni, &h);
		if (!h.error)
			count_objects(&h);
		if (!h.error)
			measure(&h);
		if (!h.error && !h.aborted)
			rows_publish(jni, &h);
		result_publish(&h);
		free(h.rows);
		agent_release(h.classes);
	}
	(*jni)->PopLocalFrame(jni, NULL);
}

static void histogram_start(const struct braid_event_config *c)
{
	heap.interval_ns = c->heap_interval_ns;
	heap.max_pause_ns = c->heap_max_pause_ns;
	heap.live = c->heap_live;
}

/* The first one is taken at once. */
static void histogram_tick(JNIEnv *jni)
{
	uint64_t now = clock_ns();

	if (!heap_copy_is_left())
		return;
	if (heap.taken && (!heap.interval_ns || now < heap.next_ns))
		return;
	heap.next_ns = heap.taken && now - heap.next_ns < heap.interval_ns ? heap.next_ns : now;
	heap.next_ns += heap.interval_ns;
	histogram_take(jni);
}

/* At its end, a JVM calls this on a thread of the application, which must not wait for it. */
static void histogram_publish(JNIEnv *jni)
{
	if (helper_is_self() && heap.interval_ns)
		histogram_take(jni);
}

static void histogram_stop(JNIEnv *jni)
{
	(void)jni;
	memset(&heap, 0, sizeof(heap));
}

const struct kind histogram_kind = {
	.types = BRAID_EVENT_TYPE(HEAP),
	.start = histogram_start,
	.tick = histogram_tick,
	.publish = histogram_publish,
	.stop = histogram_stop,
};
