"""What Redis runs as one step, where two processes race.

Each script touches keys of one hash slot: those of one session, of the index, of the bus or of the tasks.
`KEYS[1]` names them or what they begin with. All values are JSON, numbers or bytes of messages.
"""

from __future__ import annotations

from typing import Final

# The hash of a session: record, version, used. ARGV: record, version, used, seconds to keep, replace (1 or
# 0), the oldest time of use.
SAVE: Final = """
local stored = redis.call('hmget', KEYS[1], 'version', 'used')
if ARGV[5] == '0' then
    if not stored[1] or tonumber(stored[1]) ~= tonumber(ARGV[2]) - 1 then return 0 end
    if tonumber(stored[2]) < tonumber(ARGV[6]) then return 0 end
end
redis.call('hset', KEYS[1], 'record', ARGV[1], 'version', ARGV[2], 'used', ARGV[3])
redis.call('expire', KEYS[1], ARGV[4])
return 1
"""

# ARGV: now, the oldest time of use, seconds to keep.
TOUCH: Final = """
local used = redis.call('hget', KEYS[1], 'used')
if not used or tonumber(used) < tonumber(ARGV[2]) then return 0 end
redis.call('hset', KEYS[1], 'used', ARGV[1])
redis.call('expire', KEYS[1], ARGV[3])
for _, name in ipairs(redis.call('smembers', KEYS[2])) do
    redis.call('expire', KEYS[2] .. ':' .. name, ARGV[3])
    redis.call('expire', KEYS[2] .. ':' .. name .. ':events', ARGV[3])
end
redis.call('expire', KEYS[2], ARGV[3])
return 1
"""

# The index of all sessions. KEYS: used, clients, owners. ARGV: id, client, now, limit, the time before which
# a session is idle. Returns the ids that have to be given up.
INDEX_ADD: Final = """
local used, clients, owners = KEYS[1], KEYS[2], KEYS[3]
local function remove(id)
    local client = redis.call('hget', owners, id)
    redis.call('zrem', used, id)
    if client then
        redis.call('hdel', owners, id)
        redis.call('zrem', clients .. ':' .. client, id)
        if tonumber(redis.call('zincrby', clients, -1, client)) <= 0 then
            redis.call('zrem', clients, client)
        end
    end
end
if redis.call('zadd', used, ARGV[3], ARGV[1]) == 1 then redis.call('zincrby', clients, 1, ARGV[2]) end
redis.call('hset', owners, ARGV[1], ARGV[2])
redis.call('zadd', clients .. ':' .. ARGV[2], ARGV[3], ARGV[1])
local ended, limit = {}, tonumber(ARGV[4])
while limit > 0 and redis.call('zcard', used) > limit do
    local own = tonumber(redis.call('zscore', clients, ARGV[2])) or 0
    local chosen = ARGV[2]
    if own <= 1 or own * redis.call('zcard', clients) <= limit then
        chosen = redis.call('zrange', clients, -1, -1)[1]
    end
    local victim = ARGV[1]
    local idle = redis.call('zrangebyscore', clients .. ':' .. chosen, '-inf', '(' .. ARGV[5], 'limit', 0, 2)
    for _, id in ipairs(idle) do
        if id ~= ARGV[1] then victim = id break end
    end
    remove(victim)
    ended[#ended + 1] = victim
    if victim == ARGV[1] then break end
end
return ended
"""

# KEYS as before. ARGV: ids.
INDEX_REMOVE: Final = """
local used, clients, owners = KEYS[1], KEYS[2], KEYS[3]
for _, id in ipairs(ARGV) do
    local client = redis.call('hget', owners, id)
    redis.call('zrem', used, id)
    if client then
        redis.call('hdel', owners, id)
        redis.call('zrem', clients .. ':' .. client, id)
        if tonumber(redis.call('zincrby', clients, -1, client)) <= 0 then
            redis.call('zrem', clients, client)
        end
    end
end
return 1
"""

# ARGV: id, now.
INDEX_TOUCH: Final = """
local client = redis.call('hget', KEYS[3], ARGV[1])
redis.call('zadd', KEYS[1], 'XX', ARGV[2], ARGV[1])
if client then redis.call('zadd', KEYS[2] .. ':' .. client, 'XX', ARGV[2], ARGV[1]) end
return 1
"""

