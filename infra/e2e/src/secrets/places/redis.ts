import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import type { Finder } from '../search/finder.ts';

/** Notes everything that is sent to Redis from now on: what was there and is gone, and what is published. */
export interface RedisMonitor {
  /** As MONITOR tells it, a command a line. */
  commands(): Buffer;
}

export async function monitorRedis(redisUrl: string, closing: AsyncDisposableStack): Promise<RedisMonitor> {
  const socket = await open(redisUrl);
  closing.defer(() => void socket.destroy());
  const chunks: Buffer[] = [];
  const first = once(socket, 'data');
  socket.write(encode('MONITOR'));
  await first;
  socket.on('data', (chunk: Buffer) => chunks.push(chunk));
  return { commands: () => Buffer.concat(chunks) };
}

/** Keys and values of every type in all logical databases, in one answer: a key or a value a line. */
const dump = `
  local lines, keys = {}, 0
  local function add(value)
    if type(value) == 'table' then for _, member in ipairs(value) do add(member) end
    else lines[#lines + 1] = tostring(value) end
  end
  local readers = {
    string = function(key) return redis.call('GET', key) end,
    hash = function(key) return redis.call('HGETALL', key) end,
    list = function(key) return redis.call('LRANGE', key, 0, -1) end,
    set = function(key) return redis.call('SMEMBERS', key) end,
    zset = function(key) return redis.call('ZRANGE', key, 0, -1, 'WITHSCORES') end,
    stream = function(key) return redis.call('XRANGE', key, '-', '+') end,
  }
  for db = 0, 15 do
    redis.call('SELECT', db)
    for _, key in ipairs(redis.call('KEYS', '*')) do
      keys = keys + 1
      add(key)
      add(readers[redis.call('TYPE', key).ok](key))
    end
  end
  return table.concat(lines, '\\n')`;

/** Every key and value, and every command that was noted. */
export async function searchRedis(redisUrl: string, monitor: RedisMonitor, finder: Finder): Promise<void> {
  for (const line of lines(await evaluate(redisUrl, dump)))
    finder.search('Redis, keys and values', line.toString(), line);
  for (const line of lines(monitor.commands())) finder.search('Redis, commands', line.toString('utf8', 0, 80), line);
}

export async function setRedisKey(redisUrl: string, key: string, value: string): Promise<void> {
  await evaluate(redisUrl, `return redis.call('HSET', '${key}', 'field', '${value}') .. ''`);
}

function* lines(bytes: Buffer): Iterable<Buffer> {
  for (let start = 0; start < bytes.length; ) {
    const end = bytes.indexOf('\n', start);
    const line = bytes.subarray(start, end === -1 ? bytes.length : end);
    if (line.length > 0) yield line;
    start += line.length + 1;
  }
}

/** Runs a script that returns one text. */
async function evaluate(redisUrl: string, script: string): Promise<Buffer> {
  const socket = await open(redisUrl);
  try {
    socket.write(encode('EVAL', script, '0'));
    let received = Buffer.alloc(0);
    for await (const chunk of socket) {
      received = Buffer.concat([received, chunk]);
      const head = received.indexOf('\r\n');
      if (head === -1) continue;
      if (received[0] !== 0x24) throw new Error(`Redis: ${received.subarray(0, head)}`);
      const size = Number(received.subarray(1, head));
      if (received.length >= head + 2 + size) return received.subarray(head + 2, head + 2 + size);
    }
    throw new Error('Redis closed the connection');
  } finally {
    socket.destroy();
  }
}

async function open(redisUrl: string): Promise<Socket> {
  const { hostname, port, password } = new URL(redisUrl);
  const socket = connect({ host: hostname, port: Number(port) });
  await once(socket, 'connect');
  const welcomed = once(socket, 'data');
  socket.write(encode('AUTH', decodeURIComponent(password)));
  await welcomed;
  return socket;
}

function encode(...words: string[]): string {
  return `*${words.length}\r\n${words.map((word) => `$${Buffer.byteLength(word)}\r\n${word}\r\n`).join('')}`;
}
