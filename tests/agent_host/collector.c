// SPDX-License-Identifier: Apache-2.0
/*
 * A collector for testing the agent without braid: listens on a socket, grants a ring to whoever joins, and prints
 * every record as a line. Strings come from a JVM that is being tested and are printed as they are.
 */
#include <braid/layout.h>
#include <braid/ring.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include <argp.h>
#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

struct settings {
	const char *bpf_object;
	const char *socket;
	unsigned ring_bytes;
	double stop_s;	    /* send STOP after this many seconds, 0: never */
	unsigned period_ms; /* between drains */
	bool summary;
	bool deaf; /* to the eventfd: only the period makes it drain */
};

static struct settings set = {.ring_bytes = 1 << 20, .period_ms = 5};
static unsigned long counts[BRAID_REC_KINDS];
static unsigned long bad;
static unsigned long scope_rows, scope_bytes, scope_loads;
static unsigned *defined; /* by method id */
static unsigned defined_room;
static unsigned long undefined_uses;
static __u64 first_ns, max_lag_ns;

static const char *const kind_names[BRAID_REC_KINDS] = {
	[BRAID_REC_HELLO] = "HELLO",
	[BRAID_REC_LAYOUT] = "LAYOUT",
	[BRAID_REC_METHOD] = "METHOD",
	[BRAID_REC_LINES] = "LINES",
	[BRAID_REC_CODE_LOAD] = "CODE_LOAD",
	[BRAID_REC_CODE_SCOPES] = "CODE_SCOPES",
	[BRAID_REC_CODE_UNLOAD] = "CODE_UNLOAD",
	[BRAID_REC_STUB] = "STUB",
	[BRAID_REC_THREAD] = "THREAD",
	[BRAID_REC_THREAD_END] = "THREAD_END",
	[BRAID_REC_GC_START] = "GC_START",
	[BRAID_REC_GC_FINISH] = "GC_FINISH",
	[BRAID_REC_CLASS_UNLOAD] = "CLASS_UNLOAD",
	[BRAID_REC_VM_INIT] = "VM_INIT",
	[BRAID_REC_VM_DEATH] = "VM_DEATH",
	[BRAID_REC_LOSS] = "LOSS",
	[BRAID_REC_REPLAYED] = "REPLAYED",
	[BRAID_REC_NOTICE] = "NOTICE",
	[BRAID_REC_NAMES] = "NAMES",
	[BRAID_REC_TYPE] = "TYPE",
	[BRAID_REC_EVENT] = "EVENT",
	[BRAID_REC_CLASS] = "CLASS",
};

static __u64 now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (__u64)t.tv_sec * 1000000000ULL + (__u64)t.tv_nsec;
}

static void method_use(__u32 id)
{
	if (id && (id >= defined_room || !defined[id]))
		undefined_uses++;
}

static void method_define(__u32 id)
{
	if (id > 10000000)
		return;
	if (id >= defined_room) {
		unsigned room = id * 2 + 1024;
		unsigned *p = realloc(defined, room * sizeof(*p));

		if (!p)
			return;
		memset(p + defined_room, 0, (room - defined_room) * sizeof(*p));
		defined = p;
		defined_room = room;
	}
	if (defined[id]++)
		bad++; /* ids are never used again */
}

/* Prints the next string of a record, or counts the record as bad. */
static const char *string(const char **at, const char *end, unsigned length, char *out, size_t size)
{
	if (length > (size_t)(end - *at)) {
		bad++;
		length = 0;
	}
	snprintf(out, size, "%.*s", (int)length, *at);
	*at += length;
	return out;
}

