import { open } from 'node:fs/promises';
import type { Sluice } from '@sluice/sdk';
import { codeOf, UsageError } from '../failure.ts';
import { tell } from '../output/print.ts';
import type { Terminal } from '../terminal.ts';
import type { MadeRecord } from './made.ts';
import { applicationNameOf, nouns, type Step } from './plan.ts';
import type { Members } from './wanted.ts';

interface Means {
  sluice: Sluice;
  record: MadeRecord;
  applicationIds: ReadonlyMap<string, string>;
  keysFile: string | undefined;
  terminal: Terminal;
}

interface Resource {
  create(body: unknown): Promise<{ id: string; key: string }>;
  update(id: string, body: unknown): Promise<unknown>;
  delete(id: string): Promise<void>;
}

const done = { create: 'Created', update: 'Changed', delete: 'Deleted', keep: 'Kept' } as const;

/** Records each result at once, so that a failure loses nothing. Ctrl-C takes effect between steps. */
export async function carryOut(steps: readonly Step[], means: Means): Promise<void> {
  const { sluice, record, keysFile, terminal } = means;
  await using keys = keysFile === undefined ? undefined : await openKeysFile(keysFile);
  const applicationIds = new Map(means.applicationIds);
  for (const [index, { action, kind, name, id = '', wanted }] of steps.entries()) {
    terminal.signal.throwIfAborted();
    const resource = sluice[kind] as unknown as Resource;
    if (action === 'delete') {
      await resource.delete(id);
      const made = record.made[kind];
      for (const [key, madeId] of Object.entries(made)) if (madeId === id) delete made[key];
      await record.save();
    } else if (wanted) {
      const body = kind === 'proxies' ? withApplicationId(wanted, applicationIds) : wanted;
      if (action === 'update') await resource.update(id, body);
      else {
        const created = await resource.create(body);
        record.made[kind][name] = created.id;
        await record.save();
        if (kind === 'applications') {
          applicationIds.set(name, created.id);
          if (keys) await keys.appendFile(`${JSON.stringify({ name, id: created.id, key: created.key })}\n`);
          else tell(terminal, `The key of ${name} was not kept; make one: sluice keys create ${created.id}`);
        }
      }
    }
    // Without a terminal the plan has already listed the steps.
    if (terminal.stderr.isTTY === true)
      tell(terminal, `${index + 1}/${steps.length} ${done[action]} ${nouns[kind]} ${name}`);
  }
}

async function openKeysFile(path: string) {
  try {
    return await open(path, 'wx', 0o600);
  } catch (error) {
    throw new UsageError(
      `Nothing was done: ${path} cannot be made for the keys (${codeOf(error)}); it must be a new file`,
    );
  }
}

function withApplicationId(proxy: Members, ids: ReadonlyMap<string, string>): Members {
  const name = applicationNameOf(proxy);
  return name === undefined ? proxy : { ...proxy, application: { id: ids.get(name) } };
}
