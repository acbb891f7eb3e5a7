import type { OpenApiDocument } from '@sluice/http-api';
import { type Html, html } from '@sluice/http-api';
import { follow, type Schema } from './document.ts';

/** The body of a request through a Proxy, which no schema describes. */
export const invocationBody = { card: '{{ 3e9d1c52-7b0f-4a86-9c41-b5f20e6a8d73 }}' };

/** A value as a schema describes it: its own example, or one made of its members. */
export function exampleOf(given: Schema, document: OpenApiDocument): unknown {
  const schema = follow(given, document);
  const [first] = schema.examples ?? schema.enum ?? [];
  const told = first ?? schema.example ?? schema.const ?? schema.default;
  if (told !== undefined) return told;
  const [choice] = schema.anyOf ?? schema.oneOf ?? [];
  if (choice) return exampleOf(choice, document);
  if (schema.properties) {
    const members = Object.entries(schema.properties).map(([name, member]) => [name, exampleOf(member, document)]);
    return Object.fromEntries(members);
  }
  if (schema.items) return [exampleOf(schema.items, document)];
  return plainExample(schema);
}

function plainExample({ type, format, minimum }: Schema): unknown {
  const [kind] = typeof type === 'string' ? [type] : (type ?? []);
  if (kind === 'integer' || kind === 'number') return minimum ?? 1;
  if (kind === 'boolean') return true;
  if (kind === 'object') return {};
  if (kind !== 'string') return undefined;
  return { uuid: '3e9d1c52-7b0f-4a86-9c41-b5f20e6a8d73', 'date-time': '2030-01-31T12:00:00.000Z' }[format ?? ''] ?? '…';
}

/** JSON with its kinds of values marked for the style sheet. */
export function highlight(value: unknown, indent = ''): Html {
  const inner = `${indent}  `;
  if (Array.isArray(value)) {
    if (value.length === 0) return html`[]`;
    return html`[
${join(value.map((element) => html`${inner}${highlight(element, inner)}`))}
${indent}]`;
  }
  if (typeof value === 'object' && value !== null) {
    const members = Object.entries(value).filter(([, member]) => member !== undefined);
    if (members.length === 0) return html`{}`;
    const lines = members.map(
      ([name, member]) => html`${inner}<span class="name">${JSON.stringify(name)}</span>: ${highlight(member, inner)}`,
    );
    return html`{
${join(lines)}
${indent}}`;
  }
  return html`<span class="${typeof value === 'string' ? 'text' : 'atom'}">${JSON.stringify(value)}</span>`;
}

function join(lines: readonly Html[]): Html[] {
  return lines.map((line, i) =>
    i === lines.length - 1
      ? line
      : html`${line},
`,
  );
}

export function toShell(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
