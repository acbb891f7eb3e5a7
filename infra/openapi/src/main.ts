import { readFile, writeFile } from 'node:fs/promises';
import { committedFiles } from './committed.ts';

const help = `Usage: npm run openapi [-- --check]

Writes these files from the operation records of the services:
- services/management-api/public/openapi.json: the OpenAPI document of the platform
- services/management-api/public/docs/index.html: the same document as a page to read
- services/management-api/public/docs/errors.html and infra/openapi/ERRORS.md: the list of errors
- infra/openapi/FILTERS.md: the list of filters of expressions, from the records of the filters
- packages/sdk/src/generated: the types and methods of the client library
- packages/cli/src/generated: the commands of the command line, and the schemas for the files of "sluice apply"
Commit the files. If a file is stale, npm test fails.

Options:
  --check  writes nothing; lists the files that are stale, and then exits with 1`;

const [option] = process.argv.slice(2);
if (option === '--help' || option === '-h') {
  console.log(help);
} else if (option === '--check') {
  for (const { url, text } of await committedFiles()) {
    if ((await readFile(url, 'utf8')) === text) continue;
    console.error(`Stale: ${url.pathname}`);
    process.exitCode = 1;
  }
} else if (option !== undefined) {
  console.error(`There is no option ${option}; see npm run openapi -- --help`);
  process.exitCode = 2;
} else {
  for (const { url, text } of await committedFiles()) {
    await writeFile(url, text);
    console.log(`Written: ${url.pathname}`);
  }
}
