import { filters as builtIn, Liquid } from 'liquidjs';
import type { Json } from '../json.ts';
import type { FilterRecord } from './filter-record.ts';
import { liquidFilters } from './liquid-filters.ts';
import { ownFilters } from './own-filters.ts';

export const filterRecords: readonly FilterRecord[] = [...ownFilters, ...liquidFilters];

const byName: ReadonlyMap<string, FilterRecord> = new Map(filterRecords.map((record) => [record.name, record]));

export function faultInArguments(name: string, args: readonly unknown[]): string | undefined {
  return byName.get(name)?.check?.(args);
}

/** Whether the result can be much longer than the value. */
export function mayGrow(name: string): boolean {
  return byName.get(name)?.grows === true;
}

export function liquidWithFilters(): Liquid {
  const liquid = new Liquid({ strictFilters: true, ownPropertyOnly: true, memoryLimit: 50_000_000 });
  for (const name of Object.keys(liquid.tags)) delete liquid.tags[name];
  for (const name of Object.keys(liquid.filters)) liquid.unregisterFilter(name);
  for (const { name, run } of filterRecords) {
    const ofLiquid = builtIn[name];
    if (!run && !ofLiquid) throw new Error(`Liquid has no filter ${name}`);
    if (!run) liquid.registerFilter(name, ofLiquid as NonNullable<typeof ofLiquid>);
    else
      liquid.registerFilter(name, (value: Json | undefined, ...args: Json[]) =>
        value === null || value === undefined ? null : run(value, ...args),
      );
  }
  return liquid;
}
