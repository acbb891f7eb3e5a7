import type { FromFrame, Patch, Tokenize } from '../protocol.ts';
import type { TokenizeOptions } from '../types.ts';
import type { Page } from './page.ts';
import { type Answer, problemOf, RequestError, request } from './requests.ts';
import { openSession } from './session.ts';
import { type Part, siblingOf } from './siblings.ts';

interface Creation {
  idempotencyKey: string;
  /** While it is under way. */
  answer?: Promise<Answer> | undefined;
}

/**
 * By their text, those that are under way and those whose response was lost. A second click shares the answer, and a call
 * after a lost response repeats the key, so that neither creates a second token.
 */
const creations = new Map<string, Creation>();

/** Makes a token of the group's fields, or merges them into one. */
export async function send(message: Tokenize | Patch, key: string, page: Page): Promise<FromFrame> {
  try {
    if (message.do === 'tokenize') {
      const body = bodyOf(gather(message.fields, 'number'), message.options);
      return { token: forPage(await create(body, key)) };
    }
    const { data } = gather(message.fields);
    const session = await openSession(key, page, message.call);
    const path = `/tokens/${encodeURIComponent(message.token)}`;
    return { token: forPage(await request('PATCH', path, { key: session, body: { data } })) };
  } catch (error) {
    return { problem: problemOf(error) };
  }
}

function create(body: object, key: string): Promise<Answer> {
  const text = JSON.stringify(body);
  const creation: Creation = creations.get(text) ?? { idempotencyKey: crypto.randomUUID() };
  creations.set(text, creation);
  const { idempotencyKey } = creation;
  creation.answer ??= request('POST', '/tokens', { key, body, idempotencyKey })
    .finally(() => {
      creation.answer = undefined;
    })
    .then(
      (token) => {
        creations.delete(text);
        return token;
      },
      (error: unknown) => {
        if (error instanceof RequestError && error.problem.status) creations.delete(text);
        throw error;
      },
    );
  return creation.answer;
}

interface Content {
  isText: boolean;
  data: string | Record<string, string | number>;
}

/**
 * The page chooses the type, so the frame refuses types that would tell about a value. A security code alone, made a
 * `token`, would have a fingerprint that can be compared with a thousand guesses, and a text made a `card_number` could
 * be found as the equal of one.
 */
function bodyOf({ isText, data }: Content, { type, metadata, containers }: TokenizeOptions): object {
  const common = { metadata, containers };
  if (isText && type !== 'card_number') return { type: type ?? 'token', data, ...common };
  if (!isText && (type ?? 'card') === 'card') return { type: 'card', data, ...common };
  if (!isText && type === 'card_number' && isNumberAlone(data)) return { type, data: data.number, ...common };
  throw new RequestError({ title: `These fields cannot make a token of type ${type}` });
}

function isNumberAlone(data: Content['data']): data is { number: string } {
  return typeof data === 'object' && Object.keys(data).join() === 'number';
}

/**
 * One card of card fields, one text, or an object of several texts.
 *
 * @param needed the member without which a card is not complete.
 * @throws {RequestError} that names what is not complete.
 */
function gather(fields: readonly string[], needed?: string): Content {
  // A missing frame counts as incomplete.
  const parts: Part[] = fields.map((id) => siblingOf(id)?.take() ?? { name: id });
  const texts = parts.filter(({ isText }) => isText);
  const isText = texts.length > 0;
  if (isText && texts.length < parts.length && parts.every(({ isText }) => isText !== undefined)) {
    throw new RequestError({ title: 'Text fields and card fields cannot make one token together' });
  }
  const members = parts.map(({ name, data }) => (typeof data === 'string' ? { [name]: data } : data));
  const all: Exclude<Content['data'], string> = Object.assign({}, ...members);
  const incomplete = new Set(parts.filter(({ data }) => data === undefined).map(({ name }) => name));
  if (needed && !isText && !Object.hasOwn(all, needed)) incomplete.add(needed);
  if (incomplete.size > 0) throw new RequestError({ title: 'The fields are not complete', fields: [...incomplete] });
  const [only] = parts;
  return { isText, data: typeof only?.data === 'string' && parts.length === 1 ? only.data : all };
}

/** Without the data, which the vault sends if the key may read it, and without what guesses can be compared with. */
function forPage(answer: Answer): NonNullable<FromFrame['token']> {
  const { data: _data, fingerprint: _fingerprint, fingerprint_expression: _expression, ...token } = answer;
  return token as NonNullable<FromFrame['token']>;
}
