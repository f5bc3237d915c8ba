-- Another sysbench script, with a count of its events that can be read while it runs.
--
-- TARE_COUNTED_SCRIPT is that script; TARE_COUNTED_FILE a file of 64 bytes for each thread, of which the first eight
-- are its count. scripts/door-bench lets loads run by turns of a fraction of a second, for which sysbench has no report.
local ffi = require("ffi")
ffi.cdef [[
   int open(const char *path, int flags, ...);
   int close(int descriptor);
   void *mmap(void *address, size_t bytes, int protection, int flags, int descriptor, long offset);
]]
local READ_WRITE, SHARED, O_RDWR, STRIDE = 3, 1, 2, 8

dofile(os.getenv("TARE_COUNTED_SCRIPT"))
local counted_init, counted_event = thread_init, event

function thread_init()
   local descriptor = ffi.C.open(os.getenv("TARE_COUNTED_FILE"), O_RDWR)
   local place = ffi.C.mmap(nil, (sysbench.tid + 1) * STRIDE * 8, READ_WRITE, SHARED, descriptor, 0)
   assert(descriptor >= 0 and ffi.cast("intptr_t", place) ~= -1, "TARE_COUNTED_FILE cannot be mapped")
   ffi.C.close(descriptor)
   count = ffi.cast("uint64_t *", place) + sysbench.tid * STRIDE
   counted_init()
end

function event()
   counted_event()
   count[0] = count[0] + 1
end
