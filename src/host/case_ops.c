/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The case operations that a workload's `prepare` and `golden` call. An error leaves the workload's
 * function at once, by longjmp. Otherwise the function would go on with an array of a wrong size or
 * a parameter that is not a number. Memory that the function allocated itself leaks; that is
 * acceptable because the run is over.
 */
#define _GNU_SOURCE 1
#include <errno.h>
#include <locale.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <taskglass/tensor.h>

#include "base/error.h"
#include "host/case_state.h"
#include "host/text.h"

static struct tg_case_host *host_of(struct tg_case *c)
{
    return (struct tg_case_host *)c;
}

__attribute__((noreturn, format(printf, 3, 4))) static void
stop(struct tg_case_host *host, tg_status status, const char *format, ...)
{
    char text[400];
    va_list values;
    va_start(values, format);
    vsnprintf(text, sizeof text, format, values);
    va_end(values);
    tg_error_set(&host->error, status, "workload '%s', case '%s': %s", host->workload->name,
                 host->def->name, text);
    longjmp(host->leave, 1);
}

static const char *op_text(struct tg_case *c, const char *key)
{
    const char *value = key ? tg_case_params_get(&host_of(c)->params, key) : NULL;
    if (!value)
        stop(host_of(c), TG_BAD_ARGUMENT,
             "the workload asks for parameter '%s', which the case does not declare",
             key ? key : "(null)");
    return value;
}

static int64_t op_integer(struct tg_case *c, const char *key)
{
    const char *value = op_text(c, key);
    char *end;
    errno = 0;
    long long number = strtoll(value, &end, 10);
    if (end == value || *end != '\0' || errno != 0)
        stop(host_of(c), TG_BAD_ARGUMENT, "parameter %s=%s: must be a whole number%s", key, value,
             errno == ERANGE ? " that fits 64 bits" : "");
    return number;
}

/* Like strtod, but always with a decimal point, whatever the program's locale is. */
static double parse_real(const char *text, char **end)
{
    locale_t plain = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0);
    if (!plain)
        return strtod(text, end);
    double number = strtod_l(text, end, plain);
    freelocale(plain);
    return number;
}

static double op_real(struct tg_case *c, const char *key)
{
    const char *value = op_text(c, key);
    char *end;
    double number = parse_real(value, &end);
    if (end == value || *end != '\0')
        stop(host_of(c), TG_BAD_ARGUMENT, "parameter %s=%s: must be a number", key, value);
    return number;
}

static struct tg_case_tensor *find_tensor(struct tg_case_host *host, const char *name)
{
    for (uint32_t i = 0; i < host->n_tensors && name; i++)
        if (strcmp(host->tensor[i].name, name) == 0)
            return &host->tensor[i];
    return NULL;
}

static bool has_scalar(const struct tg_case_host *host, const char *name)
{
    for (uint32_t i = 0; i < host->n_scalars && name; i++)
        if (strcmp(host->scalar[i].name, name) == 0)
            return true;
    return false;
}

/* The rules for tensors and scalars alike: prepare declares them, and no two of a kind share a
 * name. */
static void check_declaration(struct tg_case_host *host, const char *what, const char *name,
                              bool taken, uint32_t count, uint32_t most)
{
    if (!name || !tg_text_is_name(name))
        stop(host, TG_BAD_ARGUMENT, "%s %u has no valid name (letters, digits, '_')", what, count);
    if (host->stage != TG_CASE_IN_PREPARE)
        stop(host, TG_BAD_ARGUMENT, "golden declares %s '%s'; declare it in prepare", what, name);
    if (taken)
        stop(host, TG_BAD_ARGUMENT, "two %ss are named '%s'", what, name);
    if (count == most)
        stop(host, TG_BAD_ARGUMENT, "'%s' is one %s too many; %u are allowed", name, what, most);
}

static void check_kind(struct tg_case_host *host, const char *name, enum tg_role role,
                       unsigned dtype, int ndim, const int64_t *shape)
{
    if (role != TG_IN && role != TG_OUT && role != TG_INOUT)
        stop(host, TG_BAD_ARGUMENT,
             "tensor '%s' has unknown role %d; roles are TG_IN, TG_OUT, TG_INOUT", name, (int)role);
    if (!tg_dtype_valid((int)dtype))
        stop(host, TG_BAD_ARGUMENT, "tensor '%s' has unknown type %u; see enum tg_dtype", name,
             dtype);
    if (ndim < 0 || ndim > TG_MAX_DIMS)
        stop(host, TG_BAD_ARGUMENT, "tensor '%s' has %d dimensions; 0 to %d are allowed", name,
             ndim, TG_MAX_DIMS);
    if (ndim > 0 && !shape)
        stop(host, TG_BAD_ARGUMENT, "tensor '%s' has no shape", name);
}

/* Counts in units of 256 bytes, as the device allocates its memory. */
static void check_room(struct tg_case_host *host, const char *name, uint64_t bytes)
{
    uint64_t taken = (bytes + 255) / 256 * 256, left = host->memory_limit - host->memory;
    if (host->memory_limit && taken > left)
        stop(host, TG_NO_MEMORY,
             "tensor '%s' takes %llu bytes, but %llu of the device's %llu are left; raise "
             "--device-memory or make the case smaller",
             name, (unsigned long long)bytes, (unsigned long long)left,
             (unsigned long long)host->memory_limit);
    host->memory += taken;
}

