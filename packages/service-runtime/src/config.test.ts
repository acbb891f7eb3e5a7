import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describeConfig, readConfig } from './index.ts';

const schema = {
  type: 'object',
  required: ['URL', 'SECRET'],
  properties: {
    URL: { type: 'string', pattern: '^https?://', description: 'Where it is' },
    SECRET: { type: 'string', minLength: 8, writeOnly: true, description: 'What nobody may see' },
    PORT: { type: 'integer', minimum: 0, maximum: 65535, default: 80, description: 'Port' },
    LEVEL: { type: 'string', enum: ['low', 'high'], default: 'low', description: 'Level' },
    FLAG: { type: 'boolean', default: false, description: 'Flag' },
    OTHER: { type: 'string', description: 'May be absent' },
    BASE: { type: 'string', format: 'url', description: 'Where clients come' },
    HOST: { type: 'string', format: 'host', description: 'Where the console is' },
    STORE: { type: 'string', format: 'ports', writeOnly: true, description: 'Where rows are' },
  },
} as const;

const good = { URL: 'http://x', SECRET: 'long enough' };

function messageOf(env: NodeJS.ProcessEnv): string {
  try {
    readConfig(schema, env);
  } catch (error) {
    return (error as Error).message;
  }
  throw new Error('was accepted');
}

test('settings are converted, defaults filled in, unknown variables left out, the whole frozen', () => {
  const config = readConfig(schema, { ...good, PORT: '8080', FLAG: 'true', PATH: '/bin' });
  expect(config).toEqual({ ...good, PORT: 8080, LEVEL: 'low', FLAG: true });
  expect(Object.isFrozen(config)).toBe(true);
});

test.each([
  [
    { BASE: 'http://localhost:99999' },
    'BASE: must match format "url"; it is "http://localhost:99999" (Where clients come)',
  ],
  [{ HOST: 'localhost:99999' }, 'HOST: must match format "host"; it is "localhost:99999" (Where the console is)'],
])('a port that is none is named with its setting: %j', (part, message) => {
  expect(messageOf({ ...good, ...part })).toContain(message);
  expect(readConfig(schema, { ...good, BASE: 'http://localhost:8080/', HOST: 'a.test:65535' }).HOST).toBe(
    'a.test:65535',
  );
});

test.each(['h:99999', 'u:geheim@h:99999/x', 'h:abc', '[::1]:70000', 'a:6379,b:65536/name', 'u:a/b@c@h:-1'])(
  'a port of a store that is none is named with its setting, without the password: %s',
  (rest) => {
    const message = messageOf({ ...good, STORE: `redis://${rest}` });
    expect(message).toContain('STORE: its ports must be numbers from 0 to 65535 (Where rows are)');
    expect(message).not.toContain('geheim');
  },
);

test.each(['h', 'h:', 'u:p:99999@h:65535/x', '[::1]', '[::1]:6379', 'a:1,b,c:2/name?x=:99999', 'u@/x?host=/run'])(
  'a store is accepted with whatever hosts its driver reads: %s',
  (rest) => {
    expect(readConfig(schema, { ...good, STORE: `redis://${rest}` }).STORE).toBe(`redis://${rest}`);
  },
);

test('an empty variable counts as absent', () => {
  expect(readConfig(schema, { ...good, PORT: '', OTHER: '' })).toEqual({
    ...good,
    PORT: 80,
    LEVEL: 'low',
    FLAG: false,
  });
  expect(messageOf({ ...good, URL: '' })).toContain('URL: is required');
});

test('every fault is told at once, with what is allowed', () => {
  const message = messageOf({ SECRET: 'short', PORT: '70000', LEVEL: 'medium', FLAG: 'yes' });
  expect(message.split('\n').sort()).toEqual(
    [
      'The configuration is not usable:',
      '  URL: is required (Where it is)',
      '  SECRET: must NOT have fewer than 8 characters (What nobody may see)',
      '  PORT: must be <= 65535; it is 70000 (Port)',
      '  LEVEL: must be equal to one of the allowed values: low, high; it is "medium" (Level)',
      '  FLAG: must be boolean; it is "yes" (Flag)',
    ].sort(),
  );
});

test('the password of a URL is not repeated', () => {
  for (const password of ['pw-4711', 'pw-4711@', 'pw-4711/?#']) {
    const message = messageOf({ ...good, URL: `ftp://user:${password}@host/path` });
    expect(message).toContain('it is "ftp://…@host/path"');
    expect(message).not.toContain('4711');
  }
});

test.each(['80a', '1.5', '-1', '0x10000', 'NaN'])('%s is no port', (PORT) => {
  expect(messageOf({ ...good, PORT })).toContain('PORT: ');
});

describe('a secret', () => {
  const hidden = 'tiny';

  test('is never printed', () => {
    expect(messageOf({ ...good, SECRET: hidden })).not.toContain(hidden);
    expect(describeConfig(schema)).not.toContain('long enough');
  });

  test('may be in a file, whose last line end does not count; the variable itself wins', async () => {
    await using stack = new AsyncDisposableStack();
    const directory = stack.adopt(await mkdtemp(join(tmpdir(), 'config-')), (path) => rm(path, { recursive: true }));
    const SECRET_FILE = join(directory, 'secret');
    await writeFile(SECRET_FILE, 'from the file\n');
    expect(readConfig(schema, { URL: 'http://x', SECRET_FILE }).SECRET).toBe('from the file');
    expect(readConfig(schema, { ...good, SECRET_FILE }).SECRET).toBe('long enough');
    await writeFile(SECRET_FILE, hidden);
    expect(messageOf({ URL: 'http://x', SECRET_FILE })).not.toContain(hidden);
  });

  test('whose file cannot be read is a fault that names the file', () => {
    expect(messageOf({ URL: 'http://x', SECRET_FILE: '/no/such/file' })).toMatch(/SECRET_FILE: .*\/no\/such\/file/);
  });

  test('only secrets are read from files', () => {
    expect(messageOf({ SECRET: 'long enough', URL_FILE: '/etc/hostname' })).toContain('URL: is required');
  });
});

test('--help tells each setting with its default and meaning', () => {
  const text = describeConfig(schema);
  expect(text).toMatch(/URL +Where it is \(required\)/);
  expect(text).toMatch(/SECRET +What nobody may see \(required; or SECRET_FILE\)/);
  expect(text).toMatch(/PORT +Port \(default 80\)/);
  expect(text).toMatch(/OTHER +May be absent \(default null\)/);
});
