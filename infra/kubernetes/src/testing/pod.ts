import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { freePort, nodeOptions } from '@sluice/local';
import { repositoryRoot } from '@sluice/local/parts';
import { environmentOf, type Workload } from '../manifest.ts';

/** A container of a workload as a process of this machine, in the sources instead of an image. */
export interface Pod {
  workload: Workload;
  environment: Record<string, string>;
  /** By name. */
  ports: Record<string, number>;
  child: ChildProcess;
  /** All that it printed, once it has ended. */
  output: Promise<string>;
  exitCode: Promise<number | null>;
}

export interface PodOptions {
  /** Stands for `/` where volumes are mounted. */
  root: string;
  /** Of the image. */
  workspace: string;
  stack: AsyncDisposableStack;
}

/** Starts what the container would run, with the variables and the files of the manifest, on free ports. */
export async function startPod(workload: Workload, { root, workspace, stack }: PodOptions): Promise<Pod> {
  const { container } = workload;
  const ports: Record<string, number> = {};
  for (const { name = '' } of container.ports ?? []) ports[name] = await freePort();
  const ownFolders = (container.volumeMounts ?? []).filter(({ name }) =>
    workload.pod.volumes?.some((volume) => volume.name === name && volume.emptyDir),
  );
  const placeOf = (path: string) =>
    ownFolders.some(({ mountPath }) => path.startsWith(mountPath)) ? join(root, workload.name, path) : join(root, path);
  const here = ([name, value]: [string, string]) => [name, value.startsWith('/run/') ? placeOf(value) : value];
  const environment: Record<string, string> = {
    ...Object.fromEntries(Object.entries(environmentOf(container)).map(here)),
    HOST: '127.0.0.1',
    ADMIN_HOST: '127.0.0.1',
    ...(ports.http && { PORT: `${ports.http}` }),
    ...(ports.admin && { ADMIN_PORT: `${ports.admin}` }),
  };
  const [, ...words] = container.command ?? ['node', ...nodeOptions, 'src/main.ts'];
  const child = spawn(process.execPath, words, {
    cwd: join(repositoryRoot, workspace),
    env: environment,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const output = Promise.all([text(child.stdout), text(child.stderr)]).then((parts) => parts.join(''));
  const exitCode = once(child, 'exit').then(([code]) => code as number | null);
  stack.defer(async () => {
    child.kill('SIGKILL');
    await exitCode;
  });
  return { workload, environment, ports, child, output, exitCode };
}

type Probe = 'startupProbe' | 'livenessProbe' | 'readinessProbe';

/** What the kubelet would get; status 0 where nobody listens. */
export async function probe({ workload, ports }: Pod, name: Probe): Promise<{ status: number; body: string }> {
  const { path, port } = workload.container[name]?.httpGet ?? {};
  try {
    const response = await fetch(`http://127.0.0.1:${ports[String(port)]}${path}`);
    return { status: response.status, body: await response.text() };
  } catch (error) {
    return { status: 0, body: String(error) }; // nobody listens yet, which is an answer to a probe
  }
}
