/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A module's image file, NAME.cubin: an image for one kind of GPU, or an archive of several (ar), as
 * taskglass_add_workload makes it for a list of architectures:
 *
 *   sm_80.cubin, sm_90.cubin   images. One for 8.0 runs on 8.0 and newer 8.x; sm_90a.cubin on 9.0 alone
 *   ptx_120.0, ptx_120.1, …    for GPUs of 12.0 and newer: PTX, one member for each source
 *
 * Members with other names are ignored. The file may be damaged or hostile, so every size is checked.
 */
#ifndef TG_CUDA_PROCESS_IMAGE_FILE_H
#define TG_CUDA_PROCESS_IMAGE_FILE_H

#include <stdbool.h>
#include <stddef.h>

struct tg_image_member {
    const char *bytes;
    size_t size;
    int capability; /* 90: compute capability 9.0; 0: the member is ignored */
    bool is_ptx;
    bool is_exact; /* runs on GPUs of exactly this capability */
};

enum tg_image_kind {
    TG_IMAGE_ALONE,  /* the file is no archive: an image by itself */
    TG_IMAGE_CODE,   /* `member` is the image for the GPU */
    TG_IMAGE_PTX,    /* all PTX members of `member.capability` together */
    TG_IMAGE_NONE,   /* the archive has nothing for the GPU */
    TG_IMAGE_DAMAGED /* an archive of which parts are missing */
};

/* Chooses for a GPU of that compute capability: the newest image that runs on it, or else the newest PTX. */
enum tg_image_kind tg_image_choose(const void *bytes, size_t size, int capability,
                                   struct tg_image_member *member);

/* The member at *at, which then is the next one's; it begins at 0. False at the end, or where the archive is
 * damaged. */
bool tg_image_next(const void *bytes, size_t size, size_t *at, struct tg_image_member *member);

/* "8.0, 9.0 and PTX for 12.0"; cut if it does not fit. */
void tg_image_list(const void *bytes, size_t size, char *text, size_t room);

#endif
