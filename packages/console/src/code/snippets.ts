import type { Proxy as ProxyResource } from '@sluice/sdk';
import { baseUrl, headerPrefix } from '../api/client.ts';

/** The same call for two clients, to be run as it is. Its keys are in environment variables, so that no page shows one. */
export interface Lines {
  curl: string;
  typescript: string;
}

const ofPrefix = headerPrefix === 'SVC' ? '' : `, headerPrefix: '${headerPrefix}'`;
const keyHeader = `"${headerPrefix}-API-KEY: $SLUICE_API_KEY"`;
const jsonHeader = "'Content-Type: application/json'";

/** The beginning of each program. `more` are names of other environment variables. */
export function connectingLines(more: readonly string[] = []): string {
  const names = ['SLUICE_API_KEY', ...more].map((name) => `${name} = ''`).join(', ');
  return `import { Sluice } from '@sluice/sdk';

const { ${names} } = process.env;
const sluice = new Sluice({ baseUrl: '${baseUrl}', apiKey: SLUICE_API_KEY${ofPrefix} });`;
}

interface CurlCall {
  /** Behind the base URL. */
  path: string;
  headers: readonly string[];
  body?: string;
  options?: string;
}

function curlLines({ path, headers, body, options = '' }: CurlCall): string {
  const lines = [`curl ${options}'${baseUrl}${path}'`, ...headers.map((header) => `-H ${header}`)];
  return [...lines, ...(body === undefined ? [] : [`-H ${jsonHeader}`, `-d ${body}`])].join(' \\\n  ');
}

const newToken = {
  path: '/tokens',
  headers: [keyHeader],
  body: `'{"type": "card", "data": {"number": "5555555555554444"}}'`,
};
const newTokenLine =
  "const token = await sluice.tokens.create({ type: 'card', data: { number: '5555555555554444' } });";

/** Stores a card. */
export function createTokenLines(): Lines {
  return {
    curl: curlLines(newToken),
    typescript: `${connectingLines()}
${newTokenLine}
console.log(token.id);`,
  };
}

type Called = Pick<ProxyResource, 'key' | 'path_name'>;

interface Invocation {
  /** Without one its key is in SLUICE_PROXY_KEY. */
  proxy?: Called | null | undefined;
  /** Without one it is in SLUICE_TOKEN. */
  tokenId?: string | undefined;
}

/** Sends a token through a Proxy. Also one that anybody may call needs a key to use a token. */
export function invokeLines({ proxy, tokenId }: Invocation): Lines {
  const variables = [...(proxy ? [] : ['SLUICE_PROXY_KEY']), ...(tokenId ? [] : ['SLUICE_TOKEN'])];
  return {
    curl: invokeCurl({ proxy, tokenId }),
    typescript: `${connectingLines(variables)}
${sendLines(proxy, expressionOf(tokenId))}`,
  };
}

/** Three steps to paste at once: stores a test number, sends its token through the Proxy, and deletes the token. */
export function tryLines(proxy: Called): Lines {
  const idOf = String.raw`sed -n 's/.*"id":"\([^"]*\)".*/\1/p'`;
  return {
    curl: `# 1. Store a test number
SLUICE_TOKEN=$(${curlLines({ ...newToken, options: '-sS ' })} |
  ${idOf})

# 2. Send its token through the Proxy
${invokeCurl({ proxy })}

# 3. Delete the token
curl -X DELETE "${baseUrl}/tokens/$SLUICE_TOKEN" \\
  -H ${keyHeader}`,
    typescript: `${connectingLines()}
// 1. Store a test number
${newTokenLine}
try {
  // 2. Send its token through the Proxy
${sendLines(proxy, '`{{ $' + '{token.id} }}`').replaceAll(/^/gm, '  ')}
} finally {
  // 3. Delete the token
  await sluice.tokens.delete(token.id);
}`,
  };
}

function invokeCurl({ proxy, tokenId }: Invocation): string {
  const { key, path_name: route } = proxy ?? {};
  const proxyHeader = key ? `'${headerPrefix}-PROXY-KEY: ${key}'` : `"${headerPrefix}-PROXY-KEY: $SLUICE_PROXY_KEY"`;
  return curlLines({
    path: route ? `/routes/${route}` : '/proxy',
    headers: [...(route ? [] : [proxyHeader]), keyHeader],
    body: `'{"card": "{{ ${tokenId ?? `'"$SLUICE_TOKEN"'`} }}"}'`,
  });
}

/** @param card in TypeScript. */
function sendLines(proxy: Invocation['proxy'], card: string): string {
  const { key, path_name: route } = proxy ?? {};
  const client = route ? `route('${route}')` : `proxy(${key ? `'${key}'` : 'SLUICE_PROXY_KEY'})`;
  return `const response = await sluice.${client}.send('/', {
  method: 'POST',
  headers: { 'Content-Type': 'application/json' },
  body: JSON.stringify({ card: ${card} }),
});
console.log(response.status, await response.text());`;
}

/** Of TypeScript: the text that the value of a token replaces. */
function expressionOf(tokenId: string | undefined): string {
  return tokenId ? `'{{ ${tokenId} }}'` : `\`{{ \${SLUICE_TOKEN} }}\``;
}

/** Runs a Reactor with the value of a token. */
export function reactLines({ reactorId, tokenId }: { reactorId: string; tokenId?: string | undefined }): Lines {
  return {
    curl: curlLines({
      path: `/reactors/${reactorId}/react`,
      headers: [keyHeader],
      body: `'{"args": {"card": "{{ ${tokenId ?? `'"$SLUICE_TOKEN"'`} }}"}}'`,
    }),
    typescript: `${connectingLines(tokenId ? [] : ['SLUICE_TOKEN'])}
const { raw } = await sluice.reactors.react('${reactorId}', {
  args: { card: ${expressionOf(tokenId)} },
});
console.log(raw);`,
  };
}

/** Lists Proxies or Applications, or reads the metrics. */
export function readLines(what: 'proxies' | 'applications' | 'metrics'): Lines {
  const path = what === 'metrics' ? '/tenants/self/metrics' : `/${what}`;
  return {
    curl: curlLines({ path, headers: [keyHeader] }),
    typescript:
      what === 'metrics'
        ? `${connectingLines()}\nconsole.log(await sluice.tenant.metrics());`
        : `${connectingLines()}\nfor await (const { id, name } of sluice.${what}.list()) console.log(id, name);`,
  };
}
