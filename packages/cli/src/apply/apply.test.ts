import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { keys, kindOf, startService, type } from '../testing/test-command-line.ts';

type Resource = { id: string; name: string } & Record<string, unknown>;

async function setUp(closing: AsyncDisposableStack, file: string, existing: Record<string, Resource[]> = {}) {
  const service = await startService(closing, ({ method, url, body }) => {
    if (url === '/applications/key') return { status: 200, body: { id: 'caller', tenant_id: 'tenant' } };
    if (method === 'POST') {
      const sent = JSON.parse(body);
      return { status: 201, body: { ...sent, id: `of ${sent.name}`, key: 'k' } };
    }
    if (method !== 'GET') return { status: 200, body: {} };
    const data = existing[kindOf(url)] ?? [];
    const pagination = { total_items: data.length, page_number: 1, page_size: 100, total_pages: 1 };
    return { status: 200, body: { pagination, data } };
  });
  const home = await mkdtemp(join(tmpdir(), 'sluice-home-'));
  closing.defer(() => rm(home, { recursive: true, force: true }));
  const path = join(home, 'platform.yaml');
  await writeFile(path, file);
  const own = { SLUICE_URL: service.url, SLUICE_API_KEY: keys.management };
  const env = { ...own, DEST: 'https://x.example/?key=sk_live_1', GRANT: 'token:search', COUNT: '3' };
  const run = (command: string, ...more: string[]) =>
    type([command, '-f', path, ...more], { env, isTerminal: !more.includes('--json') });
  return { service, path, home, run };
}

const proxy = { id: 'p', name: 'a', destination_url: 'https://x.example/?key=sk_live_0', require_auth: true };

test.each(['{ $env: DEST }', '{ $file: dest }'])(
  'the plan shows neither what %s holds nor what it replaces',
  async (reference) => {
    await using closing = new AsyncDisposableStack();
    const file = `proxies: [{ name: a, destination_url: ${reference}, require_auth: false }]`;
    const { home, run } = await setUp(closing, file, { proxies: [proxy] });
    await writeFile(join(home, 'dest'), 'https://x.example/?key=sk_live_1');
    for (const format of [[], ['--json']]) {
      const { code, screen } = await run('diff', '--env', 'DEST', ...format);
      expect([code, screen]).toEqual([0, expect.stringContaining('destination_url')]);
      expect(screen).toContain('require_auth: true -> false');
      expect(screen).not.toContain('sk_live');
    }
  },
);

test.each([
  ['of the file', 'https://x.example/', 'https://u:sk_live_1@x.example/'],
  ['of the service', 'https://x.example/?key=sk_live_0', 'https://x.example/'],
])('a URL %s that may hold a key is not shown', async (_, current, wanted) => {
  await using closing = new AsyncDisposableStack();
  const file = `proxies: [{ name: a, destination_url: "${wanted}" }]`;
  const { run } = await setUp(closing, file, { proxies: [{ ...proxy, destination_url: current }] });
  const { screen } = await run('diff');
  expect(screen).toContain('~ Proxy a\n    destination_url\n');
  expect(screen).not.toContain('sk_live');
});

test('permissions of which one is a reference are not shown either', async () => {
  await using closing = new AsyncDisposableStack();
  const file = 'applications: [{ name: a, type: private, permissions: [{ $env: GRANT }] }]';
  const existing = { applications: [{ id: 'a', name: 'a', type: 'private', permissions: ['token:use'] }] };
  const { screen } = await (await setUp(closing, file, existing)).run('diff', '--env', 'GRANT');
  expect(screen).toContain('~ Application a\n    permissions\n');
  expect(screen).not.toContain('token:search');
});

