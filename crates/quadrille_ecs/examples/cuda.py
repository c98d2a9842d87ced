"""The CUDA side of `cuda.rs`: imports its buffer and its timeline, whose file descriptors come through a socket.

Only the Python standard library and libcuda are needed. In frame n it waits for 2 n + 1, makes each number x
3 x + 1, and signals 2 n + 2.
"""

import array
import ctypes
import socket
import struct
import sys

KERNEL = b"""
.version 7.0
.target sm_70
.address_size 64
.visible .entry step(.param .u64 numbers, .param .u32 count)
{
    .reg .pred %outside;
    .reg .b32 %r<6>;
    .reg .b64 %a<4>;
    ld.param.u64 %a1, [numbers];
    ld.param.u32 %r1, [count];
    mov.u32 %r2, %ctaid.x;
    mov.u32 %r3, %ntid.x;
    mov.u32 %r4, %tid.x;
    mad.lo.u32 %r2, %r2, %r3, %r4;
    setp.ge.u32 %outside, %r2, %r1;
    @%outside bra done;
    cvta.to.global.u64 %a1, %a1;
    mul.wide.u32 %a2, %r2, 4;
    add.u64 %a3, %a1, %a2;
    ld.global.u32 %r5, [%a3];
    mad.lo.u32 %r5, %r5, 3, 1;
    st.global.u32 [%a3], %r5;
done:
    ret;
}
\0"""

# CUexternalMemoryHandleType, CUexternalSemaphoreHandleType and flags of cuda.h.
MEMORY_OPAQUE_FD = 1
MEMORY_DEDICATED = 1
SEMAPHORE_TIMELINE_FD = 9


class Handle(ctypes.Union):
    _fields_ = [("fd", ctypes.c_int), ("words", ctypes.c_uint64 * 2)]


class MemoryDesc(ctypes.Structure):
    _fields_ = [
        ("type", ctypes.c_int),
        ("handle", Handle),
        ("size", ctypes.c_uint64),
        ("flags", ctypes.c_uint),
        ("reserved", ctypes.c_uint * 16),
    ]


class BufferDesc(ctypes.Structure):
    _fields_ = [
        ("offset", ctypes.c_uint64),
        ("size", ctypes.c_uint64),
        ("flags", ctypes.c_uint),
        ("reserved", ctypes.c_uint * 16),
    ]


class SemaphoreDesc(ctypes.Structure):
    _fields_ = [
        ("type", ctypes.c_int),
        ("handle", Handle),
        ("flags", ctypes.c_uint),
        ("reserved", ctypes.c_uint * 16),
    ]


class Params(ctypes.Structure):
    """CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS and _WAIT_PARAMS: both begin with the value and have 144 bytes."""

    _fields_ = [
        ("value", ctypes.c_uint64),
        ("rest", ctypes.c_uint64 * 8),
        ("flags", ctypes.c_uint),
        ("reserved", ctypes.c_uint * 16),
    ]


assert ctypes.sizeof(MemoryDesc) == 104 and ctypes.sizeof(Params) == 144


def receive(connection):
    """A message: four bytes of length with a descriptor, then the payload."""
    ints = array.array("i")
    data, ancillary, _, _ = connection.recvmsg(4, socket.CMSG_LEN(ints.itemsize))
    for level, kind, payload in ancillary:
        if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
            ints.frombytes(payload[: ints.itemsize])
    (length,) = struct.unpack("<I", data)
    payload = b""
    while len(payload) < length:
        payload += connection.recv(length - len(payload))
    return (ints[0] if ints else None), payload


def main():
    frames = int(sys.argv[1])
    connection = socket.socket(fileno=0)
    memory_fd, layout = receive(connection)
    semaphore_fd, kind = receive(connection)
    if kind[:1] != b"\x01":
        sys.exit("the device shares no timelines by file descriptors")
    # The answer of PeerSide::Second: the semaphore is imported.
    connection.sendall(struct.pack("<I", 1) + b"\x01")
    # MemoryLayout::to_bytes: version, handle, dedicated, bytes, memory type, device, driver.
    _, _, dedicated, size, _ = struct.unpack_from("<BBBQI", layout)
    device_uuid = layout[15:31]

    cuda = ctypes.CDLL("libcuda.so.1")

    def call(name, *arguments):
        result = getattr(cuda, name)(*arguments)
        if result:
            sys.exit(f"{name} fails: {result}")

    call("cuInit", 0)
    count = ctypes.c_int()
    call("cuDeviceGetCount", ctypes.byref(count))
    device = None
    for index in range(count.value):
        found = ctypes.c_int()
        call("cuDeviceGet", ctypes.byref(found), index)
        uuid = (ctypes.c_char * 16)()
        call("cuDeviceGetUuid", uuid, found)
        if bytes(uuid.raw) == device_uuid:
            device = found
    if device is None:
        sys.exit("no CUDA device has the UUID of the Vulkan device")
    context, module, kernel, stream = (ctypes.c_void_p() for _ in range(4))
    call("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
    call("cuCtxSetCurrent", context)
    call("cuModuleLoadData", ctypes.byref(module), ctypes.c_char_p(KERNEL))
    call("cuModuleGetFunction", ctypes.byref(kernel), module, b"step")
    call("cuStreamCreate", ctypes.byref(stream), 1)

    memory, semaphore = ctypes.c_void_p(), ctypes.c_void_p()
    desc = MemoryDesc(type=MEMORY_OPAQUE_FD, size=size, flags=MEMORY_DEDICATED * dedicated)
    desc.handle.fd = memory_fd
    call("cuImportExternalMemory", ctypes.byref(memory), ctypes.byref(desc))
    numbers = ctypes.c_uint64()
    whole = BufferDesc(offset=0, size=4 << 20)
    call("cuExternalMemoryGetMappedBuffer", ctypes.byref(numbers), memory, ctypes.byref(whole))
    desc = SemaphoreDesc(type=SEMAPHORE_TIMELINE_FD)
    desc.handle.fd = semaphore_fd
    call("cuImportExternalSemaphore", ctypes.byref(semaphore), ctypes.byref(desc))

    length = ctypes.c_uint32(1 << 20)
    parameters = (ctypes.c_void_p * 2)(
        ctypes.cast(ctypes.byref(numbers), ctypes.c_void_p),
        ctypes.cast(ctypes.byref(length), ctypes.c_void_p),
    )
    one = ctypes.c_uint(1)
    for frame in range(frames):
        wait, signal = Params(value=2 * frame + 1), Params(value=2 * frame + 2)
        semaphores = ctypes.byref(semaphore)
        call("cuWaitExternalSemaphoresAsync", semaphores, ctypes.byref(wait), one, stream)
        grid = ((1 << 20) // 256, 1, 1)
        call("cuLaunchKernel", kernel, *grid, 256, 1, 1, 0, stream, parameters, None)
        call("cuSignalExternalSemaphoresAsync", semaphores, ctypes.byref(signal), one, stream)
    call("cuStreamSynchronize", stream)
    print(f"CUDA has taken {frames} turns", flush=True)
    # The other side ends first.
    connection.recv(1)


main()
