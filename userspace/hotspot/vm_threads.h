// SPDX-License-Identifier: Apache-2.0
/*
 * Threads of the VM that are no Java threads: those that collect garbage, and the like. The VM's tables lead to no list
 * of them, but a thread's own stack has the address of its Thread, with which it began. jvm/ calls this.
 */
#ifndef BRAID_HOTSPOT_VM_THREADS_H
#define BRAID_HOTSPOT_VM_THREADS_H

#include "java_heap.h"

#define VM_THREAD_NAME_BYTES 128

/*
 * Looks from `stack`, the stack pointer of a thread that sleeps, for the Thread whose OS thread has this number in its
 * pid namespace. Then *name is the name that a NamedThread has, in the VM's form of UTF-8; a Thread of another class
 * has none, or what is there is anything. False: there is no such Thread.
 */
bool vm_thread_find(const struct java_heap *h, uint64_t stack, uint32_t tid, char name[VM_THREAD_NAME_BYTES]);

#endif
