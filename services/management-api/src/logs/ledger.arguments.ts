import { canonicalUuid } from '@sluice/http-api/canonical-uuid';
import { type Help, readOptions, UsageError } from '@sluice/service-runtime/command-line';

export const help = `Usage: npm run -s ledger -- verify EXPORT --checkpoint FILE --key FILE [--since FILE]... [--witness FILE]
              [--dropped N]
       npm run -s ledger -- verify EXPORT --proofs FILE --key FILE
       npm run -s ledger -- export --tenant ID [--start N] [--csv] [--output FILE]
       npm run -s ledger -- checkpoint --tenant ID
       npm run -s ledger -- prove --tenant ID ROW...

verify      Checks an export of the audit log (NDJSON; - is standard input). It needs only files, no database and no secret.
            For a complete export, give a checkpoint (--checkpoint). You can add older checkpoints (--since) and the
            checkpoints of a witness (--witness). A witness is a place outside of Sluice that stores checkpoints. For an
            export with filters, give a proof for each row (--proofs). Prints "Complete and unchanged up to n" and the
            number of rows that retention has dropped, or the first row or checkpoint that was changed.
export      Writes the audit log of a Tenant from the database. The Tenant may be closed.
checkpoint  Prints the newest signed checkpoint of a Tenant.
prove       Prints a proof for each row that ROW names by its id, one per line. verify --proofs reads them.

  --key         file with the public keys: the response of /.well-known/sluice-ledger-key/<tenant id>, stored earlier
  --checkpoint  file with a signed checkpoint: the response of GET /logs/checkpoint
  --since       file with an older checkpoint, which the log must contain; can be repeated
  --dropped     number of rows that retention has dropped, if the newest checkpoint does not state it
  --witness     file with the checkpoints that the worker sent to a witness
  --proofs      file with the output of prove, one proof per line; required if EXPORT was made with filters
  --tenant      id of the Tenant
  --start       leaf_index of the first row
  --csv         writes CSV instead of NDJSON
  --output      new file for the export; default: standard output

export, checkpoint and prove read DATABASE_URL (or the file that DATABASE_URL_FILE names). For a stack that "npm start"
runs it is taken from .sluice/environment. Exit codes: 0 done, 1 the log was changed or the command failed, 2 wrong
arguments, 78 DATABASE_URL is missing or wrong.`;

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
    throw new UsageError(
      'verify needs --checkpoint FILE for a complete export, or --proofs FILE for an export with filters',
    );
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
  if (id === undefined) throw new UsageError(`"${row}" is not the id of a row. The id of a row is a UUID`);
  return id;
}

function tenantOf({ tenant = '' }: Values): string {
  const tenantId = canonicalUuid(tenant);
  if (tenantId === undefined) throw new UsageError('--tenant is required, a UUID');
  return tenantId;
}
