import { readFile } from 'node:fs/promises';
import type { IncomingHttpHeaders } from 'node:http';
import { join } from 'node:path';
import { type Stack, startStack } from '@sluice/local';
import { stopChild } from '@sluice/local/parts';
import {
  type Answer,
  type CallOptions,
  call,
  openStoresFolder,
  programEnvironment,
  serveHttp,
  startTraceCollector,
  type TraceCollector,
  workerStack,
} from '@sluice/testing';

export const serviceNames = ['management-api', 'token-vault', 'proxy-gateway', 'worker', 'ingress'] as const;
type ServiceName = (typeof serviceNames)[number];

/** The whole platform in its own folder and on its own ports, with its metrics and logs. */
export interface RunningPlatform {
  stack: Stack;
  directory: string;
  call(method: string, path: string, options?: CallOptions): Promise<Answer>;
  /** With the management key; the body of an answer that must be a success. */
  create(path: string, body: object): Promise<Answer['body']>;
  logLines(service: ServiceName): Promise<Record<string, unknown>[]>;
  metricsOf(service: ServiceName): Promise<string>;
  /** Where spans go. */
  collector: TraceCollector;
  /** Ends services and starts them again, with these settings beside those of tests in general. */
  restart(names: readonly ServiceName[], settings: Record<string, string>): Promise<void>;
}

let shared: Promise<RunningPlatform> | undefined;

/** The platform, with traces, that the test files of this folder share. */
export function sharePlatform(): Promise<RunningPlatform> {
  shared ??= startPlatform(workerStack);
  return shared;
}

async function startPlatform(closing: AsyncDisposableStack): Promise<RunningPlatform> {
  const collector = await startTraceCollector(closing);
  const environment = { ...programEnvironment(), ...tracedTo(collector) };
  const directory = await openStoresFolder(closing, 'monitoring');
  const stack = await startStack({
    directory,
    port: 0,
    log: () => {},
    environment,
  });
  closing.defer(() => stack.close());

  async function logLines(service: ServiceName): Promise<Record<string, unknown>[]> {
    const text = await readFile(join(directory, 'logs', `${service}.log`), 'utf8');
    return text.split('\n').flatMap((line) => (line.startsWith('{') && line.endsWith('}') ? [JSON.parse(line)] : []));
  }

  return {
    stack,
    directory,
    collector,
    async restart(names, settings) {
      // The stack reads the object anew at each start.
      for (const name of Object.keys(environment)) Reflect.deleteProperty(environment, name);
      Object.assign(environment, programEnvironment(), settings);
      await Promise.all(
        names.map(async (name) => {
          const child = stack.processes.get(name);
          if (child) await stopChild(child, 'SIGTERM');
          await stack.restart(name);
        }),
      );
    },
    logLines,
    call: (method, path, options) => call(stack.baseUrl, method, path, options),
    async create(path, body) {
      const answer = await call(stack.baseUrl, 'POST', path, { key: stack.credentials.management_key, body });
      if (answer.status !== 201) throw new Error(`POST ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
      return answer.body;
    },
    async metricsOf(service) {
      const started = (await logLines(service)).find(({ admin_port }) => admin_port !== undefined);
      return (await fetch(`http://127.0.0.1:${started?.admin_port}/metrics`)).text();
    },
  };
}

/** What switches traces on. */
export const tracedTo = ({ url }: TraceCollector) => ({ OTEL_EXPORTER_OTLP_ENDPOINT: url });

/** A destination that answers with the body that it was sent, and remembers headers. */
export async function startDestination(closing: AsyncDisposableStack) {
  const seen: IncomingHttpHeaders[] = [];
  const url = await serveHttp(closing, (request, response) => {
    seen.push(request.headers);
    response.writeHead(200, { 'Content-Type': 'application/json' });
    request.pipe(response);
  });
  return { url, seen };
}
