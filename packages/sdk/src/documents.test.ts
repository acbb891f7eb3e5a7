import { access, readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { slow } from '@sluice/testing';
import ts from 'typescript';
import { Sluice } from './index.ts';

const repository = new URL('../../../', import.meta.url);
const documents = ['llms.txt', 'README.md', 'packages/sdk/README.md'];
const sluice = new Sluice({ baseUrl: 'https://sluice.example.com', apiKey: 'k' });

const textOf = (document: string) => readFile(new URL(document, repository), 'utf8');

test.each(documents)('every method that %s names is there', async (document) => {
  const named = [...(await textOf(document)).matchAll(/\bsluice\.([a-z][\w.]*)\(/gi)].map(([, name = '']) => name);
  expect(named.length).toBeGreaterThan(0);
  for (const name of named) {
    const found = name.split('.').reduce<unknown>((at, word) => Object(at)[word], sluice);
    expect([name, typeof found]).toEqual([name, 'function']);
  }
});

test.each(['llms.txt', 'packages/sdk/README.md'])('every link of %s leads somewhere', async (document) => {
  const links = [...(await textOf(document)).matchAll(/\]\((?!https?:)([^)#]+)\)/g)].map(([, link = '']) => link);
  expect(links.length).toBeGreaterThan(0);
  for (const link of links) await access(new URL(link, new URL(document, repository)));
});

/** Compiles the programs together in a folder of this package. */
function faultsOf(programs: ReadonlyMap<string, string>): string[] {
  const folder = fileURLToPath(new URL('../examples/', import.meta.url));
  const options: ts.CompilerOptions = {
    ...{ noEmit: true, strict: true, allowJs: true, checkJs: true, allowImportingTsExtensions: true },
    ...{ module: ts.ModuleKind.NodeNext, target: ts.ScriptTarget.ES2024, types: ['node'], skipLibCheck: true },
  };
  const host = ts.createCompilerHost(options);
  const { fileExists, readFile: read, getSourceFile } = host;
  const textOfProgram = (path: string) => programs.get(path.slice(folder.length));
  host.fileExists = (path) => textOfProgram(path) !== undefined || fileExists(path);
  host.readFile = (path) => textOfProgram(path) ?? read(path);
  host.getSourceFile = (path, target, ...rest) => {
    const text = textOfProgram(path);
    return text === undefined ? getSourceFile(path, target, ...rest) : ts.createSourceFile(path, text, target);
  };
  const names = [...programs.keys()].map((name) => folder + name);
  return ts
    .getPreEmitDiagnostics(ts.createProgram(names, options, host))
    .map(
      ({ file, messageText }) =>
        `${file?.fileName.slice(folder.length)}: ${ts.flattenDiagnosticMessageText(messageText, ' ')}`,
    );
}

slow('2.4 s')('programs in the documents compile, and one that is wrong is noticed', async () => {
  const programs = new Map<string, string>();
  for (const document of documents) {
    const blocks = [...(await textOf(document)).matchAll(/^```(?:ts|js)\n(.*?)^```/gms)];
    for (const [index, [, text = '']] of blocks.entries()) {
      // JavaScript examples need no proof that a variable is set.
      const settled = text.replace(/process\.env\.(\w+)(?=[,) ])/g, 'String(process.env.$1)');
      programs.set(`${document.replaceAll('/', '-')}-${index}.mts`, settled);
    }
  }
  expect(programs.size).toBeGreaterThanOrEqual(documents.length);
  programs.set(
    'wrong.mts',
    `import { Sluice } from '@sluice/sdk';new Sluice({ baseUrl: '', apiKey: '' }).tokens.get(7);`,
  );
  expect(faultsOf(programs)).toEqual([expect.stringMatching(/^wrong\.mts: Argument of type 'number'/)]);
});
