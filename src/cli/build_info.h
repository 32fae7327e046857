/* SPDX-License-Identifier: Apache-2.0 */
/* What the build knows about itself. cmake/TaskglassBuildInfo.cmake writes the values. */
#ifndef TG_CLI_BUILD_INFO_H
#define TG_CLI_BUILD_INFO_H

extern const char cli_build_commit[];   /* 12 digits; "": the source was not a checkout of git */
extern const char cli_build_cuda[];     /* the GPUs it was built for, "90 100"; "": none */
extern const char cli_build_features[]; /* "sandbox sqlite hardened serve" */

#endif
