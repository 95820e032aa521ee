/* The end of a queue. */
#include "device/device.h"

cl_int ergo_queue_finish(const struct ergo_device *device, cl_command_queue queue) {
    if (device->quirks.finish_forgets) /* so that clFinish has a command to wait for */
        (void)clEnqueueMarkerWithWaitList(queue, 0, NULL, NULL);
    return clFinish(queue);
}
