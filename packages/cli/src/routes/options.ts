import { type Input, type Option, textOf, textsOf } from '../command.ts';
import { UsageError } from '../failure.ts';
import { readRouteNames } from './find-routes.ts';
import type { Grants } from './session-rules.ts';

/** Options of commands that make a session for routes. */
export const routeOptions = {
  routes: {
    type: 'string',
    value: 'a,b',
    description: 'the routes that may be called: the path_name of each Proxy, separated by commas',
  },
  for: {
    type: 'string',
    value: 'TIME',
    description: 'life of the session, such as 30m or 8h (default: 1h, at most 24h)',
  },
  container: {
    type: 'string',
    multiple: true,
    value: 'PATH',
    description: 'calls may use the tokens in this container and below it',
  },
  token: { type: 'string', multiple: true, value: 'ID', description: 'calls may use this token' },
  'all-tokens': {
    type: 'boolean',
    description: 'calls may use every token that the Application of the private key may use',
  },
} as const satisfies Record<string, Option>;

export interface RouteWish extends Grants {
  routes: string[];
  seconds: number;
}

/** @throws {UsageError} */
export function readRouteOptions(input: Input): RouteWish {
  const [containers, tokens] = [textsOf(input, 'container'), textsOf(input, 'token')];
  const allTokens = input.values['all-tokens'] === true;
  if (allTokens && containers.length + tokens.length > 0)
    throw new UsageError(
      '--all-tokens allows every token; leave out --container and --token, or leave out --all-tokens',
    );
  return {
    routes: readRouteNames(textOf(input, 'routes')),
    seconds: readSeconds(textOf(input, 'for') ?? '1h'),
    ...{ containers, tokens, allTokens },
  };
}

const unitSeconds = { h: 3600, m: 60, s: 1 };

function readSeconds(text: string): number {
  const parts = /^(?=\d)(?:(\d{1,6})h)?(?:(\d{1,6})m)?(?:(\d{1,6})s)?$/.exec(text);
  if (!parts) throw new UsageError('--for must be a time such as 90s, 30m, 8h or 1h30m');
  const [, h, m, s] = parts.map((part) => Number(part ?? 0));
  const seconds = Object.entries({ h, m, s }).reduce(
    (sum, [unit, count = 0]) => sum + count * unitSeconds[unit as keyof typeof unitSeconds],
    0,
  );
  if (seconds < 1 || seconds > 24 * unitSeconds.h) throw new UsageError('--for must be from 1s to 24h');
  return seconds;
}
