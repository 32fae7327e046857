/* SPDX-License-Identifier: Apache-2.0 */
#include "work.h"

/* As many independent values as the registers hold, so that a processor is limited by how much it can
 * multiply and add, and not by how long one operation takes. They all converge to 2. */
bool tb_work(uint32_t iterations)
{
    double lanes[TB_LANES];

    for (int k = 0; k < TB_LANES; k++)
        lanes[k] = 2.0 + k;
    for (uint32_t i = 0; i < iterations; i++)
        for (int k = 0; k < TB_LANES; k++)
            lanes[k] = lanes[k] * 0.5 + 1.0;
    for (int half = TB_LANES / 2; half > 0; half /= 2)
        for (int k = 0; k < half; k++)
            lanes[k] += lanes[k + half];
    return lanes[0] >= 2.0 * TB_LANES;
}
