// SPDX-License-Identifier: Apache-2.0
/*
 * Rules about waits for disks, memory and the resolver. Their measure is how much of the time of the threads that do so
 * it is, but for what they are idle or wait for a CPU.
 */
#include <inttypes.h>

#include "check.h"

#define PLACES 3
#define LITTLE 0.01 /* threads: a pause between two tasks, of a thread that hardly does anything */

static void show_places(struct check *c, enum wait_class class)
{
	size_t shown = 0;

	for (size_t i = 0; i < c->facts->places.count && shown < PLACES; i++) {
		const struct fact_place *p = &c->facts->places.at[i];
		char total[QUANTITY_TEXT], max[QUANTITY_TEXT], at[PLACE_TEXT];

		if (p->class != class)
			continue;
		if (shown && percent(p->ns, c->facts->waited_ns[class]) < 5)
			break;
		shown++;
		evidence(c, "%s%s%s%s, the longest of %" PRIu64 " recorded wait%s %s", duration_text(total, p->ns),
			 place_text(at, c->v->an, p->site), *p->object ? ", for " : "", p->object, p->count,
			 plural(p->count), duration_text(max, p->max_ns));
	}
}

static int check_class(struct check *c, enum wait_class class, const char *sentence)
{
	double measure = percent(c->facts->waited_ns[class], c->facts->own_ns[class]);

	if (threads_on_average(c->facts, c->facts->waited_ns[class]) < LITTLE || !found(c, measure))
		return 0;
	say(c, "%s: %.0f %% of their time", sentence, measure);
	show_places(c, class);
	return 0;
}

int rule_log(struct check *c)
{
	return check_class(c, WAIT_LOG, "Threads wait for the disk to take their log");
}

int rule_sync(struct check *c)
{
	return check_class(c, WAIT_SYNC, "Threads wait until the disk has what they write (fsync, or O_SYNC)");
}

int rule_disk(struct check *c)
{
	return check_class(c, WAIT_DISK, "Threads wait for the disk to read");
}

int rule_dns(struct check *c)
{
	return check_class(c, WAIT_DNS, "Threads wait for names of hosts to be looked up");
}

int rule_faults(struct check *c)
{
	return check_class(c, WAIT_FAULT, "Threads wait for pages of memory");
}
