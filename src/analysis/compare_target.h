/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loops that the compiler turns into vector instructions. Each is compiled twice: once for every
 * processor of the architecture, and once for the instruction set that most of them have:
 *
 *     TG_LOOP int64_t sum_loop(const int32_t *item, int count) { … }
 *     TG_FOR_TARGETS(int64_t, sum, (const int32_t *item, int count), (item, count))
 *     …  TG_BEST(sum)(item, count)
 *
 * TG_LOOP functions are inlined into both versions, and may call one another.
 */
#ifndef TG_ANALYSIS_COMPARE_TARGET_H
#define TG_ANALYSIS_COMPARE_TARGET_H

#define TG_LOOP __attribute__((always_inline)) static inline

#define TG_TARGET_(type, name, parameters, arguments, attribute, suffix) \
    attribute static type name##suffix parameters                        \
    {                                                                    \
        return name##_loop arguments;                                    \
    }

#if defined(__x86_64__)
#define TG_FOR_TARGETS(type, name, parameters, arguments)   \
    TG_TARGET_(type, name, parameters, arguments, , _plain) \
    TG_TARGET_(type, name, parameters, arguments, __attribute__((target("avx2"))), _avx2)
#define TG_BEST(name) (__builtin_cpu_supports("avx2") ? name##_avx2 : name##_plain)
#else
#define TG_FOR_TARGETS(type, name, parameters, arguments) \
    TG_TARGET_(type, name, parameters, arguments, , _plain)
#define TG_BEST(name) name##_plain
#endif

#endif
