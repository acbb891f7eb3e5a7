import { open } from 'node:fs/promises';
import type { Sluice } from '@sluice/sdk';
import { UsageError } from '../failure.ts';
import { tell } from '../output/print.ts';
import type { Terminal } from '../terminal.ts';
import type { MadeRecord } from './made.ts';
import { applicationNameOf, type Step } from './plan.ts';
import type { Members } from './wanted.ts';

interface Means {
  sluice: Sluice;
  record: MadeRecord;
  /** Where the keys of new Applications go. */
  keysFile: string | undefined;
  terminal: Terminal;
}

/** What each kind is created, changed and deleted with. Bodies come from a file: the service checks them. */
interface Resource {
  create(body: unknown, options: object): Promise<{ id: string; key: string }>;
  update(id: string, body: unknown, options: object): Promise<unknown>;
  delete(id: string, options: object): Promise<void>;
}

/** Does the steps in their order. What was made is recorded at once, so that a failure half-way loses nothing. */
export async function carryOut(steps: readonly Step[], { sluice, record, keysFile, terminal }: Means): Promise<void> {
  await using keys = keysFile === undefined ? undefined : await openKeysFile(keysFile);
  const { signal } = terminal;
  for (const { action, kind, name, id = '', wanted } of steps) {
    const resource = sluice[kind] as unknown as Resource;
    if (action === 'delete') {
      await resource.delete(id, { signal });
      record.made[kind] = Object.fromEntries(Object.entries(record.made[kind]).filter(([, made]) => made !== id));
      await record.save();
    } else if (wanted) {
      const body = kind === 'proxies' ? await withApplicationId(wanted, sluice, signal) : wanted;
      if (action === 'update') await resource.update(id, body, { signal });
      else {
        const created = await resource.create(body, { signal });
        record.made[kind][name] = created.id;
        await record.save();
        if (kind === 'applications') {
          if (keys) await keys.appendFile(`${JSON.stringify({ name, id: created.id, key: created.key })}\n`);
          else tell(terminal, `The key of ${name} was not kept; make one: sluice keys create ${created.id}`);
        }
      }
    }
    tell(
      terminal,
      `${{ create: 'Created', update: 'Changed', delete: 'Deleted', keep: 'Kept' }[action]} ${kind} ${name}`,
    );
  }
}

async function openKeysFile(path: string) {
  try {
    return await open(path, 'wx', 0o600);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : 'unknown error';
    throw new UsageError(`Nothing was done: ${path} cannot be made for the keys (${code}); it must be a new file`);
  }
}

async function withApplicationId(proxy: Members, sluice: Sluice, signal: AbortSignal): Promise<Members> {
  const name = applicationNameOf(proxy);
  if (name === undefined) return proxy;
  for await (const application of sluice.applications.list({ size: 100 }, { signal })) {
    if (application.name === name) return { ...proxy, application: { id: application.id } };
  }
  throw new UsageError(`The Application ${name}, which the Proxy ${proxy.name} names, is gone`);
}