test.each([
  ['[]', undefined, 'allowed_origins: none -> ""'],
  ['[https://a.example]', [], 'allowed_origins: "" -> "https://a.example"'],
  ['null', ['https://a.example'], 'allowed_origins: "https://a.example" -> none'],
  ['[https://b.example, https://a.example]', ['https://a.example', 'https://b.example'], undefined],
])(
  'allowed origins %s where there are %j: an empty list is not none, because it allows nobody',
  async (wanted, current, plan) => {
    await using closing = new AsyncDisposableStack();
    const file = `applications: [{ name: a, type: public, permissions: ['token:create'], allowed_origins: ${wanted} }]`;
    const one = { id: 'a', name: 'a', type: 'public', permissions: ['token:create'], allowed_origins: current };
    const { screen } = await (await setUp(closing, file, { applications: [one] })).run('diff');
    if (plan === undefined) expect(screen).not.toContain('allowed_origins');
    else expect(screen).toContain(plan);
  },
);

describe('members that a PUT keeps', () => {
  const current = { token_places: ['path', 'body'], request_headers: { 'X-A': 'sk_live_1' }, head_timeout_s: 60 };

  test.each([
    ['', current, undefined],
    ['token_places: [body, path], request_headers: { X-A: sk_live_1 }, head_timeout_s: 60', current, undefined],
    ['token_places: []', {}, 'token_places: none -> ""'],
    ['token_places: null', current, 'token_places: "body path" -> none'],
    ['token_places: [body]', { token_places: [] }, 'token_places: "" -> "body"'],
    ['request_headers: { X-A: sk_live_2 }', current, 'request_headers.X-A'],
    ['request_headers: null', current, 'request_headers: removed'],
    ['allowed_paths: null', { allowed_paths: ['/v1'] }, 'allowed_paths: ["/v1"] -> none'],
    ['allowed_paths: [/v1, /v2]', { allowed_paths: ['/v1'] }, 'allowed_paths: ["/v1"] -> ["/v1","/v2"]'],
    ['response_guard: redact', {}, 'response_guard: none -> "redact"'],
    ['response_guard: off', { response_guard: 'redact' }, 'response_guard: "redact" -> "off"'],
    ['response_guard: null', { response_guard: 'redact' }, 'response_guard: "redact" -> none'],
    ['head_timeout_s: 30', current, 'head_timeout_s: 60 -> 30'],
  ])('%s where there are %j', async (wanted, members, plan) => {
    await using closing = new AsyncDisposableStack();
    const file = `proxies: [{ name: a, destination_url: "${proxy.destination_url}", ${wanted} }]`;
    const { run } = await setUp(closing, file, { proxies: [{ ...proxy, ...members }] });
    const { screen } = await run('diff');
    if (plan === undefined) expect(screen).not.toMatch(/token_places|request_headers|head_timeout_s/);
    else expect(screen).toContain(`    ${plan}\n`);
    expect(screen).not.toContain('sk_live');
  });
});

describe('Proxies that an Application names', () => {
  const agent = (proxies: string) => `{ name: agent, type: private, permissions: ['token:use'], proxies: ${proxies} }`;
  const model = '{ name: model, destination_url: "https://model.example" }';

  test('are names; it is written once, after they are made', async () => {
    await using closing = new AsyncDisposableStack();
    const file = `applications: [${agent('[model]')}]\nproxies: [${model}]`;
    const { service, run } = await setUp(closing, file);
    expect((await run('apply', '--yes')).code).toBe(0);
    const written = service.seen
      .filter(({ method }) => method !== 'GET')
      .map(({ url, body }) => [url, JSON.parse(body)]);
    expect(written).toEqual([
      ['/proxies', expect.objectContaining({ name: 'model' })],
      ['/applications', expect.objectContaining({ name: 'agent', proxies: ['of model'] })],
    ]);
  });

  test.each([
    ['[model]', ['p'], undefined],
    ['[model]', undefined, 'proxies'],
    ['null', ['p'], 'proxies: removed\n'],
    ['[model]', ['p', 'gone'], 'proxies'],
  ])('%s where there are %j', async (wanted, proxies, plan) => {
    await using closing = new AsyncDisposableStack();
    const existing = {
      applications: [
        { id: 'a', name: 'agent', type: 'private', permissions: ['token:use'], ...(proxies && { proxies }) },
      ],
      proxies: [{ ...proxy, name: 'model' }],
    };
    const { run } = await setUp(closing, `applications: [${agent(wanted)}]`, existing);
    const { screen } = await run('diff');
    if (plan === undefined) expect(screen).not.toContain('proxies');
    else expect(screen).toContain(`    ${plan}`);
  });

  test.each([
    [`applications: [${agent('[nobody]')}]`, 'refers to the Proxy nobody, which does not exist'],
    [`applications: [${agent('[]')}]`, 'proxies must not be empty'],
    [
      `applications: [${agent('[model]')}]\nproxies: [{ name: model, destination_url: "https://m.example", application: { name: agent } }]`,
      'None of these can be created first, because each refers to the next: Application agent, Proxy model, Application agent',
    ],
  ])('a mistake in the file: %s', async (file, message) => {
    await using closing = new AsyncDisposableStack();
    const { code, screen } = await (await setUp(closing, file)).run('diff');
    expect([code, screen]).toEqual([2, expect.stringContaining(message)]);
  });
});

