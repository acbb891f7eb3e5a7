import { existsSync } from 'node:fs';
import { cp, mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { gzipSync } from 'node:zlib';
import { compileFile, writeDeclarations, writeJavaScript } from './compile.ts';
import { elementsVersion, releasedElements } from './release-elements.ts';

const repository = resolve(import.meta.dirname, '../../..');

/** The published part of a manifest. */
interface Manifest {
  name: string;
  version: string;
  description: string;
  license: string;
  type: string;
  dependencies?: Record<string, string>;
  peerDependencies?: Record<string, string>;
  peerDependenciesMeta?: Record<string, { optional: boolean }>;
}

/** Puts the library into `folder` as npm packs it. @returns the size of all its code in one gzip, in bytes. */
export async function stageLibrary(folder: string): Promise<number> {
  const source = join(repository, 'packages/sdk');
  const [esm, cjs] = [join(folder, 'dist/esm'), join(folder, 'dist/cjs')];
  const texts = await writeJavaScript(join(source, 'src'), esm, 'esm');
  await writeJavaScript(join(source, 'src'), cjs, 'cjs');
  await writeDeclarations(join(source, 'src'), [esm, cjs]);
  await writeFile(join(cjs, 'package.json'), '{ "type": "commonjs" }\n');
  await writeManifest(source, folder, {
    sideEffects: false,
    engines: { node: '>=20.3' },
    main: './dist/cjs/index.js',
    types: './dist/cjs/index.d.ts',
    exports: { '.': entriesOf('index') },
  });
  return gzipSync(texts.join('')).length;
}

/** Puts the command line and its dependencies into `folder`, so that installing it needs no registry. */
export async function stageCommandLine(folder: string): Promise<void> {
  const source = join(repository, 'packages/cli');
  await writeJavaScript(join(source, 'src'), join(folder, 'dist'), 'esm');
  const { dependencies = {} } = await readManifest(source);
  const versions: Record<string, string> = {};
  for (const name of Object.keys(dependencies)) {
    const into = join(folder, 'node_modules', name);
    if (name === '@sluice/sdk') await stageLibrary(into);
    else if (name === '@sluice/ledger') await stageLedger(into);
    else await stageInstalled(name, folder);
    versions[name] = (await readManifest(into)).version;
  }
  await writeManifest(source, folder, {
    // The first with `Symbol.dispose`, which the command line uses and the library does not.
    engines: { node: '>=20.4' },
    bin: { sluice: './dist/main.js' },
    dependencies: versions,
    bundleDependencies: Object.keys(versions),
  });
}

/** Copies a package as it is installed, with what it depends on, but without what only compilers and debuggers read. */
async function stageInstalled(name: string, folder: string): Promise<void> {
  const [from, into] = [join(repository, 'node_modules', name), join(folder, 'node_modules', name)];
  if (existsSync(into)) return;
  const filter = (path: string) => !/\.(map|[cm]?ts)$/.test(path);
  await cp(from, into, { recursive: true, filter });
  for (const needed of Object.keys((await readManifest(from)).dependencies ?? {})) await stageInstalled(needed, folder);
}

/**
 * Copies everything that a page needs for hosted fields into `folder`: the script that the vault serves, the same as
 * CommonJS for programs that are bundled so, types, and the React wrapper.
 */
export async function stageElements(folder: string): Promise<void> {
  const source = join(repository, 'packages/elements');
  const [esm, cjs] = [join(folder, 'dist/esm'), join(folder, 'dist/cjs')];
  await cp(join(releasedElements, await elementsVersion(), 'elements.js'), join(esm, 'elements.js'));
  await writeFile(join(esm, 'react.js'), await compileFile(join(source, 'src/react.tsx'), 'esm'));
  await writeDeclarations(join(source, 'src'), [esm, cjs], ['react.tsx']);
  for (const file of ['elements.ts', 'react.tsx']) {
    await writeFile(join(cjs, file.replace(/\.tsx?$/, '.js')), await compileFile(join(source, 'src', file), 'cjs'));
  }
  await writeFile(join(cjs, 'package.json'), '{ "type": "commonjs" }\n');
  await cp(join(source, 'REFERENCE.md'), join(folder, 'REFERENCE.md'));
  const { peerDependencies, peerDependenciesMeta } = await readManifest(source);
  await writeManifest(source, folder, {
    files: ['dist', 'REFERENCE.md'],
    sideEffects: false,
    main: './dist/cjs/elements.js',
    types: './dist/cjs/elements.d.ts',
    // TypeScript's resolution `node10` does not read `exports`.
    typesVersions: { '*': { react: ['./dist/cjs/react.d.ts'] } },
    exports: { '.': entriesOf('elements'), './react': entriesOf('react') },
    ...{ peerDependencies, peerDependenciesMeta },
  });
}

/** The code that verifies exports. It has no dependencies and is published only with the command line. */
async function stageLedger(folder: string): Promise<void> {
  const source = join(repository, 'packages/ledger');
  await writeJavaScript(join(source, 'src'), join(folder, 'dist'), 'esm');
  await writeManifest(source, folder, { engines: { node: '>=20.3' }, exports: { '.': './dist/index.js' } });
}

/** Of a module in `dist/esm` and `dist/cjs`, each with its own types. */
function entriesOf(name: string): object {
  const entry = (format: string) => ({
    types: `./dist/${format}/${name}.d.ts`,
    default: `./dist/${format}/${name}.js`,
  });
  return { import: entry('esm'), require: entry('cjs') };
}

async function readManifest(folder: string): Promise<Manifest> {
  return JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'));
}

async function writeManifest(source: string, folder: string, more: object): Promise<void> {
  const { name, version, description, license, type } = await readManifest(source);
  await mkdir(dirname(join(folder, 'package.json')), { recursive: true });
  const manifest = { name, version, description, license, type, files: ['dist'], ...more };
  await writeFile(join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
  await cp(join(source, 'README.md'), join(folder, 'README.md'));
  await cp(join(repository, 'LICENSE'), join(folder, 'LICENSE'));
}
