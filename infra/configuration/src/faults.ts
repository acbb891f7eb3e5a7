import { type Group, groups as ourGroups } from './groups.ts';
import type { Schemas } from './schemas.ts';
import { type Setting, settingsOf, type Taker } from './settings.ts';
import { unitOf } from './unit.ts';

/** Faults of the settings that a reader of the reference would notice, one line each. */
export function settingFaults(schemas: Schemas, groups: readonly Group[] = ourGroups): string[] {
  return settingsOf(schemas).flatMap((setting) => [
    ...setting.takers.flatMap((taker) => takerFaults(setting.name, taker)),
    ...disagreements(setting),
    ...groupFaults(setting.name, groups),
  ]);
}

function takerFaults(name: string, { service, schema }: Taker): string[] {
  const faults: string[] = [];
  if ((schema.description ?? '').trim().length < 5) return [`${name} (${service}): has no description`];
  const isNumber = schema.type === 'integer' || schema.type === 'number';
  if (isNumber && unitOf(name, schema) === undefined) {
    faults.push(`${name} (${service}): neither its name nor its description tells the unit`);
  }
  if (/_MS$/.test(name) && /\bin\s+seconds\b/.test(schema.description)) {
    faults.push(`${name} (${service}): name and description tell different units`);
  }
  if (schema.pattern?.includes('://') && schema.format === undefined) {
    faults.push(`${name} (${service}): an address without a format`);
  }
  if (schema.writeOnly && schema.default !== undefined) faults.push(`${name} (${service}): a secret has a default`);
  return faults;
}

/** A name means the same everywhere, so that one environment can be given to several services. */
function disagreements({ name, takers: [first, ...others] }: Setting): string[] {
  return others
    .filter(({ schema }) => schema.type !== first.schema.type || schema.writeOnly !== first.schema.writeOnly)
    .map(({ service }) => `${name}: ${service} and ${first.service} differ in type or secrecy`);
}

function groupFaults(name: string, groups: readonly Group[]): string[] {
  const titles = groups.filter(({ names }) => names.test(name)).map(({ title }) => title);
  return titles.length === 1 ? [] : [`${name}: is in ${titles.length} groups of groups.ts (${titles.join(', ')})`];
}
