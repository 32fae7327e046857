/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The largest errors of taskglass/math.h. Fails if one exceeds its bound.
 *
 *     math-sweep f32 exp 1          every float32; 1000 would be every 1000th
 *     math-sweep f64 all 1000000    hard cases, then random ones, that many in all
 *     math-sweep pow_f32 1000000    random pairs; pow_f64 as well
 *
 * Random cases come from the seed that one more argument names.
 * Prints a line for each function: name, type, cases, largest error in ulp, bound, where.
 */
#include "reference.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <taskglass/math.h>

enum { BLOCK = 4096 };

static uint64_t seed = 1;

/* Vectorised, as kernels have it. */
#define LOOPS(name, ulp32, ulp64)                                                              \
    static void name##_loop_f32(int64_t n, const float *TG_RESTRICT x, float *TG_RESTRICT y)   \
    {                                                                                          \
        TG_FOR(i, n)                                                                           \
            y[i] = tg_##name##_f32(x[i]);                                                      \
    }                                                                                          \
    static void name##_loop_f64(int64_t n, const double *TG_RESTRICT x, double *TG_RESTRICT y) \
    {                                                                                          \
        TG_FOR(i, n)                                                                           \
            y[i] = tg_##name##_f64(x[i]);                                                      \
    }
TG_MATH_MAP(LOOPS)

#define LOOP_F32(name, ulp32, ulp64) name##_loop_f32,
#define LOOP_F64(name, ulp32, ulp64) name##_loop_f64,
static void (*const loops_f32[])(int64_t, const float *, float *) = {TG_MATH_MAP(LOOP_F32)};
static void (*const loops_f64[])(int64_t, const double *, double *) = {TG_MATH_MAP(LOOP_F64)};

/* The largest error so far, and its arguments. */
struct worst {
    double ulp, x, y;
};

static void note(struct worst *w, double ulp, double x, double y)
{
    if (!(ulp <= w->ulp)) {
        w->ulp = ulp;
        w->x = x;
        w->y = y;
    }
}

/* Returns whether the bound holds. What libm itself lacks of the exact value is allowed. */
static bool report(const char *name, const char *type, uint64_t cases, struct worst w, double bound)
{
    bool holds = w.ulp <= bound + 1e-3 * (bound == 0.5);
    printf("%-10s %s  %12llu cases  largest error %.4f ulp, bound %g, at %a", name, type,
           (unsigned long long)cases, w.ulp, bound, w.x);
    if (strcmp(name, "pow") == 0)
        printf(", %a", w.y);
    printf("%s\n", holds ? "" : "  TOO LARGE");
    fflush(stdout);
    return holds;
}

static bool sweep_f32(int k, uint64_t stride)
{
    static float x[BLOCK], y[BLOCK];
    const struct math_function *f = &math_functions[k];
    struct worst w = {-1, 0, 0};
    uint64_t cases = 0;
    for (uint64_t bits = 0; bits < (uint64_t)1 << 32;) {
        int64_t n = 0;
        for (; n < BLOCK && bits < (uint64_t)1 << 32; n++, bits += stride)
            x[n] = tg_float32_from_bits((uint32_t)bits);
        loops_f32[k](n, x, y);
        for (int64_t i = 0; i < n; i++)
            note(&w, math_ulp_f32(y[i], f->exact_f32((double)x[i])), (double)x[i], 0);
        cases += (uint64_t)n;
    }
    return report(f->name, "f32", cases, w, f->bound_f32());
}

static bool sweep_f64(int k, uint64_t count)
{
    static double x[BLOCK], y[BLOCK];
    const struct math_function *f = &math_functions[k];
    struct worst w = {-1, 0, 0};
    uint64_t state = seed;
    for (uint64_t done = 0; done < count;) {
        int64_t n = 0;
        for (; n < BLOCK && done < count; n++, done++)
            x[n] = math_hard_f64(f, done, &state);
        loops_f64[k](n, x, y);
        for (int64_t i = 0; i < n; i++)
            note(&w, math_ulp_f64(y[i], f->exact_f64((long double)x[i])), x[i], 0);
    }
    return report(f->name, "f64", count, w, f->bound_f64());
}

static void pow_loop_f32(int64_t n, const float *TG_RESTRICT x, const float *TG_RESTRICT y,
                         float *TG_RESTRICT z)
{
    TG_FOR(i, n)
        z[i] = tg_pow_f32(x[i], y[i]);
}

static void pow_loop_f64(int64_t n, const double *TG_RESTRICT x, const double *TG_RESTRICT y,
                         double *TG_RESTRICT z)
{
    TG_FOR(i, n)
        z[i] = tg_pow_f64(x[i], y[i]);
}

static bool sweep_pow_f32(uint64_t count)
{
    static float x[BLOCK], y[BLOCK], z[BLOCK];
    struct worst w = {-1, 0, 0};
    uint64_t state = seed;
    for (uint64_t done = 0; done < count;) {
        int64_t n = 0;
        for (; n < BLOCK && done < count; n++, done++)
            math_pair_f32(&state, &x[n], &y[n]);
        pow_loop_f32(n, x, y, z);
        for (int64_t i = 0; i < n; i++)
            note(&w, math_ulp_f32(z[i], pow((double)x[i], (double)y[i])), (double)x[i],
                 (double)y[i]);
    }
    return report("pow", "f32", count, w, tg_pow_f32_ulp());
}

static bool sweep_pow_f64(uint64_t count)
{
    static double x[BLOCK], y[BLOCK], z[BLOCK];
    struct worst w = {-1, 0, 0};
    uint64_t state = seed;
    for (uint64_t done = 0; done < count;) {
        int64_t n = 0;
        for (; n < BLOCK && done < count; n++, done++)
            math_pair_f64(&state, &x[n], &y[n]);
        pow_loop_f64(n, x, y, z);
        for (int64_t i = 0; i < n; i++)
            note(&w, math_ulp_f64(z[i], powl((long double)x[i], (long double)y[i])), x[i], y[i]);
    }
    return report("pow", "f64", count, w, tg_pow_f64_ulp());
}

int main(int argc, char **argv)
{
    bool holds = true, known = false;
    const char *what = argc > 1 ? argv[1] : "";
    int names = strncmp(what, "pow_", 4) == 0 ? 0 : 1; /* arguments before the number */
    uint64_t n = argc > 2 + names ? strtoull(argv[2 + names], NULL, 0) : 0;
    if (argc > 3 + names)
        seed = strtoull(argv[3 + names], NULL, 0);
    if (n > 0 && strcmp(what, "pow_f32") == 0)
        return !sweep_pow_f32(n);
    if (n > 0 && strcmp(what, "pow_f64") == 0)
        return !sweep_pow_f64(n);
    for (int k = 0; n > 0 && k < math_function_count; k++) {
        if (strcmp(argv[2], "all") != 0 && strcmp(argv[2], math_functions[k].name) != 0)
            continue;
        known |= strcmp(what, "f32") == 0 || strcmp(what, "f64") == 0;
        if (strcmp(what, "f32") == 0)
            holds &= sweep_f32(k, n);
        else if (strcmp(what, "f64") == 0)
            holds &= sweep_f64(k, n);
    }
    if (!known)
        fprintf(stderr, "math-sweep: write f32 NAME STRIDE, f64 NAME COUNT, pow_f32 COUNT or "
                        "pow_f64 COUNT\n");
    return known ? !holds : 2;
}
