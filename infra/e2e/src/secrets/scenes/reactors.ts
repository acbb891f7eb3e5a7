import { isFailure, isRefusal } from '../recording-client.ts';
import type { Stage } from '../stage.ts';
import type { CreatedTokens } from './tokens.ts';

const secretText = 'JSON.stringify(args) + configuration.token';
const printing = `console.log(args, configuration); console.error(configuration.token); console.warn(${secretText});
  console.log(btoa(unescape(encodeURIComponent(configuration.token))), Buffer.from(${secretText}).toString('hex'));`;

/** What code can do with what it knows: send it, store it, print it, throw it, return it where it must not be. */
const programs: Record<string, { code: string; is?: number }> = {
  sends: {
    code: `${printing} const response = await fetch(configuration.url, { method: 'POST', body: ${secretText},
      headers: { authorization: encodeURIComponent(configuration.token) } }); return { raw: await response.text() };`,
    is: 200,
  },
  stores: { code: `${printing} return { raw: { kept: true }, tokenize: args };`, is: 200 },
  creates: {
    code: `const { id } = await svc.tokens.create({ type: 'token', data: args.text }); return { raw: id };`,
    is: 200,
  },
  throws: { code: `${printing} throw new Error(${secretText});` },
  throwsText: { code: `throw ${secretText};` },
  refuses: {
    code: `const { BadRequestError } = require('svc-errors'); throw new BadRequestError({ a: [${secretText}] });`,
  },
  sendsNowhere: { code: `await fetch('http://' + encodeURIComponent(${secretText}));` },
  sendsBadHeader: { code: `await fetch(configuration.url, { headers: { a: 'a\\n' + configuration.token } });` },
  returnsText: { code: `return ${secretText};` },
  loops: { code: `console.log(configuration.token); for (;;) ${secretText};` },
};

/** Who calls a reactor gets what its code gives it; nobody else does. */
const callers = ['card', 'cardPatched', 'cvc', 'text', 'configuration of a reactor', 'cardUntokenized'];

export async function react(stage: Stage, tokens: CreatedTokens): Promise<void> {
  const { client, canaries, destination, revealing, managementKey: key } = stage;
  const configuration = { token: canaries.text('configuration of a reactor'), url: `${destination.url}/echo` };
  const shows = ['configuration of a reactor'];
  const args = {
    card: `{{ ${tokens.card} | json: '$.number' }}`,
    cvc: `{{ ${tokens.card} | json: '$.cvc' }}`,
    text: `{{ ${tokens.text} }}`,
    number: canaries.cardUntokenized,
  };
  for (const [name, { code: statements, is = isFailure }] of Object.entries(programs)) {
    const code = `module.exports = async ({ args, configuration, svc }) => { ${statements} };`;
    const body = { name, code, configuration, application: { id: revealing.id } };
    const made = { key, body, headers: { 'SVC-IDEMPOTENCY-KEY': `reactor-${name}` }, shows, is: 201 };
    const { id } = (await client.send('POST', '/reactors', made)).json;
    await client.send('POST', '/reactors', made);
    await client.send('GET', `/reactors/${id}`, { key, shows, is: 200 });
    const asked = { key: revealing.key, body: { args } };
    await client.send('POST', `/reactors/${id}/react`, { ...asked, shows: callers, is });
    const trial = { code, args: { ...args, text: canaries.text('tried in a reactor') }, configuration };
    await client.send('POST', '/reactors/test', {
      key,
      body: trial,
      shows: [...callers, 'tried in a reactor'],
      is: 200,
    });
  }
  await refuse(stage);
}

async function refuse({ client, canaries, managementKey: key }: Stage): Promise<void> {
  const secret = canaries.text('refused by reactors');
  const code = 'module.exports = async () => ({})';
  const declared = [{ name: 'a', type: 'number' }];
  const formula = await client.send('POST', '/reactor-formulas', {
    key,
    body: { name: 'F', code, configuration: declared, request_parameters: declared },
    is: 201,
  });
  const { id } = (await client.send('POST', '/reactors', { key, body: { name: 'R', code }, is: 201 })).json;
  const bodies: object[] = [
    { configuration: { a: [secret] } },
    { configuration: { a: secret.repeat(3000) } },
    { formula: { id: formula.json.id }, configuration: { a: secret } },
    { application: { id: secret } },
    { retryable: secret },
    { code: `const key = "${secret}; }` },
  ];
  for (const part of bodies) {
    const body = { name: 'R', ...('formula' in part ? {} : { code }), ...part };
    await client.send('POST', '/reactors', { key, body, is: isRefusal });
    await client.send('PUT', `/reactors/${id}`, { key, body, is: isRefusal });
    await client.send('POST', '/reactor-formulas', { key, body: { ...body, name: { secret } }, is: isRefusal });
  }
}
