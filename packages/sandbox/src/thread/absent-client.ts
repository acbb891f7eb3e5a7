import type { CodeKind } from '../transform-task.ts';
import type { Outcome } from './outcome.ts';

interface RunFacts {
  kind: CodeKind;
  code: string;
  hasClient: boolean;
  /** In lower case. */
  headerPrefix: string;
}

const readOfNothing = /^cannot read property '(\w+)' of (?:undefined|null)$/;
const destructuredNothing = 'cannot convert to object';
const members = ['tokens', 'tokenize', 'detokenize'];

/** Explains a failure caused by a client that the run does not have, because QuickJS names only the member. */
export function withAbsentClientNamed(outcome: Outcome, { kind, code, hasClient, headerPrefix }: RunFacts): Outcome {
  if (hasClient || outcome.kind !== 'thrown' || outcome.failure.kind !== 'error') return outcome;
  const { name, message = '' } = outcome.failure;
  if (name !== 'TypeError' || !isOfClient(message, code, headerPrefix.replaceAll('-', '\\-'))) return outcome;
  const why = `req.${headerPrefix} is undefined, because the ${kind === 'reactor' ? 'reactor' : 'Proxy'} has no Application`;
  return { kind: 'thrown', failure: { ...outcome.failure, message: `${message}; ${why}` } };
}

function isOfClient(message: string, code: string, client: string): boolean {
  if (message === destructuredNothing) return new RegExp(`\\}\\s*=\\s*(?:[\\w$]+\\.)*${client}\\b`).test(code);
  const member = readOfNothing.exec(message)?.[1];
  if (member === undefined) return false;
  return members.includes(member) || new RegExp(`\\b${client}\\s*\\.\\s*${member}\\b`).test(code);
}
