import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { eventually, programEnvironment, startTraceCollector, useChildren } from '@sluice/testing';
import { freePort } from './free-port.ts';

const own = useChildren();
const moduleUrl = (name: string) => new URL(`${name}.ts`, import.meta.url).href;
const tracing = new URL('../../tracing/src/index.ts', import.meta.url).href;

function run(start: string, env: Record<string, string> = {}, more: string[] = []) {
  const program = `
    import { listen } from '${moduleUrl('listen')}';
    import { runService } from '${moduleUrl('run-service')}';
    import { httpSettings, serviceSettings } from '${moduleUrl('settings')}';
    import { traceSettings } from '${moduleUrl('tracing/trace-settings')}';
    import { createServer } from 'node:http';
    import { openTracing } from '${tracing}';
    const properties = {
      ...serviceSettings, ...httpSettings, ...traceSettings,
      ADMIN_PORT: { type: 'integer', default: 0, description: 'Admin port' },
      NEEDED: { type: 'string', minLength: 3, writeOnly: true, description: 'A secret' },
    };
    const configSchema = { type: 'object', required: ['NEEDED'], properties };
    const start = ${start};
    await runService({ name: 'sample', summary: 'a sample', configSchema, start, openTracing }, process);`;
  const settings = { ADMIN_HOST: '127.0.0.1', NEEDED: 'needed', SHUTDOWN_DRAIN_MS: '0', ...env };
  const args = ['--input-type=module', '-e', program, '--', ...more];
  const child = own(spawn(process.execPath, args, { env: { ...programEnvironment(), ...settings } }));
  const output = { text: '' };
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output.text += text;
    });
  }
  const exit = once(child, 'close').then(([code]) => code as number | null);
  return { child, output, exit };
}

