import { readFile } from 'node:fs/promises';
import { errorsMarkdown } from './errors.ts';
import { describeFilters } from './filters.ts';
import { bodiesText } from './library/bodies.ts';
import { commandsText } from './library/commands.ts';
import { methodsText } from './library/methods.ts';
import { libraryOperations } from './library/operations.ts';
import { withPermissionNames } from './library/permission-names.ts';
import { problemsText } from './library/problems.ts';
import { typesText } from './library/types.ts';
import { errorsPage } from './page/errors.ts';
import { referencePage } from './page/page.ts';
import { describePlatform } from './reference.ts';

const repository = new URL('../../../', import.meta.url);

/** A file that "npm run openapi" writes. */
export interface CommittedFile {
  url: URL;
  /** The text that it must have. */
  text: string;
}

/**
 * The document and the page that the management API serves, and the sources that are generated for the library and the command line.
 */
export async function committedFiles(): Promise<CommittedFile[]> {
  const { version } = JSON.parse(await readFile(new URL('package.json', repository), 'utf8'));
  const document = describePlatform(version);
  const typed = withPermissionNames(document);
  const operations = libraryOperations(typed);
  const file = (path: string, text: string) => ({ url: new URL(path, repository), text });
  return [
    file('services/management-api/public/openapi.json', `${JSON.stringify(document, null, 2)}\n`),
    file('services/management-api/public/docs/index.html', referencePage(document)),
    file('services/management-api/public/docs/errors.html', errorsPage()),
    file('infra/openapi/ERRORS.md', errorsMarkdown()),
    file('infra/openapi/FILTERS.md', `${describeFilters().replace(/^##/, '#')}\n`),
    file('packages/sdk/src/generated/types.gen.ts', await typesText(typed)),
    file('packages/sdk/src/generated/operations.gen.ts', methodsText(operations)),
    file('packages/sdk/src/generated/problems.gen.ts', problemsText()),
    file(
      'packages/cli/src/generated/commands.gen.ts',
      commandsText(operations.filter(({ name }) => name[0] !== 'console')),
    ),
    file('packages/cli/src/generated/bodies.gen.ts', bodiesText(typed)),
  ];
}
