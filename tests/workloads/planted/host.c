/* SPDX-License-Identifier: Apache-2.0 */
/* What the scenes share. There is no golden check: bad runs must end well, so that the tools have to
 * find the bug. */
#include "planted.h"

/* shift moves the values of x, as other input data would. */
const struct tg_case_def planted_cases[1] = {{"only", "the scene", "shift=0"}};

void planted_prepare(struct tg_case *c)
{
    int64_t n = N, rows[2] = {ROWS, N};
    float *x = tg_case_tensor(c, "x", TG_IN, TG_FLOAT32, 1, &n);
    float *y = tg_case_tensor(c, "y", TG_IN, TG_FLOAT32, 1, &n);
    float shift = (float)tg_case_real(c, "shift");
    for (int64_t i = 0; i < n; i++) {
        x[i] = (float)(i * 37 % 101 + 1) / 103 + shift;
        y[i] = (float)(i * 53 % 97 + 1) / 99;
    }
    tg_case_tensor(c, "out", TG_OUT, TG_FLOAT32, 2, rows);
}

void planted_golden(struct tg_case *c)
{
    double *expected = tg_case_expect(c, "out", 1e300, 0);
    for (int64_t i = 0; i < ROWS * (int64_t)N; i++)
        expected[i] = 0;
}
