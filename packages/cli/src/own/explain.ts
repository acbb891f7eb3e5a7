import type { ExplainAccessData } from '@sluice/sdk';
import { type Command, textOf } from '../command.ts';
import { UsageError } from '../failure.ts';
import { escapeText } from '../output/escape.ts';
import { isForPeople, printAnswer, write } from '../output/print.ts';
import { connect } from '../profile/connect.ts';

type Operation = ExplainAccessData['body']['operation'];

const operations = ['create', 'read', 'update', 'delete', 'search', 'use'] as const;

export const explain: Command = {
  words: ['explain'],
  summary: 'Say what an Application may do with a token, and which of its rules decides (application:read)',
  arguments: ['APPLICATION_ID', 'TOKEN_ID', '[OPERATION]'],
  options: {},
  notes: `OPERATION is one of ${operations.join(', ')} (read). Shows no data of the token.`,
  async run(input, terminal) {
    const [applicationId = '', tokenId = '', word = 'read'] = input.positionals;
    const operation = operations.find((one) => one === word);
    if (!operation) throw new UsageError(`OPERATION must be one of ${operations.join(', ')}`);
    const question = { token_id: tokenId, operation: `token:${operation}` as Operation };
    const sluice = await connect(terminal, { keyTypes: ['management'], profile: textOf(input, 'profile') });
    const answer = await sluice.applications.explain(applicationId, question, { signal: terminal.signal });
    const json = input.values.json === true;
    if (!isForPeople(terminal, json)) await printAnswer(terminal, answer, true);
    else await write(terminal.stdout, `${inWords(answer)}\n`);
    return undefined;
  },
};

function inWords({ allowed, transform, reason }: { allowed: boolean; transform?: string; reason: string }): string {
  return escapeText(`${allowed ? `Allowed, ${transform}.` : 'Not allowed.'} ${reason}`);
}
