import { fileURLToPath } from 'node:url';
import { Sluice } from '@sluice/sdk';
import { slow } from '@sluice/testing';
import ts from 'typescript';
import { follow, type Operation } from './page/document.ts';
import { exampleOf, invocationBody } from './page/example.ts';
import { literal } from './page/literal.ts';
import { typescriptExamples } from './page/typescript.ts';
import { describePlatform } from './reference.ts';

const document = describePlatform('0.0.0');
const examples = typescriptExamples(document);
const routes = Object.entries(document.paths).flatMap(([path, item]) =>
  Object.entries(item).map(([method, operation]) => ({ method, path, operation: operation as unknown as Operation })),
);
/** What the reader has: ids, and the key of a Proxy. */
const given = ['id', 'keyId', 'requestId', 'tenantId', 'version', 'proxyKey'];

test('each operation that the library has is shown, and no other', () => {
  const named = routes.filter(({ operation }) => operation['x-sluice-method'] !== undefined);
  expect(named.length).toBeLessThan(routes.length);
  expect([...examples.keys()].sort()).toEqual(named.map(({ operation }) => operation.operationId).sort());
});

/** What the compiler says of the examples, each in a function of its own, against the sources of the library. */
function faultsOf(shown: ReadonlyMap<string, string>): string[] {
  const path = fileURLToPath(new URL('examples.mts', import.meta.url));
  const parameters = ['sluice: Sluice', ...given.map((name) => `${name}: string`)].join(', ');
  const functions = [...shown].map(([id, text]) => `export async function ${id}(${parameters}) {{\n${text}\n}}\n`);
  const program = ["import { Sluice } from '@sluice/sdk';", ...functions].join('\n');
  const options: ts.CompilerOptions = {
    ...{ noEmit: true, strict: true, allowImportingTsExtensions: true, skipLibCheck: true, types: ['node'] },
    ...{ module: ts.ModuleKind.NodeNext, target: ts.ScriptTarget.ES2024 },
  };
  const host = ts.createCompilerHost(options);
  const { fileExists, getSourceFile } = host;
  host.fileExists = (name) => name === path || fileExists(name);
  host.getSourceFile = (name, target, ...rest) =>
    name === path ? ts.createSourceFile(name, program, target) : getSourceFile(name, target, ...rest);
  const faults = ts.getPreEmitDiagnostics(ts.createProgram([path], options, host));
  return faults.map(({ file, start = 0, messageText }) => {
    const before = file?.text.slice(0, start) ?? '';
    const id = [...before.matchAll(/^export async function (\w+)/gm)].at(-1)?.[1];
    return `${id}: ${ts.flattenDiagnosticMessageText(messageText, ' ')}`;
  });
}

slow('3 s')('each example compiles, and those that are wrong are noticed', () => {
  const wrong = {
    misspelt: "await sluice.proxies.create({ name: 'a', destination_url: 'https://a.example', hedders: {} });",
    missing: 'await sluice.tokens.fetch(id);',
    unknown: 'await sluice.tokens.get(tokenId);',
  };
  const faults = faultsOf(new Map([...examples, ...Object.entries(wrong)]));
  expect(faults).toEqual([
    expect.stringMatching(/^misspelt: .*hedders/),
    expect.stringMatching(/^missing: .*fetch/),
    expect.stringMatching(/^unknown: .*tokenId/),
  ]);
});

const shown = routes.flatMap((route) => {
  const text = examples.get(route.operation.operationId);
  return text === undefined ? [] : [[route.operation.operationId, text, route] as const];
});

/** Runs an example with a client whose requests are answered 404. @returns the requests. */
async function requestsOf(text: string) {
  const sent: { line: string; body: unknown }[] = [];
  const settings = {
    ...{ baseUrl: 'https://sluice.example.com', apiKey: 'k', retries: 0 },
    fetch: async (input: string | URL | Request, { method = 'GET', body }: RequestInit = {}) => {
      const { pathname } = new URL(String(input));
      sent.push({ line: `${method} ${pathname}`, body: body ? JSON.parse(String(body)) : undefined });
      return new Response('', { status: 404 });
    },
  };
  class Client extends Sluice {
    constructor(options: object) {
      super({ ...settings, ...options });
    }
  }
  const run = new Function('Sluice', 'sluice', ...given, `return (async () => { ${text} })()`);
  await Promise.allSettled([run(Client, new Client({}), ...given.map(() => 'a'))]);
  return sent;
}

test.each(shown)('the example of %s sends what it is an example of', async (_id, text, { method, path, operation }) => {
  const line = `${method.toUpperCase()} ${path.replace('{path}', 'charges').replace(/\{\w+\}/g, 'a')}`;
  const media = Object.values(operation.requestBody ? follow(operation.requestBody, document).content : {})[0];
  const isInvocation = operation['x-sluice-method'] === 'proxy';
  const body = media && (isInvocation ? invocationBody : exampleOf(media.schema, document));
  expect(await requestsOf(text.split('\n\nfor await')[0] ?? '')).toEqual([{ line, body }]);
});

test.each([
  `it's`,
  'say "yes"',
  `both ' and "`,
  'a \\ b\\',
  `two\nlines, \`quoted\` of \${name} and \\n`,
  { 'not-a-name': [1, [], {}, null, true, 'x'.repeat(80)], name: { deep: [{ a: 'b' }] } },
])('a value is written so that it is read as the same: %j', (value) => {
  expect(new Function(`return ${literal(value)}`)()).toEqual(value);
});
