import type { FieldErrors, GuestFailure } from './outcome.ts';

/** Checks each member, because the Tenant's code may have changed the report, as by setters on Array.prototype. */
export function readFailure(json: string, mostFieldErrors: number): GuestFailure | undefined {
  const told = parsed(json);
  if (!isObject(told)) return undefined;
  if (told.kind === 'unreadable') return { kind: 'unreadable', reason: 'not_json' };
  if (told.kind === 'response') return responseOf(told);
  if (told.kind !== 'error') return undefined;
  const { name, message, stack, code, errors } = told;
  const texts = Object.entries({ name, message, stack, code }).flatMap(([member, text]) =>
    typeof text === 'string' ? [[member, text.slice(0, longestText)]] : [],
  );
  return { kind: 'error', ...Object.fromEntries(texts), ...firstFieldErrors(errors, mostFieldErrors) };
}

const longestText = 2000;
/** For all field errors together, because the main thread searches them for secrets. */
const mostCharacters = 16_384;

/** The first field errors, shortened, because the main thread copies and writes them. */
function firstFieldErrors(told: unknown, most: number): { errors?: FieldErrors; isCut?: boolean } {
  if (!isObject(told)) return {};
  const errors: FieldErrors = Object.create(null);
  let count = 0;
  let charactersLeft = mostCharacters;
  const cut = (text: string) => {
    const kept = text.slice(0, Math.min(longestText, charactersLeft));
    charactersLeft -= kept.length;
    return kept;
  };
  let isCut = false;
  for (const path of Object.keys(told)) {
    if (count >= most || charactersLeft === 0) {
      isCut = true;
      break;
    }
    const messages = told[path];
    if (!Array.isArray(messages) || !messages.every((text) => typeof text === 'string')) continue;
    const shownPath = cut(path);
    const first = messages.slice(0, most - count).map(cut);
    isCut ||= first.length < messages.length;
    errors[shownPath] = first;
    count += Math.max(first.length, 1);
  }
  return count > 0 ? { errors, isCut } : {};
}

function responseOf({ status, headersJson, bodyJson }: Record<string, unknown>): GuestFailure | undefined {
  if (typeof status !== 'number' || !Number.isInteger(status) || status < 100 || status > 599) return undefined;
  if (typeof headersJson !== 'string' || !isObject(parsed(headersJson))) return undefined;
  if (bodyJson === undefined) return { kind: 'response', status, headersJson };
  if (typeof bodyJson !== 'string' || parsed(bodyJson) === undefined) return undefined;
  return { kind: 'response', status, headersJson, bodyJson };
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
