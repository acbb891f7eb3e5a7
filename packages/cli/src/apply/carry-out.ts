import { type FileHandle, open } from 'node:fs/promises';
import { type ChangeOptions, type Sluice, SluiceError } from '@sluice/sdk';
import { codeOf, RefusedError, UsageError } from '../failure.ts';
import { tell } from '../output/print.ts';
import type { Terminal } from '../terminal.ts';
import type { Step } from './in-order.ts';
import type { MadeRecord } from './made.ts';
import { type Kind, links, type Members, nameIn, nouns, ofEachKind, proxiesNamedBy } from './wanted.ts';

interface Means {
  sluice: Sluice;
  record: MadeRecord;
  /** Ids by name of existing objects. */
  ids: Readonly<Record<Kind, ReadonlyMap<string, string>>>;
  keysFile: string | undefined;
  terminal: Terminal;
}

interface Resource {
  create(body: unknown): Promise<{ id: string; key: string }>;
  update(id: string, body: unknown, options: ChangeOptions): Promise<unknown>;
  delete(id: string, options: ChangeOptions): Promise<void>;
}

const done = { create: 'Created', update: 'Changed', delete: 'Deleted', keep: 'Kept' } as const;

/**
 * Records each creation and deletion at once, but after storing the key of a new Application, so that a failure loses
 * neither. Ctrl-C takes effect between steps.
 */
export async function carryOut(steps: readonly Step[], means: Means): Promise<void> {
  const { sluice, record, keysFile, terminal } = means;
  if (steps.some(({ action }) => action !== 'update')) await assertWritable(record);
  await using keys = keysFile === undefined ? undefined : await openKeysFile(keysFile);
  const ids = ofEachKind((kind) => new Map(means.ids[kind]));
  const resources = resourcesOf(sluice);
  for (const [index, { action, kind, name, id = '', ifMatch, wanted }] of steps.entries()) {
    terminal.signal.throwIfAborted();
    const resource = resources[kind];
    const options = ifMatch === undefined ? {} : { ifMatch };
    if (action === 'delete') {
      await resource.delete(id, options).catch((error) => refuseStale(error, `${nouns[kind]} ${name}`));
      const made = record.made[kind];
      for (const [key, madeId] of Object.entries(made)) if (madeId === id) delete made[key];
      await note(record, `${nouns[kind]} ${name} (${id}) was deleted`);
    } else if (wanted) {
      const body = withIds(kind, wanted, ids);
      if (action === 'update') {
        await resource.update(id, body, options).catch((error) => refuseStale(error, `${nouns[kind]} ${name}`));
      } else {
        const created = await resource.create(body);
        const fault = kind === 'applications' && keys ? await keepKey(keys, { name, ...created }) : undefined;
        if (kind === 'applications' && (fault !== undefined || !keys)) tell(terminal, adviceForKey(name, created.id));
        ids[kind].set(name, created.id);
        record.made[kind][name] = created.id;
        await note(record, `${nouns[kind]} ${name} (${created.id}) was created`);
        if (fault !== undefined)
          throw new RefusedError(`${keysFile} cannot be written (${fault}). The rest was not done.`);
      }
    }
    // Without a terminal the plan has already listed the steps.
    if (terminal.stderr.isTTY === true)
      tell(terminal, `${index + 1}/${steps.length} ${done[action]} ${nouns[kind]} ${name}`);
  }
}

function refuseStale(error: unknown, what: string): never {
  if (!(error instanceof SluiceError) || error.status !== 412) throw error;
  throw new RefusedError(
    `Somebody else has changed ${what} since the plan was made. This change and the rest of the plan were not made. Run the command again.`,
  );
}

async function assertWritable(record: MadeRecord): Promise<void> {
  try {
    await record.save();
  } catch (error) {
    throw new UsageError(
      `Nothing was done: ${record.path} cannot be written (${codeOf(error)}). The command needs this file to record what it creates`,
    );
  }
}

async function note(record: MadeRecord, what: string): Promise<void> {
  try {
    await record.save();
  } catch (error) {
    throw new RefusedError(
      `${what}, but ${record.path} cannot be written (${codeOf(error)}), so this is not recorded. The rest was not done.`,
    );
  }
}

async function openKeysFile(path: string) {
  try {
    return await open(path, 'wx', 0o600);
  } catch (error) {
    throw new UsageError(
      `Nothing was done: ${path} cannot be created for the keys (${codeOf(error)}); the file must not exist yet`,
    );
  }
}

/** @returns the system's error code if the key could not be written. */
async function keepKey(
  keys: FileHandle,
  { name, id, key }: { name: string; id: string; key: string },
): Promise<string | undefined> {
  try {
    await keys.appendFile(`${JSON.stringify({ name, id, key })}\n`);
    return undefined;
  } catch (error) {
    return codeOf(error) ?? 'unknown';
  }
}

function adviceForKey(name: string, id: string): string {
  return `The key of ${name} was not saved. Create another one: sluice keys create ${id}`;
}

function withIds(kind: Kind, body: Members, ids: Means['ids']): Members {
  const named = Object.entries(links[kind]).flatMap(([member, target]) => {
    const name = nameIn(body[member]);
    return name === undefined ? [] : [[member, { id: ids[target].get(name) }]];
  });
  const proxies = proxiesNamedBy(kind, body).map((name) => ids.proxies.get(name) ?? name);
  return { ...body, ...Object.fromEntries(named), ...(proxies.length > 0 && { proxies }) };
}

function resourcesOf({ applications, proxies, reactorFormulas, reactors }: Sluice): Readonly<Record<Kind, Resource>> {
  return { applications, proxies, reactor_formulas: reactorFormulas, reactors } as unknown as Record<Kind, Resource>;
}
