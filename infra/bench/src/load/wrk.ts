import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Program } from '../machine/programs.ts';
import { connections, type LoadGenerator, type LoadRequest } from './load-generator.ts';
import { runBounded } from './run-bounded.ts';
import { readWrkOutput } from './wrk-output.ts';

/** A slower request is an error. It is long, because a process on a shared core may stand still for seconds. */
const timeout = '10s';

/** wrk with one thread. */
export function wrk({ command, env }: Program, directory: string): LoadGenerator {
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

/** Defines no function, so that wrk builds the request only once. */
function scriptFor({ headers, body }: LoadRequest): string {
  const lines = Object.entries(headers).map(([name, value]) => `wrk.headers[ ${quote(name)} ] = ${quote(value)}`);
  const post = body === undefined ? [] : ['wrk.method = "POST"', `wrk.body = ${quote(body)}`];
  return [...lines, ...post, ''].join('\n');
}

/** A long string of Lua, in which only its end is special. */
function quote(text: string): string {
  return `[==[${text}]==]`;
}
