import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { readOptions, runCommand } from '@sluice/service-runtime/command-line';
import { stageCommandLine, stageElements, stageLibrary } from './stage.ts';

const help = `Usage: npm run pack [-- --to FOLDER]

Writes the tarballs of @sluice/sdk (ES modules, CommonJS, declarations), of the command line sluice (which brings what it
depends on) and of @sluice/elements (ES modules, declarations), as npm publishes them. Needs no network. Prints the size
of the library.

Options:
  --to FOLDER  default: dist`;

async function pack(to: string): Promise<void> {
  const staging = await mkdtemp(join(tmpdir(), 'sluice-pack-'));
  try {
    const [library, commandLine, elements] = [join(staging, 'sdk'), join(staging, 'cli'), join(staging, 'elements')];
    const sizeBytes = await stageLibrary(library);
    await stageCommandLine(commandLine);
    await stageElements(elements);
    await mkdir(to, { recursive: true });
    for (const folder of [library, commandLine, elements]) {
      const { stdout } = await promisify(execFile)('npm', ['pack', '--ignore-scripts', '--pack-destination', to], {
        cwd: folder,
      });
      console.log(`Written: ${join(to, stdout.trim().split('\n').at(-1) ?? '')}`);
    }
    console.log(`The library is ${(sizeBytes / 1024).toFixed(1)} KB (gzip, not minified)`);
  } finally {
    await rm(staging, { recursive: true, force: true });
  }
}

await runCommand('npm run pack -- --help', async () => {
  const { values } = readOptions({
    options: { to: { type: 'string', default: 'dist' }, help: { type: 'boolean', short: 'h' } },
  });
  if (values.help) console.log(help);
  else await pack(resolve(values.to));
});
