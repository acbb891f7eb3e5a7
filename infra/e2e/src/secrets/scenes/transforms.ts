import { isFailure } from '../recording-client.ts';
import { createProxy, type Stage } from '../stage.ts';
import type { CreatedTokens } from './tokens.ts';

interface Program {
  code: string;
  /** Where it stands; a request transform otherwise. */
  response?: boolean;
  /** A failure by default. */
  is?: number | typeof isFailure;
  path?: string;
}

const secretText = 'JSON.stringify(args.body) + configuration.token';
const printing = `console.log(args.body, configuration); console.error(configuration.token, args.headers);
  console.warn(${secretText}); console.log(btoa(unescape(encodeURIComponent(configuration.token))), Buffer.from(${secretText}).toString('hex'));
  console.log(configuration.token.match(/.{1,4}/g).join('-')); console.log(new Error(configuration.token));`;

/** What code can do with what it knows: use it, print it, throw it, return it where it must not be. */
const programs: Record<string, Program> = {
  uses: {
    code: `${printing} return { headers: { 'content-type': 'application/json', authorization: encodeURIComponent(configuration.token) } };`,
    is: 200,
  },
  answers: {
    code: `${printing} return { body: { id: await svc.tokenize(args.body) } };`,
    response: true,
    is: 200,
  },
  creates: {
    code: `const token = await svc.tokens.create({ type: 'card', data: { number: args.body.card, cvc: args.body.cvc } }); console.log(token); return { body: { id: token.id } };`,
    is: 200,
  },
  throws: { code: `${printing} throw new Error(${secretText});` },
  throwsText: { code: `throw ${secretText};` },
  throwsCause: { code: `throw new Error('a', { cause: new Error(${secretText}) });`, response: true },
  throwsName: {
    code: `const error = new Error('a'); error.name = ${secretText}; error.stack = error.name; throw error;`,
  },
  parses: { code: `JSON.parse(${secretText} + '}');` },
  refuses: {
    code: `const { BadRequestError } = require('svc-errors'); throw new BadRequestError({ [configuration.token]: [${secretText}] });`,
  },
  responds: {
    code: `const { CustomHttpResponseError } = require('svc-errors'); throw new CustomHttpResponseError({ status: 418, headers: { 'x-a': 'b' }, body: { a: ${secretText} } });`,
    is: 418,
  },
  badHeader: { code: `return { headers: { authorization: 'a\\n' + configuration.token } };` },
  badHeaderName: { code: `return { headers: { [configuration.token]: 'a' } };` },
  badCall: { code: `await svc.tokens.create({ type: 'card_number', data: args.body.text });` },
  badReference: { code: `await svc.detokenize('{{ ' + args.body.card + ' | ' + args.body.card + ' }}');` },
  loops: { code: `console.log(configuration.token); for (;;) ${secretText};` },
  badJson: { code: `return { body: args.body };`, response: true, path: 'bad-json', is: () => true },
};

/** Values that the code returns to the Proxy's caller. They must appear nowhere else. */
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
  for (const [name, { code: statements, response, path = 'echo', is = isFailure }] of Object.entries(programs)) {
    const code = `module.exports = async ({ args, configuration, svc }) => { ${statements} };`;
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
