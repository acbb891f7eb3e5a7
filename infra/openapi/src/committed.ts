import { readFile } from 'node:fs/promises';
import { describePlatform } from './reference.ts';

/** The document that the management API serves. */
export const committedFile = new URL('../../../services/management-api/public/openapi.json', import.meta.url);

const manifest = new URL('../../../package.json', import.meta.url);

/** The text that the committed file must have. */
export async function currentText(): Promise<string> {
  const { version } = JSON.parse(await readFile(manifest, 'utf8'));
  return `${JSON.stringify(describePlatform(version), null, 2)}\n`;
}
