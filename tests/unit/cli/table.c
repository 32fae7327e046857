/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE 1
#include "cli/table.h"

#include <stdlib.h>
#include <string.h>

#include "test.h"

enum { NUMBER, NAME, WORD, VALUES, COLUMNS };

static const struct cli_column columns[COLUMNS] = {
    [NUMBER] = {"number", .right = true},
    [NAME] = {"name", .rank = 1, .least = 6, .cut = CLI_CUT_MIDDLE},
    [WORD] = {"word", .rank = 2, .may_lack = true},
    [VALUES] = {"values", .rank = 3, .least = 8, .cut = CLI_CUT_WORDS, .fills = true},
};

static char *printed;

/* The table at a width; 0: in a pipe. */
static const char *print_rows(int width, int rows, const char *name, const char *word)
{
    struct cli_table table;
    size_t size;
    char text[16];
    snprintf(text, sizeof text, "%d", width);
    if (width > 0)
        setenv("COLUMNS", text, 1);
    else
        unsetenv("COLUMNS");
    free(printed);
    FILE *stream = open_memstream(&printed, &size);
    REQUIRE(stream != NULL);
    cli_table_begin(&table, stream, columns, COLUMNS, 0);
    for (int i = 0; i < rows; i++) {
        cli_table_cell(&table, NUMBER, "%d", i);
        cli_table_cell(&table, NAME, "%s", name);
        if (*word && i >= rows - 1)
            cli_table_cell(&table, WORD, "%s", word);
        cli_table_cell(&table, VALUES, "1.25 2.5 3.75");
        cli_table_end_row(&table);
    }
    cli_table_end(&table);
    fclose(stream);
    return printed;
}

static int longest_line(const char *text)
{
    int longest = 0;
    char *copy = strdup(text);
    REQUIRE(copy != NULL);
    for (char *line = strtok(copy, "\n"); line; line = strtok(NULL, "\n"))
        longest = cli_format_width(line) > longest ? cli_format_width(line) : longest;
    free(copy);
    return longest;
}

TEST(a_table_with_room_shows_everything)
{
    CHECK_EQ_S(print_rows(80, 1, "kernel", "word"), "number  name    word  values\n"
                                                    "     0  kernel  word  1.25 2.5 3.75\n");
}

TEST(a_column_whose_cells_are_all_empty_is_left_out)
{
    CHECK_EQ_S(print_rows(80, 1, "kernel", ""), "number  name    values\n"
                                                "     0  kernel  1.25 2.5 3.75\n");
}

TEST(cells_are_shortened_before_columns_are_left_out)
{
    CHECK_EQ_S(print_rows(28, 1, "kernel_of_a_task", ""), "number  name       values\n"
                                                          "     0  kern…task  1.25 …\n");
}

TEST(the_column_of_the_highest_rank_goes_first_and_is_named)
{
    const char *text = print_rows(20, 1, "kernel_of_a_task", "");
    CHECK(strncmp(text, "number  name\n     0  kerne…", 26) == 0);
    CHECK(strstr(text, "not shown: values; a terminal of 24 columns shows them") != NULL);
}

TEST(no_row_is_wider_than_the_terminal)
{
    for (int width = 20; width < 120; width++) {
        char *rows = strdup(print_rows(width, 3, "a_kernel_with_a_long_name", "word"));
        REQUIRE(rows != NULL);
        char *note = strstr(rows, "not shown");
        if (note)
            *note = '\0'; /* it is broken on a terminal alone */
        CHECK(longest_line(rows) <= width);
        free(rows);
    }
}

TEST(a_pipe_gets_all_columns_and_whole_names)
{
    const char *name =
        "a_kernel_whose_name_is_longer_than_half_of_a_line_of_a_hundred_columns_is_long";
    const char *text = print_rows(0, 1, name, "word");
    CHECK(strstr(text, name) != NULL);
    CHECK(strstr(text, "values") != NULL && strstr(text, "not shown") == NULL);
}

TEST(heads_come_again_when_later_rows_have_another_column)
{
    const char *text = print_rows(80, 300, "kernel", "word");
    const char *second = strstr(text, "number  name    word  values\n");
    CHECK(strncmp(text, "number  name    values\n", 22) == 0);
    CHECK(second != NULL && strstr(second, "   299  kernel  word") != NULL);
}

TEST(a_note_stands_below_its_row)
{
    struct cli_table table;
    size_t size;
    free(printed);
    FILE *stream = open_memstream(&printed, &size);
    REQUIRE(stream != NULL);
    cli_table_begin(&table, stream, columns, 1, 2);
    cli_table_cell(&table, NUMBER, "7");
    cli_table_note(&table, "what %d means", 7);
    cli_table_end_row(&table);
    cli_table_end(&table);
    fclose(stream);
    CHECK_EQ_S(printed, "  number\n       7\n      what 7 means\n");
}

TEST_MAIN()
