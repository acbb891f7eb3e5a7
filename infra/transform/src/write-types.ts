import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { reactorDeclarations, transformDeclarations } from '@sluice/sandbox';
import type { Output } from './test-transform.ts';

const jsconfig = {
  compilerOptions: {
    checkJs: true,
    strict: true,
    noEmit: true,
    target: 'ES2023',
    lib: ['ES2023'],
    module: 'CommonJS',
    types: [],
  },
  include: ['*.js', '*.d.ts'],
};

/** Writes the declarations of transforms or reactors. An existing jsconfig.json stays as it is. */
export async function writeTypes(
  { folder, isForReactors }: { folder: string; isForReactors: boolean },
  headerPrefix: string,
  output: Output,
): Promise<void> {
  await mkdir(folder, { recursive: true });
  for (const url of isForReactors ? reactorDeclarations : transformDeclarations) {
    const file = join(folder, basename(url.pathname));
    await writeFile(file, withPrefix(await readFile(url, 'utf8'), headerPrefix.toLowerCase()));
    output.out(`Written: ${file}`);
  }
  const config = join(folder, 'jsconfig.json');
  const isNew = await writeFile(config, `${JSON.stringify(jsconfig, undefined, 2)}\n`, { flag: 'wx' }).then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'EEXIST') return false;
      throw error;
    },
  );
  output.out(isNew ? `Written: ${config}` : `${config} stays as it is; it must include the declarations`);
}

function withPrefix(declarations: string, prefix: string): string {
  return declarations
    .replaceAll("'svc-errors'", `'${prefix}-errors'`)
    .replaceAll('readonly svc?:', `readonly ${prefix}?:`);
}