static void print_layout(const struct braid_layout *l)
{
	printf(" flags %#x%s%s%s%s%s heaps %u", l->flags, l->flags & BRAID_LAYOUT_WALKABLE ? " walkable" : "",
	       l->flags & BRAID_LAYOUT_NAMES ? " names" : "", l->flags & BRAID_LAYOUT_CODE_OFFSET ? " code_offset" : "",
	       l->flags & BRAID_LAYOUT_SHORT_COMPLETE ? " short_complete" : "",
	       l->flags & BRAID_LAYOUT_CHECKED ? " CHECKED" : "", l->heap_count);
	for (unsigned i = 0; i < l->heap_count && i < BRAID_CODE_HEAPS; i++)
		printf(" [%llx-%llx seg %llx log2 %u]", l->heaps[i].low, l->heaps[i].high, l->heaps[i].segmap,
		       l->heaps[i].log2_segment);
	printf(" interpreter %llx-%llx call_stub %llx libjvm %llx", l->interpreter_start, l->interpreter_end,
	       l->call_stub_return, l->libjvm_base);
	printf(" blob(block %u name %u size %u frame %u complete %u code %u) nmethod(method %u id %u level %u:%u deopt "
	       "%u "
	       "orig_pc %u) bcp %d",
	       l->heap_block_header, l->blob_name, l->blob_size, l->blob_frame_size, l->blob_frame_complete,
	       l->blob_code, l->nmethod_method, l->nmethod_compile_id, l->nmethod_comp_level,
	       l->nmethod_comp_level_size, l->nmethod_deopt_handler, l->nmethod_orig_pc_offset, l->interp_bcp);
	printf(" method(const %u flags %u) const(size %u constants %u code_size %u name %u sig %u) pool(%u holder %u) "
	       "klass_name %u symbol(%u %u) anchor(%u %u %u) os %u tid %u",
	       l->method_const, l->method_access_flags, l->const_size, l->const_constants, l->const_code_size,
	       l->const_name_index, l->const_signature_index, l->pool_size, l->pool_holder, l->klass_name,
	       l->symbol_length, l->symbol_body, l->thread_anchor_sp, l->thread_anchor_fp, l->thread_anchor_pc,
	       l->thread_osthread, l->osthread_tid);
}

static void check_scopes(const struct braid_rec_code_scopes *r)
{
	const char *at = (const char *)(r + 1);
	const char *end = (const char *)r + r->hdr.size;
	__u32 last = 0;

	for (__u32 i = 0; i < r->rows; i++) {
		const struct braid_scope_row *row = (const void *)at;
		const struct braid_scope *s = (const void *)(row + 1);

		if ((size_t)(end - at) < sizeof(*row) ||
		    row->depth > ((size_t)(end - at) - sizeof(*row)) / sizeof(*s) || (i && row->pc_offset <= last)) {
			bad++;
			return;
		}
		for (__u32 k = 0; k < row->depth; k++) {
			method_use(s[k].method);
			if (!set.summary)
				printf(" %s%u@%d", k ? "<" : "| ", s[k].method, s[k].bci);
		}
		if (!set.summary)
			printf(" +%u", row->pc_offset);
		last = row->pc_offset;
		at += sizeof(*row) + row->depth * sizeof(*s);
	}
	if (at != end)
		bad++;
	scope_rows += r->rows;
	scope_bytes += r->bytes;
}

