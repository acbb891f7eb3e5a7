import type { Proxy as ProxyResource } from '@sluice/sdk';
import { baseUrl } from '../../api/client.ts';
import { connectingLines, tryLines } from '../../code/snippets.ts';
import type { KeyPlace } from './proxy-draft.ts';

interface Client {
  name: string;
  /** Where it sends the API key. Absent for clients that send our header. */
  place?: KeyPlace;
  /** Lines to copy. The caller's key is in an environment variable, so that no file and no history of a shell contains it. */
  linesFor: (proxy: Called) => string;
}

type Called = Pick<ProxyResource, 'key' | 'destination_url' | 'path_name'>;

/** Of any Proxy, for a call of a test number. With a route, its name takes the place of the key. */
export const ofAnyProxy = {
  curl: { name: 'curl', linesFor: (proxy) => tryLines(proxy).curl },
  library: {
    name: 'Client library (TypeScript)',
    linesFor: (proxy) => tryLines(proxy).typescript,
  },
} as const satisfies Record<string, Client>;

/** Published clients, which take a base URL and one key. */
const ofRoutes = {
  openai: {
    name: 'OpenAI',
    place: 'bearer',
    linesFor: (proxy) => `import OpenAI from 'openai';

const openai = new OpenAI({
  baseURL: '${withVersion(proxy)}',
  apiKey: process.env.SLUICE_API_KEY,
});`,
  },
  anthropic: {
    name: 'Anthropic',
    place: 'x-api-key',
    linesFor: (proxy) => `import Anthropic from '@anthropic-ai/sdk';

const anthropic = new Anthropic({
  baseURL: '${routeOf(proxy)}',
  apiKey: process.env.SLUICE_API_KEY,
});`,
  },
  stripe: {
    name: 'Stripe',
    linesFor: ({ path_name }) => `import { Sluice } from '@sluice/sdk';
import Stripe from 'stripe';

${connectingLines()}
const stripe = new Stripe('set-by-sluice', {
  httpClient: Stripe.createFetchHttpClient(sluice.route('${path_name}').fetch),
});`,
  },
  octokit: {
    name: 'Octokit (GitHub)',
    place: 'bearer',
    linesFor: (proxy) => `import { Octokit } from 'octokit';

const octokit = new Octokit({
  baseUrl: '${routeOf(proxy)}',
  auth: process.env.SLUICE_API_KEY,
  retry: { enabled: false },
});`,
  },
  git: {
    name: 'git',
    place: 'basic',
    linesFor: (proxy) => `export GIT_CONFIG_COUNT=3
export GIT_CONFIG_KEY_0='url.${routeOf(proxy)}/.insteadOf'
export GIT_CONFIG_VALUE_0='${repositoriesOf(proxy)}/'
export GIT_CONFIG_KEY_1='credential.${baseUrl}.helper'
export GIT_CONFIG_VALUE_1=''
export GIT_CONFIG_KEY_2='credential.${baseUrl}.helper'
export GIT_CONFIG_VALUE_2='!f() { echo username=sluice; echo "password=$SLUICE_API_KEY"; }; f'

git clone ${repositoriesOf(proxy)}/<repository>.git`,
  },
} as const satisfies Record<string, Client>;

export function clientsFor({ path_name }: Called): Readonly<Record<string, Client>> {
  return path_name ? { ...ofAnyProxy, ...ofRoutes } : ofAnyProxy;
}

export function routeOf({ path_name }: Pick<ProxyResource, 'path_name'>): string {
  return `${baseUrl}/routes/${path_name}`;
}

function repositoriesOf({ destination_url }: Called): string {
  const { origin, pathname } = new URL(destination_url);
  return origin + pathname.replace(/\/$/, '');
}

/** Its clients expect `/v1` at the end of the base URL. */
function withVersion(proxy: Called): string {
  const { pathname } = new URL(proxy.destination_url);
  return pathname.replace(/\/$/, '').endsWith('/v1') ? routeOf(proxy) : `${routeOf(proxy)}/v1`;
}
