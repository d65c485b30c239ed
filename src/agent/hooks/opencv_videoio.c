// SPDX-License-Identifier: Apache-2.0
// Hook set opencv_videoio: OpenCV reading and writing video, from files and cameras. Most of it is
// virtual: cv2 calls through the vtable, which is a constant table of the library. A read from a
// camera waits for its frame inside. Threads: any.
#include "agent/hooks/opencv.h"

#define DETAILED(id, text, stage, before, after, params, args)                                     \
    OPENCV_DETAILED(                                                                               \
        uintptr_t, id, text, stage, AGENT_FOLD_SHORT, before, after, PARAMS(params), ARGS(args))
#define OPEN(id, text, params, args)                                                               \
    OPENCV_CALL(uintptr_t, id, text, "load", 0, PARAMS(params), ARGS(args))
#define NOTHING OPENCV_NOTHING
#define MADE(mat) opencv_after(&span, TRACE_DTYPE_UNKNOWN, mat)

static inline void note_frame(const struct hook_span *s, const struct opencv_mat *m)
{
    opencv_shape(s, m);
    if (s->token && m && m->data)
        span_value(s->token, TRACE_ATTR_INPUT, (uintptr_t)m->data);
}

// ---- Opening: by name or by number, as a constructor or a call. ---------------------------------
#define CAPTURE(id, text)                                                                          \
    OPEN(id##_file, text, PARAMS(void *self, const void *path, int backend),                       \
        ARGS(self, path, backend))                                                                 \
    OPEN(id##_file_options, text,                                                                  \
        PARAMS(void *self, const void *path, int backend, const void *options),                    \
        ARGS(self, path, backend, options))                                                        \
    OPEN(id##_camera, text, PARAMS(void *self, int number, int backend),                           \
        ARGS(self, number, backend))                                                               \
    OPEN(id##_camera_options, text,                                                                \
        PARAMS(void *self, int number, int backend, const void *options),                          \
        ARGS(self, number, backend, options))
CAPTURE(capture_open, "cv::VideoCapture::open")
CAPTURE(capture_new, "cv::VideoCapture::open")
#define WRITER(id, text)                                                                           \
    OPEN(id, text,                                                                                 \
        PARAMS(void *self, const void *path, int code, double fps, uint64_t extent, int colour),   \
        ARGS(self, path, code, fps, extent, colour))                                               \
    OPEN(id##_options, text,                                                                       \
        PARAMS(void *self, const void *path, int code, double fps, const void *extent,             \
            const void *options),                                                                  \
        ARGS(self, path, code, fps, extent, options))                                              \
    OPEN(id##_backend, text,                                                                       \
        PARAMS(void *self, const void *path, int backend, int code, double fps, uint64_t extent,   \
            int colour),                                                                           \
        ARGS(self, path, backend, code, fps, extent, colour))                                      \
    OPEN(id##_backend_options, text,                                                               \
        PARAMS(void *self, const void *path, int backend, int code, double fps,                    \
            const void *extent, const void *options),                                              \
        ARGS(self, path, backend, code, fps, extent, options))
WRITER(writer_open, "cv::VideoWriter::open")
WRITER(writer_new, "cv::VideoWriter::open")

// ---- Frames. ------------------------------------------------------------------------------------
DETAILED(grab, "cv::VideoCapture::grab", "decode", NOTHING, NOTHING, PARAMS(void *self), ARGS(self))
DETAILED(retrieve, "cv::VideoCapture::retrieve", "decode", NOTHING, MADE(opencv_mat_of(out)),
    PARAMS(void *self, opencv_out out, int stream), ARGS(self, out, stream))
DETAILED(read, "cv::VideoCapture::read", "decode", NOTHING, MADE(opencv_mat_of(out)),
    PARAMS(void *self, opencv_out out), ARGS(self, out))
DETAILED(shift_out, "cv::VideoCapture::operator>>", "decode", NOTHING, MADE(opencv_mat_check(mat)),
    PARAMS(void *self, void *mat), ARGS(self, mat))
