// SPDX-License-Identifier: Apache-2.0
/*
 * Walks snapshots again and prints where the walker's result differs from the snapshot. With --bless it writes the new
 * results into the snapshots, to be reviewed with git diff.
 */
#include "tests/snapshots/snapshot.h"

#include <unistd.h>

static int load(struct snapshot *s, const char *path)
{
	FILE *f = fopen(path, "r");
	unsigned int line = 0;
	int err;

	memset(s, 0, sizeof(*s));
	if (!f) {
		fprintf(stderr, "rewalk: cannot open %s: %s\n", path, strerror(errno));
		return -errno;
	}
	err = snapshot_load(s, f, &line);
	fclose(f);
	if (err)
		fprintf(stderr, "rewalk: %s:%u: not a line of a snapshot\n", path, line);
	return err;
}

static bool agrees(const struct snapshot *s, const struct host_walk *h)
{
	bool same = h->depth == s->frame_count && h->w.end == s->end;

	for (uint32_t i = 0; same && i < h->depth; i++)
		same = h->frame[i] == s->frames[i].frame;
	return same;
}

/* The same place, whatever is known about the code's identity. */
static bool same_place(uint64_t a, uint64_t b)
{
	uint64_t id = (uint64_t)BRAID_FRAME_CODE_ID_MASK << BRAID_FRAME_CODE_ID_SHIFT;

	return a == b || (braid_frame_kind(a) == BRAID_FRAME_CODE_CACHE && (a & ~id) == (b & ~id));
}

static const char *name_of(const struct snapshot *s, uint64_t frame)
{
	for (size_t i = 0; i < s->frame_count; i++)
		if (same_place(s->frames[i].frame, frame))
			return s->frames[i].name;
	return "";
}

static void show(const struct snapshot *s, const struct host_walk *h, const char *path)
{
	printf("%s: end %u, was %u\n", path, h->w.end, s->end);
	for (uint32_t i = 0; i < h->depth || i < s->frame_count; i++) {
		uint64_t now = i < h->depth ? h->frame[i] : 0, was = i < s->frame_count ? s->frames[i].frame : 0;

		printf("  %c %16" PRIx64 " %-40.40s was %16" PRIx64 " %.40s\n", now == was ? ' ' : '*', now,
		       name_of(s, now), was, i < s->frame_count ? s->frames[i].name : "");
	}
}

static int bless(struct snapshot *s, const struct host_walk *h, const char *path)
{
	struct snapshot_frame *old = s->frames;
	size_t old_count = s->frame_count;
	FILE *f;
	int err = 0;

	s->frames = NULL;
	s->frame_count = s->frame_room = 0;
	for (uint32_t i = 0; i < h->depth; i++) {
		struct snapshot_frame *to = SNAPSHOT_GROW(s, frame);

		if (!to) {
			err = -ENOMEM;
			break;
		}
		for (size_t k = 0; k < old_count; k++)
			if (same_place(old[k].frame, h->frame[i]))
				*to = old[k];
		to->frame = h->frame[i];
	}
	free(old);
	s->end = h->w.end;
	f = err ? NULL : fopen(path, "w");
	if (!f)
		return err ? err : -errno;
	err = snapshot_save(s, f);
	return fclose(f) ? -EIO : err;
}

int main(int argc, char **argv)
{
	static struct host_walk h = {.ops = &snapshot_ops};
	bool blessing = argc > 1 && strcmp(argv[1], "--bless") == 0;
	int differ = 0;

	for (int i = blessing ? 2 : 1; i < argc; i++) {
		struct snapshot s;

		if (load(&s, argv[i]) == 0) {
			h.ctx = &s;
			host_walk_run(&h, &s.regs, s.has_layout ? &s.layout : NULL);
			if (!agrees(&s, &h)) {
				differ++;
				show(&s, &h, argv[i]);
				if (blessing && bless(&s, &h, argv[i]))
					fprintf(stderr, "rewalk: cannot write %s\n", argv[i]);
			}
		} else {
			differ++;
		}
		snapshot_free(&s);
	}
	return differ ? EXIT_FAILURE : EXIT_SUCCESS;
}
