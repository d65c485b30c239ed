# SPDX-License-Identifier: Apache-2.0
"""Hook sets for FFmpeg's libraries: a transcoding host, the ffmpeg program, OpenCV's reader in Python.

Each must give the same bytes with and without the agent, and be seen in the stages it goes through.

usage: test_hooks_libav.py HOST HOST_OF_58 HOST_OF_UNKNOWN
"""
import collections
import os
import shutil
import tempfile

import parts
from agent_trace import calls, expect, follow, named, one, run

WIDTH, HEIGHT, FRAMES, RATE = 320, 240, 24, 25
WHOLE = (WIDTH, HEIGHT, 0, 0)
YUV420P, BGR24, GRAY8 = 0, 3, 8
NEAREST, AREA, LANCZOS = 1, 4, 5
I16, F32 = 4, 6
SETS = ("libavcodec", "libavfilter", "libavformat", "swresample", "swscale")
PYTHON = ("/usr/bin/python3", "-B", "-c")
READ = """
import sys, zlib
import cv2
cv2.setNumThreads(1)
video = cv2.VideoCapture(sys.argv[1], cv2.CAP_FFMPEG)
while video.grab():
    print(zlib.crc32(video.retrieve()[1].tobytes()))
"""


def ours(trace):
    return [span for span in trace.spans if span.name.startswith(("av", "sws_", "swr_"))]


def value(span, name):
    return span.values.get(name, (None, None))[0]


def content(path):
    with open(path, "rb") as file:
        return file.read()


def follow_made(path, *command, **options):
    """As follow, where the command makes the file `path`: the same with and without the agent."""
    bare = run(command, {})
    made = content(path)
    output, trace = follow(*command, **options)
    assert made and content(path) == made, f"{command} made another {path}: {bare}"
    return output, trace


def total(spans, stage):
    """(calls, bytes) of spans that are all of one stage."""
    assert {span.stage for span in spans} == {stage}, spans[:5]
    return sum(span.calls for span in spans), sum(span.bytes for span in spans)


def outer(trace, name):
    """Those that the host itself called: a library may call the same."""
    return [span for span in named(trace, name) if span.depth == 0]


def check_calls(trace):
    expect(trace, {
        "avformat_open_input": ("load", 3), "avformat_find_stream_info": ("load", 2),
        "avformat_seek_file": ("load", 2), "avformat_close_input": ("load", 2),
        "avformat_write_header": ("save", 1), "av_write_trailer": ("save", 1),
        "avio_closep": ("save", 1), "swr_init": ("convert", 1), "swr_convert": ("convert", 1),
        "sws_scale": ("convert", 1), "sws_getContext": ("convert", 1),
        "avfilter_graph_config": ("preprocess", 1), "avfilter_graph_free": ("preprocess", 1),
        "av_buffersrc_add_frame_flags": ("preprocess", 1), "av_buffersink_get_frame": ("preprocess", 2),
        "av_hwframe_transfer_data": ("transfer", 1)})
    for name, wanted in (("avio_open", [("load", 1), ("save", 1)]),
                         ("avcodec_open2", [("decode", 6), ("encode", 2)]),
                         ("avcodec_free_context", [("encode", 2)]),
                         ("avcodec_flush_buffers", [("decode", 4)])):
        for stage, count in wanted:
            found = [span for span in outer(trace, name) if span.stage == stage]
            assert total(found, stage)[0] == count, (name, stage, found)


def numbers(output, word):
    """(packets, bytes) of the lines "WORD N packets of N bytes"; all of these lines agree."""
    lines = {line for line in output.splitlines() if line.startswith(word + " ")}
    assert len(lines) == 1, lines
    words = lines.pop().split()
    return int(words[1]), int(words[4])


