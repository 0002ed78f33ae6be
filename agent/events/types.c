// SPDX-License-Identifier: Apache-2.0
/*
 * Dense ids for the classes that events mention, by their signatures; all event kinds use them. The table holds no
 * reference to a class, so it keeps none from being unloaded; a class loaded again under the same name keeps its id.
 */

#include "handlers.h"
#include "core/jni.h"
#include "core/slots.h"

#define FIRST_ROOM 256U

struct entry {
	uint64_t hash[2]; /* of the signature; 128 bits make a collision unlikely */
	uint32_t id;
};

static struct {
	pthread_mutex_t mutex; /* its holder calls no JVM TI function */
	struct slots entries;  /* their number is the last id; each connection counts from 1 */
} table = {.mutex = PTHREAD_MUTEX_INITIALIZER, .entries = SLOTS_OF(struct entry, 2, FIRST_ROOM)};

static void hash_signature(uint64_t hash[2], const char *s)
{
	hash[0] = hash_text(HASH_BEGIN, s) ?: 1;
	hash[1] = 0x9ae16a3b2f90404fULL;
	for (; *s; s++) {
		hash[1] = (hash[1] ^ (uint8_t)*s) * HASH_SPREAD;
		hash[1] ^= hash[1] >> 32;
	}
}

static bool type_publish(uint32_t id, const char *signature, bool is_text)
{
	struct braid_rec_type r = {.type = id, .is_text = is_text};

	record_init(&r.hdr, BRAID_REC_TYPE, 0);
	r.name_len = string_cut(signature, &r.hdr.flags);
	return publish_definition((struct iovec[]){PART(&r, sizeof(r)), PART(signature, r.name_len)}, 2);
}

/* The caller holds the mutex, so no thread finds an id in the table before its record is published. */
static uint32_t type_define(const uint64_t hash[2], const char *signature, bool is_text)
{
	uint32_t id = (uint32_t)table.entries.used + 1;
	struct entry *e;

	if (id > TYPES_MAX || !slots_reserve(&table.entries)) {
		publish_lost(BRAID_REC_TYPE, 1);
		return 0;
	}
	if (!type_publish(id, signature, is_text))
		return 0;
	e = slots_find(&table.entries, hash);
	*e = (struct entry){.hash = {hash[0], hash[1]}, .id = id};
	table.entries.used++;
	return id;
}

static uint32_t look_up(const char *signature, bool is_text)
{
	uint64_t hash[2];
	struct entry *e;
	uint32_t id;

	hash_signature(hash, signature);
	pthread_mutex_lock(&table.mutex);
	e = slots_find(&table.entries, hash);
	id = e && e->id ? e->id : type_define(hash, signature, is_text);
	pthread_mutex_unlock(&table.mutex);
	return id;
}

uint32_t types_text(const char *text)
{
	return text ? look_up(text, true) : 0;
}

uint32_t types_id(jclass class)
{
	char *signature;
	uint32_t id;

	if ((*agent.jvmti)->GetClassSignature(agent.jvmti, class, &signature, NULL) != JVMTI_ERROR_NONE)
		return 0;
	id = look_up(signature, false);
	agent_release(signature);
	return id;
}

uint32_t types_of(JNIEnv *jni, jobject object)
{
	jthrowable pending = jni_save(jni);
	jclass class = (*jni)->GetObjectClass(jni, object);
	uint32_t id = types_id(class);

	(*jni)->DeleteLocalRef(jni, class);
	jni_restore(jni, pending);
	return id;
}

void types_reset(void)
{
	pthread_mutex_lock(&table.mutex);
	slots_free(&table.entries);
	pthread_mutex_unlock(&table.mutex);
}
