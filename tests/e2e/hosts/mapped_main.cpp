// SPDX-License-Identifier: Apache-2.0
// The program of the stage-map test: calls its own library, catches what it throws, and uses the
// marks' scope from C++. Run by test_stage_map.py.
#include "mapped.h"

#include <lightmeter/mark.h>

#include <cstdio>
#include <stdexcept>

static int guarded(int level)
{
    LM_STAGE("guarded");
    return own::throwing(level);
}

int main()
{
    for (int i = 0; i < 20; i++) {
        std::printf(
            "%.3f\n", own::many(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, i));
        std::printf("%s\n", own::text("ab", i % 4).c_str());
        own::big b = own::structure({{1, 2, 3, 4}}, i);
        std::printf("%.0f %.0f %.0f %.0f\n", b.v[0], b.v[1], b.v[2], b.v[3]);
        std::printf("%d %.1Lf\n", plain_sum(9, 1, 2, 3, 4, 5, 6, 7, 8, i), own::wide(i));
        try {
            guarded(i % 5);
        } catch (const std::runtime_error &e) {
            std::printf("caught %s\n", e.what());
        }
    }
    return 0;
}