/* At least one byte, so that an empty tensor has an address too. */
static void *zeroed(struct tg_case_host *host, const char *name, uint64_t count, uint64_t size)
{
    void *bytes = calloc(count ? count : 1, size ? size : 1);
    if (!bytes)
        stop(host, TG_NO_MEMORY, "'%s' needs %llu x %llu bytes of host memory", name,
             (unsigned long long)count, (unsigned long long)size);
    return bytes;
}

static char *copied(struct tg_case_host *host, const char *name)
{
    char *copy = strdup(name);
    if (!copy)
        stop(host, TG_NO_MEMORY, "out of host memory for a name");
    return copy;
}

static void *op_tensor(struct tg_case *c, const char *name, enum tg_role role, unsigned dtype,
                       int ndim, const int64_t *shape)
{
    struct tg_case_host *host = host_of(c);
    check_declaration(host, "tensor", name, find_tensor(host, name), host->n_tensors,
                      TG_MAX_TENSORS);
    check_kind(host, name, role, dtype, ndim, shape);
    struct tg_tensor t = tg_tensor_make(0, dtype, ndim, shape);
    if (!tg_tensor_valid(&t))
        stop(host, TG_BAD_ARGUMENT, "tensor '%s' has a dimension that is negative or too large",
             name);
    check_room(host, name, t.storage_bytes);
    struct tg_case_tensor *slot = &host->tensor[host->n_tensors];
    *slot = (struct tg_case_tensor){.role = role, .tensor = t, .size = t.storage_bytes};
    slot->elements = (uint64_t)tg_tensor_numel(&t);
    slot->name = copied(host, name);
    host->n_tensors++; /* from here on tg_case_close frees the slot */
    slot->bytes = zeroed(host, name, 1, t.storage_bytes);
    return slot->bytes;
}

static void op_scalar(struct tg_case *c, const char *name, unsigned dtype, uint64_t bits)
{
    struct tg_case_host *host = host_of(c);
    unsigned width = tg_dtype_bits((int)dtype);
    check_declaration(host, "scalar", name, has_scalar(host, name), host->n_scalars,
                      TG_MAX_SCALARS);
    if (width < 8)
        stop(host, TG_BAD_ARGUMENT, "scalar '%s' has type %u; use a type of at least 8 bits", name,
             dtype);
    if (width < 64)
        bits &= (UINT64_C(1) << width) - 1;
    struct tg_case_scalar *slot = &host->scalar[host->n_scalars];
    slot->scalar = (struct tg_scalar){.bits = bits, .dtype = (uint8_t)dtype};
    slot->name = copied(host, name);
    host->n_scalars++;
}

/* Finds the tensor that golden asks for. */
static struct tg_case_tensor *asked(struct tg_case_host *host, const char *name)
{
    if (host->stage != TG_CASE_IN_GOLDEN)
        stop(host, TG_BAD_ARGUMENT, "prepare calls a function for '%s' that only golden may call",
             name ? name : "(null)");
    struct tg_case_tensor *tensor = find_tensor(host, name);
    if (!tensor)
        stop(host, TG_BAD_ARGUMENT, "golden asks for tensor '%s', which prepare did not declare",
             name ? name : "(null)");
    return tensor;
}

static const void *op_input(struct tg_case *c, const char *name)
{
    struct tg_case_tensor *tensor = asked(host_of(c), name);
    if (tensor->role == TG_OUT)
        stop(host_of(c), TG_BAD_ARGUMENT, "golden reads '%s' as an input, but it is an output",
             name);
    return tensor->bytes;
}

static struct tg_case_tensor *expectable(struct tg_case_host *host, const char *name)
{
    struct tg_case_tensor *tensor = asked(host, name);
    if (tensor->role == TG_IN)
        stop(host, TG_BAD_ARGUMENT, "golden sets expected values for '%s', but it is an input",
             name);
    if (tensor->expected || tensor->exact)
        stop(host, TG_BAD_ARGUMENT, "golden sets the expected values of '%s' twice", name);
    return tensor;
}

static double *op_expect(struct tg_case *c, const char *name, double atol, double rtol)
{
    struct tg_case_host *host = host_of(c);
    struct tg_case_tensor *tensor = expectable(host, name);
    if (!isfinite(atol) || !isfinite(rtol) || atol < 0 || rtol < 0)
        stop(host, TG_BAD_ARGUMENT, "golden gives '%s' tolerances of %g and %g; use 0 or more",
             name, atol, rtol);
    tensor->atol = atol;
    tensor->rtol = rtol;
    tensor->expected = zeroed(host, name, tensor->elements, sizeof(double));
    return tensor->expected;
}

static void *op_expect_exact(struct tg_case *c, const char *name)
{
    struct tg_case_tensor *tensor = expectable(host_of(c), name);
    tensor->exact = zeroed(host_of(c), name, 1, tensor->size);
    return tensor->exact;
}

static void op_fail(struct tg_case *c, const char *text)
{
    stop(host_of(c), TG_BAD_ARGUMENT, "%s", text ? text : "the workload failed and gave no reason");
}

static int32_t op_rank(struct tg_case *c)
{
    return (int32_t)host_of(c)->rank;
}

static int32_t op_ranks(struct tg_case *c)
{
    return (int32_t)host_of(c)->ranks;
}

const struct tg_case_ops tg_case_host_ops = {
    .text = op_text,
    .integer = op_integer,
    .real = op_real,
    .tensor = op_tensor,
    .scalar = op_scalar,
    .input = op_input,
    .expect = op_expect,
    .expect_exact = op_expect_exact,
    .fail = op_fail,
    .rank = op_rank,
    .ranks = op_ranks,
};
