import { SluiceError } from '@sluice/sdk';

/** What the service refused, by the path of the member: `rules[0].container`. */
export type Faults = readonly (readonly [path: string, messages: readonly string[]])[];

/** A setting of the installation, at the end of a message. Only operators can change it, so only the details show it. */
const ofOperators = / \([A-Z]+(?:_[A-Z]+)+\)$/;

/** @param names of the fields on the screen. A refusal without `errors` names its member at the beginning of `detail`. */
export function faultsIn(error: Error | null, names: readonly string[]): Faults {
  if (!(error instanceof SluiceError)) return [];
  if (error.errors) return Object.entries(error.errors);
  const named = names.find((name) => error.detail?.startsWith(`${name}: `));
  return named === undefined ? [] : [[named, [error.detail?.slice(named.length + 2) ?? '']]];
}

/** The field that sets a member: the one with its path, or with the longest path above it. */
export function fieldOf(path: string, names: readonly string[]): string | undefined {
  return names
    .filter((name) => path === name || path.startsWith(`${name}.`) || path.startsWith(`${name}[`))
    .reduce<string | undefined>((best, name) => (best && best.length >= name.length ? best : name), undefined);
}

/** The fault of a field as sentences about its label. Entries of a list count from 1; other parts were named by the person. */
export function faultInWords(
  path: string,
  messages: readonly string[],
  { name, label }: { name: string; label: string },
) {
  const below = path.slice(name.length);
  const [, position] = /^\[(\d+)\]/.exec(below) ?? [];
  const subject = position !== undefined ? `Entry ${Number(position) + 1}` : below.replace(/^\./, '') || label;
  return messages.map((message) => sentenceOf(subject, message)).join(' ');
}

/** As the forms call members whose names do not read as words. */
const memberWords: Readonly<Record<string, string>> = {
  accept_key_as: 'places of the API key',
  args: 'req.args',
  head_timeout_s: 'time limit of a response',
  max_uses: 'number of uses',
  path_name: 'name of the route',
  request_headers: 'headers of every call',
  require_auth: 'whether callers need an API key',
  token_places: 'places of tokens',
};

/** Of a member that no field on the screen sets. */
export function otherFaultInWords(path: string, messages: readonly string[]): string {
  const words = path
    .replaceAll(/\[(\d+)\]/g, (_, position) => `.${Number(position) + 1}`)
    .split('.')
    .map((member) => memberWords[member] ?? member.replaceAll('_', ' '))
    .join(' ');
  const isName = /^\w+\./.test(words);
  const subject =
    words === '' || words === '$' ? 'The request' : isName ? words : words.charAt(0).toUpperCase() + words.slice(1);
  return messages.map((message) => sentenceOf(subject, message)).join(' ');
}

/** Most messages of the service continue a sentence that begins with the member. */
const continues = /^(must|may|cannot|is|has|contains|needs|apply|does)\b/;

function sentenceOf(subject: string, message: string): string {
  const text = message.replace(ofOperators, '');
  const sentence = continues.test(text) ? `${subject} ${text}` : text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?]$/.test(sentence) ? sentence : `${sentence}.`;
}

/** Where the service found a mistake in code, from 1. */
export interface CodePlace {
  line: number;
  column: number;
}

/** Parses the end of a message: `Unexpected token ')' (line 2, column 5)`. */
export function placeIn(message: string | undefined): CodePlace | undefined {
  const [, line, column] = /\(line (\d+), column (\d+)\)\.?$/.exec(message ?? '') ?? [];
  return line === undefined ? undefined : { line: Number(line), column: Number(column) };
}
