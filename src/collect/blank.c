// SPDX-License-Identifier: Apache-2.0
// A library with nothing in it, built for 32-bit programs. Their loader takes it where it cannot
// take the real one, and stays silent (see preload.h). Nobody calls it; it needs no libc. Threads:
// none.
_Static_assert(sizeof(void *) == 4, "a 64-bit program gets the real library");
