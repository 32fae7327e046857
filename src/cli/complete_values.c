/* SPDX-License-Identifier: Apache-2.0 */
/* Candidates for values: words, workloads, cases, parameters, files. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <taskglass/execute.h>
#include <taskglass/trust.h>

#include "cli/complete.h"
#include "cli/inspect.h"

/* Seconds that a module may take to load: whoever pressed Tab waits. */
static const double patience = 2;

static void offer_workloads(const struct cli_completion *completion)
{
    char **names;
    uint32_t count;
    if (tg_workload_names(completion->settings, &names, &count, NULL) == TG_OK) {
        for (uint32_t i = 0; i < count; i++)
            cli_complete_offer(completion, names[i], "a workload");
        tg_workload_names_free(names, count);
    }
    cli_complete_files(completion, CLI_ONLY_MODULES);
}

/* True if `taskglass list` would load a workload of this name. */
static bool is_listed(const struct tg_settings *settings, const char *name)
{
    char **names;
    uint32_t count;
    bool found = false;
    if (tg_workload_names(settings, &names, &count, NULL) != TG_OK)
        return false;
    for (uint32_t i = 0; i < count && !found; i++)
        found = strcmp(names[i], name) == 0;
    tg_workload_names_free(names, count);
    return found;
}

/* Does not take the folders that only this command line names, because nobody has run it yet. */
static bool may_load(const struct tg_settings *usual, const char *workload)
{
    enum tg_trust trust;
    if (!strchr(workload, '/') && is_listed(usual, workload))
        return true;
    return tg_trust_look(workload, &trust, NULL) == TG_OK && trust != TG_TRUST_NONE;
}

/* Returns false if the module must not, or cannot be loaded. The caller frees *module. */
static bool look_into_workload(const struct cli_completion *completion, struct cli_module *module)
{
    struct tg_settings *usual;
    bool is_good = false;
    if (!completion->workload || tg_settings_create(&usual, NULL) != TG_OK)
        return false;
    if (may_load(usual, completion->workload)) {
        cli_module_inspect(usual, completion->workload, patience, module);
        is_good = module->is_good;
        if (!is_good)
            cli_module_free(module);
    }
    tg_settings_destroy(usual);
    return is_good;
}

static void offer_cases(const struct cli_completion *completion)
{
    struct cli_module module;
    if (!look_into_workload(completion, &module))
        return;
    for (uint32_t i = 0; i < module.n_cases; i++)
        cli_complete_offer(completion, module.cases[i].name, module.cases[i].summary);
    cli_module_free(&module);
}

/* The parameters of a case are "n=1024 tile=256": offers "n=", "tile=". */
static void offer_parameters(const struct cli_completion *completion)
{
    struct cli_module module;
    const char *params = "";
    char key[100];
    if (!look_into_workload(completion, &module))
        return;
    for (uint32_t i = module.n_cases; i-- > 0;)
        if (!completion->case_name || strcmp(completion->case_name, module.cases[i].name) == 0)
            params = module.cases[i].params;
    for (; *params; params += strspn(params, " ")) {
        size_t size = strcspn(params, " ");
        const char *equals = memchr(params, '=', size);
        if (equals) {
            (void)snprintf(key, sizeof key, "%.*s", (int)(equals + 1 - params), params);
            cli_complete_offer(completion, key, "a parameter of the case");
        }
        params += size;
    }
    cli_module_free(&module);
}

static void offer_verbs(const struct cli_completion *completion)
{
    const struct cli_verb *verb;
    for (size_t i = 0; (verb = cli_verb_at(i)); i++)
        if (!verb->is_hidden)
            cli_complete_offer(completion, verb->name, verb->summary);
}

void cli_complete_value(struct cli_completion *completion, enum cli_expects expects,
                        cli_choice_fn choice)
{
    switch (expects) {
    case CLI_ANY:
        break;
    case CLI_WORDS:
        for (unsigned i = 0; choice && choice(i); i++)
            cli_complete_offer(completion, choice(i), NULL);
        break;
    case CLI_FILE:
        cli_complete_files(completion, CLI_ALL_FILES);
        break;
    case CLI_FOLDER:
        cli_complete_files(completion, CLI_ONLY_FOLDERS);
        break;
    case CLI_RUN:
        cli_complete_runs(completion);
        break;
    case CLI_WORKLOAD:
        offer_workloads(completion);
        break;
    case CLI_CASE:
        offer_cases(completion);
        break;
    case CLI_PARAMETER:
        offer_parameters(completion);
        break;
    case CLI_VERB:
        offer_verbs(completion);
        break;
    }
}
