interface ObjectSchema {
  properties?: Record<string, ObjectSchema>;
  required?: readonly string[];
  type?: string | readonly string[];
  items?: object;
}

/** Drops optional nulls, so that defaults apply. If the schema accepts null, it stays, because it means "reset". */
export function dropNulls(value: unknown, schema: object | undefined): void {
  if (typeof value !== 'object' || value === null || typeof schema !== 'object') return;
  const { properties, required = [], items } = schema as ObjectSchema;
  if (Array.isArray(value)) {
    for (const item of value) dropNulls(item, items);
    return;
  }
  const members = value as Record<string, unknown>;
  for (const [name, member] of Object.entries(properties ?? {})) {
    if (!Object.hasOwn(members, name)) continue;
    if (members[name] === null && !required.includes(name) && !member.type?.includes('null')) delete members[name];
    else dropNulls(members[name], member);
  }
}
