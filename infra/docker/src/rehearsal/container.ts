import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join, posix } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ComposeService } from './compose-file.ts';
import type { Image } from './image.ts';

/** What differs from a real container: where volumes are, and which addresses services have. */
export interface Surroundings {
  /** Maps the folder on which a volume is mounted to a folder of this machine. */
  mountedAt: (path: string) => string;
  /** Variables that replace those of the service. */
  environment?: Record<string, string>;
}

export interface Container {
  child: ChildProcess;
  /** Its whole output, once it has ended. */
  output: Promise<string>;
  exitCode: Promise<number | null>;
}

/** Starts the command of the service's container with this Node. `words` follow the entrypoint. */
export function startContainer(
  image: Image,
  service: ComposeService,
  { mountedAt, environment: changed = {} }: Surroundings,
  words: readonly string[] = service.command ?? (service.entrypoint ? [] : image.command),
): Container {
  const [program, ...rest] = [...(service.entrypoint ?? []), ...words];
  if (program !== 'node') throw new Error(`the container runs ${program}, not node`);
  const given = Object.entries(service.environment ?? {}).map(([name, value]) => [
    name,
    value.startsWith('/run/') ? mountedAt(value) : value,
  ]);
  const child = spawn(process.execPath, rest, {
    cwd: join(image.root, posix.resolve(image.workingDirectory)),
    env: { ...image.environment, ...Object.fromEntries(given), ...changed },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const output = Promise.all([text(child.stdout), text(child.stderr)]).then((parts) => parts.join(''));
  return { child, output, exitCode: once(child, 'exit').then(([code]) => code as number | null) };
}

/** On a busy machine; one that cannot start ends much sooner. */
const healthyWithinMs = 300_000;

/** Runs the health check of a service until it succeeds. @throws with the container's output if it ends first. */
export async function untilHealthy(container: Container, service: ComposeService, adminPort: number): Promise<void> {
  const [, , ...words] = service.healthcheck?.test ?? [];
  const check = words.map((word) => word.replace(':9080', `:${adminPort}`));
  const deadline = performance.now() + healthyWithinMs;
  while ((await exitCodeOf(check)) !== 0) {
    const { exitCode } = container.child;
    if (exitCode !== null || performance.now() > deadline) {
      container.child.kill('SIGKILL');
      throw new Error(`not healthy (exit code ${exitCode}):\n${await container.output}`);
    }
    await sleep(500);
  }
}

async function exitCodeOf(words: readonly string[]): Promise<number | null> {
  const [code] = await once(spawn(process.execPath, words, { stdio: 'ignore' }), 'exit');
  return code as number | null;
}
