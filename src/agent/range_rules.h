// SPDX-License-Identifier: Apache-2.0
// What a range that the program names itself (NVTX, ITT) is to Lightmeter: a stage, an item, or
// nothing. The user's rules come first (`ranges:` in the stage map, see collect/stagemap.h), then
// defaults. Called once for each name. Threads: no shared state.
#ifndef LIGHTMETER_AGENT_RANGE_RULES_H
#define LIGHTMETER_AGENT_RANGE_RULES_H

#define RANGE_TEXT_BYTES 200u // longest domain or name that is kept

enum range_use {
    RANGE_STAGE, // a span of its stage
    RANGE_ITEM,  // one item, from its begin to its end; no span
    RANGE_IGNORE // nothing: its time is that of the stage around it
};

struct range_choice {
    enum range_use use;
    const char *stage; // of RANGE_STAGE; lives as long as `text` or longer
    int is_own_name;   // nothing matched, and the stage is the name itself, as with a mark
};

// `domain`: "" for the default one. `text`: as range_names.h cuts it.
struct range_choice range_rules_choose(const char *domain, const char *text);

// "void cv::resize(InputArray, int)" -> "cv::resize", in place; other texts stay as they are.
void range_rules_shorten(char *text);

#endif
