// SPDX-License-Identifier: Apache-2.0
// Numbers from text, all or nothing. Called for whatever a person or a file wrote. Does not use the
// locale, whose decimal point may be a comma. Threads: no shared state.
#include "base/number.h"

#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static int digit(char c, unsigned base)
{
    unsigned value = 99;
    if (c >= '0' && c <= '9')
        value = (unsigned)(c - '0');
    else if (c >= 'a' && c <= 'f')
        value = (unsigned)(c - 'a') + 10;
    else if (c >= 'A' && c <= 'F')
        value = (unsigned)(c - 'A') + 10;
    return value < base ? (int)value : -1;
}

static int parse_digits(const char *text, unsigned base, uint64_t *value)
{
    uint64_t sum = 0;
    if (!*text)
        return -1;
    for (; *text; text++) {
        int next = digit(*text, base);
        if (next < 0 || __builtin_mul_overflow(sum, base, &sum) ||
            __builtin_add_overflow(sum, (unsigned)next, &sum))
            return -1;
    }
    *value = sum;
    return 0;
}

int number_parse_uint(const char *text, uint64_t *value)
{
    return parse_digits(text, 10, value);
}

int number_parse_hex(const char *text, uint64_t *value)
{
    return parse_digits(text, 16, value);
}

int number_parse_int(const char *text, int64_t *value)
{
    int is_negative = *text == '-';
    uint64_t size;
    if (parse_digits(text + (*text == '-' || *text == '+'), 10, &size) != 0)
        return -1;
    if (size > (uint64_t)INT64_MAX + (unsigned)is_negative)
        return -1;
    *value = is_negative ? (int64_t)(0 - size) : (int64_t)size;
    return 0;
}

static const char *skip_digits(const char *text)
{
    return text + strspn(text, "0123456789");
}

// The end of the number that `text` begins with, or NULL. strtod alone takes hex, "inf" and blanks.
static const char *real_end(const char *text)
{
    const char *start = text + (*text == '-' || *text == '+');
    const char *end = skip_digits(start);
    size_t digits = (size_t)(end - start);
    if (*end == '.') {
        const char *fraction = end + 1;
        end = skip_digits(fraction);
        digits += (size_t)(end - fraction);
    }
    if (!digits)
        return NULL;
    if (*end == 'e' || *end == 'E') {
        const char *exponent = end + 1 + (end[1] == '-' || end[1] == '+');
        const char *exponent_end = skip_digits(exponent);
        if (exponent_end > exponent)
            end = exponent_end;
    }
    return end;
}

static int read_real(const char *text, double *value)
{
    locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    double read = plain ? strtod_l(text, NULL, plain) : strtod(text, NULL);
    if (plain)
        freelocale(plain);
    if (!isfinite(read))
        return -1;
    *value = read;
    return 0;
}

int number_parse_real(const char *text, double *value)
{
    const char *end = real_end(text);
    return end && !*end ? read_real(text, value) : -1;
}

static double unit_bytes(const char *unit)
{
    static const char letters[] = "KMGT";
    if (!*unit || strcasecmp(unit, "B") == 0)
        return 1;
    const char upper = *unit >= 'a' ? (char)(*unit - 'a' + 'A') : *unit;
    const char *letter = strchr(letters, upper);
    if (!letter)
        return 0;
    int power = (int)(letter - letters) + 1;
    if (!unit[1] || strcasecmp(unit + 1, "iB") == 0)
        return pow(1024, power);
    return strcasecmp(unit + 1, "B") == 0 ? pow(1000, power) : 0;
}

int number_parse_bytes(const char *text, uint64_t *value)
{
    const char *end = *text >= '0' && *text <= '9' ? real_end(text) : NULL;
    if (!end || unit_bytes(end) < 1)
        return -1;
    if (!*end && number_parse_uint(text, value) == 0)
        return 0; // all 64 bits, which a double has not
    double number;
    if (read_real(text, &number) != 0)
        return -1;
    number *= unit_bytes(end);
    if (number >= 18446744073709551616.0)
        return -1;
    *value = (uint64_t)number;
    return 0;
}

static double unit_ns(const char *unit)
{
    static const struct {
        const char *text;
        double ns;
    } units[] = {{"", 1e9}, {"s", 1e9}, {"ms", 1e6}, {"m", 60e9}, {"min", 60e9}, {"h", 3600e9}};
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
        if (strcmp(unit, units[i].text) == 0)
            return units[i].ns;
    return 0;
}

int number_parse_time(const char *text, uint64_t *value_ns)
{
    const char *end = *text >= '0' && *text <= '9' ? real_end(text) : NULL;
    double number;
    if (!end || unit_ns(end) < 1 || read_real(text, &number) != 0)
        return -1;
    number *= unit_ns(end);
    if (number >= 18446744073709551616.0)
        return -1;
    *value_ns = (uint64_t)number;
    return 0;
}
