import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readOptions, runCommand } from '@sluice/service-runtime/command-line';
import {
  compileElements,
  elementsVersion,
  hashesOf,
  readRelease,
  releasedElements,
  writeRelease,
} from './release-elements.ts';

const help = `Usage: npm run elements

Compiles the hosted fields into packages/elements/released/<version>, where <version> is that of the package, and writes
the hashes of all versions (Subresource Integrity) to released/integrity.json. Pages name a version and its hashes, so
raise the package's version before you change one that is in use.`;

async function release(): Promise<void> {
  await writeRelease(await compileElements(), join(releasedElements, await elementsVersion()));
  const folders = (await readdir(releasedElements, { withFileTypes: true })).filter((entry) => entry.isDirectory());
  const hashes: Record<string, Record<string, string>> = {};
  for (const { name } of folders) hashes[name] = hashesOf(await readRelease(join(releasedElements, name)));
  await writeFile(join(releasedElements, 'integrity.json'), `${JSON.stringify(hashes, null, 2)}\n`);
}

await runCommand('npm run elements -- --help', async () => {
  const { values } = readOptions({ options: { help: { type: 'boolean', short: 'h' } } });
  if (values.help) console.log(help);
  else await release();
});
