const setByTheService = new Set([
  ...['id', 'tenant_id', 'key', 'owner_id', 'former_application_id'],
  ...['created_at', 'created_by', 'modified_at', 'modified_by'],
]);

const codeMembers: Readonly<Record<string, string>> = {
  request_transform: 'Request transform',
  response_transform: 'Response transform',
  code: 'Code',
};

/** A resource as lines to compare: settings, then code. Leaves out the members that the service sets. */
export function textOf(resource: object): string {
  const members = Object.entries(resource).filter(([name]) => !setByTheService.has(name));
  const settings = members.filter(([name]) => !Object.hasOwn(codeMembers, name)).sort(([a], [b]) => (a < b ? -1 : 1));
  const codes = Object.entries(codeMembers).flatMap(([name, title]) => {
    const value: unknown = Object.fromEntries(members)[name];
    return value === undefined ? [] : ['', `// ${title}`, codeOf(value)];
  });
  return [JSON.stringify(Object.fromEntries(settings), null, 2), ...codes, ''].join('\n');
}

function codeOf(value: unknown): string {
  return String(typeof value === 'object' && value !== null && 'code' in value ? value.code : value);
}

/** Two versions as {@link textOf}. Values of a configuration are secrets, so only whether they differ is shown. */
export function textsOf(before: object, after: object): [before: string, after: string] {
  const [from, to] = [configurationOf(before), configurationOf(after)];
  const hide = (resource: object, values: Record<string, unknown>, other: Record<string, unknown> | undefined) => {
    const hidden = Object.entries(values).map(([name, value]) => [
      name,
      other === undefined || !Object.hasOwn(other, name) || other[name] === value ? '[hidden]' : '[hidden], changed',
    ]);
    return { ...resource, ...(hidden.length > 0 && { configuration: Object.fromEntries(hidden) }) };
  };
  return [textOf(hide(before, from, undefined)), textOf(hide(after, to, from))];
}

function configurationOf(resource: object): Record<string, unknown> {
  const { configuration } = resource as { configuration?: unknown };
  const isMap = typeof configuration === 'object' && configuration !== null && !Array.isArray(configuration);
  return isMap ? (configuration as Record<string, unknown>) : {};
}
