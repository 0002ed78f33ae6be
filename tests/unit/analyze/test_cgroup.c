// SPDX-License-Identifier: Apache-2.0
/* Tests of names of containers in the paths of control groups. */
#include <check.h>
#include <stddef.h>

#include <analyze/cgroup.h>

Suite *test_cgroup(void);

#define ID "0123456789ab4c0f58f2a3f7c1f3c0d9a8b7c6d5e4f3021123456789abcdef01"

START_TEST(containers_are_named)
{
	static const struct {
		const char *cgroup, *container;
	} cases[] = {
		{"/docker/" ID, "0123456789ab"},
		{"/system.slice/docker-" ID ".scope", "0123456789ab"},
		{"/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod1_2.slice/cri-containerd-" ID ".scope",
		 "0123456789ab"},
		{"/machine.slice/libpod-" ID ".scope/container", "0123456789ab"},
		{"/machine.slice/machine-web.scope", "web"},
		{"/lxc.payload.db/system.slice/cron.service", "db"},
		{"/lxc.payload.db/docker/" ID, "0123456789ab"}, /* the innermost */
		{"", ""},
		{"/", ""},
		{"///", ""},
		{"/user.slice/user-1000.slice/session-2.scope", ""},
		{"/docker/" ID "0", ""},	       /* 65 digits */
		{"/docker/0123456789abcdef", ""},      /* too short */
		{"/docker/" ID "-logs", ""},	       /* no end of an id */
		{"/machine.slice/machine-.scope", ""}, /* no name */
		{"/lxc.payload.", ""},
		{"/lxc.payload.a-name-that-is-longer-than-anything-that-is-kept-of-the-name-of-a-machine",
		 "a-name-that-is-longer-than-anything-that-is-kept-of-the-name-of"},
	};
	char to[CONTAINER_NAME_MAX];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		cgroup_container(cases[i].cgroup, to);
		ck_assert_str_eq(to, cases[i].container);
	}
}
END_TEST

Suite *test_cgroup(void)
{
	Suite *s = suite_create("cgroup");
	TCase *tc = tcase_create("cgroup");

	tcase_add_test(tc, containers_are_named);
	suite_add_tcase(s, tc);
	return s;
}