test.each([
  ['a name', '{ $env: DEST }', 'x'],
  ['the name of an Application', 'a', '{ $env: DEST }'],
])('%s stands in the file itself, since the plan shows it', async (_name, name, application) => {
  await using closing = new AsyncDisposableStack();
  const { run } = await setUp(closing, `proxies: [{ name: ${name}, application: { name: ${application} } }]`);
  const { code, screen } = await run('diff', '--env', 'DEST');
  expect([code, screen]).toEqual([
    2,
    expect.stringMatching(/^proxies\[0\].*a name must not come from \$env or \$file/),
  ]);
  expect(screen).not.toContain('sk_live');
});

test.each([
  'applications: &a [*a]',
  'applications: &a [*a, *a]',
  'proxies: [&a { name: a, configuration: { b: *a } }]',
])('an alias that leads to itself is a mistake in the file: %s', async (file) => {
  await using closing = new AsyncDisposableStack();
  const { code, error } = await (await setUp(closing, file)).run('diff');
  expect([code, error]).toEqual([2, expect.stringMatching(/^\S+ has an alias that refers to itself\n$/)]);
});

test('a value that two members share by an alias is no mistake', async () => {
  await using closing = new AsyncDisposableStack();
  const file =
    'proxies: [{ name: a, destination_url: x, configuration: &c { x: y } }, { name: b, destination_url: x, configuration: *c }]';
  expect((await (await setUp(closing, file)).run('diff')).out).toBe('+ Proxy a\n+ Proxy b\n0 unchanged\n');
});

test('what nests too deep to be read is a mistake in the file', async () => {
  await using closing = new AsyncDisposableStack();
  const { run } = await setUp(closing, `proxies: ${'['.repeat(20_000)}${']'.repeat(20_000)}`);
  const { code, error } = await run('diff');
  expect([code, error]).toEqual([2, expect.stringMatching(/line 1 \(resource exhaustion\)\n$/)]);
});

test('Proxies find the Applications that they name in one list, those of the same apply included', async () => {
  await using closing = new AsyncDisposableStack();
  const file = `applications: [{ name: new, type: private, permissions: [token:use] }]
proxies:
  - { name: a, destination_url: x, application: { name: old } }
  - { name: b, destination_url: x, application: { name: new } }
  - { name: c, destination_url: x }`;
  const applications = [{ id: 'of old', name: 'old', type: 'private' }];
  const { service, run } = await setUp(closing, file, { applications });
  expect((await run('apply', '--yes')).code).toBe(0);
  const made = service.seen.filter(({ method, url }) => method === 'POST' && url === '/proxies');
  expect(made.map(({ body }) => JSON.parse(body).application)).toEqual([{ id: 'of old' }, { id: 'of new' }, undefined]);
  expect(service.seen.filter(({ url }) => url.startsWith('/applications?'))).toHaveLength(1);
});

