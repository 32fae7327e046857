/* SPDX-License-Identifier: Apache-2.0 */
#include "host/device_comm.h"
#include "base/error.h"

tg_status tg_device_join(struct tg_device *device, struct tg_comm *comm, struct tg_error *error)
{
    TG_REFUSE_NULL(error, device);
    TG_REFUSE_NULL(error, comm);
    if (device->modules != NULL || device->comm != NULL)
        return tg_error_set(error, TG_BAD_ARGUMENT,
                            "a device joins one job, before a module is loaded");
    device->comm = comm;
    return TG_OK;
}

uint32_t tg_device_rank(const struct tg_device *device)
{
    return device->comm ? tg_comm_rank(device->comm) : 0;
}

uint32_t tg_device_ranks(const struct tg_device *device)
{
    return device->comm ? tg_comm_ranks(device->comm) : 1;
}

tg_status tg_device_want_comm(struct tg_device *device, struct tg_comm **comm,
                              struct tg_error *error)
{
    tg_status status = TG_OK;
    if (device->comm == NULL) {
        status = tg_comm_open_local(1, &device->comm, error);
        device->owns_comm = status == TG_OK;
    }
    *comm = device->comm;
    return status;
}

void tg_device_leave(struct tg_device *device)
{
    if (device->owns_comm)
        tg_comm_close(device->comm);
    device->comm = NULL;
}
