/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps what a module prints out of the document that --json writes. */
#ifndef TG_CLI_MODULE_OUTPUT_H
#define TG_CLI_MODULE_OUTPUT_H

/* From here on standard output goes to standard error: for this process, whatever module it loads, and
 * for the devices that it starts. Does nothing if there are no descriptors left. */
void cli_module_output_away(void);
/* Standard output is where it was. Does nothing if it was not away. */
void cli_module_output_back(void);

#endif
