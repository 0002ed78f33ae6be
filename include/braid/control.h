// SPDX-License-Identifier: Apache-2.0
/*
 * The protocol between `braid ctl` and a running `braid record`: SOCK_SEQPACKET, one request per connection. The
 * answer is several messages, the last of which is an END. Both sides check SO_PEERCRED before they send anything.
 *
 * Integers are in the machine's byte order; strings end with a zero.
 */
#ifndef BRAID_CONTROL_H
#define BRAID_CONTROL_H

#include <braid/event_config.h>

#define BRAID_CONTROL_MAGIC 0x4c544342U /* "BCTL" */
#define BRAID_CONTROL_VERSION 4U
#define BRAID_CONTROL_LIST_MAX 496U
#define BRAID_CONTROL_TEXT_MAX 256U

enum braid_control_verb {
	BRAID_CONTROL_STATUS = 1,
	BRAID_CONTROL_ENABLE = 2,   /* the types in `list`, with the figures that it gives */
	BRAID_CONTROL_DISABLE = 3,  /* the types in `list` */
	BRAID_CONTROL_INTERVAL = 4, /* sets the figures in `list`; the enabled types stay */
	BRAID_CONTROL_RESET = 5,    /* this and the next two: enum braid_command of <braid/ring.h> */
	BRAID_CONTROL_GC = 6,
	BRAID_CONTROL_DUMP = 7,
	BRAID_CONTROL_STOP = 8, /* ends the whole recording: END comes when its trace is complete */
	BRAID_CONTROL_VERBS,	/* one more than the largest */
};

struct braid_control_request {
	__u32 magic;
	__u16 version;
	__u16 verb;			   /* enum braid_control_verb */
	__u32 pid;			   /* one process of the recording; 0: all of them, and future JVMs */
	__u32 thread;			   /* change the types for this thread of the process only; 0: for all */
	char list[BRAID_CONTROL_LIST_MAX]; /* in the syntax of `braid record -e` */
};
_Static_assert(sizeof(struct braid_control_request) == 512, "control request");

enum braid_control_kind {
	BRAID_CONTROL_RECORDING = 1,
	BRAID_CONTROL_JVM = 2,
	BRAID_CONTROL_ERROR = 3,
	BRAID_CONTROL_END = 4,
	BRAID_CONTROL_NOTE = 5, /* like ERROR, for a request that is done in part */
};

struct braid_control_header {
	__u32 magic;
	__u16 version;
	__u16 kind; /* enum braid_control_kind */
};

/* The first message of every answer, if the recorder records the requested process. */
struct braid_control_recording {
	struct braid_control_header hdr;
	__u32 pid; /* the recorder's */
	__u32 reserved;
	__u64 duration_ns;
	__u64 samples;
	__u64 stacks;
	__u64 lost;
	__u64 bytes;			  /* of the trace */
	struct braid_event_config config; /* for future JVMs */
	char event[64];			  /* the sampled event */
	char output[BRAID_CONTROL_TEXT_MAX];
};

enum braid_control_agent {
	BRAID_CONTROL_NO_AGENT = 0,
	BRAID_CONTROL_CONNECTED = 1,
	BRAID_CONTROL_GONE = 2, /* the agent was connected; what it reported is in the trace */
};

struct braid_control_jvm {
	struct braid_control_header hdr;
	__u32 pid;
	__u32 agent;   /* enum braid_control_agent */
	__u32 refused; /* bits of config.enabled that this JVM refuses */
	__u32 silent;  /* 1: the agent has not answered the last configuration yet */
	struct braid_event_config config;
	char name[BRAID_CONTROL_TEXT_MAX]; /* the process's comm */
};

struct braid_control_error {
	struct braid_control_header hdr;
	char text[BRAID_CONTROL_TEXT_MAX];
};

struct braid_control_end {
	struct braid_control_header hdr;
	__u32 failed;  /* number of ERROR messages */
	__u32 unknown; /* the process is not recorded here */
};

#endif
