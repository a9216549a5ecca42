import { script } from "./redis.ts";

/**
 * What is decided within Redis, in one step. Of each key that clients use there are, all named alike:
 * - the claim, a hash: `body` (name of the request body), `owner` (token of the replica whose run it is), `stream` (name of the recording),
 *   `n` (entries of it), `done` (the run has ended)
 * - the lease, a text: there as long as the owner lives
 * - the stream: the recording, entry by entry
 * - the readers, a text: there as long as another replica reads along
 */

/**
 * KEYS claim, lease. ARGV body, token, stream, ms of the lease, ms to keep.
 * `owner`: it is ours; `follow`, `resume`: and the stream of which; `conflict`: another body. Ours already: the stream begins anew.
 */
export const CLAIM = script(`
local body = redis.call('HGET', KEYS[1], 'body')
if body and body ~= ARGV[1] then return {'conflict', ''} end
if body and redis.call('HGET', KEYS[1], 'owner') ~= ARGV[2] then
  local stream = redis.call('HGET', KEYS[1], 'stream')
  if redis.call('HEXISTS', KEYS[1], 'done') == 1 or redis.call('EXISTS', KEYS[2]) == 1 then return {'follow', stream} end
  redis.call('HSET', KEYS[1], 'owner', ARGV[2])
  redis.call('SET', KEYS[2], ARGV[2], 'PX', ARGV[4])
  return {'resume', stream}
end
redis.call('HSET', KEYS[1], 'body', ARGV[1], 'owner', ARGV[2], 'stream', ARGV[3], 'n', 0)
redis.call('PEXPIRE', KEYS[1], ARGV[5])
redis.call('SET', KEYS[2], ARGV[2], 'PX', ARGV[4])
return {'owner', ARGV[3]}
`);

/**
 * KEYS claim, lease, stream, readers. ARGV token, ms of the lease, ms to keep, ms to keep once the run has ended ('': it has not; 0: only for
 * who reads it now), ms that such readers may take, place of the first entry, entries.
 * Adds the entries that are not there yet, and renews the lease. `gone`: Redis has lost the claim; `other`: another replica has taken over.
 */
export const APPEND = script(`
local owner = redis.call('HGET', KEYS[1], 'owner')
if not owner then return 'gone' end
if owner ~= ARGV[1] or redis.call('HGET', KEYS[1], 'stream') ~= KEYS[3] then return 'other' end
local n = tonumber(redis.call('HGET', KEYS[1], 'n'))
local from = n
for i = 7, #ARGV do
  if ARGV[6] + i - 7 >= n then
    redis.call('XADD', KEYS[3], '*', 'd', ARGV[i])
    n = n + 1
  end
end
if n > from then
  redis.call('HSET', KEYS[1], 'n', n)
  redis.call('PUBLISH', KEYS[3], '')
end
if ARGV[4] == '' then
  redis.call('SET', KEYS[2], ARGV[1], 'PX', ARGV[2])
  redis.call('PEXPIRE', KEYS[1], ARGV[3])
  redis.call('PEXPIRE', KEYS[3], ARGV[3])
elseif ARGV[4] == '0' then
  redis.call('DEL', KEYS[1], KEYS[2])
  redis.call('PEXPIRE', KEYS[3], ARGV[5])
else
  redis.call('DEL', KEYS[2])
  redis.call('HSET', KEYS[1], 'done', 1)
  redis.call('PEXPIRE', KEYS[1], ARGV[4])
  redis.call('PEXPIRE', KEYS[3], ARGV[4])
end
return redis.call('EXISTS', KEYS[4]) == 1 and 'followed' or 'alone'
`);

/**
 * KEYS claim, lease, readers. ARGV token, stream, ms of the lease.
 * A reader asks after the owner. `follow`: it lives, or has ended; `ours`: it is dead, and we take over; `gone`: the claim is not there any more.
 */
export const WATCH = script(`
if redis.call('HGET', KEYS[1], 'stream') ~= ARGV[2] then return 'gone' end
if redis.call('HEXISTS', KEYS[1], 'done') == 1 or redis.call('EXISTS', KEYS[2]) == 1 then
  redis.call('SET', KEYS[3], '1', 'PX', ARGV[3])
  return 'follow'
end
redis.call('HSET', KEYS[1], 'owner', ARGV[1])
redis.call('SET', KEYS[2], ARGV[1], 'PX', ARGV[3])
return 'ours'
`);

/** KEYS claim, lease, stream. ARGV token. The recording is too long to be kept: the key is free for another run. */
export const DROP = script(`
if redis.call('HGET', KEYS[1], 'owner') == ARGV[1] then redis.call('DEL', KEYS[1], KEYS[2], KEYS[3]) end
return 'dropped'
`);

/** KEYS claim, lease, stream. ARGV token. The run was left before its end: whoever asks again resumes it. */
export const RELEASE = script(`
if redis.call('HGET', KEYS[1], 'owner') == ARGV[1] then
  redis.call('DEL', KEYS[2])
  redis.call('PUBLISH', KEYS[3], '')
end
return 'released'
`);

/** KEYS places. ARGV most, member, ms of a place. 1: the place is ours, until it is given back or not renewed. */
export const ENTER = script(`
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
if redis.call('ZCARD', KEYS[1]) >= tonumber(ARGV[1]) then return 0 end
redis.call('ZADD', KEYS[1], now + ARGV[3], ARGV[2])
redis.call('PEXPIRE', KEYS[1], ARGV[3])
return 1
`);

/** KEYS places. ARGV ms of a place, members. Those that Redis has lost meanwhile are taken again, also beyond the limit: they are in use. */
export const RENEW = script(`
local time = redis.call('TIME')
local till = time[1] * 1000 + math.floor(time[2] / 1000) + ARGV[1]
for i = 2, #ARGV do redis.call('ZADD', KEYS[1], till, ARGV[i]) end
redis.call('PEXPIRE', KEYS[1], ARGV[1])
return 1
`);

/** KEYS places. ARGV member. */
export const LEAVE = script(`
if redis.call('ZREM', KEYS[1], ARGV[1]) == 1 then redis.call('PUBLISH', KEYS[1], '') end
return 1
`);
