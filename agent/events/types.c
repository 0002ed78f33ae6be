// SPDX-License-Identifier: Apache-2.0
/*
 * Classes that events mention get dense ids by what they are called: nothing here refers to a class, so none is kept
 * from being unloaded, and none that comes again under its name is news.
 */

#include "handlers.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_ROOM 256U

struct entry {
	uint64_t hash[2]; /* of the signature: two of one hash are not to be expected */
	uint32_t id;	  /* 0: slot is free */
};

static struct {
	pthread_mutex_t mutex; /* no JVM TI while it is held */
	struct entry *slots;
	uint32_t room; /* a power of two */
	uint32_t used; /* the last id: they are dense from 1 on in each connection */
} table = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static void hash_signature(uint64_t hash[2], const char *s)
{
	hash[0] = 0xcbf29ce484222325ULL;
	hash[1] = 0x9ae16a3b2f90404fULL;
	for (; *s; s++) {
		hash[0] = (hash[0] ^ (uint8_t)*s) * 0x100000001b3ULL; /* FNV-1a */
		hash[1] = (hash[1] ^ (uint8_t)*s) * 0x9e3779b97f4a7c15ULL;
		hash[1] ^= hash[1] >> 32;
	}
}

static struct entry *types_slot_find(struct entry *slots, uint32_t room, const uint64_t hash[2])
{
	uint32_t i = (uint32_t)(hash[1] >> 7) & (room - 1);

	while (slots[i].id && (slots[i].hash[0] != hash[0] || slots[i].hash[1] != hash[1]))
		i = (i + 1) & (room - 1);
	return &slots[i];
}

/* Keeps a quarter of the slots free, so that looking for what is not there ends. */
static bool types_make_room(void)
{
	uint32_t room = table.room ? table.room * 2 : FIRST_ROOM;
	struct entry *slots;

	if (table.room && table.used < table.room / 4 * 3)
		return true;
	slots = calloc(room, sizeof(*slots));
	if (!slots)
		return false;
	for (uint32_t i = 0; i < table.room; i++)
		if (table.slots[i].id)
			*types_slot_find(slots, room, table.slots[i].hash) = table.slots[i];
	free(table.slots);
	table.slots = slots;
	table.room = room;
	return true;
}

static bool type_publish(uint32_t id, const char *signature, bool is_text)
{
	struct braid_rec_type r = {.type = id, .is_text = is_text};

	record_init(&r.hdr, BRAID_REC_TYPE, 0);
	r.name_len = string_cut(signature, &r.hdr.flags);
	return publish_definition((struct iovec[]){PART(&r, sizeof(r)), PART(signature, r.name_len)}, 2);
}

/* With the mutex held, so that nobody finds an id in the table before its record is on its way. */
static uint32_t type_define(const uint64_t hash[2], const char *signature, bool is_text)
{
	struct entry *e;

	if (table.used == TYPES_MAX || !types_make_room()) {
		publish_lost(BRAID_REC_TYPE, 1);
		return 0;
	}
	e = types_slot_find(table.slots, table.room, hash);
	if (!e->id && type_publish(table.used + 1, signature, is_text))
		*e = (struct entry){.hash = {hash[0], hash[1]}, .id = ++table.used};
	return e->id;
}

static uint32_t look_up(const char *signature, bool is_text)
{
	uint64_t hash[2];
	uint32_t id;

	hash_signature(hash, signature);
	pthread_mutex_lock(&table.mutex);
	id = table.room ? types_slot_find(table.slots, table.room, hash)->id : 0;
	if (!id)
		id = type_define(hash, signature, is_text);
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
	jthrowable pending = (*jni)->ExceptionOccurred(jni);
	jclass class;
	uint32_t id;

	if (pending)
		(*jni)->ExceptionClear(jni);
	class = (*jni)->GetObjectClass(jni, object);
	id = types_id(class);
	(*jni)->DeleteLocalRef(jni, class);
	if (pending) {
		(*jni)->Throw(jni, pending);
		(*jni)->DeleteLocalRef(jni, pending);
	}
	return id;
}

void types_reset(void)
{
	pthread_mutex_lock(&table.mutex);
	free(table.slots);
	table.slots = NULL;
	table.room = table.used = 0;
	pthread_mutex_unlock(&table.mutex);
}