# The streams of a session: KEYS[1] is the set of their names, and what the keys of each begin with.
_STATE: Final = """
local function state(name)
    return redis.call('hmget', KEYS[1] .. ':' .. name, 'last', 'finished', 'worker', 'reader', 'delivered')
end
"""

# ARGV: name, worker, failure, seconds to keep, streams to keep.
OPEN: Final = """
local key = KEYS[1] .. ':' .. ARGV[1]
if redis.call('sadd', KEYS[1], ARGV[1]) == 0 then return 0 end
redis.call('hset', key, 'last', 0, 'finished', 0, 'worker', ARGV[2], 'reader', '', 'delivered', 0,
    'failure', ARGV[3], 'order', redis.call('hincrby', KEYS[1] .. ':0', 'opened', 1))
redis.call('expire', key, ARGV[4])
redis.call('expire', KEYS[1], ARGV[4])
local names = redis.call('smembers', KEYS[1])
if #names > tonumber(ARGV[5]) then
    local oldest, order
    for _, name in ipairs(names) do
        local number = tonumber(redis.call('hget', KEYS[1] .. ':' .. name, 'order') or 0)
        if name ~= '0' and (not order or number < order) then oldest, order = name, number end
    end
    redis.call('srem', KEYS[1], oldest)
    redis.call('del', KEYS[1] .. ':' .. oldest, KEYS[1] .. ':' .. oldest .. ':events')
end
return 1
"""

# ARGV: name, data, last (1 or 0), events to keep, bytes to keep, seconds to keep, create (1 or 0), fail (1 or
# 0). With `fail`, the data is the failure that was stored with the stream.
WRITE: Final = (
    _STATE
    + """
local key = KEYS[1] .. ':' .. ARGV[1]
local events, data = key .. ':events', ARGV[2]
local finished = redis.call('hget', key, 'finished')
if not finished and ARGV[7] == '0' then return false end
if finished == '1' then return false end
if not finished then
    redis.call('sadd', KEYS[1], ARGV[1])
    redis.call('hset', key, 'last', 0, 'worker', '', 'reader', '', 'delivered', 0)
end
if ARGV[8] == '1' then data = redis.call('hget', key, 'failure') end
local number = redis.call('hincrby', key, 'last', 1)
redis.call('hset', key, 'finished', ARGV[3])
redis.call('xadd', events, number .. '-0', 'd', data)
local size = redis.call('hincrby', key, 'bytes', #data)
local dropped = number - tonumber(ARGV[4])
while size > tonumber(ARGV[5]) or dropped > 0 do
    local first = redis.call('xrange', events, '-', '+', 'count', 1)[1]
    if not first then break end
    redis.call('xdel', events, first[1])
    size = redis.call('hincrby', key, 'bytes', -#first[2][2])
    dropped = redis.call('xlen', events) - tonumber(ARGV[4])
end
for _, each in ipairs({KEYS[1], key, events}) do redis.call('expire', each, ARGV[6]) end
return state(ARGV[1])
"""
)

# ARGV: name.
FINISH: Final = (
    _STATE
    + """
local key = KEYS[1] .. ':' .. ARGV[1]
if redis.call('hget', key, 'finished') ~= '0' then return false end
redis.call('hset', key, 'finished', 1)
return state(ARGV[1])
"""
)

# ARGV: name, worker.
FOLLOW: Final = (
    _STATE
    + """
local before = state(ARGV[1])
if not before[1] then return false end
redis.call('hset', KEYS[1] .. ':' .. ARGV[1], 'reader', ARGV[2])
return before
"""
)

# ARGV: name, worker, delivered.
UNFOLLOW: Final = """
local key = KEYS[1] .. ':' .. ARGV[1]
if redis.call('hget', key, 'reader') ~= ARGV[2] then return 0 end
local delivered = math.max(tonumber(redis.call('hget', key, 'delivered')), tonumber(ARGV[3]))
redis.call('hset', key, 'reader', '', 'delivered', delivered)
return 1
"""

# ARGV: names, or none for all.
DROP: Final = """
local names = ARGV
if #ARGV == 0 then names = redis.call('smembers', KEYS[1]) end
for _, name in ipairs(names) do
    redis.call('srem', KEYS[1], name)
    redis.call('del', KEYS[1] .. ':' .. name, KEYS[1] .. ':' .. name .. ':events')
end
return 1
"""

