import { canonicalUuid } from '@sluice/http-api/canonical-uuid';
import { type Help, readOptions, UsageError } from '@sluice/service-runtime/command-line';

export const help = `Usage: npm run -s ledger -- verify EXPORT --checkpoint FILE --key FILE [--since FILE]... [--witness FILE]
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

export interface Verify {
  name: 'verify';
  file: string;
  key: string;
  checkpoint: string | undefined;
  since: string[] | undefined;
  witness: string | undefined;
  proofs: string | undefined;
  dropped: number | undefined;
}

export interface Export {
  name: 'export';
  tenantId: string;
  start: number;
  format: 'csv' | 'ndjson';
  output: string | undefined;
}

export type LedgerCommand =
  | Verify
  | Export
  | { name: 'checkpoint'; tenantId: string }
  | { name: 'prove'; tenantId: string; ids: string[] };

/** @throws {UsageError} */
export function readArguments(args: string[]): LedgerCommand | Help {
  const { values, positionals } = parse(args);
  if (values.help) return { name: 'help' };
  const [command, ...rest] = positionals;
  if (command === 'verify') return readVerify(rest, values);
  if (command === 'export' && rest.length === 0) return readExport(values);
  if (command === 'checkpoint' && rest.length === 0) return { name: 'checkpoint', tenantId: tenantOf(values) };
  if (command === 'prove' && rest.length > 0) {
    return { name: 'prove', tenantId: tenantOf(values), ids: rest.map(readRow) };
  }
  throw new UsageError('The commands are verify EXPORT, export, checkpoint and prove ROW...');
}

type Values = ReturnType<typeof parse>['values'];

function parse(args: string[]) {
  const text = { type: 'string' } as const;
  return readOptions({
    args,
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

const wholeNumber = /^\d{1,15}$/;

function readVerify(files: string[], { key, checkpoint, since, witness, proofs, dropped }: Values): Verify {
  const [file] = files;
  if (file === undefined || files.length > 1) throw new UsageError('verify takes one export');
  if (key === undefined) throw new UsageError('verify needs --key FILE: the public keys');
  if ((checkpoint === undefined) === (proofs === undefined)) {
    throw new UsageError('verify needs --checkpoint FILE for a whole export, or --proofs FILE for another');
  }
  if (dropped !== undefined && !wholeNumber.test(dropped)) throw new UsageError('--dropped must be a whole number');
  const known = dropped === undefined ? undefined : Number(dropped);
  return { name: 'verify', file, key, checkpoint, since, witness, proofs, dropped: known };
}

function readExport(values: Values): Export {
  const { start = '0', csv, output } = values;
  if (!wholeNumber.test(start)) throw new UsageError('--start must be a whole number');
  return { name: 'export', tenantId: tenantOf(values), start: Number(start), format: csv ? 'csv' : 'ndjson', output };
}

function readRow(row: string): string {
  const id = canonicalUuid(row);
  if (id === undefined) throw new UsageError(`"${row}" is no id of a row: a UUID`);
  return id;
}

function tenantOf({ tenant = '' }: Values): string {
  const tenantId = canonicalUuid(tenant);
  if (tenantId === undefined) throw new UsageError('--tenant is required, a UUID');
  return tenantId;
}
