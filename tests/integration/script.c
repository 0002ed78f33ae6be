// SPDX-License-Identifier: Apache-2.0
#include "tests/integration/script.h"
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define LIMIT_S 180
#define PATIENCE_S 5
#define TAKES_S 5 /* by default */

double now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

int script_limit_s(const struct script *s)
{
	return LIMIT_S + 4 * s->takes_s;
}

/* ---- its head ---- */

int class_parse(const char *word, size_t length, unsigned int *classes)
{
	static const struct {
		const char *name;
		enum class class;
	} all[] = {{"quick", QUICK}, {"normal", NORMAL}, {"long", LONG}};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		if (strlen(all[i].name) == length && memcmp(all[i].name, word, length) == 0) {
			*classes |= all[i].class;
			return 0;
		}
	}
	return 1;
}

static const char *value_of(const char *line, const char *key)
{
	size_t n = strlen(key);

	return strncmp(line, key, n) == 0 ? line + n : NULL;
}

static int head_line(struct script *s, const char *line)
{
	const char *value;
	unsigned int classes = 0;

	if ((value = value_of(line, "# class: "))) {
		if (class_parse(value, strcspn(value, "\n"), &classes))
			return 1;
		s->class = (enum class)classes;
	} else if (value_of(line, "# alone: ")) {
		s->alone = true;
	} else if ((value = value_of(line, "# takes: "))) {
		s->takes_s = atoi(value);
		return s->takes_s <= 0;
	}
	return 0;
}

int script_read(struct script *s)
{
	FILE *f = fopen(s->path, "re");
	char line[1024];
	int bad = 0;

	s->class = NORMAL;
	s->takes_s = TAKES_S;
	if (!f) {
		fprintf(stderr, "%s: %s\n", s->path, strerror(errno));
		return 1;
	}
	while (!bad && fgets(line, sizeof(line), f) && line[0] == '#')
		bad = head_line(s, line);
	fclose(f);
	if (bad)
		fprintf(stderr, "%s: not understood: %s", s->path, line);
	return bad;
}

/* ---- its supervisor ---- */

static void become_script(const struct script *s, const sigset_t *usual)
{
	int out = open(s->output, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0644);
	int in = open("/dev/null", O_RDONLY);

	/* A terminal's Ctrl-C does not reach it; the supervisor handles that. */
	setpgid(0, 0);
	signal(SIGHUP, SIG_DFL); /* nohup's child would pass the ignored signal on to every program */
	sigprocmask(SIG_SETMASK, usual, NULL);
	if (out < 0 || in < 0 || dup2(in, 0) < 0 || dup2(out, 1) < 0 || dup2(out, 2) < 0 || chdir(s->dir))
		_exit(126);
	if (s->alone)
		setenv("ALONE", "1", 1);
	execlp("bash", "bash", s->path, (char *)NULL);
	_exit(127);
}

/* False when there are no children. */
static bool children_signal(int signal)
{
	char path[64], text[4096], *at, *end;
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/self/task/%ld/children", (long)getpid());
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	if (fd >= 0)
		close(fd);
	if (n <= 0)
		return false;
	text[n] = '\0';
	for (at = text; strtol(at, &end, 10) > 0; at = end)
		kill((pid_t)strtol(at, NULL, 10), signal);
	return true;
}

/*
 * The processes that the script leaves behind become children of this process, its subreaper; it has no others. A
 * killed recording leaves files behind, so it gets a request to end first.
 */
static void end_leftovers(void)
{
	const struct timespec step = {.tv_nsec = 10000000};
	double start = now_s();
	int signal = SIGTERM;

	while (children_signal(signal)) {
		nanosleep(&step, NULL);
		while (waitpid(-1, NULL, WNOHANG) > 0)
			;
		if (now_s() - start > PATIENCE_S)
			signal = SIGKILL;
	}
}

/* Other children that end are the script's orphans. */
static bool has_ended(pid_t script, int *status)
{
	pid_t pid;
	int how;

	while ((pid = waitpid(-1, &how, WNOHANG)) > 0) {
		if (pid == script) {
			*status = WIFEXITED(how) ? WEXITSTATUS(how) : 128 + WTERMSIG(how);
			return true;
		}
	}
	return false;
}

static int await_end(pid_t script, int limit_s, const sigset_t *waited)
{
	double end = now_s() + limit_s, left;
	int signal, status;

	while ((left = end - now_s()) > 0) {
		struct timespec t = {.tv_sec = (time_t)left, .tv_nsec = (long)((left - (double)(time_t)left) * 1e9)};

		signal = sigtimedwait(waited, NULL, &t);
		if (signal == SIGCHLD && has_ended(script, &status))
			return status;
		if (signal > 0 && signal != SIGCHLD) {
			kill(script, SIGTERM);
			return INTERRUPTED;
		}
	}
	kill(script, SIGKILL);
	return TIMED_OUT;
}

/* HotSpot's report of the crash: its head says where. */
static void show_crash(const char *path, FILE *output)
{
	FILE *report = fopen(path, "re");
	char line[256];

	fprintf(output, "a JVM crashed: %s\n", path);
	while (report && fgets(line, sizeof(line), report) && line[0] == '#')
		fputs(line, output);
	if (report)
		fclose(report);
}

/* A test need not look at how its JVM ended. */
static bool jvm_crashed(const struct script *s)
{
	FILE *output = fopen(s->output, "ae");
	char *pattern = NULL;
	glob_t found = {0};
	bool crashed = false;

	if (asprintf(&pattern, "%s/hs_err_pid*.log", s->dir) > 0)
		crashed = !glob(pattern, 0, NULL, &found);
	for (size_t i = 0; output && i < found.gl_pathc; i++)
		show_crash(found.gl_pathv[i], output);
	globfree(&found);
	free(pattern);
	if (output)
		fclose(output);
	return crashed;
}

static void supervise(const struct script *s, pid_t parent, const sigset_t *waited, const sigset_t *usual)
{
	pid_t script;
	int status;

	prctl(PR_SET_CHILD_SUBREAPER, 1);
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent)
		_exit(INTERRUPTED);
	script = fork();
	if (script == 0)
		become_script(s, usual);
	status = script < 0 ? 126 : await_end(script, script_limit_s(s), waited);
	end_leftovers();
	if (jvm_crashed(s) && !status)
		status = JVM_CRASHED;
	_exit(status);
}

int script_start(struct script *s, const sigset_t *waited, const sigset_t *usual)
{
	pid_t parent = getpid();

	if (mkdir(s->dir, 0755)) {
		fprintf(stderr, "%s: %s\n", s->dir, strerror(errno));
		return 1;
	}
	s->start_s = now_s();
	fflush(stdout);
	s->supervisor = fork();
	if (s->supervisor == 0)
		supervise(s, parent, waited, usual);
	if (s->supervisor < 0)
		fprintf(stderr, "fork: %s\n", strerror(errno));
	return s->supervisor < 0;
}