def check_packets(trace, output):
    """Each packet, and each byte of it, is counted in every call that it goes through."""
    wrote, read = numbers(output, "wrote"), numbers(output, "read")
    assert total(outer(trace, "avcodec_receive_packet"), "encode")[1] == wrote[1]
    assert total(outer(trace, "av_interleaved_write_frame"), "save") == (wrote[0] + 1, wrote[1])
    # Read twice; the call that finds the end, too. What is sent to the decoders: their ends, and noise.
    assert total(outer(trace, "av_read_frame"), "load") == (2 * read[0] + 2, 2 * read[1])
    assert total(outer(trace, "avcodec_send_packet"), "decode") == (2 * read[0] + 5, 2 * read[1] + 256)


def check_frames(trace):
    """Pictures with their attributes, one by one; sound and calls that give nothing apart from them."""
    pictures = outer(trace, "avcodec_receive_frame")
    assert len(pictures) == 2 * FRAMES and {span.stage for span in pictures} == {"decode"}, pictures
    assert {(span.shape, value(span, "COLOUR")) for span in pictures} == {(WHOLE, YUV420P)}, pictures
    times = sorted(value(span, "PTS") for span in pictures)
    steps = {later - earlier for earlier, later in zip(times[::2], times[2::2])}
    assert steps <= {1000000 // RATE}, times
    # The demuxer's packets have the times of the pictures made of them.
    read = {value(span, "PTS") for span in outer(trace, "av_read_frame")} - {None}
    assert read & set(times), (read, times)
    assert total(outer(trace, "avcodec_receive_frame (sound)"), "decode")[0] > 0
    assert total(outer(trace, "avcodec_receive_frame (no frame)"), "decode")[0] > 2 * FRAMES
    sent = [span for span in outer(trace, "avcodec_send_frame") if span.shape]
    assert total(outer(trace, "avcodec_send_frame"), "encode")[0] > FRAMES + 2
    for span in sent:
        assert (span.shape, value(span, "COLOUR")) == (WHOLE, YUV420P), span
    assert {value(span, "PTS") for span in sent} <= {n * 1000000 // RATE for n in range(FRAMES)}, sent
    assert len(sent) > FRAMES // 2 and all(value(span, "INPUT") for span in sent), sent
    for span in outer(trace, "avcodec_send_frame"):
        if value(span, "ELEMENTS"):
            assert (value(span, "ELEMENTS"), value(span, "DTYPE")) == (1152, I16), span


def check_scaling(trace):
    span = one(trace, "sws_scale")
    assert (span.shape, span.source) == ((160, 120, 0, 0), (WIDTH, HEIGHT)), span
    assert (value(span, "COLOUR"), value(span, "FILTER")) == (YUV420P << 16 | BGR24, AREA), span
    span = outer(trace, "sws_scale_frame")[0]
    assert (span.shape, span.source) == ((160, 120, 0, 0), (WIDTH, HEIGHT)), span
    assert (value(span, "COLOUR"), value(span, "FILTER")) == (YUV420P << 16 | BGR24, NEAREST), span
    span = one(trace, "swr_convert")
    assert span.values["DTYPE"] == (I16, F32) and value(span, "ELEMENTS") > 40000, span
    span = next(span for span in named(trace, "av_buffersink_get_frame") if span.shape)
    assert (span.shape, value(span, "COLOUR"), value(span, "PTS")) == \
        ((80, 60, 0, 0), GRAY8, 50 * 1000000 // RATE), span
    inner = [span for span in named(trace, "sws_scale_frame") if span.depth]
    assert inner and {span.stage for span in inner} == {"convert"}, inner


def check_threads(trace):
    threads = sorted(value(span, "THREADS") or 0 for span in outer(trace, "avcodec_open2")
                     if span.shape is None and "THREADS" in span.values)
    assert threads and threads[-1] == 3, threads


def check_host(host, clip):
    output, trace = follow_made(clip, host, clip)
    assert f"stream 0: {FRAMES} frames" in output, output
    check_calls(trace)
    check_packets(trace, output)
    check_frames(trace)
    check_scaling(trace)
    check_threads(trace)
    assert all(trace.coverage[name][0] == "covered" for name in SETS), trace.coverage


def check_off(host, clip):
    _, trace = follow_made(clip, host, clip, off=SETS)
    assert not ours(trace), ours(trace)[:5]
    assert all(trace.coverage[name][0] == "uninstrumented" for name in SETS), trace.coverage


def check_old(host):
    """libavcodec 58: calls that do both halves at once."""
    output, trace = follow(host)
    assert "version 58" in output, output
    picture, nothing = one(trace, "avcodec_decode_video2"), named(trace, "avcodec_decode_video2 (no frame)")
    assert (picture.stage, picture.bytes, picture.shape) == ("decode", 700, (64, 48, 0, 0)), picture
    assert value(picture, "COLOUR") == 3 and calls(trace, "avcodec_decode_video2 (no frame)") == 1, nothing
    expect(trace, {"avcodec_decode_audio4 (sound)": ("decode", 1),
                   "avcodec_decode_audio4 (no frame)": ("decode", 1),
                   "avcodec_encode_video2": ("encode", 1), "avcodec_encode_audio2": ("encode", 1)})


def check_unknown(host):
    """Of a version that is not known, calls are timed and no struct is read."""
    output, trace = follow(host)
    assert "version 99" in output, output
    expect(trace, {"avcodec_decode_video2": ("decode", 1), "avcodec_decode_audio4": ("decode", 1),
                   "avcodec_encode_video2": ("encode", 1)})
    for span in ours(trace):
        assert (span.bytes, span.shape, set(span.values) - {"SESSION"}) == (0, None, set()), span


def check_ffmpeg(clip, folder):
    """The program itself: the same file, and each of its stages seen."""
    made = os.path.join(folder, "made.mp4")
    for codec in ("mpeg4", "libx264"):
        if codec not in run(("ffmpeg", "-v", "quiet", "-encoders"), {}).stdout.decode():
            continue
        _, trace = follow_made(
            made, "ffmpeg", "-nostdin", "-v", "error", "-y", "-i", clip, "-vf", "scale=160:120",
            "-c:v", codec, "-threads", "2", "-flags", "+bitexact", "-fflags", "+bitexact", made)
        expect(trace, {"avformat_open_input": ("load", 1), "av_read_frame": ("load", None),
                       "av_interleaved_write_frame": ("save", None), "avcodec_send_frame": ("encode", None),
                       "av_buffersrc_add_frame_flags": ("preprocess", None)})
        # Finding out what is in the file decodes some of it as well.
        assert len(outer(trace, "avcodec_receive_frame")) == FRAMES, named(trace, "avcodec_receive_frame")
        scaled = named(trace, "sws_scale_frame") + named(trace, "sws_scale")
        assert sum(span.calls for span in scaled) >= FRAMES, scaled


def check_opencv(clip):
    """Debian's python3-opencv reads video through these libraries."""
    if run((*PYTHON, "import cv2"), {}).returncode:
        return
    output, trace = follow(*PYTHON, READ, clip)
    if not output.split():
        return
    assert len(output.split()) == FRAMES, output
    if not ours(trace):
        return  # an OpenCV with the libraries inside
    expect(trace, {"avformat_open_input": ("load", 1), "av_read_frame": ("load", None),
                   "sws_scale": ("convert", FRAMES)})
    # Those of the decoder; another one finds out what is in the file.
    pictures = named(trace, "avcodec_receive_frame")
    sessions = collections.Counter(value(span, "SESSION") for span in pictures)
    assert FRAMES in sessions.values() and {span.shape for span in pictures} == {WHOLE}, pictures
    for span in named(trace, "sws_scale"):
        assert span.shape in (None, WHOLE) and value(span, "COLOUR") in (None, YUV420P << 16 | BGR24), span


def main():
    host, old, unknown = parts.program(1), parts.program(2), parts.program(3)
    with tempfile.TemporaryDirectory() as folder:
        clip = os.path.join(folder, "clip.nut")
        check_host(host, clip)
        check_off(host, clip)
        check_old(old)
        check_unknown(unknown)
        if shutil.which("ffmpeg"):
            check_ffmpeg(clip, folder)
        check_opencv(clip)


if __name__ == "__main__":
    main()
