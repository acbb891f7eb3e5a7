import { JsonText, List, type Sluice } from '@sluice/sdk';
import { type Command, type Input, type Option, textOf, textsOf } from './command.ts';
import { UsageError } from './failure.ts';
import type { OperationCommand } from './operation-command.ts';
import { AnswerText } from './output/answer-text.ts';
import { toSafeJson } from './output/escape.ts';
import { isForPeople, printAnswer, printBytes, printPage, printText, tell, write } from './output/print.ts';
import { openProgress, type Progress } from './output/progress.ts';
import { connect } from './profile/connect.ts';
import { parseJson, readData, toText } from './read-input.ts';
import type { Terminal } from './terminal.ts';

const pageSize = 20;

type Method = (...args: unknown[]) => Promise<unknown> | List<unknown>;

const keyTypesByMethod: Readonly<Record<string, readonly string[]>> = {
  'sessions.create': ['public'],
  'sessions.authorize': ['private'],
};

/** Their answers are a line of JSON each, because a file of such lines is what `sluice logs verify --proofs` reads. */
const linesByMethod: ReadonlySet<string> = new Set(['logs.proof']);

export function operationCommand(operation: OperationCommand): Command {
  const { words, summary, params, query, prefixes, body, permission } = operation;
  const options: Record<string, Option> = {};
  for (const { name, description, isList } of query) {
    options[optionName(name)] = { type: 'string', value: 'VALUE', description, ...(isList && { multiple: true }) };
  }
  for (const prefix of prefixes) {
    const description = `list only items with this ${prefix.slice(0, -1)}`;
    options[prefix.slice(0, -1)] = { type: 'string', value: 'NAME=VALUE', multiple: true, description };
  }
  if (body)
    options.data = {
      type: 'string',
      short: 'd',
      value: 'JSON',
      description: 'body of the request: JSON, @file, or - for standard input',
    };
  if (operation.takesIfMatch)
    options['if-match'] = {
      type: 'string',
      value: 'VERSION',
      description:
        'the modified_at (or created_at) that you last read; if the resource has changed since, nothing is done',
    };
  if (operation.answer === 'list')
    options.all = { type: 'boolean', description: 'list all pages; with JSON output, print one item per line' };
  const example =
    operation.example === undefined ? undefined : `Example: --data '${JSON.stringify(operation.example)}'`;
  return {
    words,
    summary: summary + (permission ? ` (${permission})` : ''),
    arguments: params.map((param) => optionName(param).replace(/-/g, '_').toUpperCase()),
    options,
    ...(example !== undefined && { notes: example }),
    run: async (input, terminal) => {
      const args = await argumentsOf(operation, input, terminal);
      const keyTypes = operation.keyTypes ?? keyTypesByMethod[operation.method];
      const came = isPrintedAsItCame(operation, input, terminal) ? new AnswerText() : undefined;
      const need = { ...(keyTypes && { keyTypes }), ...(came && { fetch: came.fetch }) };
      const sluice = await connect(terminal, { ...need, profile: textOf(input, 'profile') });
      const ifMatch = textOf(input, 'if-match');
      const answer = methodOf(sluice, operation.method)(...args, {
        signal: terminal.signal,
        ...(ifMatch !== undefined && { ifMatch }),
      });
      if (came) {
        await (answer instanceof List ? answer.page() : answer);
        const text = await came.asJson();
        if (text !== undefined) await write(terminal.stdout, `${text}\n`);
      } else {
        await print(operation, answer, input, terminal);
      }
      return undefined;
    },
  };
}

/** JSON that is neither a page of several nor one of several lines. */
function isPrintedAsItCame({ answer, method }: OperationCommand, { values }: Input, terminal: Terminal): boolean {
  if (isForPeople(terminal, values.json === true) || linesByMethod.has(method)) return false;
  return answer === 'json' || (answer === 'list' && values.all !== true);
}

