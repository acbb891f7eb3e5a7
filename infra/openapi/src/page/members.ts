import type { OpenApiDocument } from '@sluice/http-api';
import { type Html, html } from '@sluice/http-api';
import { follow, nameOf, type Schema } from './document.ts';
import { inlineMarkdown, markdown } from './markdown.ts';

export interface Described {
  name: string;
  schema: Schema;
  required: boolean;
  description?: string | undefined;
}

/** The members of an object, or parameters, each with its type, bounds and meaning. */
export function members(list: readonly Described[], document: OpenApiDocument): Html {
  return html`<dl class="members">${list.map((member) => memberOf(member, document))}</dl>`;
}

export function membersOf(schema: Schema, document: OpenApiDocument): Html | undefined {
  const { properties, required = [] } = schema;
  if (!properties) return undefined;
  const list = Object.entries(properties).map(([name, member]) => ({
    name,
    schema: member,
    required: required.includes(name),
  }));
  return members(list, document);
}

function memberOf({ name, schema, required, description }: Described, document: OpenApiDocument): Html {
  const text = description ?? schema.description;
  const bounds = boundsOf(schema);
  const inner = innerObject(schema, document);
  return html`<div>
<dt><code>${name}</code> <span class="type">${typeOf(schema)}</span>${required ? html` <span class="required">required</span>` : undefined}</dt>
<dd>${text && meaningOf(text)}${bounds && html`<p class="bounds">${bounds}</p>`}${inner}</dd>
</div>`;
}

/** A long description has paragraphs and lists. */
function meaningOf(text: string): Html {
  return text.includes('\n') ? markdown(text, 6) : html`<p>${inlineMarkdown(text)}</p>`;
}

/** Objects without a title are shown inline. */
function innerObject(schema: Schema, document: OpenApiDocument): Html | undefined {
  const inner = schema.items ?? schema;
  if (inner.$ref !== undefined) return undefined;
  const shown = membersOf(inner, document);
  return shown && html`<details><summary>Members</summary>${shown}</details>`;
}

/** With a link if it is an object of the list. */
export function typeOf(schema: Schema): Html {
  const name = nameOf(schema);
  if (name !== undefined) return html`<a href="#object-${name}">${name}</a>`;
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices) return html`${choices.map((choice, i) => html`${i > 0 ? ' or ' : ''}${typeOf(choice)}`)}`;
  const types = typeof schema.type === 'string' ? [schema.type] : (schema.type ?? ['any']);
  const named = types.map((type) =>
    type === 'string' && schema.format ? (formats[schema.format] ?? schema.format) : type,
  );
  if (schema.items) return html`array of ${typeOf(schema.items)}`;
  return html`${named.join(' or ')}`;
}

const formats: Record<string, string> = { uuid: 'UUID', 'date-time': 'date and time' };

function boundsOf(schema: Schema): Html | undefined {
  const { enum: values, default: preset, pattern } = schema;
  const parts = [
    values && html`One of ${values.map((value, i) => html`${i > 0 ? ', ' : ''}<code>${String(value)}</code>`)}`,
    range(schema.minimum, schema.maximum, ''),
    range(schema.minLength, schema.maxLength, ' characters'),
    range(schema.minItems, schema.maxItems, ' elements'),
    pattern === undefined ? undefined : html`Matches <code>${pattern}</code>`,
    preset === undefined ? undefined : html`Default <code>${JSON.stringify(preset)}</code>`,
  ].filter((part) => part !== undefined);
  return parts.length === 0 ? undefined : html`${parts.map((part, i) => html`${i > 0 ? ' · ' : ''}${part}`)}`;
}

function range(least: number | undefined, most: number | undefined, unit: string): Html | undefined {
  const number = (value: number) => value.toLocaleString('en-US');
  if (least !== undefined && most !== undefined) return html`${number(least)} to ${number(most)}${unit}`;
  if (most !== undefined) return html`At most ${number(most)}${unit}`;
  return least === undefined
    ? undefined
    : html`At least ${number(least)}${least === 1 ? unit.replace(/s$/, '') : unit}`;
}

/** The objects that operations take and answer, by name. */
export function objects(document: OpenApiDocument): Html[] {
  const schemas = document.components.schemas as Record<string, Schema>;
  return Object.keys(schemas)
    .sort()
    .map((name) => {
      const schema = follow<Schema>({ $ref: `#/components/schemas/${name}` }, document);
      return html`<section class="object" id="object-${name}" aria-labelledby="object-${name}-title">
<h3 id="object-${name}-title"><a href="#object-${name}">${name}</a></h3>
${schema.description && html`<p>${inlineMarkdown(schema.description)}</p>`}
${membersOf(schema, document) ?? html`<p class="type">${typeOf(schema)}</p>`}
</section>`;
    });
}
