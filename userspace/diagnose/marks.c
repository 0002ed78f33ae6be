// SPDX-License-Identifier: Apache-2.0
/* What the frames of a stack say about what a thread is at. facts.c asks. */
#include "facts.h"

#include <stdlib.h>
#include <string.h>

/*
 * The names are prefixes: of Java methods with their class, of functions. A mark holds for all stacks above the frame.
 */
static const struct {
	const char *frame;
	uint8_t mark;
} frames[] = {
	{"java.util.concurrent.ThreadPoolExecutor.runWorker", MARK_POOL},
	{"java.util.concurrent.ForkJoinPool.runWorker", MARK_POOL},
	{"java.util.concurrent.ForkJoinPool$WorkQueue.topLevelExec", MARK_POOL},
	{"org.apache.tomcat.util.threads.ThreadPoolExecutor.runWorker", MARK_POOL},
	{"org.eclipse.jetty.util.thread.QueuedThreadPool.runJob", MARK_POOL},
	{"io.netty.util.concurrent.AbstractEventExecutor.runTask", MARK_POOL},
	{"org.jboss.threads.EnhancedQueueExecutor$ThreadBody.doRunTask", MARK_POOL},
	{"java.net.InetAddress.getAllByName", MARK_RESOLVER},
	{"java.net.InetAddress.getByName", MARK_RESOLVER},
	{"java.net.Inet6AddressImpl.lookupAllHostAddr", MARK_RESOLVER},
	{"java.net.Inet4AddressImpl.lookupAllHostAddr", MARK_RESOLVER},
	{"getaddrinfo", MARK_RESOLVER},
	{"gethostbyname", MARK_RESOLVER},
	{"java.util.logging.", MARK_LOG},
	{"java.lang.System$Logger", MARK_LOG},
	{"org.apache.logging.log4j.", MARK_LOG},
	{"org.apache.log4j.", MARK_LOG},
	{"org.apache.juli.", MARK_LOG},
	{"ch.qos.logback.", MARK_LOG},
	{"org.slf4j.", MARK_LOG},
	{"org.jboss.logmanager.", MARK_LOG},
	{"java.lang.Runtime.gc", MARK_GC},
	{"java.lang.Thread.yield", MARK_YIELD},
};

static uint8_t mark_of(const char *name)
{
	for (size_t i = 0; i < sizeof(frames) / sizeof(frames[0]); i++)
		if (*name == *frames[i].frame && strncmp(name, frames[i].frame, strlen(frames[i].frame)) == 0)
			return frames[i].mark;
	return 0;
}

uint8_t *marks_new(const struct analysis *an)
{
	uint8_t *marks = calloc(an->a->nodes.count + 1, 1), *of_sym = calloc(an->syms.count + 1, 1);

	for (size_t i = 0; of_sym && i < an->syms.count; i++)
		of_sym[i] = mark_of(analysis_sym_name(an, (uint32_t)i));
	for (size_t i = 0; marks && of_sym && i < an->a->nodes.count; i++) {
		uint32_t row = an->order[i];
		const struct stack *s = &an->stacks[row];
		const struct expansion *e = s->frame == ROW_NONE ? NULL : &an->expansions[s->frame];

		if (s->parent != ROW_NONE)
			marks[row] = marks[s->parent];
		for (uint32_t k = 0; e && k < e->count; k++)
			marks[row] |= of_sym[an->xframes.at[e->first + k].sym];
	}
	if (!of_sym) {
		free(marks);
		marks = NULL;
	}
	free(of_sym);
	return marks;
}
