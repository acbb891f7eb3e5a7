import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import type { Writable } from 'node:stream';
import { connectDatabase, type Database, databaseSettings } from '@sluice/database';
import { verifyFiles } from '@sluice/ledger';
import { ServiceError } from '@sluice/problems';
import { readConfig } from '@sluice/service-runtime';
import type { Export, LedgerCommand, Verify } from './ledger.arguments.ts';
import { exportLog } from './log-export.ts';
import { findCheckpoint, proveRow } from './prove-row.ts';

const configSchema = { type: 'object', required: ['DATABASE_URL'], properties: databaseSettings } as const;

/** @returns the exit code. */
export async function perform(command: LedgerCommand): Promise<number> {
  try {
    if (command.name === 'verify') return await verify(command);
    await withDatabase((db) => print(db, command));
    return 0;
  } catch (error) {
    if (isClosedPipe(error)) return 0; // the reader of the pipe has read enough
    if (error instanceof ServiceError) throw new Error(error.detail, { cause: error });
    throw error;
  }
}

async function verify({ file, name: _, ...files }: Verify): Promise<number> {
  const { isGood, text } = await verifyFiles({ export: file, ...files });
  await write(process.stdout, `${text}\n`);
  return isGood ? 0 : 1;
}

async function print(db: Database, command: Exclude<LedgerCommand, Verify>): Promise<void> {
  const { tenantId } = command;
  if (command.name === 'export') return writeExport(db, command);
  if (command.name === 'checkpoint') return write(process.stdout, await findCheckpoint(db, tenantId));
  for (const id of command.ids) await write(process.stdout, `${JSON.stringify(await proveRow(db, tenantId, id))}\n`);
}

async function writeExport(db: Database, { tenantId, start, format, output }: Export): Promise<void> {
  const to = output === undefined ? process.stdout : createWriteStream(output, { flags: 'wx', mode: 0o600 });
  if (to !== process.stdout) await once(to, 'open');
  for await (const piece of exportLog(db, { tenantId, filter: {}, start, format })) await write(to, piece);
  if (to !== process.stdout) await new Promise<void>((resolve) => to.end(() => resolve()));
}

async function withDatabase(work: (db: Database) => Promise<void>): Promise<void> {
  const config = readConfig(configSchema, process.env);
  await using stack = new AsyncDisposableStack();
  await work(connectDatabase(config, { stack, onError: (error) => console.error(error.message) }));
}

async function write(to: Writable, text: string): Promise<void> {
  await new Promise<void>((resolve, reject) => to.write(text, (error) => (error ? reject(error) : resolve())));
}

function isClosedPipe(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'EPIPE';
}
