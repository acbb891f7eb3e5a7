import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import type { Writable } from 'node:stream';
import { connectDatabase, type Database, databaseSettings } from '@sluice/database';
import { canonicalUuid } from '@sluice/http-api';
import { verifyFiles } from '@sluice/ledger';
import { ServiceError } from '@sluice/problems';
import { ConfigError, readConfig } from '@sluice/service-runtime';
import { readOptions, UsageError } from '@sluice/service-runtime/command-line';
import { exportLog } from './log-export.ts';
import { findCheckpoint, proveRow } from './prove-row.ts';

const help = `Usage: npm run -s ledger -- verify EXPORT --checkpoint FILE --key FILE [--since FILE]... [--witness FILE]
              [--dropped N]
       npm run -s ledger -- verify EXPORT --proofs FILE --key FILE
       npm run -s ledger -- export --tenant ID [--start N] [--csv] [--output FILE]
       npm run -s ledger -- checkpoint --tenant ID
       npm run -s ledger -- prove --tenant ID ROW...

verify      Checks an export of the audit log (NDJSON; - is standard input) from files alone: no database, no secret. A whole
            export against a checkpoint, older ones (--since) and those of a witness; any other row by row with --proofs.
            Says "Complete and unchanged up to n", how many rows are missing because retention dropped them, as the
            newest checkpoint states it, or the first row, or the checkpoints, where the log was changed.
export      Writes a Tenant's audit log from the database, also of one that is closed.
checkpoint  Prints its newest signed checkpoint.
prove       Prints a proof a line for each row, named by its id: what --proofs takes.

  --key         the public keys: what /.well-known/sluice-ledger-key/<tenant id> answered, kept from before
  --checkpoint  a signed checkpoint: what GET /logs/checkpoint answered
  --since       an older one, which the log must contain; may be repeated
  --dropped     how many rows retention has dropped, where the newest checkpoint is from before it states that
  --witness     a file of checkpoints that the worker appended to
  --tenant      id of the Tenant
  --start       leaf_index of the first row
  --csv         CSV in place of NDJSON
  --output      a new file; standard output without it

export, checkpoint and prove read DATABASE_URL (or the file that DATABASE_URL_FILE names); for a stack that "npm start"
runs it is taken from .sluice/environment. Leaves with 0, with 1 where the log was changed or the command failed, with 2
where it was not understood, with 78 where DATABASE_URL is not usable.`;

const configSchema = { type: 'object', required: ['DATABASE_URL'], properties: databaseSettings } as const;

process.stdout.on('error', () => undefined); // the callback of `write` reports it
process.exitCode = await run(process.argv.slice(2));

async function run(argv: string[]): Promise<number> {
  try {
    const { values, positionals } = read(argv);
    const [command, ...rest] = positionals;
    if (values.help || (command === undefined && argv.length === 0)) {
      console.log(help);
      return values.help ? 0 : 2;
    }
    if (command === 'verify') return await verify(rest, values);
    if (command === 'export' && rest.length === 0) return await withDatabase((db) => writeExport(db, values));
    if (command === 'checkpoint' && rest.length === 0) {
      const tenantId = tenantOf(values);
      return await withDatabase(async (db) => write(process.stdout, await findCheckpoint(db, tenantId)));
    }
    if (command === 'prove' && rest.length > 0) return await withDatabase((db) => prove(db, rest, values));
    throw new UsageError('The commands are verify EXPORT, export, checkpoint and prove ROW...');
  } catch (error) {
    if (isClosedPipe(error)) return 0; // the reader of the pipe has read enough
    const message = error instanceof ServiceError ? error.detail : (error as Error).message;
    console.error(error instanceof UsageError ? `${message}; see npm run ledger -- --help` : message);
    if (error instanceof ConfigError) return 78;
    return error instanceof UsageError ? 2 : 1;
  }
}

type Values = ReturnType<typeof read>['values'];

function read(argv: string[]) {
  const text = { type: 'string' } as const;
  return readOptions({
    args: argv,
    allowPositionals: true,
    options: {
      key: text,
      checkpoint: text,
      since: { type: 'string', multiple: true },
      witness: text,
      dropped: text,
      proofs: text,
      tenant: text,
      start: text,
      csv: { type: 'boolean' },
      output: text,
      help: { type: 'boolean', short: 'h' },
    },
  });
}

async function verify(files: string[], { key, checkpoint, since, witness, proofs, dropped }: Values): Promise<number> {
  const [file] = files;
  if (file === undefined || files.length > 1) throw new UsageError('verify takes one export');
  if (key === undefined) throw new UsageError('verify needs --key FILE: the public keys');
  if ((checkpoint === undefined) === (proofs === undefined)) {
    throw new UsageError('verify needs --checkpoint FILE for a whole export, or --proofs FILE for another');
  }
  if (dropped !== undefined && !/^\d{1,15}$/.test(dropped)) throw new UsageError('--dropped must be a whole number');
  const known = dropped === undefined ? undefined : Number(dropped);
  const { isGood, text } = await verifyFiles({ export: file, key, checkpoint, since, witness, proofs, dropped: known });
  await write(process.stdout, `${text}\n`);
  return isGood ? 0 : 1;
}

async function writeExport(db: Database, values: Values): Promise<void> {
  const tenantId = tenantOf(values);
  const { start = '0', csv, output } = values;
  if (!/^\d{1,15}$/.test(start)) throw new UsageError('--start must be a whole number');
  const to = output === undefined ? process.stdout : createWriteStream(output, { flags: 'wx', mode: 0o600 });
  if (to !== process.stdout) await once(to, 'open');
  const format = csv ? 'csv' : 'ndjson';
  for await (const piece of exportLog(db, { tenantId, filter: {}, start: Number(start), format }))
    await write(to, piece);
  if (to !== process.stdout) await new Promise<void>((resolve) => to.end(() => resolve()));
}

async function prove(db: Database, rows: string[], values: Values): Promise<void> {
  const tenantId = tenantOf(values);
  const ids = rows.map((row) => {
    const id = canonicalUuid(row);
    if (id === undefined) throw new UsageError(`"${row}" is no id of a row: a UUID`);
    return id;
  });
  for (const id of ids) await write(process.stdout, `${JSON.stringify(await proveRow(db, tenantId, id))}\n`);
}

function tenantOf({ tenant = '' }: Values): string {
  const tenantId = canonicalUuid(tenant);
  if (tenantId === undefined) throw new UsageError('--tenant is required, a UUID');
  return tenantId;
}

async function withDatabase(work: (db: Database) => Promise<void>): Promise<number> {
  const config = readConfig(configSchema, process.env);
  await using stack = new AsyncDisposableStack();
  await work(connectDatabase(config, { stack, onError: (error) => console.error(error.message) }));
  return 0;
}

async function write(to: Writable, text: string): Promise<void> {
  await new Promise<void>((resolve, reject) => to.write(text, (error) => (error ? reject(error) : resolve())));
}

function isClosedPipe(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'EPIPE';
}