DETAILED(shift_out_umat, "cv::VideoCapture::operator>>", "decode", NOTHING, NOTHING,
    PARAMS(void *self, void *mat), ARGS(self, mat))
DETAILED(write, "cv::VideoWriter::write", "encode", note_frame(&span, opencv_mat_of(image)),
    NOTHING, PARAMS(void *self, opencv_in image), ARGS(self, image))
DETAILED(shift_in, "cv::VideoWriter::operator<<", "encode",
    note_frame(&span, opencv_mat_check(mat)), NOTHING, PARAMS(void *self, const void *mat),
    ARGS(self, mat))
DETAILED(shift_in_umat, "cv::VideoWriter::operator<<", "encode", NOTHING, NOTHING,
    PARAMS(void *self, const void *mat), ARGS(self, mat))
// What the encoder still held is written here.
DETAILED(writer_release, "cv::VideoWriter::release", "encode", NOTHING, NOTHING, PARAMS(void *self),
    ARGS(self))

#define INTS "RKSt6vectorIiSaIiEE"
#define LINE(id, symbol, attrs) HOOK_LINE(id, symbol, attrs | HOOK_VIRTUAL)
#define LINES_CAPTURE(id, symbol)                                                                  \
    LINE(id##_file, symbol "ERK" OPENCV_STRING "i", 0),                                            \
        LINE(id##_file_options, symbol "ERK" OPENCV_STRING "i" INTS, 0),                           \
        LINE(id##_camera, symbol "Eii", 0), LINE(id##_camera_options, symbol "Eii" INTS, 0)
#define LINES_WRITER(id, symbol)                                                                   \
    LINE(id, symbol "ERK" OPENCV_STRING "id" OPENCV_SIZE "b", 0),                                  \
        LINE(id##_options, symbol "ERK" OPENCV_STRING "idRK" OPENCV_SIZE INTS, 0),                 \
        LINE(id##_backend, symbol "ERK" OPENCV_STRING "iid" OPENCV_SIZE "b", 0),                   \
        LINE(id##_backend_options, symbol "ERK" OPENCV_STRING "iidRK" OPENCV_SIZE INTS, 0)
#define WRITTEN (HOOK_SHAPE | HOOK_ATTR(INPUT))

static const struct hook_function functions[] = {
    LINES_CAPTURE(capture_open, "_ZN2cv12VideoCapture4open"),
    LINES_CAPTURE(capture_new, "_ZN2cv12VideoCaptureC1"),
    LINES_WRITER(writer_open, "_ZN2cv11VideoWriter4open"),
    LINES_WRITER(writer_new, "_ZN2cv11VideoWriterC1"),
    LINE(grab, "_ZN2cv12VideoCapture4grabEv", 0),
    LINE(retrieve, "_ZN2cv12VideoCapture8retrieveE" OPENCV_OUT "i", OPENCV_OUT_ATTRS),
    LINE(read, "_ZN2cv12VideoCapture4readE" OPENCV_OUT, OPENCV_OUT_ATTRS),
    LINE(shift_out, "_ZN2cv12VideoCapturersERNS_3MatE", OPENCV_OUT_ATTRS),
    LINE(shift_out_umat, "_ZN2cv12VideoCapturersERNS_4UMatE", 0),
    LINE(write, "_ZN2cv11VideoWriter5writeE" OPENCV_IN, WRITTEN),
    LINE(shift_in, "_ZN2cv11VideoWriterlsERKNS_3MatE", WRITTEN),
    LINE(shift_in_umat, "_ZN2cv11VideoWriterlsERKNS_4UMatE", 0),
    LINE(writer_release, "_ZN2cv11VideoWriter7releaseEv", 0),
    HOOK_END,
};

OPENCV_LIBRARIES("videoio");

const struct hook_set hook_opencv_videoio = {
    .name = "opencv_videoio",
    .help = "OpenCV reading and writing video",
    .libraries = libraries,
    .functions = functions,
};
