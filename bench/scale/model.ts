/** What one stream was measured to cost. */
export interface Costs {
  /** Bytes of lastword's memory per open stream. */
  readonly memory: number;
  /** Per second and stream with a key, while it flows: scripts in Redis, and bytes sent there. */
  readonly scripts: number;
  readonly sent: number;
  /** Bytes of Redis's memory per kept reply. */
  readonly kept: number;
  /** Scripts per request that a key costs beside its flow. */
  readonly perRequest: number;
  /** CPU seconds of one process per second and stream. */
  readonly cpu: number;
  /** Scripts per second that one Redis was seen to run. */
  readonly capacity: number;
}

export interface Load {
  readonly streams: number;
  /** Seconds that a reply takes. */
  readonly seconds: number;
  /** Share of the requests that bear a key. */
  readonly keyed: number;
  /** Seconds that a finished reply is kept. */
  readonly keptFor: number;
  /** Streams that one process is given. */
  readonly perProcess: number;
}

export interface Needs {
  readonly processes: number;
  /** Client and upstream. */
  readonly sockets: number;
  readonly redisConnections: number;
  readonly memoryMb: number;
  readonly cores: number;
  readonly scriptsPerSecond: number;
  readonly redisMbPerSecond: number;
  readonly redisMemoryMb: number;
  /** Of what one Redis can do. */
  readonly redisShare: number;
}

const MB = 1024 * 1024;
/** Scripts per second beyond which a process sends less often for each of its streams. */
const MOST_SENT = 1_000;

/** Everything is linear in the number of streams: what is not is what a machine must be measured for. */
export function needsOf(load: Load, costs: Costs): Needs {
  const { streams, seconds, keyed, keptFor, perProcess } = load;
  const processes = Math.max(1, Math.ceil(streams / perProcess));
  const requests = streams / seconds;
  const each = Math.min(costs.scripts, MOST_SENT / Math.min(streams, perProcess));
  const scriptsPerSecond = keyed * (streams * each + requests * costs.perRequest);
  return {
    processes,
    sockets: 2 * streams,
    redisConnections: 2 * processes,
    memoryMb: (streams * costs.memory) / MB,
    cores: streams * costs.cpu,
    scriptsPerSecond,
    redisMbPerSecond: (keyed * streams * costs.sent) / MB,
    redisMemoryMb: (keyed * costs.kept * (streams + requests * keptFor)) / MB,
    redisShare: scriptsPerSecond / costs.capacity,
  };
}
