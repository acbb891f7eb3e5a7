import { writeFile } from 'node:fs/promises';
import { committedFile, currentText } from './committed.ts';

const help = `Usage: npm run openapi

Writes the OpenAPI document of the platform, made of the operation records of its services, to
${committedFile.pathname}. Commit it; npm test says when it is stale.`;

if (process.argv.includes('--help') || process.argv.includes('-h')) {
  console.log(help);
} else {
  await writeFile(committedFile, await currentText());
  console.log(`Written: ${committedFile.pathname}`);
}
