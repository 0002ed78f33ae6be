// SPDX-License-Identifier: Apache-2.0
/* What objects, references, threads and frames are called. All text is printable. */
#ifndef BRAID_HPROF_NAMES_H
#define BRAID_HPROF_NAMES_H

#include "heap.h"
#include "slots.h"

#define HPROF_TEXT (3 * HPROF_NAME)

/*
 * "com.example.Cache", "class com.example.Cache", "byte[4096]", "java.lang.Thread \"main\"", and of a short string its
 * text. Returns `buf`.
 */
const char *hprof_object_text(struct hprof *h, uint32_t place, char buf[HPROF_TEXT]);

enum hprof_anchor { /* what says much about a program */
		    HPROF_ANCHOR_NONE,
		    HPROF_ANCHOR_STATIC, /* a static field */
		    HPROF_ANCHOR_LOCAL,	 /* what a thread's stack has */
};

/*
 * How one object refers to another: ".map", "[12]", "static Cache.map", "local of Main.run(Main.java:12)", "its class".
 * Returns `buf`.
 */
const char *hprof_link_text(struct hprof *h, uint32_t from, uint32_t to, char buf[HPROF_TEXT],
			    enum hprof_anchor *anchor);

/* "system class", "thread", "JNI global": the root that the object is, and in *root which; NULL: it is none. */
const char *hprof_root_kind(const struct hprof *h, uint32_t place, const struct hprof_root_of **root);

/* The kinds of roots, those that say more first. */
#define HPROF_ROOT_RANKS 9
#define HPROF_ROOT_RANK_THREAD 0
size_t hprof_root_rank(const struct hprof_root_of *root);
const char *hprof_root_rank_text(size_t rank);

/* The thread that this object is; NULL: it is none. */
const struct hprof_thread *hprof_thread_of(const struct hprof *h, uint32_t object);

/*
 * The frames of the stack with that number: how many, and each as "com.example.Main.run(Main.java:12)"; frame 0 is on
 * top.
 */
uint32_t hprof_frames(const struct hprof *h, uint32_t trace);
const char *hprof_frame_text(const struct hprof *h, uint32_t trace, uint32_t frame, char buf[HPROF_TEXT]);

#endif
