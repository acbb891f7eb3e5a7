import { isFailure } from '../recording-client.ts';
import { createProxy, type Stage } from '../stage.ts';
import type { CreatedTokens } from './tokens.ts';

interface Program {
  code: string;
  /** Where it stands; a request transform otherwise. */
  response?: boolean;
  is?: number | typeof isFailure;
  path?: string;
}

const exported = (code: string) => `module.exports = async ({ args, configuration, svc }) => { ${code} };`;
const secretText = 'JSON.stringify(args.body) + configuration.token';
const printing = `console.log(args.body, configuration); console.error(configuration.token, args.headers);
  console.warn(${secretText}); console.log(btoa(unescape(encodeURIComponent(configuration.token))), Buffer.from(${secretText}).toString('hex'));
  for (const part of configuration.token.match(/.{1,6}/g)) console.log(part);
  console.log([...configuration.token].reverse().join('')); console.log(new Error(configuration.token));`;

/** What code can do with what it knows: use it, print it, throw it, return it where it must not be. */
const programs: Record<string, Program> = {
  uses: {
    code: exported(
      `${printing} return { headers: { 'content-type': 'application/json', authorization: encodeURIComponent(configuration.token) } };`,
    ),
    is: 200,
  },
  answers: {
    code: exported(`${printing} return { body: { id: await svc.tokenize(args.body) } };`),
    response: true,
    is: 200,
  },
  creates: {
    code: exported(
      `const token = await svc.tokens.create({ type: 'card', data: { number: args.body.card, cvc: args.body.cvc } }); console.log(token); return { body: { id: token.id } };`,
    ),
    is: 200,
  },
  throws: { code: exported(`${printing} throw new Error(${secretText});`), is: isFailure },
  throwsText: { code: exported(`throw ${secretText};`), is: isFailure },
  throwsCause: {
    code: exported(`throw new Error('a', { cause: new Error(${secretText}) });`),
    response: true,
    is: isFailure,
  },
  throwsName: {
    code: exported(`const error = new Error('a'); error.name = ${secretText}; error.stack = error.name; throw error;`),
    is: isFailure,
  },
  parses: { code: exported(`JSON.parse(${secretText} + '}');`), is: isFailure },
  refuses: {
    code: exported(
      `const { BadRequestError } = require('svc-errors'); throw new BadRequestError({ [configuration.token]: [${secretText}] });`,
    ),
    is: isFailure,
  },
  responds: {
    code: exported(
      `const { CustomHttpResponseError } = require('svc-errors'); throw new CustomHttpResponseError({ status: 418, headers: { 'x-a': 'b' }, body: { a: ${secretText} } });`,
    ),
    is: 418,
  },
  badHeader: {
    code: exported(`return { headers: { authorization: 'a\\n' + configuration.token } };`),
    is: isFailure,
  },
  badHeaderName: { code: exported(`return { headers: { [configuration.token]: 'a' } };`), is: isFailure },
  badCall: {
    code: exported(`await svc.tokens.create({ type: 'card_number', data: args.body.text });`),
    is: isFailure,
  },
  badReference: {
    code: exported(`await svc.detokenize('{{ ' + args.body.card + ' | ' + args.body.card + ' }}');`),
    is: isFailure,
  },
  loops: { code: exported(`console.log(configuration.token); for (;;) ${secretText};`), is: isFailure },
  badJson: { code: exported(`return { body: args.body };`), response: true, path: 'bad-json' },
};

/** The caller of a Proxy gets what its code gives it; nobody else does. */
const callers = ['card', 'cardPatched', 'cvc', 'text', 'configuration', 'cardUntokenized'];

export async function transform(stage: Stage, tokens: CreatedTokens): Promise<void> {
  const { client, canaries, destination, revealing, managementKey } = stage;
  const configuration = { token: canaries.text('configuration') };
  const body = {
    card: `{{ ${tokens.card} | json: '$.number' }}`,
    cvc: `{{ ${tokens.card} | json: '$.cvc' }}`,
    text: `{{ ${tokens.text} }}`,
    number: canaries.cardUntokenized,
  };
  for (const [name, { code, response, path = 'echo', is = () => true }] of Object.entries(programs)) {
    const proxy = await createProxy(stage, name, {
      destination_url: `${destination.url}/${path}`,
      application: { id: revealing.id },
      configuration,
      [response ? 'response_transform' : 'request_transform']: { code },
    });
    const headers = { 'SVC-PROXY-KEY': proxy.key };
    await client.send('POST', '/proxy', { key: revealing.key, headers, body, shows: callers, is });
    const args = { body: { card: canaries.card, text: canaries.text('tried') }, headers: {} };
    const trial = { code, args, configuration, kind: response ? 'response' : 'request' };
    const shows = [...callers, 'tried'];
    await client.send('POST', '/proxies/test-transform', { key: managementKey, body: trial, shows, is: 200 });
  }
}