static void print_body(const struct braid_rec *hdr)
{
	const void *p = hdr;
	const char *end = (const char *)p + hdr->size;
	const char *at;
	char a[4100], b[4100], c[4100], d[4100];

	switch (hdr->kind) {
	case BRAID_REC_HELLO: {
		const struct braid_rec_hello *r = p;

		at = (const char *)(r + 1);
		printf(" version %u pid %u jvmti %#x start %u got %#llx refused %#llx", r->version, r->pid,
		       r->jvmti_version, r->start, r->caps_got[0], r->caps_refused[0]);
		printf(" vm '%s'", string(&at, end, r->vm_version_len, a, sizeof(a)));
		printf(" '%s'", string(&at, end, r->vm_name_len, a, sizeof(a)));
		printf(" java '%s'", string(&at, end, r->java_version_len, a, sizeof(a)));
		printf(" command '%s'", string(&at, end, r->command_len, a, sizeof(a)));
		break;
	}
	case BRAID_REC_LAYOUT:
		print_layout(&((const struct braid_rec_layout *)p)->layout);
		break;
	case BRAID_REC_METHOD: {
		const struct braid_rec_method *r = p;

		at = (const char *)(r + 1);
		method_define(r->method);
		string(&at, end, r->class_len, a, sizeof(a));
		string(&at, end, r->name_len, b, sizeof(b));
		string(&at, end, r->sig_len, c, sizeof(c));
		string(&at, end, r->source_len, d, sizeof(d));
		printf(" %u %s.%s%s %s modifiers %#x", r->method, a, b, c, d, r->modifiers);
		break;
	}
	case BRAID_REC_LINES: {
		const struct braid_rec_lines *r = p;
		const struct braid_line *l = (const void *)(r + 1);

		method_use(r->method);
		printf(" %u count %u", r->method, r->count);
		if (r->count)
			printf(" first %u:%u", l[0].bci, l[0].line);
		break;
	}
	case BRAID_REC_CODE_LOAD: {
		const struct braid_rec_code_load *r = p;

		method_use(r->method);
		scope_loads += r->scope_rows;
		printf(" %llx+%u method %u id %u tier %u osr %u rows %u frame %u", r->address, r->code_size, r->method,
		       r->compile_id, r->tier, r->is_osr, r->scope_rows, r->frame_words);
		break;
	}
	case BRAID_REC_CODE_SCOPES: {
		const struct braid_rec_code_scopes *r = p;

		printf(" %llx rows %u bytes %u", r->address, r->rows, r->bytes);
		check_scopes(r);
		break;
	}
	case BRAID_REC_CODE_UNLOAD:
		printf(" %llx", ((const struct braid_rec_code_unload *)p)->address);
		break;
	case BRAID_REC_STUB: {
		const struct braid_rec_stub *r = p;

		at = (const char *)(r + 1);
		printf(" %llx+%u '%s'", r->address, r->size, string(&at, end, r->name_len, a, sizeof(a)));
		break;
	}
	case BRAID_REC_THREAD: {
		const struct braid_rec_thread *r = p;

		at = (const char *)(r + 1);
		string(&at, end, r->name_len, a, sizeof(a));
		string(&at, end, r->group_len, b, sizeof(b));
		printf(" %llx tid %u '%s' group '%s' flags %#x priority %u", r->java_thread, r->thread_tid, a, b,
		       r->flags, r->priority);
		break;
	}
	case BRAID_REC_THREAD_END:
		printf(" %llx", ((const struct braid_rec_thread_end *)p)->java_thread);
		break;
	case BRAID_REC_GC_START:
	case BRAID_REC_GC_FINISH:
		printf(" %llu", ((const struct braid_rec_gc *)p)->sequence);
		break;
	case BRAID_REC_CLASS_UNLOAD: {
		const struct braid_rec_class_unload *r = p;

		at = (const char *)(r + 1);
		printf(" count %u '%s'", r->count, string(&at, end, r->name_len, a, sizeof(a)));
		break;
	}
	case BRAID_REC_LOSS: {
		const struct braid_rec_loss *r = p;
		const struct braid_loss *l = (const void *)(r + 1);

		for (__u32 i = 0; i < r->count && (const char *)(l + i + 1) <= end; i++)
			printf(" %s %u", l[i].kind < BRAID_REC_KINDS ? kind_names[l[i].kind] : "?", l[i].lost);
		break;
	}
	case BRAID_REC_REPLAYED: {
		const struct braid_rec_replayed *r = p;

		printf(" methods %u code_loads %u stubs %u threads %u took %.1f ms", r->methods, r->code_loads,
		       r->stubs, r->threads, (double)r->took_ns / 1e6);
		break;
	}
	case BRAID_REC_NOTICE: {
		const struct braid_rec_notice *r = p;

		at = (const char *)(r + 1);
		printf(" severity %u: %s", r->severity, string(&at, end, r->text_len, a, sizeof(a)));
		break;
	}
	default:
		break;
	}
}

static bool is_quiet(const struct braid_rec *hdr)
{
	switch (hdr->kind) {
	case BRAID_REC_HELLO:
	case BRAID_REC_LAYOUT:
	case BRAID_REC_LOSS:
	case BRAID_REC_REPLAYED:
	case BRAID_REC_NOTICE:
	case BRAID_REC_VM_INIT:
	case BRAID_REC_VM_DEATH:
		return false;
	default:
		return set.summary;
	}
}

