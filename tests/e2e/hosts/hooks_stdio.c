// SPDX-License-Identifier: Apache-2.0
// Host of the hook set stdio: streams that are files, and some that are pipes or memory; odd
// arguments too. Prints what each call was told. usage: hooks_stdio FOLDER
#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LINES 3000 // "line NNNN\n"
static char room[100000];

int __isoc99_fscanf(FILE *stream, const char *format, ...);
int __fprintf_chk(FILE *stream, int check, const char *format, ...);
char *__fgets_chk(char *to, size_t bytes, int n, FILE *stream);
size_t __fread_chk(void *to, size_t bytes, size_t size, size_t n, FILE *stream);

#define SAY(call)                                                                                  \
    do {                                                                                           \
        errno = 0;                                                                                 \
        const long long told = (long long)(call);                                                  \
        printf("%s: %lld, %s\n", #call, told, strerror(errno));                                    \
    } while (0)

__attribute__((format(printf, 2, 3))) static int list_all(FILE *stream, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    const int done = vfprintf(stream, format, list);
    va_end(list);
    return done;
}

static void save(const char *path)
{
    FILE *s = fopen(path, "w");
    long total = 0;
    for (int i = 0; i < LINES; i++)
        total += fprintf(s, "line %04d\n", i);
    SAY(total);
    SAY(fputs("some text", s));
    SAY(fputc('\n', s));
    SAY(list_all(s, "%d %s %.3f %Lf\n", 42, "words", 1.5, 2.5L));
    SAY(__fprintf_chk(s, 1, "%c%c\n", 'a', 'b'));
    SAY(fwrite(room, 10, 20, s));
    SAY(fflush(s));
    for (int i = 0; i < 20000; i++)
        putc('x', s);
    for (int i = 0; i < 20000; i++)
        putc_unlocked('y', s);
    SAY(ftell(s));
    SAY(fseek(s, 0, SEEK_SET));
    SAY(fgetc(s));
    SAY(fclose(s));
}

static void load(const char *path)
{
    char *line = NULL;
    size_t line_bytes = 0;
    int number = -1;
    long total = 0;
    FILE *s = fopen(path, "r");
    SAY(fgets(room, 100, s) == room);
    SAY(__fgets_chk(room, sizeof room, 100, s) == room);
    SAY(getline(&line, &line_bytes, s));
    SAY(getdelim(&line, &line_bytes, ' ', s));
    SAY(fscanf(s, "%d", &number));
    SAY(__isoc99_fscanf(s, " line %d", &number));
    SAY(number);
    SAY(fread(room, 3, 7, s));
    SAY(__fread_chk(room, sizeof room, 1, 9, s));
    SAY(fread(room, 0, 7, s));
    SAY(fputc('x', s)); // opened for reading
    SAY(fseeko(s, 70200 - 40001, SEEK_SET));
    while (fgetc(s) != EOF)
        total++;
    SAY(total);
    SAY(fgetc(s));
    SAY(fgets(room, 100, s) == NULL);
    rewind(s);
    for (total = 0; getc_unlocked(s) != EOF;)
        total++;
    SAY(total);
    SAY(ungetc('q', s));
    SAY(getc(s));
    s = freopen("/nowhere/at all", "r", s);
    SAY(s == NULL);
    SAY(fopen("/nowhere/at all", "w") == NULL);
    free(line);
}

static void elsewhere(void)
{
    int ends[2];
    char *made = NULL;
    size_t made_bytes = 0;
    FILE *memory = open_memstream(&made, &made_bytes);
    SAY(fprintf(memory, "in memory %d\n", 1));
    SAY(fputs("more", memory));
    SAY(fclose(memory));
    SAY(made_bytes);
    memory = fmemopen(made, made_bytes, "r");
    SAY(fread(room, 1, 5, memory));
    SAY(fgetc(memory));
    SAY(fclose(memory));
    free(made);
    if (pipe(ends))
        return;
    FILE *in = fdopen(ends[0], "r"), *out = fdopen(ends[1], "w");
    SAY(fwrite(room, 1, 23, out));
    SAY(fflush(out));
    SAY(fread(room, 1, 23, in));
    SAY(fclose(out));
    SAY(fread(room, 1, 23, in));
    SAY(fclose(in));
    SAY(fflush(NULL));
}

int main(int count, char **arguments)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/text", count > 1 ? arguments[1] : "/tmp");
    memset(room, 'r', sizeof room);
    save(path);
    load(path);
    elsewhere();
    return 0;
}
