// SPDX-License-Identifier: Apache-2.0
// Host of the hook set io_uring: calls the functions of odd_aio.c and prints what they give.
#include "odd_aio.h"

#include <stdio.h>

int main(void)
{
    struct many m = {{1, 2, 3, 4, 5, 6, 7, 8}};
    m = io_getevents(m);
    for (int i = 0; i < 8; i++)
        printf("%ld ", m.words[i]);
    printf("%.2f\n", io_submit(1, 0.25, 2, 3, 4, 5, 6, 7, 8, 0.5));
    return 0;
}
