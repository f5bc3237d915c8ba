-- Another sysbench script, whose events can be counted and timed while it runs, and which can stand still meanwhile.
--
-- TARE_COUNTED_SCRIPT is that script: a name of sysbench's own, or a path. TARE_COUNTED_FILE is a file of lines of 64 bytes:
--
--    first line              what whoever reads it says: whether latencies are taken now; nanoseconds for which
--                            the load stood still; whether it is to end; nanoseconds from one event of a thread to its
--                            next, on average, and 0 for no pause
--    a line for each thread  its events; of those that ended while latencies were taken: how many, nanoseconds in all
--    864 words for each      those events by their latency: 32 buckets from each power of two of microseconds to the next
--
-- load/counted.rs reads it: sysbench itself reports nothing that is shorter than a second.
local ffi = require("ffi")
ffi.cdef [[
   int open(const char *path, int flags, ...);
   int close(int descriptor);
   void *mmap(void *address, size_t bytes, int protection, int flags, int descriptor, long offset);
   typedef struct { long seconds, nanoseconds; } tare_time;
   int clock_gettime(int clock, tare_time *time);
   int usleep(unsigned int microseconds);
]]
local READ_WRITE, SHARED, O_RDWR, MONOTONIC = 3, 1, 2, 1
local LINE, BUCKETS, OF_TWO = 8, 864, 32

local script = os.getenv("TARE_COUNTED_SCRIPT")
if script:find("/") then dofile(script) else require(script) end
local counted_init, counted_event = thread_init, event

local time = ffi.new("tare_time")
local word = ffi.typeof("uint64_t *")
local head, own, buckets
-- When the next event is due, and the pause that this was reckoned with.
local due, paced = 0, 0
-- So long at a time: a load that is to end does not sleep on.
local NAP = 20e6

-- Nanoseconds that this load has run: what it stood still is no latency.
local function clock()
   ffi.C.clock_gettime(MONOTONIC, time)
   return tonumber(time.seconds) * 1e9 + tonumber(time.nanoseconds) - tonumber(head[1])
end

function thread_init()
   local threads = sysbench.opt.threads
   local bytes = 8 * (LINE * (1 + threads) + BUCKETS * threads)
   local descriptor = ffi.C.open(os.getenv("TARE_COUNTED_FILE"), O_RDWR)
   local place = ffi.C.mmap(nil, bytes, READ_WRITE, SHARED, descriptor, 0)
   assert(descriptor >= 0 and ffi.cast("intptr_t", place) ~= -1, "TARE_COUNTED_FILE cannot be mapped")
   ffi.C.close(descriptor)
   head = ffi.cast(word, place)
   own = head + LINE * (1 + sysbench.tid)
   buckets = head + LINE * (1 + threads) + BUCKETS * sysbench.tid
   if counted_init then counted_init() end
end

-- Waits until the next event is due: at random, as clients come (exponentially distributed pauses). Returns since when it has been:
-- an event that is late has waited.
local function await()
   local pause = tonumber(head[3])
   if pause == 0 then return clock() end
   if pause ~= paced then due, paced = clock(), pause end
   due = due - pause * math.log(1 - sysbench.rand.uniform_double())
   local now = clock()
   if now >= due then return due end
   while now < due and head[2] == 0 do
      ffi.C.usleep(math.min(due - now, NAP) / 1000)
      now = clock()
   end
   return now
end

function event()
   local began = await()
   local ended = counted_event()
   local took = clock() - began
   own[0] = own[0] + 1
   if head[0] ~= 0 then
      local bucket = math.floor(OF_TWO * math.log(math.max(took / 1000, 1)) / math.log(2))
      bucket = math.min(bucket, BUCKETS - 1)
      own[1] = own[1] + 1
      own[2] = own[2] + math.max(took, 0)
      buckets[bucket] = buckets[bucket] + 1
   end
   return ended or head[2] ~= 0
end
