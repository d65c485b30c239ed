// SPDX-License-Identifier: Apache-2.0
// Numbers as the report writes them. Called while the document is filled. Fractions are printed
// from integers, since printf takes its decimal point from the locale. Threads: as the arena.
#include "report/figure.h"

#include "base/text.h"

#include <inttypes.h>
#include <math.h>

const char *figure_duration(struct arena *a, uint64_t ns)
{
    char text[TEXT_NUMBER_BYTES];
    return arena_strdup(a, text_duration(text, (double)ns));
}

const char *figure_count(struct arena *a, uint64_t count)
{
    char text[TEXT_NUMBER_BYTES];
    return arena_strdup(a, text_count(text, count > INT64_MAX ? INT64_MAX : (int64_t)count));
}

const char *figure_bytes(struct arena *a, uint64_t bytes)
{
    char text[TEXT_NUMBER_BYTES];
    return arena_strdup(a, text_bytes(text, (double)bytes));
}

const char *figure_rate(struct arena *a, double value)
{
    char text[TEXT_NUMBER_BYTES];
    return arena_strdup(a, text_number(text, value));
}

const char *figure_percent(struct arena *a, double ratio)
{
    char text[TEXT_NUMBER_BYTES];
    return arena_strdup(a, text_percent(text, ratio));
}

struct figure_scale figure_scale_for(uint64_t largest_ns)
{
    struct figure_scale s = {"s", 1e9, 3};
    if (largest_ns < 1000000u)
        s = (struct figure_scale){"us", 1e3, 3};
    else if (largest_ns < 1000000000u)
        s = (struct figure_scale){"ms", 1e6, 3};
    const double largest = (double)largest_ns / s.unit_ns;
    s.digits = largest < 10 ? 3 : largest < 100 ? 2 : largest < 10000 ? 1 : 0;
    return s;
}

static const char *print_fixed(struct arena *a, double value, int digits, const char *unit)
{
    static const uint64_t powers[] = {1, 10, 100, 1000};
    const uint64_t power = powers[digits], scaled = (uint64_t)llround(value * (double)power);
    if (!digits)
        return arena_printf(a, "%" PRIu64 " %s", scaled, unit);
    return arena_printf(
        a, "%" PRIu64 ".%0*" PRIu64 " %s", scaled / power, digits, scaled % power, unit);
}

const char *figure_cores(struct arena *a, double cores)
{
    if (!isfinite(cores) || cores < 0 || cores > 1e9)
        return "n/a";
    const uint64_t hundredths = (uint64_t)llround(cores * 100);
    if (hundredths % 100 == 0)
        return arena_printf(a, "%" PRIu64, hundredths / 100);
    return arena_printf(a, "%" PRIu64 ".%02" PRIu64, hundredths / 100, hundredths % 100);
}

const char *figure_scaled(struct arena *a, const struct figure_scale *s, uint64_t ns)
{
    return print_fixed(a, (double)ns / s->unit_ns, s->digits, s->unit);
}

const char *figure_scaled_percent(struct arena *a, double ratio)
{
    return isfinite(ratio) && ratio >= 0 && ratio < 1e6 ? print_fixed(a, ratio * 100, 1, "%")
                                                        : "n/a";
}
