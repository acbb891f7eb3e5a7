import type { AccessExplanation, ExplainRequest } from '@sluice/sdk';
import { type Command, type Input, textOf } from '../command.ts';
import { UsageError } from '../failure.ts';
import { escapeText } from '../output/escape.ts';
import { isForPeople, printAnswer, write } from '../output/print.ts';
import { connect } from '../profile/connect.ts';

const operations = ['create', 'read', 'update', 'delete', 'search', 'use'] as const;

export const explain: Command = {
  words: ['explain'],
  summary: 'Explain whether an Application may do something with a token or make a call, and why (application:read)',
  arguments: ['APPLICATION_ID', '[TOKEN_ID]', '[OPERATION]'],
  options: {
    route: {
      type: 'string',
      value: 'NAME',
      description: 'ask about a call, not about a token. NAME is the path_name of the Proxy that is called',
    },
    proxy: {
      type: 'string',
      value: 'ID',
      description: 'ask about a call, not about a token. ID is the id of the Proxy that is called',
    },
    method: { type: 'string', short: 'X', value: 'METHOD', description: 'method of the call; default: GET' },
    path: {
      type: 'string',
      value: 'PATH',
      description: 'path of the call, below the address of the route or Proxy; default: /',
    },
    place: {
      type: 'string',
      value: 'PLACE',
      description: 'the part of the call that has the token: body, query, path or header:<name>',
    },
  },
  notes: `OPERATION is one of ${operations.join(', ')}. The default is read. The answer shows no data of the token.
With --route or --proxy you ask about a call. Such a question needs proxy:read in addition to application:read. In such a
question, TOKEN_ID is a token whose value the call reveals:
  sluice explain APPLICATION_ID --route processor -X POST --path /charges
  sluice explain APPLICATION_ID TOKEN_ID --proxy PROXY_ID -X POST --path /charges --place body`,
  async run(input, terminal) {
    const [applicationId = ''] = input.positionals;
    const question = questionOf(input);
    const sluice = await connect(terminal, { keyTypes: ['management'], profile: textOf(input, 'profile') });
    const answer = await sluice.applications.explain(applicationId, question, { signal: terminal.signal });
    const json = input.values.json === true;
    if (!isForPeople(terminal, json)) await printAnswer(terminal, answer, true);
    else await write(terminal.stdout, `${inWords(answer)}\n`);
    return undefined;
  },
};

function questionOf(input: Input): ExplainRequest {
  const [, tokenId, word] = input.positionals;
  const route = textOf(input, 'route');
  const proxy = textOf(input, 'proxy');
  if (route !== undefined && proxy !== undefined) throw new UsageError('Give --route or --proxy, not both');
  if (route !== undefined || proxy !== undefined) {
    if (word !== undefined) throw new UsageError('Give OPERATION or a call (--route, --proxy), not both');
    const place = textOf(input, 'place');
    return {
      ...(route !== undefined && { path_name: route }),
      ...(proxy !== undefined && { proxy_id: proxy }),
      method: textOf(input, 'method') ?? 'GET',
      path: textOf(input, 'path') ?? '/',
      ...(tokenId !== undefined && { token_id: tokenId }),
      ...(place !== undefined && { place }),
    };
  }
  const ofCalls = ['method', 'path', 'place'].find((name) => input.values[name] !== undefined);
  if (ofCalls) throw new UsageError(`--${ofCalls} needs --route or --proxy`);
  if (tokenId === undefined) throw new UsageError('TOKEN_ID is missing. To ask about a call, give --route or --proxy');
  const operation = operations.find((one) => one === (word ?? 'read'));
  if (!operation) throw new UsageError(`OPERATION must be one of ${operations.join(', ')}`);
  return { token_id: tokenId, operation: `token:${operation}` };
}

function inWords({ allowed, transform, reason }: AccessExplanation): string {
  const verdict = !allowed ? 'Not allowed.' : transform ? `Allowed, ${transform}.` : 'Allowed.';
  return escapeText(`${verdict} ${reason}`);
}
