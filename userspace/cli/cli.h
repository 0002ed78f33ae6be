// SPDX-License-Identifier: Apache-2.0
/*
 * The subcommands of `braid`; main.c calls them. Each gets its own argc and argv (argv[0] is "braid NAME") and returns
 * the exit status.
 */
#ifndef BRAID_CLI_H
#define BRAID_CLI_H

int cmd_record(int argc, char **argv);
int cmd_serve(int argc, char **argv);
int cmd_top(int argc, char **argv);
int cmd_report(int argc, char **argv);
int cmd_diagnose(int argc, char **argv);
int cmd_heap(int argc, char **argv);
int cmd_memory(int argc, char **argv);
int cmd_threads(int argc, char **argv);
int cmd_explain(int argc, char **argv);
int cmd_at(int argc, char **argv);
int cmd_diff(int argc, char **argv);
int cmd_cut(int argc, char **argv);
int cmd_merge(int argc, char **argv);
int cmd_strip(int argc, char **argv);
int cmd_recover(int argc, char **argv);
int cmd_verify(int argc, char **argv);
int cmd_replay(int argc, char **argv);
int cmd_script(int argc, char **argv);
int cmd_export(int argc, char **argv);
int cmd_import(int argc, char **argv);
int cmd_query(int argc, char **argv);
int cmd_info(int argc, char **argv);
int cmd_ctl(int argc, char **argv);
int cmd_list(int argc, char **argv);
int cmd_doctor(int argc, char **argv);

#endif
