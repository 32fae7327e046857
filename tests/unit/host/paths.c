/* SPDX-License-Identifier: Apache-2.0 */
#include "host/paths.h"

#include "test.h"
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* An installed tree, in a temporary directory. */
struct tree {
    char root[64];
    char bin[80];
    char lib[80];
};

static void make(const char *format, const char *root)
{
    char path[160];
    snprintf(path, sizeof path, format, root);
    REQUIRE(mkdir(path, 0700) == 0);
}

static struct tree tree_make(void)
{
    struct tree tree = {.root = "/tmp/taskglass_test_paths_XXXXXX"};
    REQUIRE(mkdtemp(tree.root) != NULL);
    make("%s/bin", tree.root);
    make("%s/lib", tree.root);
    make("%s/lib/taskglass", tree.root);
    make("%s/lib/taskglass/workloads", tree.root);
    snprintf(tree.bin, sizeof tree.bin, "%s/bin", tree.root);
    snprintf(tree.lib, sizeof tree.lib, "%s/lib", tree.root);
    return tree;
}

static void tree_remove(const struct tree *tree)
{
    static const char *const parts[] = {"/lib/taskglass/workloads", "/lib/taskglass", "/lib",
                                        "/bin", ""};
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        char path[160];
        snprintf(path, sizeof path, "%s%s", tree->root, parts[i]);
        rmdir(path);
    }
}

TEST(things_are_found_beside_the_library)
{
    struct tree tree = tree_make();
    char *path = NULL;
    CHECK_EQ_I(tg_paths_find_in(tree.lib, NULL, "workloads", &path, NULL), TG_OK);
    CHECK_HAS(path, "/lib/taskglass/workloads");
    free(path);
    tree_remove(&tree);
}

TEST(things_are_found_from_the_program_where_the_library_has_none)
{
    struct tree tree = tree_make();
    char *path = NULL;
    CHECK_EQ_I(tg_paths_find_in(tree.bin, tree.bin, "workloads", &path, NULL), TG_OK);
    CHECK_HAS(path, "/bin/../lib/taskglass/workloads");
    free(path);
    tree_remove(&tree);
}

TEST(what_is_missing_is_named_with_both_places)
{
    struct tg_error error = {0};
    char *path = NULL;
    CHECK_EQ_I(tg_paths_find_in("/a", "/b", "workloads", &path, &error), TG_NOT_FOUND);
    CHECK(path == NULL);
    CHECK_HAS(error.text, "'workloads'");
    CHECK_HAS(error.text, "/a/taskglass");
    CHECK_HAS(error.text, "/b/../lib/taskglass");
}

TEST(without_any_place_nothing_is_found)
{
    char *path = NULL;
    CHECK_EQ_I(tg_paths_find_in(NULL, NULL, "workloads", &path, NULL), TG_NOT_FOUND);
}

TEST_MAIN()
