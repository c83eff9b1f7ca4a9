/* SPDX-License-Identifier: Apache-2.0 */
/* A libcuda of a time before memory pools, for test_missing.py; it is looked at, and never called.
 */
#define OLD(name)                                                                                  \
    __attribute__((visibility("default"))) int name(void);                                         \
    int name(void)                                                                                 \
    {                                                                                              \
        return 999;                                                                                \
    }
OLD(cuInit)
OLD(cuDriverGetVersion)
OLD(cuGetErrorName)
OLD(cuGetErrorString)
OLD(cuDeviceGetCount)
OLD(cuDeviceGet)
OLD(cuDeviceGetName)
OLD(cuDeviceGetAttribute)
OLD(cuDeviceGetUuid)
OLD(cuDeviceTotalMem_v2)
OLD(cuDevicePrimaryCtxRetain)
OLD(cuDevicePrimaryCtxRelease_v2)
OLD(cuCtxPushCurrent_v2)
OLD(cuCtxPopCurrent_v2)
OLD(cuMemAlloc_v2)
OLD(cuMemFree_v2)
