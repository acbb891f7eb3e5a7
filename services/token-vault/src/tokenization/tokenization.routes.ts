import { JsonText, Unkept } from '@sluice/http-api';
import { answerWithoutCvcs, createTokens, detokenizeJson, type Json, readTokenization } from '@sluice/vault';
import { actorOf, operation, replayTokens } from '../context.ts';
import { bodyLimitBytes, token } from '../tokens/token.schema.ts';

const toTokenize = {
  description: 'Any JSON',
  examples: [
    {
      name: 'Ada Lovelace',
      card: { type: 'card', data: { number: '4242424242424242', expiration_month: 12, expiration_year: 2030 } },
    },
  ],
} as const;

const tokenized = {
  description: 'The same document, with tokens in place of values',
  examples: [{ name: '6f1c7c1e-5f0d-4c58-a9a4-2d0f5f1a7b30', card: token.examples[0] }],
} as const;

const toDetokenize = {
  description: 'Any JSON with expressions',
  examples: [
    { account: '{{ 2e7f4a51-9b8e-4f6c-8d3a-1c5b0e9f7a24 }}', note: 'for {{ 6f1c7c1e-5f0d-4c58-a9a4-2d0f5f1a7b30 }}' },
  ],
} as const;

const detokenized = {
  description: 'The same document, with data in place of expressions',
  examples: [
    { account: { number: 'XXXXXXXXXXXX4242', expiration_month: 12, expiration_year: 2030 }, note: 'for Ada Lovelace' },
  ],
} as const;

export const tokenizeOperation = operation({
  id: 'tokenize',
  tag: 'Tokenization',
  summary: 'Replace values of a JSON document with tokens',
  description: `An object with \`type\` and \`data\` becomes a token, as in createToken. A string, number or boolean becomes a token of type \`token\`, and the token id takes its place. Inside other objects and arrays each field and element is replaced in the same way. If one token cannot be created, none is.

For keys of \`public\` Applications the limits of createToken apply, and each call counts as at least one token. If the document has no values, no token is created, and the response is not stored under the idempotency key.`,
  method: 'post',
  path: '/tokenize',
  permission: 'token:create',
  body: toTokenize,
  bodyLimitBytes,
  cors: true,
  response: { 200: tokenized },
  errors: ['conflict'],
  keep: (body) => answerWithoutCvcs(body as Json),
  replay: replayTokens,
  async handle({ body, bodyBytes, address, settle, ...asking }, { vault, publicTokens }) {
    const { tokens, draft, fill } = await readTokenization(vault, actorOf(asking), body as Json);
    await publicTokens.count({ caller: asking.caller, address, tokens, bodyBytes });
    if (tokens === 0) return new Unkept(200, fill([]));
    return createTokens(await draft(), { answerTo: fill, settle });
  },
});

export const detokenizeOperation = operation({
  id: 'detokenize',
  tag: 'Tokenization',
  idempotent: false,
  summary: 'Replace the expressions in a JSON document with data of tokens',
  description:
    'An expression is a token id in double curly braces, `{{ <token id> }}`, optionally with filters. The access rule that applies decides whether a value is redacted, masked or revealed. Everything else stays as it was sent, including all digits of numbers. A document may name at most 100 tokens.',
  method: 'post',
  path: '/detokenize',
  permission: 'token:read',
  body: toDetokenize,
  bodyLimitBytes,
  showsSecrets: true,
  response: { 200: detokenized },
  takesText: true,
  async handle({ body, bodyText: text = '', ...asking }, { vault }) {
    return new JsonText(await detokenizeJson(vault, actorOf(asking), { text, value: body as Json }));
  },
});

export const tokenizationOperations = [tokenizeOperation, detokenizeOperation];
