import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import ts from 'typescript';

/** For Node 20.3 and browsers of its age. */
const target = ts.ScriptTarget.ES2022;
const isForTests = /\.test\.ts$|(^|\/)testing\//;

/** Paths below `folder`, without tests. */
async function sourcesOf(folder: string): Promise<string[]> {
  const files = await readdir(folder, { recursive: true });
  return files.filter((file) => file.endsWith('.ts') && !isForTests.test(file)).sort();
}

/** @returns the texts written. */
export async function writeJavaScript(folder: string, into: string, format: 'esm' | 'cjs'): Promise<string[]> {
  const texts: string[] = [];
  for (const file of await sourcesOf(folder)) {
    const text = await compileFile(join(folder, file), format);
    await write(join(into, file.replace(/\.ts$/, '.js')), text);
    texts.push(text);
  }
  return texts;
}

export async function compileFile(path: string, format: 'esm' | 'cjs'): Promise<string> {
  const { outputText } = ts.transpileModule(await readFile(path, 'utf8'), {
    compilerOptions: {
      target,
      module: format === 'esm' ? ts.ModuleKind.ESNext : ts.ModuleKind.CommonJS,
      jsx: ts.JsxEmit.ReactJSX,
      removeComments: true,
      rewriteRelativeImportExtensions: true,
      verbatimModuleSyntax: format === 'esm',
    },
    fileName: path,
  });
  return outputText;
}

/**
 * @param entries in `folder`; what they import comes along. Default: all sources.
 * @throws {Error} where the types are wrong.
 */
export async function writeDeclarations(
  folder: string,
  targets: readonly string[],
  entries?: readonly string[],
): Promise<void> {
  const files = (entries ?? (await sourcesOf(folder))).map((file) => join(folder, file));
  const program = ts.createProgram(files, {
    target,
    jsx: ts.JsxEmit.ReactJSX,
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    lib: ['lib.es2022.d.ts', 'lib.dom.d.ts', 'lib.dom.iterable.d.ts'],
    types: [],
    strict: true,
    declaration: true,
    emitDeclarationOnly: true,
    rewriteRelativeImportExtensions: true,
    stripInternal: true,
  });
  const faults = ts
    .getPreEmitDiagnostics(program)
    .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'));
  if (faults.length > 0) throw new Error(faults.join('\n'));
  const written: [path: string, text: string][] = [];
  program.emit(undefined, (path, text) => written.push([path.slice(folder.length + 1), text]));
  for (const [path, text] of written) {
    // Declarations would keep the extension of the sources, which are not packed.
    const linked = text.replace(/(from '|import\(")(\.{1,2}\/[^'"]+)\.ts(?=['"])/g, '$1$2.js');
    for (const into of targets) await write(join(into, path), linked);
  }
}

async function write(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, text);
}
