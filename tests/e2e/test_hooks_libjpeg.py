# SPDX-License-Identifier: Apache-2.0
"""Hook set libjpeg: spans, shapes and folds of a host that decodes and encodes; 1000 longjmps.

usage: test_hooks_libjpeg.py HOST HOST_WITH_ODD_STRUCTS
"""
import parts
from agent_trace import calls, expect, follow, named, one

WIDTH, HEIGHT = 1024, 768


def encoded_bytes(output):
    return int(output.split()[0])


def check_decode(host):
    output, trace = follow(host, "plain")
    expect(trace, {
        "jpeg_start_compress": ("encode", 1), "jpeg_write_scanlines": ("encode", HEIGHT),
        "jpeg_finish_compress": ("encode", 1), "jpeg_destroy_compress": ("encode", 1),
        "jpeg_read_header": ("decode", 2), "jpeg_start_decompress": ("decode", 2),
        "jpeg_read_scanlines": ("decode", HEIGHT + HEIGHT // 2),
        "jpeg_finish_decompress": ("decode", 2), "jpeg_destroy_decompress": ("decode", 2),
    })
    full, half = named(trace, "jpeg_start_decompress")
    assert (full.shape, full.source, full.scale) == \
        ((WIDTH, HEIGHT, 3, 0), (WIDTH, HEIGHT), (8, 8)), full
    assert (half.shape, half.source, half.scale) == \
        ((WIDTH // 2, HEIGHT // 2, 3, 0), (WIDTH, HEIGHT), (4, 8)), half
    assert one(trace, "jpeg_start_compress").shape == (WIDTH, HEIGHT, 3, 0)
    # From the first call on a picture to the one that ends it, which is never folded away.
    rates = []
    for start, end in zip((full, half), named(trace, "jpeg_finish_decompress")):
        least = end.end - (start.end - start.duration)
        assert least > 0 and end.values["ELAPSED"][0] > 0, (start, end)
        rates.append(end.values["ELAPSED"][0] / least)
    assert len(rates) == 2 and 0.5 < rates[0] / rates[1] < 2, rates
    sources = named(trace, "jpeg_mem_src")
    assert sum(span.bytes for span in sources) == 2 * encoded_bytes(output), sources
    rows = [span for span in trace.spans if span.name == "jpeg_read_scanlines"]
    assert len(rows) <= 8, f"rows are not folded: {len(rows)} records"
    # jpeg_read_header calls this inside the library: part of it, not apart.
    assert not named(trace, "jpeg_consume_input")


def check_progressive(host):
    _, trace = follow(host, "progressive")
    full, half = named(trace, "jpeg_start_decompress")
    assert full.shape == (WIDTH, HEIGHT, 3, 0) and half.shape == (WIDTH // 2, HEIGHT // 2, 3, 0)
    assert not named(trace, "jpeg_consume_input")


def check_stream(host):
    """libjpeg's own reading of a file is seen apart, each byte once."""
    output, trace = follow(host, "stream")
    reads = named(trace, "fread")
    assert {span.stage for span in reads} == {"load"}, reads
    assert sum(span.bytes for span in reads) == encoded_bytes(output), reads
    assert calls(trace, "jpeg_read_scanlines") == HEIGHT


def check_transcode(host):
    _, trace = follow(host, "transcode")
    expect(trace, {"jpeg_read_coefficients": ("decode", 1), "jpeg_write_coefficients": ("encode", 1)})


def check_damaged(host):
    """1000 longjmps through the hooks: nothing piles up on the stack, and what follows is in place."""
    count = 1000
    output, trace = follow(host, "damaged", count)
    rows = int(output.split("pictures, ")[1].split()[0])
    # Each picture's last row is the call that the longjmp left; the good picture ends the run.
    assert calls(trace, "jpeg_read_scanlines") == rows + count + HEIGHT // 4, \
        (rows, calls(trace, "jpeg_read_scanlines"))
    assert calls(trace, "jpeg_start_decompress") == count + 1
    assert max(span.depth for span in trace.spans) <= 3, "abandoned spans pile up"
    # Pictures that were given up took no time that could be told.
    assert len([span for span in named(trace, "jpeg_finish_decompress") if "ELAPSED" in span.values]) == 1
    last = named(trace, "jpeg_start_decompress")[-1]
    assert last.depth == 0 and last.shape == (WIDTH // 4, HEIGHT // 4, 3, 0), last


def check_odd(host):
    """A library whose structs are not known: calls are timed, nothing is read from its structs."""
    _, trace = follow(host)
    expect(trace, {"jpeg_start_decompress": ("decode", 1)})
    assert one(trace, "jpeg_start_decompress").shape is None


def check_off(host):
    _, trace = follow(host, "plain", off=("libjpeg",))
    assert not [span for span in trace.spans if span.name.startswith("jpeg_")]
    assert trace.coverage["libjpeg"][0] == "uninstrumented", trace.coverage


def main():
    host = parts.program(1)
    check_decode(host)
    check_progressive(host)
    check_stream(host)
    check_transcode(host)
    check_damaged(host)
    check_off(host)
    check_odd(parts.program(2))


if __name__ == "__main__":
    main()