test('blanks at the ends of a name do not count, in the file or where it was stored', async () => {
  await using closing = new AsyncDisposableStack();
  const file = 'proxies: [{ name: "a ", destination_url: x, application: { name: " old" } }]';
  const applications = [{ id: 'of old', name: ' old ', type: 'private' }];
  const proxies = [{ id: '1', name: 'a', destination_url: 'x', require_auth: true, application_id: 'of old' }];
  expect((await (await setUp(closing, file, { applications, proxies })).run('diff')).out).toBe('1 unchanged\n');
  const twice = await setUp(closing, 'proxies: [{ name: a, destination_url: x }, { name: "a ", destination_url: x }]');
  expect((await twice.run('diff')).error).toContain('Two proxies are named a');
});

test('what is named like a member of every object is recorded as made, and pruned', async () => {
  await using closing = new AsyncDisposableStack();
  const { path, run } = await setUp(
    closing,
    'proxies: [{ name: __proto__, destination_url: x }, { name: constructor, destination_url: x }]',
    {
      proxies: [{ ...proxy, id: 'of __proto__', name: '__proto__' }],
    },
  );
  await writeFile(`${path}.applied.json`, '{"tenant":{"proxies":{"__proto__":"of __proto__"}}}');
  expect((await run('apply', '--yes')).out).toContain('+ Proxy constructor');
  expect(JSON.parse(await readFile(`${path}.applied.json`, 'utf8')).tenant.proxies).toEqual(
    JSON.parse('{"__proto__":"of __proto__","constructor":"of constructor"}'),
  );
  await writeFile(path, '{}');
  expect((await run('diff', '--prune')).out).toContain('- Proxy __proto__');
});

test('each step is told as it is done on a terminal, and elsewhere the plan alone', async () => {
  await using closing = new AsyncDisposableStack();
  const { run } = await setUp(closing, 'proxies: [{ name: a, destination_url: x }, { name: b, destination_url: x }]');
  expect((await run('apply', '--yes')).error).toBe('1/2 Created Proxy a\n2/2 Created Proxy b\n');
  const elsewhere = await run('apply', '--yes', '--json');
  expect([elsewhere.error, JSON.parse(elsewhere.out).plan.length]).toEqual(['', 2]);
});

test('an Application whose permissions differ is replaced', async () => {
  await using closing = new AsyncDisposableStack();
  const file = 'applications: [{ name: a, type: private, permissions: [token:use, token:read] }]';
  const existing = { applications: [{ id: 'i', name: 'a', type: 'private', permissions: ['token:use'], rules: [] }] };
  const { service, run } = await setUp(closing, file, existing);
  const { out, error } = await run('apply', '--yes');
  expect(out).toBe('~ Application a\n    permissions: ["token:use"] -> ["token:read","token:use"]\n0 unchanged\n');
  expect(error).toBe('1/1 Changed Application a\n');
  const put = service.seen.find(({ method }) => method === 'PUT');
  expect(put?.url).toBe('/applications/i');
  expect(JSON.parse(put?.body ?? '')).toMatchObject({ name: 'a', permissions: ['token:use', 'token:read'] });
});

const wrong = `
applications:
  - { name: a, type: robot, permissions: [token:use, token:raed], rules: [{ priority: one, transfrom: mask }] }
  - { name: b, permissions: token:use }
  - { name: f, type: public, permissions: [], rules: null }
proxies:
  - { name: c, require_auth: "yes", request_transform: { code: 7 }, configuration: { N: 1 } }
  - { name: d, destination_url: null, application: { nmae: a } }
  - { name: e, destination_url: x, application: { name: a, id: b }, request_transfrom: { code: x } }
  - { name: g, destination_url: x, path_name: A_B }`;

