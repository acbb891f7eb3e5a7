import { type OpenApiDocument, type Tag, toOpenApi } from '@sluice/http-api';
import { operations as managementOperations, operationsOfAnybody, operationsOfSignIns } from '@sluice/management-api';
import { operations as reactorOperations } from '@sluice/proxy-gateway';
import { operations as tokenOperations, operationsByCookie as tokensByCookie } from '@sluice/token-vault';
import { describeFilters } from './filters.ts';
import { invocationComponents, invocationPaths } from './invocation.ts';
import { ledgerKeyPaths } from './ledger-key.ts';
import { addMethodNames } from './method-names.ts';
import { transformClient } from './transform-client.ts';

const description = `
Sluice keeps sensitive values in a vault and hands out tokens for them. A Proxy puts the values back on the way to where
they are needed.

**Authentication.** Each request carries the API key of an Application in the header \`SVC-API-KEY\`. The key identifies
the Tenant too. An operation needs the permission that it names. The checks come in this order: 401, 403, 415, 400, 404,
409 or 422.

**The console's host** serves the operations of management under \`/api\` too, by the cookie of a sign-in instead of a key, and those
that are described under "Signing in" only there. They answer to pages of that host and to nobody else: a browser says so in
\`Sec-Fetch-Site\`, and what writes needs the header \`SVC-CONSOLE: 1\`. Either missing is 403, which comes first.

**Bodies** are JSON. Null equals absent for every optional member. Members that are unknown or read-only are ignored at
the top level, so that an answer can be changed and sent back; inside rules, conditions and transforms they are 400.

**Failures** are problem details (RFC 9457). \`instance\` is the trace id, which every answer carries in the header
\`SVC-TRACE-ID\`. Any operation can answer 429 and 503, with \`Retry-After\`. A 503 that says that the request took too long
costs less with a narrower query or filter, with \`/v2/tokens\` or \`/v2/tokens/search\` in place of page numbers, and in
\`/logs\` with \`start\`.

**Lists** have \`page\` (default 1) and \`size\` (default 20, at most 100), and answer newest first.

${describeFilters()}

${transformClient}
`.trim();

/** The groups of operations, in the order in which they are read. */
const tags: readonly Tag[] = [
  { name: 'Applications', description: 'Holders of API keys, with what each may do' },
  { name: 'Sessions', description: 'Short-lived credentials, made with a public key and authorized by a private one' },
  { name: 'Permissions', description: 'What an Application can be granted' },
  { name: 'Tenants', description: 'The Tenant that owns the presented key' },
  { name: 'Members', description: 'People with a role in the Tenant' },
  { name: 'Invitations', description: 'Links by which people become members' },
  { name: 'Signing in', description: "How people and keys sign in to the console, at the console's host only" },
  { name: 'Proxies', description: 'Pre-configured forwarding endpoints' },
  { name: 'Reactors', description: 'Code with values, called by itself' },
  { name: 'Reactor formulas', description: 'Code that several reactors run' },
  { name: 'Logs', description: 'The audit log: who did what to which thing' },
  { name: 'Invocations', description: 'Requests through a Proxy' },
  { name: 'Tokens', description: 'Values in the vault' },
  { name: 'Tokenization', description: 'Whole documents to tokens and back' },
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
  return document;
}
