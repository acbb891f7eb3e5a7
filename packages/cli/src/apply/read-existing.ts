import type { List, Sluice } from '@sluice/sdk';
import { readAll } from '../read-all.ts';
import type { Existing } from './plan.ts';
import { type Kind, kinds, withoutBlanks } from './wanted.ts';

/** Reads only these kinds, because the key may lack the permission to read others. */
export async function readExisting(sluice: Sluice, wanted: readonly Kind[], signal: AbortSignal): Promise<Existing> {
  const listOf: Record<Kind, (size: number) => List<Existing[Kind][number]>> = {
    applications: (size) => sluice.applications.list({ size }, { signal }),
    proxies: (size) => sluice.proxies.list({ size }, { signal }),
    reactor_formulas: (size) => sluice.reactorFormulas.list({ size }, { signal }),
    reactors: (size) => sluice.reactors.list({ size }, { signal }),
  };
  const read = async (kind: Kind) => {
    const all = wanted.includes(kind) ? await readAll(listOf[kind]) : [];
    return [kind, all.map((one) => ({ ...one, name: withoutBlanks(one.name) }))] as const;
  };
  return Object.fromEntries(await Promise.all(kinds.map(read))) as unknown as Existing;
}

/** `reactor:read` allows to read them. */
export function isOfReactors(kind: Kind): boolean {
  return kind === 'reactors' || kind === 'reactor_formulas';
}
