import { execFile, spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { runInNewContext } from 'node:vm';
import { lineWriter, serviceLogger } from './index.ts';

function recordingLog(level = 'info') {
  const lines: string[] = [];
  const log = serviceLogger({ service: 'test', level }, { write: (line: string) => void lines.push(line) });
  return { log, lines };
}

test('a line has level, time, service and message', () => {
  const { log, lines } = recordingLog();
  log.info({ port: 5 }, 'started');
  expect(lines.map((line) => JSON.parse(line))).toEqual([
    {
      level: 'info',
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
      service: 'test',
      port: 5,
      msg: 'started',
    },
  ]);
});

test('of an error only name, message, code, stack and causes are printed: no values that a database quotes', () => {
  const { log, lines } = recordingLog();
  const hidden = { detail: 'Key (name)=(hidden-1) already exists.', where: 'hidden-2', parameters: ['hidden-3'] };
  const cause = Object.assign(new Error('duplicate key'), { code: '23505', ...hidden });
  log.error({ err: Object.assign(new Error('failed', { cause }), { request: 'hidden-4' }) }, 'request failed');
  expect(lines.join()).not.toContain('hidden');
  const { err } = JSON.parse(lines[0] ?? '');
  expect(Object.keys(err).sort()).toEqual(['cause', 'message', 'stack', 'type']);
  expect(err.cause).toMatchObject({ type: 'Error', message: 'duplicate key', code: '23505' });
  expect(Object.keys(err.cause).sort()).toEqual(['code', 'message', 'stack', 'type']);
});

test('causes are followed five deep, and a circle ends', () => {
  const { log, lines } = recordingLog();
  const error = new Error('around');
  error.cause = error;
  log.error({ err: error });
  expect(lines[0]?.match(/"message":"around"/g)).toHaveLength(5);
});

test.each([
  ['text', 'a secret text'],
  ['an object', { secret: 'a secret text' }],
])('what was thrown and is no error, %s, is not printed', (_name, thrown) => {
  const { log, lines } = recordingLog();
  log.error({ err: thrown });
  expect(lines.join()).not.toContain('secret text');
});

test('an error of another realm is an error', () => {
  const { log, lines } = recordingLog();
  log.error({ err: runInNewContext('new TypeError("elsewhere")') });
  expect(JSON.parse(lines[0] ?? '').err).toMatchObject({ type: 'TypeError', message: 'elsewhere' });
});

test('the time of a line is that of its call, to the millisecond', () => {
  const { log, lines } = recordingLog();
  for (const now of ['2026-02-03T04:05:06.007Z', '2026-02-03T04:05:06.999Z', '2026-12-31T23:59:59.010Z']) {
    const clock = jest.spyOn(Date, 'now').mockReturnValue(Date.parse(now));
    log.info('x');
    clock.mockRestore();
    expect(JSON.parse(lines.at(-1) ?? '').time).toBe(now);
  }
});

describe('a line writer', () => {
  const members = { trace_id: 'a"\\\n\u2028b', status: 200, absent: undefined, complete: true, odd: Number.NaN };

  function sameLine(options: { members?: () => object }) {
    const lines: string[] = [];
    const log = serviceLogger(
      { service: 'a "test"', level: 'info', ...options },
      { write: (line: string) => void lines.push(line) },
    );
    const clock = jest.spyOn(Date, 'now').mockReturnValue(1_700_000_000_007);
    log.info({ ...members }, 'an "invocation"');
    lineWriter(log, 'an "invocation"')(members);
    clock.mockRestore();
    return lines;
  }

  test.each([
    ['of a plain logger', {}],
    ['of one with members of its own', { members: () => ({ otel_trace_id: 'of the span', status: 'replaced' }) }],
  ])('writes the line that info() writes: %s', (_name, options) => {
    const [line, written] = sameLine(options);
    expect(JSON.parse(line ?? '')).toMatchObject({ service: 'a "test"', status: 200, msg: 'an "invocation"' });
    expect(written).toBe(line);
  });

  test('writes a line that has no members', () => {
    const { log, lines } = recordingLog();
    lineWriter(log, 'x')({ absent: undefined });
    expect(JSON.parse(lines[0] ?? '')).toEqual({ level: 'info', time: expect.any(String), service: 'test', msg: 'x' });
  });

  test('writes nothing below the level of the log, also where that changed since', () => {
    const { log, lines } = recordingLog('warn');
    const write = lineWriter(log, 'x');
    write({ a: 1 });
    expect(lines).toEqual([]);
    log.level = 'info';
    write({ a: 1 });
    expect(lines).toHaveLength(1);
  });

  test('refuses a logger that does not know its members', () => {
    const { log } = recordingLog();
    expect(() => lineWriter(log.child({ a: 1 }), 'x')).toThrow(TypeError);
  });
});

test('what goes to the standard output arrives', async () => {
  const script = `import { serviceLogger } from './index.ts'; serviceLogger({ service: 's', level: 'info' }).info('here');`;
  const args = ['--input-type=module-typescript', '--eval', script];
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: import.meta.dirname });
  expect(JSON.parse(stdout)).toMatchObject({ service: 's', msg: 'here' });
});

test('when nobody reads the standard output any more, lines are dropped and not gathered', async () => {
  const script = `
    import { serviceLogger } from './index.ts';
    const log = serviceLogger({ service: 's', level: 'info' });
    const long = 'x'.repeat(1000);
    for (let i = 0; i < 100; i++) {
      for (let j = 0; j < 1000; j++) log.info({ long });
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    console.error(process.memoryUsage().arrayBuffers);`;
  const args = ['--input-type=module-typescript', '--eval', script];
  const child = spawn(process.execPath, args, { cwd: import.meta.dirname, stdio: ['ignore', 'pipe', 'pipe'] });
  child.stdout.destroy();
  const gatheredBytes = Number(await text(child.stderr));
  expect(gatheredBytes).toBeGreaterThan(0);
  expect(gatheredBytes).toBeLessThan(50_000_000);
});