test('every fault of a file is said at once, before anything is read or done', async () => {
  await using closing = new AsyncDisposableStack();
  const { service, run } = await setUp(closing, wrong);
  const { code, out, error } = await run('apply', '--yes');
  expect([code, out, service.seen]).toEqual([2, '', []]);
  expect(error.trim().split('\n')).toEqual([
    'Application a: type must be one of private, public, management',
    expect.stringMatching(/^Application a: permissions\[1\] must be one of token:create, .*, report:read$/),
    'Application a: rules[0].transform is required',
    'Application a: rules[0].permissions is required',
    'Application a: rules[0].priority must be a whole number',
    expect.stringMatching(/^Application a: there is no member transfrom in rules\[0\]\. Known members: description, /),
    'Application b: type is required',
    'Application b: permissions must be a list',
    'Application f: permissions or rules is required, and must not be empty',
    'Proxy c: destination_url is required',
    'Proxy c: require_auth must be true or false',
    'Proxy c: request_transform.code must be text',
    'Proxy c: configuration.N must be text',
    'Proxy d: destination_url is required',
    'Proxy d: application.id is required',
    'Proxy d: there is no member nmae in application. Known members: id',
    expect.stringMatching(/^Proxy e: there is no member request_transfrom\. Known members: name, destination_url, /),
    'Proxy e: there is no member id in application. Known members: name',
    'Proxy g: path_name must be 1 to 63 lower-case letters, digits and dashes, and begin and end with a letter or a digit',
  ]);
});

const from = (reference: string) => `proxies: [{ name: a, destination_url: ${reference} }]`;

test.each([
  ['two of one name', 'proxies: [{ name: a }, { name: a }]', 'Two proxies are named a'],
  ['an unknown list', 'sessions: []', 'unknown field sessions'],
  ['no name', 'applications: [{}]', 'applications[0] must have a name'],
  ['a variable that was not allowed', from('{ $env: PATH }'), 'PATH is not allowed; allow it with --env PATH'],
  ['a variable of our own', from('{ $env: SLUICE_API_KEY }'), 'cannot be used in a resource'],
  ['a variable that is not set', from('{ $env: UNSET }'), 'UNSET is not set'],
  ['a file above', from('{ $file: ../x }'), '../x'],
  ['an absolute file', from('{ $file: /etc/hostname }'), 'must be a file below'],
  ['a link that leads out', from('{ $file: link }'), 'must be a file below'],
  ['a reference with more', from('{ $file: x, y: 1 }'), 'without other fields'],
  [
    'an Application that nobody knows',
    'proxies: [{ name: a, destination_url: x, application: { name: nobody } }]',
    'does not exist and is not in the file',
  ],
  [
    'a type that changes',
    'applications: [{ name: old, type: public, permissions: [token:create] }]',
    'The type of the Application old',
  ],
])('%s: nothing is done', async (_name, file, message) => {
  await using closing = new AsyncDisposableStack();
  const applications = [{ id: 'i', name: 'old', type: 'private', permissions: ['token:create'] }];
  const { service, home, run } = await setUp(closing, file, { applications });
  await symlink('/etc/hostname', join(home, 'link'));
  const { code, error } = await run('apply', '--yes', '--env', 'UNSET', '--env', 'SLUICE_API_KEY');
  expect([code, error]).toEqual([2, expect.stringContaining(message)]);
  expect(service.seen.filter(({ method }) => method !== 'GET')).toEqual([]);
});

test('YAML that is none is told by line, without what stands there', async () => {
  await using closing = new AsyncDisposableStack();
  const { run } = await setUp(closing, 'proxies:\n  - name: a\n    configuration: { SECRET: sk_live_2\n');
  const { code, screen } = await run('apply');
  expect([code, screen]).toEqual([2, expect.stringMatching(/platform\.yaml is not valid YAML: line \d/)]);
  expect(screen).not.toContain('sk_live');
});

