// SPDX-License-Identifier: Apache-2.0
// Hook set opencv_highgui: OpenCV's windows. cv::waitKey draws what is due and waits for a key, or
// for as long as it was told. Threads: the one that has the windows, as a rule.
#include "agent/hooks/opencv.h"

OPENCV_DETAILED(uintptr_t, imshow, "cv::imshow", "draw", 0,
    opencv_before(&span, opencv_mat_of(image)), OPENCV_NOTHING,
    PARAMS(const void *window, opencv_in image), ARGS(window, image))
OPENCV_CALL(uintptr_t, named_window, "cv::namedWindow", "draw", 0,
    PARAMS(const void *window, int flags), ARGS(window, flags))
OPENCV_CALL(uintptr_t, destroy_window, "cv::destroyWindow", "draw", 0, PARAMS(const void *window),
    ARGS(window))
OPENCV_CALL(uintptr_t, poll_key, "cv::pollKey", "draw", AGENT_FOLD_SHORT, PARAMS(void *unused),
    ARGS(unused))

#define WAIT(id, text)                                                                             \
    HOOK_TYPE(uintptr_t, id, PARAMS(int delay_ms))                                                 \
    HOOK_NAME(id, text, "wait", TRACE_CAUSE_SLEEP, AGENT_GROUP_OPENCV);                            \
    static inline uintptr_t id##_body(id##_fn *real, int delay_ms)                                 \
    {                                                                                              \
        HOOK_WAIT_OF(id, span);                                                                    \
        return real(delay_ms);                                                                     \
    }                                                                                              \
    HOOK_THUNKS(uintptr_t, id, PARAMS(int delay_ms), ARGS(delay_ms))
WAIT(wait_key, "cv::waitKey")
WAIT(wait_key_ex, "cv::waitKeyEx")

static const struct hook_function functions[] = {
    HOOK_LINE(imshow, "_ZN2cv6imshowERK" OPENCV_STRING OPENCV_IN, OPENCV_IN_ATTRS),
    HOOK_LINE(named_window, "_ZN2cv11namedWindowERK" OPENCV_STRING "i", 0),
    HOOK_LINE(destroy_window, "_ZN2cv13destroyWindowERK" OPENCV_STRING, 0),
    HOOK_LINE(poll_key, "_ZN2cv7pollKeyEv", 0),
    HOOK_LINE(wait_key, "_ZN2cv7waitKeyEi", 0),
    HOOK_LINE(wait_key_ex, "_ZN2cv9waitKeyExEi", 0),
    HOOK_END,
};

OPENCV_LIBRARIES("highgui");

const struct hook_set hook_opencv_highgui = {
    .name = "opencv_highgui",
    .help = "OpenCV's windows and waiting for keys",
    .libraries = libraries,
    .functions = functions,
};
