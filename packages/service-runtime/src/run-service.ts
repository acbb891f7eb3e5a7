import { readFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import { openAdminServer, Readiness } from './admin.ts';
import { type Config, ConfigError, type ConfigSchema, describeConfig, readConfig } from './config.ts';
import { logMissing } from './log-missing.ts';
import { type Logger, serviceLogger } from './logger.ts';
import { exportGauge } from './metrics/measured.ts';
import { warnOfRemovedSettings } from './removed-settings.ts';
import type { Tracing, TracingOptions } from './tracing/tracing.ts';

const version: string = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')).version;

export interface Runtime {
  log: Logger;
  stack: AsyncDisposableStack;
  readiness: Readiness;
  /** Aborted when a stop begins; requests are still accepted and answered. */
  draining: AbortSignal;
  metrics: Registry;
  tracing?: Tracing | undefined;
}

export interface Service {
  port?: number;
}

export type Start<C> = (config: C, runtime: Runtime) => Promise<Service>;

export interface ServiceDefinition<S extends ConfigSchema> {
  name: string;
  summary: string;
  configSchema: S;
  start: Start<Config<S>>;
  /** For a service with `traceSettings`: `openTracing` of the package `tracing`. */
  openTracing?: (options: TracingOptions) => Promise<Tracing>;
}

interface RuntimeSettings {
  LOG_LEVEL: string;
  ADMIN_HOST: string;
  ADMIN_PORT: number;
  SHUTDOWN_TIMEOUT_MS: number;
  SHUTDOWN_DRAIN_MS?: number;
  STOP_WHEN_STDIN_CLOSES: boolean;
  OTEL_EXPORTER_OTLP_ENDPOINT?: string;
  OTEL_EXPORTER_OTLP_HEADERS?: string;
  OTEL_TRACES_SAMPLER_ARG?: number;
}

/** Exit codes: 0 after a clean stop, 1 after a failed start or a slow stop, 78 (EX_CONFIG) for bad settings. */
export async function runService<const S extends ConfigSchema>(
  definition: ServiceDefinition<S>,
  { argv, env }: { argv: string[]; env: NodeJS.ProcessEnv },
): Promise<void> {
  if (argv.includes('--help') || argv.includes('-h')) {
    console.log(
      `${definition.name}: ${definition.summary}\n\nSettings (environment):\n${describeConfig(definition.configSchema)}`,
    );
    return;
  }
  const config = readConfigOrExit(definition.configSchema, env);
  const settings = config as unknown as RuntimeSettings;
  const { openTracing } = definition;
  const isTraced = settings.OTEL_EXPORTER_OTLP_ENDPOINT !== undefined;
  const log = serviceLogger({
    service: definition.name,
    level: settings.LOG_LEVEL,
    ...(isTraced && { members: () => currentTrace(runtime) }),
  });
  warnOfRemovedSettings(env, log);
  const stopping = new AbortController();
  const runtime: Runtime = {
    log,
    stack: new AsyncDisposableStack(),
    readiness: new Readiness(),
    draining: stopping.signal,
    metrics: new Registry(),
  };
  const stop = onStop(runtime, stopping, settings);
  collectDefaultMetrics({ register: runtime.metrics });
  measureProcess(definition.name, runtime.readiness, runtime.metrics);
  try {
    if (isTraced) runtime.tracing = await openTracing?.(tracingOptions(definition.name, settings, runtime));
    await openAdminServer({ host: settings.ADMIN_HOST, port: settings.ADMIN_PORT, ...runtime });
    const { port } = await definition.start(config, runtime);
    runtime.readiness.state = 'running';
    logMissing(runtime.readiness, runtime);
    log.info({ port, admin_port: settings.ADMIN_PORT }, `${definition.name} started`);
  } catch (error) {
    if (runtime.stack.disposed) return; // stopped while it started
    log.fatal({ err: error }, `${definition.name} could not start`);
    await stop(1);
  }
}

function measureProcess(service: string, readiness: Readiness, registry: Registry): void {
  new Gauge({
    name: 'sluice_build_info',
    help: 'Always 1',
    labelNames: ['service', 'version'],
    registers: [registry],
  }).set({ service, version }, 1);
  exportGauge(registry, {
    name: 'sluice_ready',
    help: 'Whether /readyz was 200 when last checked',
    read: () => Number(readiness.state === 'running' && readiness.wasReady),
  });
  exportGauge(registry, {
    name: 'sluice_draining',
    help: 'Whether the process is stopping',
    read: () => Number(readiness.state === 'stopping'),
  });
}

function tracingOptions(service: string, settings: RuntimeSettings, runtime: Runtime): TracingOptions {
  const { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint = '', OTEL_EXPORTER_OTLP_HEADERS: headers } = settings;
  const { OTEL_TRACES_SAMPLER_ARG: ratio = 1, SHUTDOWN_TIMEOUT_MS: timeoutMs } = settings;
  return { service, version, endpoint, headers, ratio, flushMs: Math.min(timeoutMs / 4, 2000), ...runtime };
}

function currentTrace({ tracing }: Runtime): object {
  const span = tracing?.current();
  return span ? { otel_trace_id: span.traceId } : {};
}

function readConfigOrExit<const S extends ConfigSchema>(schema: S, env: NodeJS.ProcessEnv): Config<S> {
  try {
    return readConfig(schema, env);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    console.error(error.message);
    process.exit(78);
  }
}

/** A second signal exits at once. A ready service goes on answering, because balancers notice a stop late. */
function onStop(
  { log, stack, readiness }: Runtime,
  stopping: AbortController,
  settings: RuntimeSettings,
): (exitCode: number, options?: { drains: boolean }) => Promise<never> {
  const { SHUTDOWN_TIMEOUT_MS: timeoutMs, SHUTDOWN_DRAIN_MS: drainMs = 0 } = settings;
  const stop = async (exitCode: number, { drains } = { drains: false }): Promise<never> => {
    if (stopping.signal.aborted) process.exit(1);
    const isServing = readiness.state === 'running' && readiness.wasReady;
    readiness.state = 'stopping';
    stopping.abort();
    if (drains && isServing && drainMs > 0) await wait(drainMs);
    const deadline = setTimeout(() => {
      log.error(`not stopped within ${timeoutMs} ms`);
      log.flush();
      process.exit(1);
    }, timeoutMs);
    deadline.unref();
    await stack.disposeAsync().catch((error: unknown) => log.error({ err: error }, 'a part did not close cleanly'));
    log.info('stopped');
    await new Promise<void>((resolve) => log.flush(() => resolve()));
    process.exit(exitCode);
  };
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, () => {
      log.info({ signal }, 'stopping');
      void stop(0, { drains: true });
    });
  }
  if (settings.STOP_WHEN_STDIN_CLOSES) {
    process.stdin
      .on('end', () => void stop(0))
      .on('error', () => void stop(0))
      .resume();
  }
  return stop;
}
