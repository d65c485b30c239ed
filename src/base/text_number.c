// SPDX-License-Identifier: Apache-2.0
// Numbers for people. Called wherever a report or message shows one. Rounds first and picks the
// unit by the rounded value, so that "1000 us" cannot appear. Threads: no shared state.
#include "base/text.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *unknown(char out[TEXT_NUMBER_BYTES])
{
    strcpy(out, "n/a");
    return out;
}

// Three digits that count: "1.23", "12.3", "123". Of 0 <= value < 999.5 or so.
static int print_three(char *out, size_t out_bytes, double value, const char *unit)
{
    int decimals = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
    return snprintf(out, out_bytes, "%.*f %s", decimals, value, unit);
}

// Dots for decimal commas, which printf writes in some locales.
static const char *with_points(char out[TEXT_NUMBER_BYTES])
{
    for (char *c = strchr(out, ','); c; c = strchr(c, ','))
        *c = '.';
    return out;
}

// Two whole numbers of neighbouring units, such as minutes and seconds.
static void print_pair(char *out, size_t out_bytes, double value, double base, const char *units)
{
    double high = floor(value / base);
    snprintf(out, out_bytes, "%.0f %c %02.0f %c", high, units[0], value - high * base, units[1]);
}

static void print_long(char *out, size_t out_bytes, double duration_s)
{
    double seconds = round(duration_s), minutes = round(duration_s / 60);
    if (seconds < 3600)
        print_pair(out, out_bytes, seconds, 60, "ms");
    else if (minutes < 48 * 60)
        print_pair(out, out_bytes, minutes, 60, "hm");
    else
        print_pair(out, out_bytes, round(duration_s / 3600), 24, "dh");
}

const char *text_duration(char out[TEXT_NUMBER_BYTES], double duration_ns)
{
    static const char *const units[] = {"ns", "us", "ms"};
    if (!isfinite(duration_ns) || fabs(duration_ns) > 1e27)
        return unknown(out);
    char *at = out;
    if (duration_ns < 0)
        *at++ = '-';
    size_t room = TEXT_NUMBER_BYTES - (size_t)(at - out);
    double value = fabs(duration_ns);
    if (value < 999.5 && value == floor(value)) {
        snprintf(at, room, "%.0f ns", value);
        return out;
    }
    for (int i = 0; i < 3; i++, value /= 1000) {
        if (value < 999.5) {
            print_three(at, room, value, units[i]);
            return with_points(out);
        }
    }
    if (value < 59.95)
        print_three(at, room, value, "s");
    else
        print_long(at, room, value);
    return with_points(out);
}

const char *text_bytes(char out[TEXT_NUMBER_BYTES], double length_bytes)
{
    static const char *const units[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    if (!isfinite(length_bytes) || fabs(length_bytes) > 1e21)
        return unknown(out);
    char *at = out;
    if (length_bytes < 0)
        *at++ = '-';
    size_t room = TEXT_NUMBER_BYTES - (size_t)(at - out);
    double value = fabs(length_bytes);
    if (value < 1023.5) {
        snprintf(at, room, "%.0f B", value);
        return out;
    }
    value /= 1024;
    size_t unit = 0;
    for (; value >= 1023.5 && unit < 5; unit++)
        value /= 1024;
    print_three(at, room, value, units[unit]);
    return with_points(out);
}

const char *text_percent(char out[TEXT_NUMBER_BYTES], double ratio)
{
    double percent = fabs(ratio) * 100;
    if (!isfinite(ratio) || percent > 1e15)
        return unknown(out);
    const char *sign = ratio < 0 ? "-" : "";
    if (percent > 0 && percent < 0.05) {
        snprintf(out, TEXT_NUMBER_BYTES, "%s<0.1 %%", sign);
        return out;
    }
    int is_fine = (percent > 0 && percent < 9.95) || (percent >= 99 && percent < 99.95);
    snprintf(out, TEXT_NUMBER_BYTES, "%s%.*f %%", sign, is_fine, percent);
    return with_points(out);
}

// Puts commas between groups of three of the digits at `digits`.
static void add_commas(char *digits, char *out)
{
    size_t count = strlen(digits);
    for (size_t i = 0; i < count; i++) {
        if (i && (count - i) % 3 == 0)
            *out++ = ',';
        *out++ = digits[i];
    }
    *out = 0;
}

const char *text_count(char out[TEXT_NUMBER_BYTES], int64_t count)
{
    char digits[24];
    uint64_t size = count < 0 ? 0 - (uint64_t)count : (uint64_t)count;
    snprintf(digits, sizeof digits, "%" PRIu64, size);
    if (count < 0)
        out[0] = '-';
    add_commas(digits, out + (count < 0));
    return out;
}

const char *text_number(char out[TEXT_NUMBER_BYTES], double value)
{
    double size = fabs(value);
    if (!isfinite(value))
        return unknown(out);
    if (size >= 999.5 && size < 1e15)
        return text_count(out, (int64_t)llround(value));
    if (size == 0) {
        strcpy(out, "0");
        return out;
    }
    if (size >= 1e15 || size < 0.0001) {
        snprintf(out, TEXT_NUMBER_BYTES, "%.2e", value);
        return with_points(out);
    }
    int decimals = 2 - (int)floor(log10(size));
    if (decimals > 0 && size + 0.5 * pow(10, -decimals) >= pow(10, 3 - decimals))
        decimals--;
    snprintf(out, TEXT_NUMBER_BYTES, "%.*f", decimals < 0 ? 0 : decimals, value);
    return with_points(out);
}