static int on_record(void *ctx, void *data, size_t size)
{
	const struct braid_rec *hdr = data;
	static FILE *sink, *real;
	__u64 lag;

	(void)ctx;
	if (size < sizeof(*hdr) || hdr->size != size || hdr->kind >= BRAID_REC_KINDS || !kind_names[hdr->kind]) {
		bad++;
		return 0;
	}
	if (!first_ns)
		first_ns = hdr->time_ns;
	lag = now_ns() - hdr->time_ns;
	if (lag > max_lag_ns)
		max_lag_ns = lag;
	counts[hdr->kind]++;
	if (!sink) {
		sink = fopen("/dev/null", "w");
		real = stdout;
	}
	if (is_quiet(hdr) && sink)
		stdout = sink;
	printf("%9.3f ms %5u %s%s%s", (double)(__s64)(hdr->time_ns - first_ns) / 1e6, hdr->tid, kind_names[hdr->kind],
	       hdr->flags & BRAID_REC_REPLAY ? " (replay)" : "", hdr->flags & BRAID_REC_TRUNCATED ? " (cut)" : "");
	print_body(hdr);
	printf("\n");
	stdout = real;
	return 0;
}

static int listen_at(const char *path)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	if (fd < 0 || strlen(path) >= sizeof(a.sun_path))
		return -1;
	strcpy(a.sun_path, path);
	unlink(path);
	if (bind(fd, (struct sockaddr *)&a, sizeof(a)) || listen(fd, 4)) {
		close(fd);
		return -1;
	}
	return fd;
}

static int grant(int conn, int ring_fd, int wake_fd)
{
	union {
		char bytes[CMSG_SPACE(2 * sizeof(int))];
		struct cmsghdr align;
	} control = {0};
	struct braid_grant grant = {0};
	struct braid_msg m;
	struct iovec part = {.iov_base = &grant, .iov_len = sizeof(grant)};
	struct msghdr msg = {.msg_iov = &part,
			     .msg_iovlen = 1,
			     .msg_control = control.bytes,
			     .msg_controllen = sizeof(control.bytes)};
	struct cmsghdr *c = CMSG_FIRSTHDR(&msg);
	int fds[2] = {ring_fd, wake_fd};

	if (recv(conn, &m, sizeof(m), 0) != sizeof(m) || m.magic != BRAID_SOCK_MAGIC || m.kind != BRAID_MSG_JOIN)
		return -1;
	printf("JOIN from pid %llu\n", m.value);
	m.kind = BRAID_MSG_GRANT;
	m.value = set.ring_bytes;
	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(fds));
	memcpy(CMSG_DATA(c), fds, sizeof(fds));
	grant.msg = m;
	return sendmsg(conn, &msg, 0) == sizeof(grant) ? 0 : -1;
}

struct host {
	struct bpf_object *object;
	struct ring_buffer *records;
	int drain_fd;
	int wake_fd;
	int conn;
};

static void drain(struct host *h)
{
	LIBBPF_OPTS(bpf_test_run_opts, opts);

	do {
		opts.retval = 0;
		if (bpf_prog_test_run_opts(h->drain_fd, &opts))
			break;
		ring_buffer__consume(h->records);
	} while (opts.retval == 1);
}

static void report(const struct host *h)
{
	struct bpf_map *bss = bpf_object__find_map_by_name(h->object, "drain.bss");
	struct {
		__u64 drained, malformed, overflowed;
		__s64 drain_error;
	} b = {0};
	__u32 zero = 0;

	if (bss)
		bpf_map_lookup_elem(bpf_map__fd(bss), &zero, &b);
	printf("SUMMARY");
	for (unsigned k = 0; k < BRAID_REC_KINDS; k++)
		if (counts[k])
			printf(" %s=%lu", kind_names[k], counts[k]);
	printf(" bad=%lu undefined=%lu scope_rows=%lu/%lu scope_bytes=%lu max_lag_ms=%.1f malformed=%llu "
	       "overflowed=%llu "
	       "drain_error=%lld\n",
	       bad, undefined_uses, scope_rows, scope_loads, scope_bytes, (double)max_lag_ns / 1e6, b.malformed,
	       b.overflowed, b.drain_error);
}

