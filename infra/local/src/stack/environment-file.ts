import { join } from 'node:path';
import { writePrivateFile } from '../private-file.ts';
import { commandSettings, type StackSettings } from './services.ts';

/**
 * Writes the file `environment`, with which command line tools reach this stack: `node --env-file`, or `set -a; .
 * .sluice/environment`. It holds secrets; only the owner may read it.
 */
export async function writeEnvironmentFile(directory: string, settings: StackSettings): Promise<void> {
  const lines = Object.entries(commandSettings(settings)).map(([name, value]) => `${name}='${value}'\n`);
  await writePrivateFile(join(directory, 'environment'), lines.join(''));
}
