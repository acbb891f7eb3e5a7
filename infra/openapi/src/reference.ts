import { type OpenApiDocument, type Tag, toOpenApi } from '@sluice/http-api';
import { operations as managementOperations } from '@sluice/management-api';
import { operations as tokenOperations } from '@sluice/token-vault';
import { invocationComponents, invocationPaths } from './invocation.ts';
import { ledgerKeyPaths } from './ledger-key.ts';
import { addMethodNames } from './method-names.ts';

const description = `
Sluice keeps sensitive values in a vault and hands out tokens for them. A Proxy puts the values back on the way to where
they are needed.

**Authentication.** Each request carries the API key of an Application in the header \`SVC-API-KEY\`. The key identifies
the Tenant too. An operation needs the permission that it names. The checks come in this order: 401, 403, 415, 400, 404,
409 or 422.

**Bodies** are JSON. Null equals absent for every optional member. Members that are unknown or read-only are ignored at
the top level, so that an answer can be changed and sent back; inside rules, conditions and transforms they are 400.

**Failures** are problem details (RFC 9457). \`instance\` is the trace id, which every answer carries in the header
\`SVC-TRACE-ID\`. Any operation can answer 429 and 503, with \`Retry-After\`.

**Lists** have \`page\` (default 1) and \`size\` (default 20, at most 100), and answer newest first.
`.trim();

/** The groups of operations, in the order in which they are read. */
const tags: readonly Tag[] = [
  { name: 'Applications', description: 'Holders of API keys, with what each may do' },
  { name: 'Sessions', description: 'Short-lived credentials, made with a public key and authorized by a private one' },
  { name: 'Permissions', description: 'What an Application can be granted' },
  { name: 'Tenants', description: 'The Tenant that owns the presented key' },
  { name: 'Proxies', description: 'Pre-configured forwarding endpoints' },
  { name: 'Logs', description: 'The audit log: who did what to which thing' },
  { name: 'Invocation', description: 'Requests through a Proxy' },
  { name: 'Tokens', description: 'Values in the vault' },
  { name: 'Tokenization', description: 'Whole documents to tokens and back' },
];

/** Every operation of the platform: what the committed document is made of. */
export const operations = [...managementOperations, ...tokenOperations];

/** The document of everything behind the one base URL. */
export function describePlatform(version: string): OpenApiDocument {
  const document = toOpenApi({
    title: 'Sluice',
    version,
    description,
    headerPrefix: 'SVC',
    tags,
    operations,
    additions: { paths: { ...invocationPaths(), ...ledgerKeyPaths() }, components: invocationComponents },
  });
  addMethodNames(document.paths);
  return document;
}
