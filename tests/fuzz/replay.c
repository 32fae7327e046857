/* SPDX-License-Identifier: Apache-2.0 */
/*
 * replay FOLDER [ROUNDS]: a fuzz target without a fuzzer. Runs every file of the corpus, then
 * mutations of them, always the same ones. Exit status: 0, or that of the failure.
 */
#define _GNU_SOURCE 1
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MOST_FILES = 256, LARGEST = 1 << 16, ROUNDS = 4000 };

static struct input {
    uint8_t *bytes;
    size_t size;
} inputs[MOST_FILES];
static size_t n_inputs;

static uint64_t seed = 1;

static size_t below(size_t limit)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (size_t)(seed >> 33) % limit;
}

static int no_dot(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

static void load(const char *folder, const char *name)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "rb");
    if (!file || n_inputs == MOST_FILES)
        exit(2);
    struct input *input = &inputs[n_inputs++];
    input->bytes = malloc(LARGEST);
    input->size = fread(input->bytes, 1, LARGEST, file);
    fclose(file);
}

/* Runs the target on memory of exactly that size, so that a sanitizer reports every access beyond
 * it. */
static void run(const uint8_t *bytes, size_t size)
{
    uint8_t *exact = malloc(size + (size == 0));
    memcpy(exact, bytes, size);
    LLVMFuzzerTestOneInput(exact, size);
    free(exact);
}

/* Writes a number that often causes errors, in a size that numbers have in files. */
static void put_number(uint8_t *at, size_t room)
{
    static const uint64_t numbers[] = {0,
                                       1,
                                       8,
                                       9,
                                       0x7f,
                                       0x80,
                                       0xff,
                                       0xffff,
                                       0x7fffffff,
                                       0x80000000,
                                       0xffffffff,
                                       INT64_MAX,
                                       (uint64_t)INT64_MAX + 1,
                                       UINT64_MAX,
                                       UINT64_MAX - 255,
                                       (uint64_t)1 << 32,
                                       (uint64_t)1 << 58};
    uint64_t number = numbers[below(sizeof numbers / sizeof numbers[0])];
    size_t size = (size_t)1 << below(4);
    if (size <= room)
        memcpy(at, &number, size);
}

static void put_text(uint8_t *at, size_t room)
{
    static const char *const texts[] = {"\"",
                                        "\\",
                                        "{",
                                        "}",
                                        "[",
                                        "]",
                                        ",",
                                        ":",
                                        "-",
                                        "e",
                                        ".",
                                        "\\u",
                                        "0x",
                                        "null",
                                        "true",
                                        "1e999",
                                        "99999999999999999999"};
    const char *text = texts[below(sizeof texts / sizeof texts[0])];
    if (strlen(text) <= room)
        memcpy(at, text, strlen(text));
}

/* Copies a piece to another place, over the old bytes or between them; returns the new size. */
static size_t splice(uint8_t *bytes, size_t size, const struct input *from)
{
    size_t begin = below(from->size + 1), length = below(from->size - begin + 1);
    size_t at = below(size + 1), tail = size - at;
    if (size + length > LARGEST)
        return size;
    if (below(2)) {
        memmove(bytes + at + length, bytes + at, tail);
        size += length;
    } else if (length > tail) {
        length = tail;
    }
    memcpy(bytes + at, from->bytes + begin, length);
    return size;
}

static size_t mutate(uint8_t *bytes, size_t size)
{
    size_t at = size ? below(size) : 0;
    switch (below(7)) {
    case 0:
        if (size)
            bytes[at] ^= (uint8_t)(1u << below(8));
        return size;
    case 1:
        if (size)
            bytes[at] = (uint8_t)below(256);
        return size;
    case 2:
        put_number(bytes + at, size - at);
        return size;
    case 3:
        put_text(bytes + at, size - at);
        return size;
    case 4:
        return below(4) ? size : at; /* cut short */
    case 5: {                        /* leaves a piece out */
        size_t length = size ? below(size - at < 64 ? size - at : 64) : 0;
        memmove(bytes + at, bytes + at + length, size - at - length);
        return size - length;
    }
    default:
        return splice(bytes, size, &inputs[below(n_inputs)]);
    }
}

static void run_mutation(void)
{
    static uint8_t bytes[LARGEST];
    const struct input *input = &inputs[below(n_inputs)];
    size_t size = input->size;
    memcpy(bytes, input->bytes, size);
    for (size_t n = 1 + below(4); n > 0; n--)
        size = mutate(bytes, size);
    run(bytes, size);
}

int main(int argc, char **argv)
{
    struct dirent **names;
    int n = argc > 1 ? scandir(argv[1], &names, no_dot, alphasort) : -1;
    if (n < 1) {
        fprintf(stderr, "usage: replay FOLDER [ROUNDS], with files in it\n");
        return 2;
    }
    for (int i = 0; i < n; i++) {
        load(argv[1], names[i]->d_name);
        run(inputs[i].bytes, inputs[i].size);
        free(names[i]);
    }
    free(names);
    long rounds = argc > 2 ? strtol(argv[2], NULL, 10) : ROUNDS;
    for (long i = 0; i < rounds; i++)
        run_mutation();
    printf("%d files, %ld mutations\n", n, rounds);
    for (size_t i = 0; i < n_inputs; i++)
        free(inputs[i].bytes);
    return 0;
}
