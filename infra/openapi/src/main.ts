import { writeFile } from 'node:fs/promises';
import { committedFile, currentText } from './committed.ts';

const help = `Usage: npm run openapi

Writes the OpenAPI document of the platform, made of the operation records of its services, to
${committedFile.pathname}. Commit it; npm test says when it is stale.`;

const [option] = process.argv.slice(2);
if (option === '--help' || option === '-h') {
  console.log(help);
} else if (option !== undefined) {
  console.error(`There is no option ${option}; see npm run openapi -- --help`);
  process.exitCode = 2;
} else {
  await writeFile(committedFile, await currentText());
  console.log(`Written: ${committedFile.pathname}`);
}