function methodOf(sluice: Sluice, name: string): Method {
  return name.split('.').reduce<unknown>((at, word) => Object(at)[word], sluice) as Method;
}

async function argumentsOf(operation: OperationCommand, input: Input, terminal: Terminal): Promise<unknown[]> {
  const { query, prefixes, body, params } = operation;
  const values: Record<string, unknown> = {};
  for (const { name, isList } of query) {
    const given = textsOf(input, optionName(name));
    if (given.length > 0) values[name] = isList ? given : given[0];
  }
  for (const prefix of prefixes) {
    for (const pair of textsOf(input, prefix.slice(0, -1))) Object.assign(values, pairOf(prefix, pair));
  }
  const data = textOf(input, 'data');
  if (body === 'required' && data === undefined) {
    throw new UsageError(`sluice ${operation.words.join(' ')} needs --data; see --help for an example`);
  }
  return [
    ...input.positionals.slice(0, params.length),
    ...(body ? [data === undefined ? undefined : await bodyOf(operation, data, terminal)] : []),
    ...(query.length + prefixes.length > 0 ? [values] : []),
  ];
}

/** As it was given, because a number that is parsed may become another. Lists add their position to it. */
async function bodyOf({ answer }: OperationCommand, data: string, terminal: Terminal): Promise<unknown> {
  const text = toText(await readData(data, terminal), '--data');
  const body = parseJson(text, '--data');
  return answer === 'list' ? body : new JsonText(text);
}

function pairOf(prefix: string, text: string): Record<string, string> {
  const at = text.indexOf('=');
  if (at < 1) throw new UsageError(`--${prefix.slice(0, -1)} must be NAME=VALUE`);
  return { [prefix + text.slice(0, at)]: text.slice(at + 1) };
}

async function print(
  operation: OperationCommand,
  answer: ReturnType<Method>,
  input: Input,
  terminal: Terminal,
): Promise<void> {
  const json = input.values.json === true;
  if (answer instanceof List) {
    if (input.values.all === true) return printAll(answer, terminal, json);
    return printPage(terminal, await answer.page(), operation.body !== undefined);
  }
  const result = await answer;
  if (result instanceof Response) return printStream(result, terminal);
  if (result === undefined && isForPeople(terminal, json)) tell(terminal, 'Done.');
  else if (operation.answer === 'text' && !json) await printText(terminal, String(result));
  else if (linesByMethod.has(operation.method) && !isForPeople(terminal, json))
    await write(terminal.stdout, `${toSafeJson(result)}\n`);
  else await printAnswer(terminal, result, json);
}

/** A table needs all items for its widths; programs receive each at once. */
async function printAll(list: List<unknown>, terminal: Terminal, json: boolean): Promise<void> {
  const items: unknown[] = [];
  {
    using progress = openProgress(terminal, isForPeople(terminal, json) || terminal.stdout.isTTY !== true);
    let count = 0;
    for await (const item of list) {
      count += 1;
      if (count % pageSize === 0) progress.show(`${count} so far`);
      if (isForPeople(terminal, json)) items.push(item);
      else await write(terminal.stdout, `${toSafeJson(item)}\n`);
    }
  }
  if (isForPeople(terminal, json)) await printAnswer(terminal, items, json);
}

async function printStream(response: Response, terminal: Terminal): Promise<void> {
  using progress = openProgress(terminal, terminal.stdout.isTTY !== true);
  await printBytes(terminal, counted(response.body, progress), '. To continue an export, use --start');
}

async function* counted(body: AsyncIterable<Uint8Array> | null, progress: Progress): AsyncGenerator<Uint8Array> {
  let sizeBytes = 0;
  for await (const chunk of body ?? []) {
    sizeBytes += chunk.length;
    progress.show(`${(sizeBytes / 1e6).toFixed(1)} MB so far`);
    yield chunk;
  }
}

function optionName(name: string): string {
  return name.replace(/_/g, '-').replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}
