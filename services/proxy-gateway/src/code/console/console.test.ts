import { call, slow, useStack } from '@sluice/testing';
import { startTestGateway } from '../../testing/test-gateway.ts';
import type { ProxyParts } from '../../testing/test-tenant.ts';

const gateway = useStack((stack) => startTestGateway(stack, { TRANSFORM_CONSOLE: 'redacted' }));
const silent = useStack((stack) => startTestGateway(stack));

const card = '4242424242424242';

async function invoke(on: typeof gateway, parts: Omit<ProxyParts, 'destination'>, body: unknown, key?: string) {
  const { tenant, destination, url } = on.current;
  const proxy = await tenant.proxy({ destination: destination.url, requireAuth: false, ...parts });
  const headers = { 'SVC-PROXY-KEY': proxy.key, 'SVC-TRACE-ID': `trace-${proxy.id}` };
  const answer = await call(url, 'POST', '/proxy', { body, headers, ...(key && { key }) });
  const lines = on.current.logLines.map((line) => JSON.parse(line));
  return { answer, proxy, lines, printed: lines.filter((line) => line.proxy_id === proxy.id && line.console) };
}

test('what a transform prints reaches the log as one entry, with the ids of Proxy and trace', async () => {
  const requestTransform = `module.exports = async ({ args }) => {
    console.log('order', args.body.order); console.debug(''); console.warn('odd %s', 'amount'); return {} }`;
  const { proxy, printed } = await invoke(gateway, { requestTransform }, { order: 7 });
  expect(printed).toMatchObject([
    {
      level: 'warn',
      msg: 'transform console',
      proxy_id: proxy.id,
      tenant_id: gateway.current.tenant.id,
      trace_id: `trace-${proxy.id}`,
      transform: 'request',
      console: [
        { level: 'info', text: 'order 7' },
        { level: 'warn', text: 'odd amount' },
      ],
    },
  ]);
});

test('no secret of the invocation gets into the log, however it is printed, nor by an error', async () => {
  const { tenant } = gateway.current;
  const token = await tenant.token({ type: 'card', data: { number: card, cvc: '737' } });
  const other = await tenant.token({ data: 'other-secret-value' });
  const { id: applicationId, key } = await tenant.application({ permissions: ['token:use', 'token:create'] });
  const code = (body: string) => `module.exports = async (req) => {
    const { args, configuration, svc } = req;
    const own = await svc.detokenize('{{ ${other} }}');
    await svc.tokenize({ kept: 'to-be-tokenized-991' });
    console.log('beginning'); console.log(req); console.error(JSON.stringify(args.body), configuration.SECRET, own);
    console.info('to-be-tokenized-991', Buffer.from(own), btoa(configuration.SECRET));
    console.log('${card.replace(/.{4}/g, '$& ')}');
    console.log(args.headers['x-key']); console.log('end');
    ${body} }`;
  const parts = { applicationId, configuration: { SECRET: 'configured-secret-55' } };
  const sent = { card: `{{ ${token} }}` };
  const answered = await invoke(gateway, { ...parts, requestTransform: code('return {}') }, sent, key);
  expect(answered.answer.status).toBe(200);
  const failing = code('throw new TypeError(args.body.card.number + own + configuration.SECRET)');
  const failed = await invoke(gateway, { ...parts, requestTransform: failing }, sent, key);
  expect(failed.answer.status).toBe(500);
  const afterwards = await invoke(
    gateway,
    { ...parts, requestTransform: 'module.exports = async () => ({})', responseTransform: code('return {}') },
    sent,
    key,
  );
  expect(afterwards.printed).toMatchObject([{ transform: 'response' }]);

  for (const { printed } of [answered, failed, afterwards]) {
    const lines = printed[0].console.map(({ text }: { text: string }) => text);
    expect([lines[0], lines.at(-1)]).toEqual(['beginning', 'end']);
  }
  const log = gateway.current.logLines.join('\n');
  for (const secret of [card, 'other-secret-value', 'configured-secret-55', 'to-be-tokenized-991', key]) {
    expect(log).not.toContain(secret);
    expect(log).not.toContain(Buffer.from(secret).toString('base64').slice(0, -3));
    expect(log).not.toContain(Buffer.from(secret).toString('hex'));
  }
  expect(log).toContain('The transform threw in line');
});

