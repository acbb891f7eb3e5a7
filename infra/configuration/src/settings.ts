import type { ConfigSchema, SettingSchema } from '@sluice/service-runtime';
import type { Schemas } from './schemas.ts';

/** The definition of a setting in one service. */
export interface Taker {
  readonly service: string;
  readonly schema: SettingSchema;
  /** "required", "required if …", or undefined for a setting that may be absent. */
  readonly required: string | undefined;
}

/** A setting with all the services that take it. */
export interface Setting {
  readonly name: string;
  readonly takers: readonly [Taker, ...Taker[]];
}

/** Every setting of the schemas once, sorted by name. */
export function settingsOf(schemas: Schemas): Setting[] {
  const found = new Map<string, [Taker, ...Taker[]]>();
  for (const [service, whole] of Object.entries(schemas)) {
    for (const [name, schema] of Object.entries(whole.properties)) {
      const taker = { service, schema, required: requirement(name, whole) };
      const takers = found.get(name);
      if (takers) takers.push(taker);
      else found.set(name, [taker]);
    }
  }
  return [...found].map(([name, takers]) => ({ name, takers })).sort((a, b) => (a.name < b.name ? -1 : 1));
}

function requirement(name: string, { required = [], allOf = [] }: ConfigSchema): string | undefined {
  if (required.includes(name)) return 'required';
  for (const condition of allOf) {
    const asked = Object.entries(condition.if.properties).map(([other, value]) => [other, value.const] as const);
    const when = asked.map(([other, value]) => `\`${other}\` is \`${value}\``).join(' and ');
    const otherwise = asked.map(([other, value]) => `\`${other}\` is not \`${value}\``).join(' or ');
    if (condition.then.required.includes(name)) return `required if ${when}`;
    if (condition.else?.required.includes(name)) return `required if ${otherwise}`;
  }
  return undefined;
}
