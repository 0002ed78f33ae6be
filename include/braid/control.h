// SPDX-License-Identifier: Apache-2.0
/*
 * What `braid ctl` and a running `braid record` say to each other: SOCK_SEQPACKET, one request a connection, the answer
 * in several messages, the last of which is an END. Both look at SO_PEERCRED before they say anything.
 *
 * All integers are in the byte order of the machine, texts end with a zero.
 */
#ifndef BRAID_CONTROL_H
#define BRAID_CONTROL_H

#include <braid/event_config.h>

#define BRAID_CONTROL_MAGIC 0x4c544342U /* "BCTL" */
#define BRAID_CONTROL_VERSION 1U
#define BRAID_CONTROL_LIST_MAX 496U
#define BRAID_CONTROL_TEXT_MAX 256U

enum braid_control_verb {
	BRAID_CONTROL_STATUS = 1,
	BRAID_CONTROL_ENABLE = 2,   /* what `list` names, with the figures that it gives */
	BRAID_CONTROL_DISABLE = 3,  /* what `list` names */
	BRAID_CONTROL_INTERVAL = 4, /* the figures that `list` gives; what is enabled stays */
	BRAID_CONTROL_RESET = 5,    /* and the following: enum braid_command of <braid/ring.h> */
	BRAID_CONTROL_GC = 6,
	BRAID_CONTROL_DUMP = 7,
	BRAID_CONTROL_STOP = 8, /* of the whole recording: END comes when its trace is complete */
	BRAID_CONTROL_VERBS,	/* one more than the largest */
};

struct braid_control_request {
	__u32 magic;
	__u16 version;
	__u16 verb;			   /* enum braid_control_verb */
	__u32 pid;			   /* one process of the recording; 0: all of them, and JVMs to come */
	__u32 thread;			   /* change the list's kinds for this thread of the process only; 0: for all */
	char list[BRAID_CONTROL_LIST_MAX]; /* as `braid record -e` takes it */
};
_Static_assert(sizeof(struct braid_control_request) == 512, "control request");

enum braid_control_kind {
	BRAID_CONTROL_RECORDING = 1,
	BRAID_CONTROL_JVM = 2,
	BRAID_CONTROL_ERROR = 3,
	BRAID_CONTROL_END = 4,
	BRAID_CONTROL_NOTE = 5, /* as ERROR, of what is not done in full */
};

struct braid_control_header {
	__u32 magic;
	__u16 version;
	__u16 kind; /* enum braid_control_kind */
};

/* The first message of every answer of a recorder that records what was asked for. */
struct braid_control_recording {
	struct braid_control_header hdr;
	__u32 pid; /* the recorder's */
	__u32 reserved;
	__u64 duration_ns;
	__u64 samples;
	__u64 stacks;
	__u64 lost;
	__u64 bytes;			  /* of the trace */
	struct braid_event_config config; /* of JVMs to come */
	char event[64];			  /* what ticks */
	char output[BRAID_CONTROL_TEXT_MAX];
};

enum braid_control_agent {
	BRAID_CONTROL_NO_AGENT = 0,
	BRAID_CONTROL_CONNECTED = 1,
	BRAID_CONTROL_GONE = 2, /* the agent was there; what it told is in the trace */
};

struct braid_control_jvm {
	struct braid_control_header hdr;
	__u32 pid;
	__u32 agent;   /* enum braid_control_agent */
	__u32 refused; /* of config.enabled: bits that this JVM cannot have */
	__u32 silent;  /* the agent has not said yet what it can have */
	struct braid_event_config config;
	char name[BRAID_CONTROL_TEXT_MAX]; /* the process's comm */
};

struct braid_control_error {
	struct braid_control_header hdr;
	char text[BRAID_CONTROL_TEXT_MAX];
};

struct braid_control_end {
	struct braid_control_header hdr;
	__u32 failed;  /* errors that were told */
	__u32 unknown; /* the process is not recorded here */
};

#endif
