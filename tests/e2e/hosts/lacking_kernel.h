// SPDX-License-Identifier: Apache-2.0
// A library between a program and libc that stands for a kernel without cachestat. Used by the
// hosts linked to it, and by what is preloaded into them. Threads: one.
#ifndef LACKING_KERNEL_H
#define LACKING_KERNEL_H

extern __attribute__((
    visibility("default"))) unsigned lacking_kernel_asked; // how often cachestat was asked for

__attribute__((visibility("default"))) long syscall(long number, ...);

#endif
