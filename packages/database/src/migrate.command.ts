import { readFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';

const help = `Usage: npm run migrate [-- --print-citus]

Migrates the database in DATABASE_URL (or in the file that DATABASE_URL_FILE names) to the newest version. It may run several
times, in several processes at once, and while services of the previous version still run.

  --print-citus   prints the statements that distribute the tables with Citus, and changes nothing (infra/stores.md)`;

const { values, error } = readArguments();
if (error) {
  console.error(`${error}\n\n${help}`);
  process.exitCode = 2;
} else if (values.help) console.log(help);
else if (values['print-citus']) await printCitus();
else process.exitCode = await run();

interface Arguments {
  values: { help?: boolean; 'print-citus'?: boolean };
  error?: string;
}

function readArguments(): Arguments {
  const options = { help: { type: 'boolean', short: 'h' }, 'print-citus': { type: 'boolean' } } as const;
  try {
    return { values: parseArgs({ options }).values };
  } catch (failure) {
    return { values: {}, error: failure instanceof Error ? failure.message : String(failure) };
  }
}

// What is imported below takes most of the time of a start, and mistakes are answered without it.

async function printCitus(): Promise<void> {
  const { citusStatements } = await import('./citus-layout.ts');
  process.stdout.write(citusStatements());
}

async function run(): Promise<number> {
  let url: string;
  try {
    url = await readUrl();
  } catch (error) {
    console.error(error instanceof Error ? error.message : String(error));
    return 78;
  }
  const [{ connectDatabase }, { migrate }] = await Promise.all([import('./connect.ts'), import('./migrate.ts')]);
  await using stack = new AsyncDisposableStack();
  const db = connectDatabase(
    { DATABASE_URL: url, DATABASE_POOL_SIZE: 2 },
    // Building an index on a large table takes long, and so may waiting for another process that builds it.
    { stack, onError: (error) => console.error(error.message), statementTimeoutMs: 0 },
  );
  try {
    const applied = await migrate(db, {
      onWait: () => console.error('Another transaction has locked a table. Trying again'),
    });
    console.log(applied.length === 0 ? 'The database is up to date' : `Applied ${applied.join(', ')}`);
    return 0;
  } catch (error) {
    console.error(`The database could not be migrated: ${error instanceof Error ? error.message : String(error)}`);
    return 1;
  }
}

/** As `readConfig` reads it for services. @throws {Error} that says what is missing or cannot be read. */
async function readUrl(): Promise<string> {
  const { DATABASE_URL: given, DATABASE_URL_FILE: file } = process.env;
  const url = given || (file && (await readUrlFile(file)));
  if (url) return url;
  throw new Error(
    'DATABASE_URL is not set; it names the Postgres to migrate, for example postgres://user@localhost/sluice',
  );
}

async function readUrlFile(file: string): Promise<string> {
  try {
    return (await readFile(file, 'utf8')).trim();
  } catch (cause) {
    throw new Error(`DATABASE_URL_FILE: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
  }
}
