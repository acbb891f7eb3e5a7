import { readdir, readFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join, relative } from 'node:path';
import type { Stack } from '@sluice/local';
import { parentOf } from '@sluice/local/parts';
import { eventually, queryOnce } from '@sluice/testing';
import { Redis } from 'ioredis';
import type { Finder } from './search/finder.ts';

export async function searchLogs(directory: string, finder: Finder): Promise<void> {
  const folder = join(directory, 'logs');
  for (const name of await readdir(folder)) {
    const place = `log of ${name.replace(/\.log$/, '')}`;
    searchLines(finder, place, await readFile(join(folder, name)));
  }
}

/** What the launcher keeps for its owner alone; each file is for what is in it. */
const keptSecrets = new Set([
  'credentials.json',
  'environment',
  'secrets.json',
  'postgres/password',
  'redis/redis.conf',
]);

/**
 * Everything else that is on the disk, the write-ahead log and the files of tables included, so that what was deleted is
 * found too. Call it when nothing runs any more.
 */
export async function searchFiles(directory: string, finder: Finder): Promise<void> {
  for (const entry of await readdir(directory, { recursive: true, withFileTypes: true })) {
    const path = relative(directory, join(entry.parentPath, entry.name));
    if (!entry.isFile() || path.startsWith('logs/') || keptSecrets.has(path)) continue;
    const bytes = await readFile(join(directory, path));
    let end = bytes.length; // a file of the write-ahead log is mostly empty
    while (end > 0 && bytes[end - 1] === 0) end--;
    finder.search('files', path, bytes.subarray(0, end));
  }
}

/**
 * Every value of every column of every table, what Postgres remembers of them for its planner, and the statements that
 * sessions have run.
 */
export async function searchPostgres(databaseUrl: string, finder: Finder): Promise<void> {
  const search = async (place: string, text: string) => {
    const rows = await queryOnce<{ name: string; value: Buffer | string | null }>(databaseUrl, text);
    for (const { name, value } of rows) finder.search(`Postgres, ${place}`, name, Buffer.from(value ?? ''));
  };
  await queryOnce(databaseUrl, 'analyze');
  for (const { table, column, value } of await queryOnce<Column>(databaseUrl, columns)) {
    const name = `${table}.${column}`;
    await search('columns', `select '${name}' as name, ${value} as value from ${table} where ${column} is not null`);
  }
  await search('statistics', statistics);
  await search('statements', `select coalesce(application_name, '') as name, query as value from pg_stat_activity`);
}

interface Column {
  table: string;
  column: string;
  /** Bytes as they are, all else as text. */
  value: string;
}

const columns = `
  select format('%I.%I', table_schema, table_name) as table, format('%I', column_name) as column,
    format(case data_type when 'bytea' then '%I' else '(%I)::text' end, column_name) as value
  from information_schema.columns join information_schema.tables using (table_schema, table_name)
  where table_type = 'BASE TABLE' and table_schema not in ('pg_catalog', 'information_schema')
  order by 1, ordinal_position`;

const statistics = `
  select attname as name, concat(most_common_vals::text, histogram_bounds::text, most_common_elems::text) as value
  from pg_stats where schemaname not in ('pg_catalog', 'information_schema')`;

/**
 * Records every command that Redis gets from now on, one a line, by MONITOR: this shows deleted and published values
 * too. The monitor of ioredis fails if a command arrives at once.
 */
export async function monitorRedis(redisUrl: string, closing: AsyncDisposableStack): Promise<() => Buffer> {
  const { hostname, port, password } = new URL(redisUrl);
  const socket = connect({ host: hostname, port: Number(port) });
  closing.defer(() => void socket.destroy());
  const chunks: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => chunks.push(chunk));
  socket.write(`AUTH ${decodeURIComponent(password)}\r\nMONITOR\r\n`);
  await eventually('Redis tells its commands', () => Buffer.concat(chunks).toString().startsWith('+OK\r\n+OK\r\n'));
  return () => Buffer.concat(chunks);
}

/** Keys and values of every type in all logical databases, in one answer: a key or a value a line. */
const dump = `
  local lines = {}
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
      add(key)
      add(readers[redis.call('TYPE', key).ok](key))
    end
  end
  return table.concat(lines, '\\n')`;

export async function searchRedis(redisUrl: string, commands: Buffer, finder: Finder): Promise<void> {
  const redis = new Redis(redisUrl);
  try {
    const dumped = (await redis.callBuffer('EVAL', dump, '0')) as Buffer;
    searchLines(finder, 'Redis, keys and values', dumped);
  } finally {
    redis.disconnect();
  }
  searchLines(finder, 'Redis, commands', commands);
}

/** The command lines of our processes and of theirs, which every user of the machine can read. Where there is no /proc: none. */
export async function searchCommandLines({ processes }: Stack, finder: Finder): Promise<void> {
  if (process.platform !== 'linux') return;
  const ours = new Set(Array.from(processes.values(), ({ pid }) => pid));
  for (const pid of (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number)) {
    if (!ours.has(pid) && !ours.has(parentOf(pid)?.pid)) continue;
    const line = await readFile(`/proc/${pid}/cmdline`).catch(() => Buffer.alloc(0)); // it has ended
    finder.search('command lines', line.toString().replaceAll('\0', ' ').slice(0, 100), line);
  }
}

/** What the services tell a monitoring system, from the ports that their logs name. */
export async function searchMetrics(directory: string, names: readonly string[], finder: Finder): Promise<void> {
  for (const name of names) {
    const log = await readFile(join(directory, 'logs', `${name}.log`), 'utf8');
    const port = /"admin_port":(\d+)/.exec(log)?.[1];
    if (!port) throw new Error(`The log of ${name} names no port`);
    for (const path of ['/metrics', '/readyz', '/livez']) {
      const answer = await fetch(`http://127.0.0.1:${port}${path}`);
      finder.search('metrics', `${name} ${path}`, Buffer.from(await answer.text()));
    }
  }
}

function searchLines(finder: Finder, place: string, bytes: Buffer): void {
  for (const line of bytes.toString('latin1').split('\n')) {
    if (line !== '') finder.search(place, line.slice(0, 300), Buffer.from(line, 'latin1'));
  }
}