test.each([
  ['refused', [], 'await svc.tokens.create({ data }).catch(() => {})'],
  ['refused as a batch', [], 'await svc.tokenize({ data }).catch(() => {})'],
  ['not awaited', ['token:create'], 'svc.tokens.create({ data })'],
])('what a transform gives to store is no less secret where that is %s', async (_, permissions, store) => {
  const { id: applicationId } = await gateway.current.tenant.application({ permissions });
  const data = 'never-stored-value-17';
  const requestTransform = `module.exports = async ({ svc }) => {
    const data = '${data}'; ${store}; console.log('could not store', data); throw new Error('could not store ' + data) }`;
  const { answer, printed } = await invoke(gateway, { applicationId, requestTransform }, {});
  expect(answer.status).toBe(500);
  expect(JSON.stringify([answer.body, printed])).toMatch(/could not store \[redacted\].*could not store \[redacted\]/);
  expect(gateway.current.logLines.join()).not.toContain(data);
});

test('what a transform throws shows its caller no secret of the invocation, and says the rest', async () => {
  const { tenant } = gateway.current;
  const token = await tenant.token({ type: 'card', data: { number: card, cvc: '737' } });
  const { key } = await tenant.application({ permissions: ['token:use'] });
  const configuration = { SECRET: 'configured-secret-55' };
  const thrown = [
    "throw new TypeError('card ' + args.body.card.number + ' of ' + configuration.SECRET + ' refused')",
    "throw new BadRequestError('no ' + configuration.SECRET, { errors: { [configuration.SECRET]: ['is wrong', args.body.card.number], amount: ['is too high'] } })",
    "throw new Error(Buffer.from(configuration.SECRET).toString('base64'))",
    'throw configuration.SECRET',
    "throw Object.assign(new Error('x'), { name: configuration.SECRET })",
    'throw new Error("Unexpected token " + [...args.body.card.number].join(" "))',
  ];
  const answers = [];
  for (const statement of thrown) {
    const requestTransform = `const { BadRequestError } = require('svc-errors'); module.exports = async ({ args, configuration }) => { ${statement} }`;
    const { answer } = await invoke(gateway, { requestTransform, configuration }, { card: `{{ ${token} }}` }, key);
    answers.push(answer);
  }
  for (const { body } of answers) {
    const text = JSON.stringify({ ...body.proxy_error, instance: '' }); // a trace id may contain any digits
    expect(text).not.toMatch(/4242|configured-secret|Y29uZmlndXJlZ/);
    expect(text).toMatch(/redacted|withheld/);
  }
  expect(JSON.stringify(answers[0]?.body)).toContain('TypeError: card [redacted] of [redacted] refused (line 1)');
  expect(answers[1]).toMatchObject({ status: 400 });
  expect(JSON.stringify(answers[1]?.body)).toContain('is too high');
  const plain = "module.exports = async () => { throw new Error('order 4711 is unknown') }";
  const { answer } = await invoke(gateway, { requestTransform: plain, configuration }, { card: 1 });
  expect(JSON.stringify(answer.body)).toContain('Error: order 4711 is unknown (line 1)');
});

test('a cvc is redacted where it stands as a value, in a card that is revealed and in one that is stored', async () => {
  const { tenant } = gateway.current;
  const token = await tenant.token({ type: 'card', data: { number: card, cvc: '737', expiration_year: 2040 } });
  const { id: applicationId, key } = await tenant.application({ permissions: ['token:use', 'token:create'] });
  const printing = `module.exports = async ({ args, svc }) => { console.log(args.body.card); console.log(JSON.stringify(args.body.card));
    await svc.tokenize({ type: 'card', data: args.body.card }); return {} }`;
  const revealed = await invoke(
    gateway,
    { requestTransform: printing, applicationId },
    { card: `{{ ${token} }}` },
    key,
  );
  const raw = { number: card, cvc: '737', expiration_month: 12, expiration_year: 2040 };
  const stored = await invoke(gateway, { requestTransform: printing, applicationId }, { card: raw });
  for (const { answer, printed } of [revealed, stored]) {
    expect(answer.status).toBe(200);
    const text = JSON.stringify(printed[0].console);
    expect(text).toMatch(/cvc: '\[redacted\]'/);
    expect(text).not.toMatch(/737|2040/);
  }
});

slow('0.7 s')('at most 16 KiB are kept', async () => {
  const requestTransform =
    'module.exports = async () => { for (let i = 0; i < 1e4; i += 1) console.log("x".repeat(9)); return {} }';
  const { printed } = await invoke(gateway, { requestTransform }, {});
  const bytes = printed[0].console.reduce((sum: number, { text }: { text: string }) => sum + text.length + 1, 0);
  expect(bytes).toBeLessThanOrEqual(16 * 1024 + 1);
  expect(bytes).toBeGreaterThan(16 * 1024 - 20);
});

test('unless it is switched on, nothing of it is logged', async () => {
  const { printed } = await invoke(
    silent,
    { requestTransform: 'module.exports = async () => { console.log(1); return {} }' },
    {},
  );
  expect(printed).toEqual([]);
});