static int host_open(struct host *h)
{
	struct bpf_program *program;
	struct bpf_map *map;

	h->object = bpf_object__open_file(set.bpf_object, NULL);
	if (!h->object)
		return -errno;
	map = bpf_object__find_map_by_name(h->object, "agent_ring");
	bpf_map__set_max_entries(map, set.ring_bytes);
	if (bpf_object__load(h->object))
		return -errno;
	program = bpf_object__find_program_by_name(h->object, "drain");
	h->drain_fd = bpf_program__fd(program);
	h->records = ring_buffer__new(bpf_object__find_map_fd_by_name(h->object, "records"), on_record, NULL, NULL);
	h->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	return h->records && h->wake_fd >= 0 ? 0 : -errno;
}

/* Until the agent hangs up. */
static void serve(struct host *h)
{
	__u64 stop_ns = set.stop_s > 0 ? now_ns() + (__u64)(set.stop_s * 1e9) : 0;
	bool over = false;

	while (!over) {
		struct pollfd p[2] = {{.fd = h->conn, .events = POLLIN}, {.fd = h->wake_fd, .events = POLLIN}};
		struct braid_msg m = {.magic = BRAID_SOCK_MAGIC, .version = BRAID_RING_VERSION, .kind = BRAID_MSG_STOP};
		__u64 count;

		poll(p, set.deaf ? 1 : 2, (int)set.period_ms);
		if (p[1].revents & POLLIN && read(h->wake_fd, &count, sizeof(count)) < 0)
			perror("eventfd");
		if (stop_ns && now_ns() >= stop_ns) {
			stop_ns = 0;
			printf("STOP sent\n");
			if (send(h->conn, &m, sizeof(m), MSG_NOSIGNAL) < 0)
				perror("send");
		}
		if (p[0].revents) {
			over = recv(h->conn, &m, sizeof(m), 0) <= 0;
			if (!over && m.kind == BRAID_MSG_STOPPED)
				printf("STOPPED received\n");
		}
		drain(h);
	}
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	switch (key) {
	case 'r':
		set.ring_bytes = (unsigned)strtoul(arg, NULL, 0);
		return 0;
	case 's':
		set.stop_s = strtod(arg, NULL);
		return 0;
	case 'p':
		set.period_ms = (unsigned)strtoul(arg, NULL, 0);
		return 0;
	case 'd':
		set.deaf = true;
		return 0;
	case 'q':
		set.summary = true;
		return 0;
	case ARGP_KEY_ARG:
		if (state->arg_num == 0)
			set.bpf_object = arg;
		else if (state->arg_num == 1)
			set.socket = arg;
		else
			argp_usage(state);
		return 0;
	case ARGP_KEY_END:
		if (state->arg_num < 2)
			argp_usage(state);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

int main(int argc, char **argv)
{
	static const struct argp_option options[] = {
		{"ring", 'r', "BYTES", 0, "size of the ring (default 1048576)", 0},
		{"stop", 's', "SECONDS", 0, "send STOP after this long", 0},
		{"period", 'p', "MS", 0, "drain this often (default 5)", 0},
		{"deaf", 'd', NULL, 0, "do not wake up when the agent says that the ring fills", 0},
		{"quiet", 'q', NULL, 0, "print only the few records that matter, and the summary", 0},
		{0},
	};
	static const struct argp argp = {options, parse, "drain.bpf.o SOCKET", "Prints what one agent publishes.", NULL,
					 NULL,	  NULL};
	struct host h = {.conn = -1};
	int listener;

	argp_parse(&argp, argc, argv, 0, NULL, NULL);
	if (host_open(&h)) {
		perror("collector: loading the drain program");
		return 1;
	}
	listener = listen_at(set.socket);
	if (listener < 0) {
		perror("collector: listening");
		return 1;
	}
	h.conn = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
	if (h.conn < 0 || grant(h.conn, bpf_object__find_map_fd_by_name(h.object, "agent_ring"), h.wake_fd)) {
		perror("collector: granting the ring");
		return 1;
	}
	serve(&h);
	report(&h);
	return bad || undefined_uses ? 2 : 0;
}
