// SPDX-License-Identifier: Apache-2.0
// Test host: calls a library that has functions named as ImageMagick's are. usage:
// hooks_odd_images. Run by test_hooks_imagemagick.py with and without the preloaded library.
#include "odd_images.h"

#include <stdio.h>

int main(void)
{
    const struct place p = {{1, 2, 3, 4, 5, 6}};
    printf("%ld %.1f\n", ReadImage(p, 1, 2, 3, 4, 5, 6, 7, 8, 9), BlurImage(1, 2, 3, 4, 5, 6, p));
    return 0;
}
