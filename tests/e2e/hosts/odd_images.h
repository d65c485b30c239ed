// SPDX-License-Identifier: Apache-2.0
// What the library odd_images and its caller share: functions named as ImageMagick's are, whose
// parameters do not fit into registers.
#ifndef ODD_IMAGES_H
#define ODD_IMAGES_H

struct place {
    long words[6];
};

#define EXPORTED __attribute__((visibility("default")))

EXPORTED long ReadImage(
    struct place p, int a, int b, int c, int d, int e, int f, int g, int h, int i);
EXPORTED double BlurImage(
    double a, double b, double c, double d, double e, double f, struct place p);

#endif
