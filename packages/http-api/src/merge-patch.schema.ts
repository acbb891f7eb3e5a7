interface Schema {
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly title?: string;
  readonly default?: unknown;
  readonly examples?: unknown;
  readonly properties?: object;
  readonly additionalProperties?: unknown;
  readonly required?: readonly string[];
}

interface Described {
  title: string;
  description?: string;
  examples?: readonly object[];
}

interface MergePatch extends Described {
  type: 'object';
  properties: Record<string, object>;
}

/**
 * The schema of a merge patch (RFC 7386) of a body: every member is optional and has no default, and null removes one
 * that the body does not require. Lists are replaced, so their items are as in the body.
 */
export function mergePatchOf(body: object, described: Described): MergePatch {
  return { ...described, type: 'object', properties: { ...patchOf(body).properties } };
}

function patchOf({ title: _title, default: _default, examples: _examples, required = [], ...rest }: Schema): Schema {
  const { properties, additionalProperties: others } = rest;
  const members = Object.entries(properties ?? {}).map(([name, member]) => {
    return [name, required.includes(name) ? patchOf(member) : orNull(patchOf(member))];
  });
  return {
    ...rest,
    ...(properties && { properties: Object.fromEntries(members) }),
    ...(typeof others === 'object' && others !== null && { additionalProperties: orNull(patchOf(others)) }),
  };
}

/** The same schema, which also allows null. */
export function orNull(schema: Schema): Schema {
  const { type, enum: allowed } = schema;
  if (type === undefined || type.includes('null')) return schema;
  return { ...schema, type: [type, 'null'].flat(), ...(allowed && { enum: [...allowed, null] }) };
}
