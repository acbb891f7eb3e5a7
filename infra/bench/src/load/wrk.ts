import { randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Program } from '@sluice/local';
import type { BenchmarkContext } from '../benchmark.ts';
import { autocannon } from './autocannon.ts';
import { connections, type LoadFigures, type LoadGenerator, type LoadRequest, runBounded } from './load-generator.ts';

/** A slower request is an error. It is long, because a process on a shared core may stand still for seconds. */
const timeout = '10s';

/** wrk, or autocannon where there is none. */
export async function findLoadGenerator({ find, directory }: BenchmarkContext): Promise<LoadGenerator> {
  const program = await find('wrk', ['wrk']);
  return program ? wrk(program, directory) : autocannon;
}

/** wrk with one thread. */
function wrk({ command, env }: Program, directory: string): LoadGenerator {
  let runs = 0;
  return {
    name: `wrk, ${connections} connections`,
    async run(request, seconds, signal) {
      runs += 1;
      const script = join(directory, `request-${runs}.lua`); // its own file, because two may run at a time
      await writeFile(script, scriptFor(request), { mode: 0o600 });
      const options = ['-t1', `-c${connections}`, `-d${seconds}s`, '--timeout', timeout, '--latency', '-s', script];
      return readWrkOutput(await runBounded(command, [...options, request.url], { env, seconds, signal }));
    },
  };
}

/** Defines no function unless requests differ, so that wrk builds the request only once. */
function scriptFor({ headers, body, uniqueHeader }: LoadRequest): string {
  const lines = Object.entries(headers).map(([name, value]) => `wrk.headers[ ${quote(name)} ] = ${quote(value)}`);
  const post = body === undefined ? [] : ['wrk.method = "POST"', `wrk.body = ${quote(body)}`];
  return [...lines, ...post, ...(uniqueHeader ? numbered(uniqueHeader) : []), ''].join('\n');
}

function numbered(header: string): string[] {
  const value = `${quote(`${randomUUID()}-`)} .. count`;
  return [
    'local count = 0',
    `request = function() count = count + 1; wrk.headers[ ${quote(header)} ] = ${value}; return wrk.format() end`,
  ];
}

/** A long string of Lua, in which only its end is special. */
function quote(text: string): string {
  return `[==[${text}]==]`;
}

const milliseconds: Record<string, number> = { us: 0.001, ms: 1, s: 1000, m: 60_000, h: 3_600_000 };

/** Parses the output of `wrk --latency`. @throws if a figure is missing, as when no request was answered. */
export function readWrkOutput(output: string): LoadFigures {
  const find = (pattern: RegExp): RegExpExecArray => {
    const found = pattern.exec(output);
    if (!found) throw new Error(`wrk printed something unexpected:\n${output}`);
    return found;
  };
  const percentile = (percent: number) => {
    const [, number, unit = ''] = find(new RegExp(`^\\s+${percent}%\\s+([\\d.]+)(us|ms|s|m|h) *$`, 'm'));
    return Number(number) * (milliseconds[unit] ?? Number.NaN);
  };
  // For example `Socket errors: connect 0, read 3, write 0, timeout 1`; absent where there were none.
  const [, socketErrors = ''] = /^\s*Socket errors: (.+)$/m.exec(output) ?? [];
  const [, otherAnswers = '0'] = /^\s*Non-2xx or 3xx responses: (\d+)$/m.exec(output) ?? [];
  const counts = [...(socketErrors.match(/\d+/g) ?? []), otherAnswers];
  return {
    requestsPerSecond: Number(find(/^Requests\/sec:\s+([\d.]+)$/m)[1]),
    p50Ms: percentile(50),
    p99Ms: percentile(99),
    errors: counts.reduce((sum, count) => sum + Number(count), 0),
  };
}
