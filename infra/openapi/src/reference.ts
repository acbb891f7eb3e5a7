import { type OpenApiDocument, type Tag, toOpenApi } from '@sluice/http-api';
import { operations as managementOperations, operationsOfAnybody, operationsOfSignIns } from '@sluice/management-api';
import { operations as reactorOperations } from '@sluice/proxy-gateway';
import { operations as tokenOperations, operationsByCookie as tokensByCookie } from '@sluice/token-vault';
import { describeFilters } from './filters.ts';
import { invocationComponents, invocationPaths } from './invocation.ts';
import { ledgerKeyPaths } from './ledger-key.ts';
import { addMethodNames } from './method-names.ts';
import { shareFailures } from './shared-failures.ts';
import { transformClient } from './transform-client.ts';

const description = `
Sluice stores sensitive values in a vault and gives you tokens for them. A Proxy replaces the tokens with the values when it
forwards a request to its destination.

**Authentication.** Send the API key of an Application in the header \`SVC-API-KEY\`. The key also identifies the Tenant. Each
operation names the permission that it needs. Errors are checked in this order: 401, 403, 415, 400, 404, then 409 or 422.

**The console's host** also has the management operations, under \`/api\`. They take the cookie of a sign-in instead of a key.
The operations under "Signing in" exist only there. Only pages of that host may call them: the browser must send
\`Sec-Fetch-Site: same-origin\`, and a request that changes something needs the header \`SVC-CONSOLE: 1\`. Otherwise the
response is 403, before any other check.

**Bodies** are JSON. For every optional field, null means the same as leaving it out. Unknown and read-only fields at the
top level are ignored, so you can change a response and send it back. Unknown fields inside rules, conditions and transforms
are refused with 400.

**Errors** are problem details (RFC 9457). \`type\` has the error code, and [the list of errors](/docs/errors) says what each code
means and what to do. \`instance\` is the trace id, which is also in the header \`SVC-TRACE-ID\` of every response. Every
operation can return 429 or 503, with \`Retry-After\`. If a 503 says that the request took too long, use a narrower query or
filter. For tokens, use \`/v2/tokens\` or \`/v2/tokens/search\`, which have no page numbers. For \`/logs\`, use \`start\`.

**Examples.** In the examples for curl, \`$URL\` is the base URL, \`$CONSOLE\` is the console's address, and \`$KEY\` is an API key. In
those for TypeScript, \`sluice\` is a client of the library \`@sluice/sdk\`: \`new Sluice({ baseUrl, apiKey })\`.

**Lists** are newest first, unless \`sort\` of the operation says otherwise. They take \`page\` (default 1) and \`size\` (default 20, at most 100).

${describeFilters()}

${transformClient}
`.trim();

/** The groups of operations, in the order in which they are read. */
const tags: readonly Tag[] = [
  { name: 'Applications', description: 'Holders of API keys, with their permissions and rules' },
  {
    name: 'Sessions',
    description:
      'Short-lived credentials. The key of a public Application creates a session, and the key of a private Application authorizes it',
  },
  { name: 'Search', description: 'Find resources by a text or by their id' },
  { name: 'Permissions', description: 'Permissions that an Application can have' },
  { name: 'Tenants', description: 'The Tenant of the API key' },
  { name: 'Members', description: 'People with a role in the Tenant' },
  { name: 'Invitations', description: 'Links with which people become members' },
  {
    name: 'Signing in',
    description: "How people and keys sign in to the console. These operations exist only at the console's host",
  },
  { name: 'Proxies', description: 'Endpoints that forward requests to a destination' },
  { name: 'Reactors', description: 'Your code, which you call directly and which gets the values of tokens' },
  { name: 'Reactor formulas', description: 'Code that several reactors run' },
  { name: 'Logs', description: 'The audit log: who did what, when, to which resource' },
  { name: 'Invocations', description: 'Requests to a destination through a Proxy' },
  { name: 'Tokens', description: 'Values in the vault' },
  {
    name: 'Tokenization',
    description:
      'Replace values of a JSON document with tokens, or replace expressions in a JSON document with data of tokens',
  },
];

/** Every operation by key: what the committed document is made of, with those at the console's host. */
export const operations = [...managementOperations, ...reactorOperations, ...tokenOperations];

/** At the console's host only. */
export const consoleOperations = {
  operationsByCookie: [...operationsOfSignIns, ...tokensByCookie],
  anonymousOperations: operationsOfAnybody,
};

/** The document of everything behind the one base URL. */
export function describePlatform(version: string): OpenApiDocument {
  const document = toOpenApi({
    title: 'Sluice',
    version,
    description,
    headerPrefix: 'SVC',
    tags,
    operations,
    ...consoleOperations,
    additions: { paths: { ...invocationPaths(), ...ledgerKeyPaths() }, components: invocationComponents },
  });
  addMethodNames(document.paths);
  shareFailures(document);
  return document;
}