const two = (members: object) => ['1', '2'].map((id) => ({ id, name: 'a', ...members }));
const naming = (application: string) => `proxies: [{ name: b, destination_url: x, application: { ${application} } }]`;
const management = [{ id: 'i', name: 'a', type: 'management' }];

test.each<[string, string, Parameters<typeof setUp>[2], number, string]>([
  ['two Proxies', 'proxies: [{ name: a, destination_url: x }]', { proxies: two({}) }, 1, '2 proxies are named a'],
  [
    'two Applications',
    'applications: [{ name: a, type: private, permissions: [token:use] }]',
    { applications: two({}) },
    1,
    '2 applications are',
  ],
  ['two, which a Proxy names', naming('name: a'), { applications: two({ type: 'private' }) }, 1, '2 Applications have'],
  ['an id of none', naming('id: 00000000-0000-4000-8000-000000000000'), {}, 2, 'which does not exist\n'],
  ['one of type management', naming('name: a'), { applications: management }, 2, 'must be private or public'],
])('%s on the server: no plan is shown, and nothing is done', async (_name, file, existing, exit, message) => {
  await using closing = new AsyncDisposableStack();
  const { service, run } = await setUp(closing, `${file}\n`, existing);
  const { code, out, error } = await run('apply', '--yes');
  expect([code, out, error]).toEqual([exit, '', expect.stringContaining(message)]);
  expect(service.seen.filter(({ method }) => method !== 'GET')).toEqual([]);
});

test('the file that the README shows is one', async () => {
  await using closing = new AsyncDisposableStack();
  const readme = await readFile(new URL('../../README.md', import.meta.url), 'utf8');
  const file = /^```yaml\n(.*?)^```/ms.exec(readme)?.[1] ?? '';
  const { home, run } = await setUp(
    closing,
    file.replaceAll('PAYMENTS_API_KEY', 'DEST').replaceAll('BIN_RETRIES', 'COUNT'),
  );
  for (const folder of ['transforms', 'reactors']) await mkdir(join(home, folder));
  await writeFile(join(home, 'reactors/bin.js'), 'module.exports = async () => ({});');
  await writeFile(join(home, 'transforms/payments.js'), 'module.exports = async ({ args }) => ({ body: args.body });');
  const { out } = await run('diff', '--env', 'DEST', '--env', 'COUNT');
  expect(out).toMatch(/^\+ Application backend\n\+ Proxy payments\n\+ reactor bin\n/);
});

test('what somebody has changed since the plan was made is left as it is, and so is the rest', async () => {
  await using closing = new AsyncDisposableStack();
  const service = await startService(closing, ({ method, url }) => {
    if (url === '/applications/key') return { status: 200, body: { id: 'caller', tenant_id: 'tenant' } };
    if (method === 'PUT') return { status: 412, body: { title: 'Precondition failed', detail: 'changed' } };
    const modified_at = '2026-01-02T00:00:00.000Z';
    const data = ['a', 'b'].map((name) => ({ ...proxy, id: name, name, modified_at }));
    const pagination = { total_items: data.length, page_number: 1, page_size: 100, total_pages: 1 };
    return { status: 200, body: { pagination, data } };
  });
  const home = await mkdtemp(join(tmpdir(), 'sluice-home-'));
  closing.defer(() => rm(home, { recursive: true, force: true }));
  const path = join(home, 'platform.yaml');
  await writeFile(
    path,
    'proxies: [{ name: a, destination_url: "https://y.example" }, { name: b, destination_url: "https://y.example" }]',
  );
  const env = { SLUICE_URL: service.url, SLUICE_API_KEY: keys.management };
  const { code, error } = await type(['apply', '-f', path, '--yes'], { env });
  const sent = service.seen.filter(({ method }) => method === 'PUT');
  expect(sent.map(({ url, headers }) => [url, headers['if-match']])).toEqual([
    ['/proxies/a', '"2026-01-02T00:00:00.000Z"'],
  ]);
  expect([code, error]).toEqual([1, expect.stringContaining('Somebody else has changed Proxy a')]);
});
