/* SPDX-License-Identifier: Apache-2.0 */
/* A line of Python that loads a tensor, to paste into a notebook on the machine that has the recording. */
#ifndef TG_WORKBENCH_NUMPY_LINE_H
#define TG_WORKBENCH_NUMPY_LINE_H

#include <stdio.h>

#include "workbench/shown.h"

/* Writes it for a record that is readable. Types that NumPy has need NumPy alone; the others need the package
 * taskglass, which decodes them. Nothing in a path can end the text that it is in. */
void tg_numpy_line(FILE *file, const struct tg_shown *shown);

#endif
