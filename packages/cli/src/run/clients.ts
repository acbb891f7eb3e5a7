import type { RouteProxy } from '../routes/find-routes.ts';

type KeyPlace = NonNullable<RouteProxy['accept_key_as']>[number];

/** What clients of a destination want besides `<NAME>_BASE_URL` and `<NAME>_API_KEY`. */
interface Client {
  /** Where they send their key. The route must accept it in one of these places. */
  places: readonly KeyPlace[];
  /** The path with which a base URL ends that they expect. */
  path?: string;
  /** The variables that they read, by the first of `places` that the route accepts. */
  variables?: Partial<Record<KeyPlace, { url: string; key: string }>>;
  /** Variables by which they find a credential or a base URL: all that is set here, and more. */
  watched: readonly string[];
  /** Prompts may contain `{{`, so such a route should replace no tokens. */
  isModel?: true;
  isGit?: true;
  /** Clients that cannot be bound by their environment, as a sentence. */
  unbound?: string;
}

/** By destination host. The recipes in infra/guides/call-with-stock-clients.md agree with it. */
const clients: Readonly<Record<string, Client>> = {
  'api.openai.com': {
    places: ['bearer'],
    path: '/v1',
    variables: { bearer: { url: 'OPENAI_BASE_URL', key: 'OPENAI_API_KEY' } },
    watched: ['OPENAI_BASE_URL', 'OPENAI_API_KEY'],
    isModel: true,
  },
  'api.anthropic.com': {
    places: ['x-api-key', 'bearer'],
    variables: {
      'x-api-key': { url: 'ANTHROPIC_BASE_URL', key: 'ANTHROPIC_API_KEY' },
      bearer: { url: 'ANTHROPIC_BASE_URL', key: 'ANTHROPIC_AUTH_TOKEN' },
    },
    watched: ['ANTHROPIC_BASE_URL', 'ANTHROPIC_API_KEY', 'ANTHROPIC_AUTH_TOKEN'],
    isModel: true,
  },
  'github.com': {
    places: ['basic'],
    watched: [],
    isGit: true,
  },
  'api.github.com': {
    places: ['bearer'],
    watched: ['GITHUB_TOKEN', 'GH_TOKEN'],
    unbound: 'gh takes no base URL, so it does not use the route',
  },
  'api.stripe.com': {
    places: ['bearer'],
    watched: ['STRIPE_API_KEY', 'STRIPE_SECRET_KEY'],
    unbound:
      'the Stripe libraries and the stripe command take no base URL from the environment: set the base URL in code',
  },
};

export const clientHosts: readonly string[] = Object.keys(clients);

export const watchedVariables: readonly string[] = [
  ...new Set(Object.values(clients).flatMap(({ watched }) => watched)),
];

export function clientFor({ destination_url }: Pick<RouteProxy, 'destination_url'>): Client | undefined {
  const { hostname } = new URL(destination_url);
  return Object.hasOwn(clients, hostname) ? clients[hostname] : undefined;
}

/** The path of the destination, without a final slash. */
export function pathOf({ destination_url }: Pick<RouteProxy, 'destination_url'>): string {
  return new URL(destination_url).pathname.replace(/\/+$/, '');
}
