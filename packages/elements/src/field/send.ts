import type { FromFrame, Patch, Tokenize } from '../protocol.ts';
import type { TokenizeOptions } from '../types.ts';
import type { Page } from './page.ts';
import { type Answer, problemOf, RequestError, request } from './requests.ts';
import { openSession } from './session.ts';
import { siblingOf } from './siblings.ts';

/** The creation whose response was lost. If it is repeated with the same key, no second token is created. */
let lost: { text: string; idempotencyKey: string } | undefined;

/** Makes a token of the group's fields, or merges them into one. */
export async function send(message: Tokenize | Patch, key: string, page: Page): Promise<FromFrame> {
  try {
    const content = gather(message.fields);
    if (message.do === 'tokenize') return { token: withoutData(await create(content, key, message.options)) };
    const session = await openSession(key, page, message.call);
    const path = `/tokens/${encodeURIComponent(message.token)}`;
    return { token: withoutData(await request('PATCH', path, { key: session, body: { data: content.data } })) };
  } catch (error) {
    return { problem: problemOf(error) };
  }
}

async function create({ data, isText }: Content, key: string, options: TokenizeOptions): Promise<Answer> {
  const { type = isText ? 'token' : 'card', metadata, containers } = options;
  const isNumber = type === 'card_number' && typeof data === 'object';
  const body = { type, data: isNumber ? data.number : data, metadata, containers };
  const text = JSON.stringify(body);
  const idempotencyKey = lost?.text === text ? lost.idempotencyKey : crypto.randomUUID();
  lost = { text, idempotencyKey };
  try {
    const token = await request('POST', '/tokens', { key, body, idempotencyKey });
    lost = undefined;
    return token;
  } catch (error) {
    if (error instanceof RequestError && error.problem.status) lost = undefined;
    throw error;
  }
}

interface Content {
  isText: boolean;
  data: string | Record<string, string | number>;
}

/** One card of card fields, one text, or an object of several texts. */
function gather(fields: readonly string[]): Content {
  // A missing frame counts as incomplete.
  const parts = fields.map((id) => siblingOf(id)?.take() ?? { name: id, data: undefined });
  const incomplete = parts.filter(({ data }) => data === undefined).map(({ name }) => name);
  if (incomplete.length > 0) throw new RequestError({ title: 'Not complete', fields: incomplete });
  const members = parts.map(({ name, data }) => (typeof data === 'string' ? { [name]: data } : data));
  const [only] = parts;
  const isText = typeof only?.data === 'string';
  return { isText, data: isText && parts.length === 1 ? String(only.data) : Object.assign({}, ...members) };
}

/** Removes the data, which the vault sends if the key may read, because the page must never receive it. */
function withoutData({ data: _, ...token }: Answer): NonNullable<FromFrame['token']> {
  return token as NonNullable<FromFrame['token']>;
}