# Kept state of one owner. ARGV: record, version, seconds to keep.
STATE_SWAP: Final = """
local version = tonumber(redis.call('hget', KEYS[1], 'version') or 0)
if version + 1 ~= tonumber(ARGV[2]) then return 0 end
redis.call('hset', KEYS[1], 'record', ARGV[1], 'version', ARGV[2])
redis.call('expire', KEYS[1], ARGV[3])
return 1
"""

# A token bucket. ARGV: rate, burst. Returns the seconds to wait, as text.
TAKE: Final = """
local time = redis.call('time')
local now = tonumber(time[1]) + tonumber(time[2]) / 1000000
local rate, burst = tonumber(ARGV[1]), tonumber(ARGV[2])
local stored = redis.call('hmget', KEYS[1], 'tokens', 'filled')
local tokens = burst
if stored[1] then
    local gained = math.max(0, now - tonumber(stored[2])) * rate
    tokens = math.min(burst, tonumber(stored[1]) + gained)
end
local wait = 0
if tokens >= 1 - 1e-9 then tokens = tokens - 1 else wait = math.max((1 - tokens) / rate, 0.001) end
redis.call('hset', KEYS[1], 'tokens', string.format('%.9f', tokens), 'filled', string.format('%.6f', now))
redis.call('expire', KEYS[1], math.ceil(burst / rate) + 1)
return string.format('%.6f', wait)
"""

# Tasks. KEYS: what all keys begin with. ARGV: id, record, owner, form, worker, expires, size, now, tasks,
# tasks of one owner, bytes.
TASK_ADD: Final = """
local p = KEYS[1]
if redis.call('zcard', p .. ':expiry') >= tonumber(ARGV[9]) then return {'full', 'tasks'} end
if ARGV[3] ~= '' and redis.call('zcard', p .. ':of:' .. ARGV[3]) >= tonumber(ARGV[10]) then
    return {'full', 'client_tasks'}
end
if tonumber(redis.call('get', p .. ':bytes') or 0) + tonumber(ARGV[7]) > tonumber(ARGV[11]) then
    return {'full', 'task_bytes'}
end
local serial = redis.call('incr', p .. ':serial')
redis.call('hset', p .. ':t:' .. ARGV[1], 'record', ARGV[2], 'version', 0, 'serial', serial, 'size', ARGV[7],
    'owner', ARGV[3], 'form', ARGV[4], 'worker', ARGV[5], 'expires', ARGV[6])
redis.call('incrby', p .. ':bytes', ARGV[7])
redis.call('zadd', p .. ':expiry', ARGV[6], ARGV[1])
redis.call('zadd', p .. ':of:' .. ARGV[3], serial, ARGV[1])
redis.call('zadd', p .. ':by:' .. ARGV[5], serial, ARGV[1])
return {'added', serial}
"""

# ARGV: id, record, version, size, now, bytes, finished (1 or 0).
TASK_SWAP: Final = """
local p, key = KEYS[1], KEYS[1] .. ':t:' .. ARGV[1]
local stored = redis.call('hmget', key, 'version', 'size', 'expires', 'worker')
if not stored[1] or tonumber(stored[1]) + 1 ~= tonumber(ARGV[3]) then return 'stale' end
if tonumber(stored[3]) <= tonumber(ARGV[5]) then return 'stale' end
local growth = tonumber(ARGV[4]) - tonumber(stored[2])
if growth > 0 and tonumber(redis.call('get', p .. ':bytes') or 0) + growth > tonumber(ARGV[6]) then
    return 'full'
end
redis.call('incrby', p .. ':bytes', growth)
redis.call('hset', key, 'record', ARGV[2], 'version', ARGV[3], 'size', ARGV[4])
if ARGV[7] == '1' then redis.call('zrem', p .. ':by:' .. stored[4], ARGV[1]) end
return 'stored'
"""

# ARGV: now, how many at most. Returns the ids in order of expiry.
TASK_EVICT: Final = """
local p = KEYS[1]
local ids = redis.call('zrangebyscore', p .. ':expiry', '-inf', ARGV[1], 'limit', 0, ARGV[2])
for _, id in ipairs(ids) do
    local stored = redis.call('hmget', p .. ':t:' .. id, 'size', 'owner', 'worker')
    redis.call('del', p .. ':t:' .. id)
    redis.call('zrem', p .. ':expiry', id)
    redis.call('incrby', p .. ':bytes', -tonumber(stored[1]))
    redis.call('zrem', p .. ':of:' .. stored[2], id)
    redis.call('zrem', p .. ':by:' .. stored[3], id)
end
return ids
"""