async function until(output: { text: string }, part: string): Promise<void> {
  const deadline = performance.now() + 20_000;
  while (!output.text.includes(part)) {
    if (performance.now() > deadline) throw new Error(`"${part}" did not come; there is: ${output.text}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

const isRefused = (url: string) =>
  fetch(url).then(
    () => false,
    () => true,
  );

const orderly = `async (config, { stack }) => {
  stack.defer(() => { console.log('first closed'); });
  stack.defer(async () => { await new Promise((r) => setTimeout(r, 50)); console.log('second closed'); });
  console.log('STARTED');
  return {};
}`;

function kill(child: ChildProcess, signal: NodeJS.Signals): void {
  child.kill(signal);
}

test.each(['SIGTERM', 'SIGINT'] as const)('%s closes what was opened, last first, and exits with 0', async (signal) => {
  const { child, output, exit } = run(orderly);
  await until(output, 'STARTED');
  kill(child, signal);
  expect(await exit).toBe(0);
  expect(output.text.match(/\w+ closed/g)).toEqual(['second closed', 'first closed']);
  expect(output.text).toContain('"msg":"stopped"');
});

test('the end of standard input is a stop where that is set', async () => {
  const { child, output, exit } = run(orderly, { STOP_WHEN_STDIN_CLOSES: 'true' });
  await until(output, 'STARTED');
  child.stdin?.end();
  expect(await exit).toBe(0);
  expect(output.text).toContain('first closed');
});

test('a request under way is answered before the exit, a new connection is refused', async () => {
  const { child, output, exit } = run(`async (config, { stack }) => {
    const server = createServer((request, response) => {
      if (request.url !== '/held') return response.end();
      console.log('BEGUN');
      process.stdin.once('data', () => response.end('answered'));
    });
    const port = await listen(server, { host: '127.0.0.1', port: 0, stack });
    console.log('PORT=' + port + ';');
    return { port };
  }`);
  await until(output, ';');
  const url = `http://127.0.0.1:${/PORT=(\d+);/.exec(output.text)?.[1]}/`;
  const underWay = fetch(`${url}held`).then((response) => response.text());
  await until(output, 'BEGUN');
  kill(child, 'SIGTERM');
  await eventually('refused', () => isRefused(url));
  child.stdin?.write('go on');
  expect(await underWay).toBe('answered');
  expect(await exit).toBe(0);
});

describe('a service that drains', () => {
  const slowMs = 3000;
  const serving = `async (config, { stack, draining }) => {
    const server = createServer((request, response) => {
      if (request.url === '/slow') console.log('BEGUN');
      setTimeout(() => response.end('answered'), request.url === '/slow' ? ${slowMs} : 0);
    });
    const port = await listen(server, { host: '127.0.0.1', port: 0, stack, draining });
    return { port };
  }`;

  async function start(drainMs: number, more: Record<string, string> = {}) {
    const adminPort = await freePort();
    const started = run(serving, { SHUTDOWN_DRAIN_MS: String(drainMs), ADMIN_PORT: String(adminPort), ...more });
    await until(started.output, 'sample started');
    const [, port] = /"port":(\d+)/.exec(started.output.text) ?? [];
    const readiness = async () => (await fetch(`http://127.0.0.1:${adminPort}/readyz`)).status;
    return { ...started, url: `http://127.0.0.1:${port}`, readiness };
  }

  const isAnswered = async (url: string) => {
    const answer = await fetch(url);
    return { text: await answer.text(), connection: answer.headers.get('connection') };
  };

  test('is not ready at once, answers on for the time that is set, and ends each connection with its answer', async () => {
    const drainMs = 2500;
    const { child, output, exit, url, readiness } = await start(drainMs);
    expect(await readiness()).toBe(200);
    expect(await isAnswered(url)).toEqual({ text: 'answered', connection: 'keep-alive' });
    const underWay = isAnswered(`${url}/slow`);
    await until(output, 'BEGUN');
    const stoppedAt = performance.now();
    kill(child, 'SIGTERM');
    await until(output, '"msg":"stopping"');
    expect(await readiness()).toBe(503);
    while (performance.now() - stoppedAt < 700) {
      expect(await isAnswered(url)).toEqual({ text: 'answered', connection: 'close' });
    }
    expect(await underWay).toEqual({ text: 'answered', connection: 'close' }); // answered after draining began
    await eventually('refused', () => isRefused(url));
    expect(await exit).toBe(0);
    expect(performance.now() - stoppedAt).toBeGreaterThan(drainMs);
  });

  test('has its whole timeout after that', async () => {
    const { child, output, exit, url } = await start(2000, { SHUTDOWN_TIMEOUT_MS: String(slowMs - 100) });
    kill(child, 'SIGTERM');
    await until(output, '"msg":"stopping"');
    expect(await isAnswered(`${url}/slow`)).toMatchObject({ text: 'answered' });
    expect(await exit).toBe(0);
  });

  test('exits at once after a second signal', async () => {
    const { child, output, exit } = await start(60_000);
    kill(child, 'SIGTERM');
    await until(output, '"msg":"stopping"');
    kill(child, 'SIGTERM');
    expect(await exit).toBe(1);
  });

  test('does not drain where its launcher is gone', async () => {
    const { child, exit } = await start(60_000, { STOP_WHEN_STDIN_CLOSES: 'true' });
    child.stdin?.end();
    expect(await exit).toBe(0);
  });
});

describe('a service with traces', () => {
  const working = `async (config, { tracing, log }) => {
    await tracing.inSpan('work', async () => log.info('inside'));
    log.info('outside');
    return {};
  }`;

  test('sends what is left when it stops, and its lines name the trace', async () => {
    await using stack = new AsyncDisposableStack();
    const collector = await startTraceCollector(stack);
    const { child, output, exit } = run(working, { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url });
    await until(output, 'sample started');
    kill(child, 'SIGTERM');
    expect(await exit).toBe(0);
    const [span] = collector.spans;
    expect(span).toMatchObject({ service: 'sample', name: 'work' });
    const lines = output.text.split('\n').filter((line) => line.startsWith('{'));
    const traceOf = (msg: string) =>
      lines.map((line) => JSON.parse(line)).find((line) => line.msg === msg)?.otel_trace_id;
    expect(traceOf('inside')).toBe(span?.traceId);
    expect(traceOf('outside')).toBeUndefined();
  });

  test('stops in time and with 0 where the collector hangs', async () => {
    await using stack = new AsyncDisposableStack();
    const collector = await startTraceCollector(stack);
    collector.mode = 'hangs';
    const { child, output, exit } = run(working, {
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      SHUTDOWN_TIMEOUT_MS: '2000',
    });
    await until(output, 'sample started');
    kill(child, 'SIGTERM');
    expect(await exit).toBe(0);
    expect(output.text).toContain('"msg":"stopped"');
    expect(collector.requests).toHaveLength(1);
  });

  test('does not start with a setting that is none', async () => {
    const { output, exit } = run(working, {
      OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4318',
      OTEL_TRACES_SAMPLER_ARG: '2',
    });
    expect(await exit).toBe(78);
    expect(output.text).toMatch(/ENDPOINT: [\s\S]*SAMPLER_ARG: must be <= 1/);
  });
});

test('a part that does not close cleanly is logged, the others close, the exit is 0', async () => {
  const { child, output, exit } = run(`async (config, { stack }) => {
    stack.defer(() => { console.log('first closed'); });
    stack.defer(() => { throw new Error('stuck drawer'); });
    console.log('STARTED');
    return {};
  }`);
  await until(output, 'STARTED');
  kill(child, 'SIGTERM');
  expect(await exit).toBe(0);
  expect(output.text).toContain('first closed');
  expect(output.text).toContain('stuck drawer');
});

test('a stop that takes too long exits with 1', async () => {
  const { child, output, exit } = run(
    `async (config, { stack }) => { stack.defer(() => new Promise(() => setInterval(() => {}, 1000))); console.log('STARTED'); return {}; }`,
    { SHUTDOWN_TIMEOUT_MS: '200' },
  );
  await until(output, 'STARTED');
  kill(child, 'SIGTERM');
  expect(await exit).toBe(1);
  expect(output.text).toContain('not stopped within 200 ms');
});

test('a second signal exits at once', async () => {
  const { child, output, exit } = run(
    `async (config, { stack }) => { stack.defer(() => new Promise(() => setInterval(() => {}, 1000))); console.log('STARTED'); return {}; }`,
    { SHUTDOWN_TIMEOUT_MS: '300000' },
  );
  await until(output, 'STARTED');
  kill(child, 'SIGTERM');
  await until(output, '"msg":"stopping"');
  kill(child, 'SIGTERM');
  expect(await exit).toBe(1);
});

test('a start that fails closes what was opened and exits with 1', async () => {
  const { output, exit } = run(`async (config, { stack }) => {
    stack.defer(() => { console.log('first closed'); });
    throw new Error('no such host');
  }`);
  expect(await exit).toBe(1);
  expect(output.text).toContain('sample could not start');
  expect(output.text).toContain('first closed');
});

test('a configuration that is not usable exits with 78 and tells every fault, no secret', async () => {
  const { output, exit } = run(orderly, { NEEDED: 'xy', LOG_LEVEL: 'loud', ADMIN_PORT: 'x', HEADER_PREFIX: 'a-b' });
  expect(await exit).toBe(78);
  for (const name of ['NEEDED', 'LOG_LEVEL', 'ADMIN_PORT', 'HEADER_PREFIX'])
    expect(output.text).toContain(`  ${name}: `);
  expect(output.text).not.toContain('xy');
  expect(output.text).not.toContain('STARTED');
});

test.each(['--help', '-h'])('%s tells the settings and exits with 0, whatever the configuration', async (flag) => {
  const { output, exit } = run(orderly, { NEEDED: '' }, [flag]);
  expect(await exit).toBe(0);
  expect(output.text).toContain('sample: a sample');
  expect(output.text).toMatch(/LOG_LEVEL +Lowest level of messages that are logged \(default "info"\)/);
  expect(output.text).not.toContain('STARTED');
});
